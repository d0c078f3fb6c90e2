//! The departure clock and the size of bursts (tcp_output.c).

use narrows_base::{Duration, Rate, Time};

use crate::profile::TcpProfile;

/// Largest burst in bytes (`sk_gso_max_size`, legacy limit).
pub(crate) const GSO_MAX_BYTES: u64 = 65_536;
/// The lateness of `fq`'s timer (`timer_slack`, `fq_init`).
const FQ_TIMER_SLACK: Duration = Duration::from_micros(10);
/// Packets that leave unpaced at the start of a flow.
const UNPACED_PACKETS: u64 = 10;

/// The overhead of a burst beyond its payload.
#[derive(Clone, Copy, Debug)]
struct Charge {
    per_packet: u64,
    per_burst: u64,
    catches_up: bool,
}

/// Spaces bursts at a rate, by the earliest departure time of the next one.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// True if departures are delayed (`sk_pacing_status`).
    enforced: bool,
    /// True if bursts wait in the host's queue, instead of in TCP.
    queues: bool,
    /// `sk_pacing_rate`: payload bits per second; `None` before the first estimate.
    rate: Option<Rate>,
    /// `tcp_wstamp_ns`.
    clock: Time,
    charge: Charge,
    /// How late the host's pacing timers fire.
    lateness: Duration,
    /// Bonus to the burst size on short paths (`tcp_tso_rtt_log`, kernel 5.18).
    rtt_bonus: bool,
}

impl Pacer {
    /// A pacer of the profile's kernel. The egress queue paces if `fq`, otherwise, if `enforced`,
    /// TCP's own timer, which fires `lateness` late.
    pub(crate) fn new(profile: &TcpProfile, fq: bool, enforced: bool, lateness: Duration) -> Self {
        let pacing = profile.pacing;
        let charge = if fq {
            let per_packet = u64::from(pacing.fq_header);
            Charge { per_packet, per_burst: 0, catches_up: true }
        } else {
            let per_burst = u64::from(pacing.internal_header);
            Charge { per_packet: 0, per_burst, catches_up: pacing.departure_times }
        };
        let rtt_bonus = profile.tso_rtt_bonus;
        let queues = fq && pacing.departure_times;
        Self { enforced, queues, rate: None, clock: Time::ZERO, charge, lateness, rtt_bonus }
    }

    /// Returns `true` if departures are delayed.
    pub(crate) fn is_enforced(&self) -> bool {
        self.enforced
    }

