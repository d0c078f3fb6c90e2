//! The departure clock and the size of bursts (tcp_output.c).

use narrows_base::{Duration, Rate, Time};

/// Largest burst in bytes (`sk_gso_max_size`, legacy limit).
pub(crate) const GSO_MAX_BYTES: u64 = 65_536;
/// Packets that leave unpaced at the start of a flow.
const UNPACED_PACKETS: u64 = 10;

/// Spaces bursts at a rate, by the earliest departure time of the next one.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// Whether departures really wait (`sk_pacing_status`).
    pub(crate) enforced: bool,
    /// `sk_pacing_rate`: payload bits per second; `None` before the first estimate.
    pub(crate) rate: Option<Rate>,
    /// `tcp_wstamp_ns`.
    clock: Time,
    /// Bonus to the burst size on short paths (`tcp_tso_rtt_log`, kernel 5.18).
    rtt_bonus: bool,
}

impl Pacer {
    pub(crate) fn new(enforced: bool, rtt_bonus: bool) -> Self {
        Self { enforced, rate: None, clock: Time::ZERO, rtt_bonus }
    }

    /// The departure clock.
    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// When the next burst may leave, if it must wait (`tcp_pacing_check`).
    pub(crate) fn wait_until(&self, now: Time) -> Option<Time> {
        (self.enforced && self.clock > now).then_some(self.clock)
    }

    /// Time until the departure clock (`tcp_pacing_delay`).
    pub(crate) fn delay(&self, now: Time) -> Duration {
        self.clock.saturating_since(now)
    }

    /// Departs a burst of `payload` bytes and returns its departure time
    /// (`tcp_update_skb_after_send`). `packets_sent` counts the flow's data packets
    /// with this burst.
    pub(crate) fn depart(&mut self, payload: u64, packets_sent: u64, now: Time) -> Time {
        let departure = self.clock.max(now);
        let credit = departure.saturating_since(self.clock);
        self.clock = departure;
        if let Some(rate) = self.rate.filter(|rate| rate.as_bytes_per_sec() > 0)
            && self.enforced
            && packets_sent >= UNPACED_PACKETS
        {
            let bytes_per_sec = rate.as_bytes_per_sec();
            let gap = Duration::from_nanos(payload * 1_000_000_000 / bytes_per_sec);
            // Catch up after a stall, by at most half a burst.
            self.clock += gap - (gap / 2).min(credit);
        }
        departure
    }

    /// Packets in a burst (`tcp_tso_autosize`): about 1 ms of data.
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
        let mut pacer = Pacer::new(true, true);
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
        pacer.depart(1000, 10, start);
        assert_eq!(pacer.clock(), start + Duration::from_micros(1000));
        // 300 us late: all of it is made good; 2000 us late: only 500 us are.
        let late = pacer.clock() + Duration::from_micros(300);
        pacer.depart(1000, 12, late);
        assert_eq!(pacer.clock(), late + Duration::from_micros(700));
        let late = pacer.clock() + Duration::from_micros(2000);
        pacer.depart(1000, 14, late);
        assert_eq!(pacer.clock(), late + Duration::from_micros(500));
    }

    #[test]
    fn the_first_ten_packets_are_not_paced() {
        let mut pacer = pacer(8);
        let now = Time::from_nanos(5_000);
        pacer.depart(2896, 8, now);
        assert_eq!(pacer.wait_until(now), None);
        pacer.depart(2896, 10, now);
        assert!(pacer.wait_until(now).is_some());
    }
}