    /// The rate in payload bits; none before the first estimate.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Spaces and sizes the bursts from now on.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = Some(rate);
    }

    /// The departure clock.
    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// Returns `true` if bursts wait in the host's queue.
    pub(crate) fn queues(&self) -> bool {
        self.queues
    }

    /// When the timer of a departure fires, which may be late.
    pub(crate) fn fires_at(&self, departure: Time) -> Time {
        departure + self.lateness + if self.queues { FQ_TIMER_SLACK } else { Duration::ZERO }
    }

    /// When the next burst may leave TCP, if it must wait (`tcp_pacing_check`).
    pub(crate) fn wait_until(&self, now: Time) -> Option<Time> {
        let waits = self.enforced && !self.queues && self.clock > now;
        waits.then(|| self.fires_at(self.clock))
    }

    /// Time until the departure clock (`tcp_pacing_delay`).
    pub(crate) fn delay(&self, now: Time) -> Duration {
        self.clock.saturating_since(now)
    }

    /// When a burst that is sent at `now` departs.
    pub(crate) fn departure(&self, now: Time) -> Time {
        self.clock.max(now)
    }

    /// Moves the clock for a burst of `packets` packets with `payload` bytes
    /// (`tcp_update_skb_after_send`). `sent` counts the flow's data packets including this burst.
    #[inline(always)] // runs for every burst
    pub(crate) fn depart(&mut self, payload: u64, packets: u32, sent: u64, now: Time) {
        let departure = self.departure(now);
        let late = departure.saturating_since(self.clock);
        self.clock = departure;
        if let Some(rate) = self.rate.filter(|rate| rate.as_bytes_per_sec() > 0)
            && self.enforced
            && sent >= UNPACED_PACKETS
        {
            let headers = self.charge.per_burst + self.charge.per_packet * u64::from(packets);
            let bytes_per_sec = rate.as_bytes_per_sec();
            let gap = (payload + headers) * 1_000_000_000 / bytes_per_sec;
            let gap = Duration::from_nanos(gap);
            // Catch up after a stall, by at most half a burst.
            let credit = if self.charge.catches_up { late } else { Duration::ZERO };
            self.clock += gap - (gap / 2).min(credit);
        }
    }

    /// The number of packets in a burst (`tcp_tso_autosize`): about 1 ms of data.
    pub(crate) fn burst_packets(&self, mss: u32, min_rtt_us: u64, min_packets: u32) -> u32 {
        let Some(rate) = self.rate else {
            return u32::try_from(GSO_MAX_BYTES / u64::from(mss)).unwrap_or(u32::MAX);
        };
        let mut bytes = rate.as_bytes_per_sec() >> 10;
        let shift = min_rtt_us >> 9;
        if self.rtt_bonus && shift < 32 {
            bytes += GSO_MAX_BYTES >> shift;
        }
        let packets = bytes.min(GSO_MAX_BYTES) / u64::from(mss);
        u32::try_from(packets).unwrap_or(u32::MAX).max(min_packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pacer(mbps: u64) -> Pacer {
        let profile = crate::profile::profile("linux-6.12").expect("the default profile");
        let mut pacer = Pacer::new(profile, false, true, Duration::ZERO);
        pacer.rate = Some(Rate::from_bps(mbps * 1_000_000));
        pacer
    }

    #[test]
    fn bursts_hold_about_a_millisecond() {
        let expected =
            [(1, 2), (10, 2), (35, 2), (36, 3), (50, 4), (75, 6), (100, 8), (150, 12), (200, 16)];
        for (mbps, packets) in expected {
            assert_eq!(pacer(mbps).burst_packets(1448, 40_000, 2), packets, "{mbps} Mbit/s");
        }
        for (mbps, packets) in [(300, 25), (500, 42), (1000, 45)] {
            assert_eq!(pacer(mbps).burst_packets(1448, 40_000, 2), packets, "{mbps} Mbit/s");
        }
    }

    #[test]
    fn short_paths_get_larger_bursts() {
        assert_eq!(pacer(10).burst_packets(1448, 1_100, 2), 12);
    }

    #[test]
    fn a_late_burst_catches_up_by_half() {
        let mut pacer = pacer(8); // 1 us a byte
        let start = Time::from_nanos(1_000_000_000);
        pacer.depart(1000, 1, 9, start); // unpaced: sets the clock to now
        pacer.depart(1000, 1, 10, start);
        assert_eq!(pacer.clock(), start + Duration::from_micros(1000));
        // 300 us late: all of it is caught up; 2000 us late: only 500 us are.
        let late = pacer.clock() + Duration::from_micros(300);
        pacer.depart(1000, 1, 12, late);
        assert_eq!(pacer.clock(), late + Duration::from_micros(700));
        let late = pacer.clock() + Duration::from_micros(2000);
        pacer.depart(1000, 1, 14, late);
        assert_eq!(pacer.clock(), late + Duration::from_micros(500));
    }

    #[test]
    fn the_first_ten_packets_are_not_paced() {
        let mut pacer = pacer(8);
        let now = Time::from_nanos(5_000);
        pacer.depart(2896, 2, 8, now);
        assert_eq!(pacer.wait_until(now), None);
        pacer.depart(2896, 2, 10, now);
        assert!(pacer.wait_until(now).is_some());
    }

    #[test]
    fn old_kernels_charge_headers_and_lose_the_time_of_a_late_timer() {
        let profile = crate::profile::profile("linux-4.17").expect("a known profile");
        let start = Time::from_nanos(1_000_000_000);
        for (fq, gap_us) in [(true, 1066), (false, 1032)] {
            let mut pacer = Pacer::new(profile, fq, true, Duration::from_micros(50));
            pacer.rate = Some(Rate::from_bps(8_000_000));
            pacer.depart(1000, 1, 9, start);
            pacer.depart(1000, 1, 10, start);
            assert_eq!(pacer.clock(), start + Duration::from_micros(gap_us));
            let wait = pacer.wait_until(start).expect("the next burst waits");
            assert_eq!(wait, start + Duration::from_micros(gap_us + 50));
            pacer.depart(1000, 1, 12, wait);
            let caught_up = if fq { 50 } else { 0 };
            assert_eq!(pacer.clock(), wait + Duration::from_micros(gap_us - caught_up));
        }
    }
}
