//! Round-trip time: smoothed estimate, RTO and the running minimum.

use narrows_base::{Jiffies, Time};
use narrows_cc::WindowedMax;

/// `tcp_rto_min`, in us.
pub(crate) const RTO_MIN_US: u64 = 200_000;
/// `TCP_TIMEOUT_MIN_US`: slack of the coarse timers.
pub(crate) const TIMEOUT_MIN_US: u64 = 2_000;
/// `TCP_RTO_MAX`, in us.
const RTO_MAX_US: u64 = 120_000_000;
/// `TCP_TIMEOUT_INIT`, in us (RFC 6298 section 2.1).
const RTO_INIT_US: u64 = 1_000_000;
/// `tcp_min_rtt_wlen`: how long the minimum is remembered, in us.
const MIN_RTT_WINDOW_US: u64 = 300_000_000;

/// Linux's estimator (`tcp_rtt_estimator`): RFC 6298 with a variance per round trip that is at
/// least the minimum RTO, so that RTO >= srtt + 200 ms.
#[derive(Debug)]
pub(crate) struct RttEstimator {
    jiffies: Jiffies,
    /// Smoothed RTT in us, times 8; 0 before the first sample.
    srtt8: u64,
    /// Mean deviation in us, times 4.
    mdev4: u64,
    mdev_max: u64,
    rttvar: u64,
    /// The round ends when this packet number is acknowledged.
    round_end: u32,
    backoff: u32,
    /// RTO in ticks, without backoff.
    rto_ticks: u64,
    /// `TCP_RTO_MAX` in ticks.
    max_rto_ticks: u64,
    /// How long the minimum is remembered, in ticks.
    min_window: u32,
    min: RunningMin,
}

impl RttEstimator {
    pub(crate) fn new(jiffies: Jiffies) -> Self {
        Self {
            jiffies,
            srtt8: 0,
            mdev4: 0,
            mdev_max: 0,
            rttvar: 0,
            round_end: 0,
            backoff: 0,
            rto_ticks: jiffies.ceil_micros(RTO_INIT_US),
            max_rto_ticks: jiffies.ceil_micros(RTO_MAX_US),
            min_window: narrow(jiffies.ceil_micros(MIN_RTT_WINDOW_US)),
            min: RunningMin::default(),
        }
    }

    /// Smoothed RTT in us, or 0.
    pub(crate) fn srtt_us(&self) -> u64 {
        self.srtt8 >> 3
    }

    /// Smoothed RTT in us, times 8.
    pub(crate) fn srtt8(&self) -> u64 {
        self.srtt8
    }

    /// Lowest RTT of the last 300 s in us, or `u64::MAX` before any.
    pub(crate) fn min_us(&self) -> u64 {
        self.min.get()
    }

    /// Updates the minimum with a sample (`tcp_update_rtt_min`).
    #[inline]
    pub(crate) fn update_min(&mut self, rtt_us: u64, now: Time) {
        self.min.update(self.min_window, narrow(self.jiffies.at(now)), rtt_us.max(1));
    }

    /// Takes a sample; `una` and `next` mark the round trips (`tcp_rtt_estimator`).
    #[inline(always)] // runs for nearly every ACK
    pub(crate) fn update(&mut self, rtt_us: u64, una: u32, next: u32) {
        if self.srtt8 == 0 {
            self.srtt8 = (rtt_us << 3).max(1);
            self.mdev4 = rtt_us << 1;
            self.rttvar = self.mdev4.max(RTO_MIN_US);
            self.mdev_max = self.rttvar;
            self.round_end = next;
        } else {
            self.smooth(rtt_us);
            self.vary(una, next);
        }
        self.rto_ticks = self.jiffies.ceil_micros((self.srtt8 >> 3) + self.rttvar);
        self.backoff = 0;
    }

    #[inline]
    fn smooth(&mut self, rtt_us: u64) {
        let srtt = self.srtt8 >> 3;
        let deviation = self.mdev4 >> 2;
        if rtt_us < srtt {
            let error = srtt - rtt_us;
            self.srtt8 -= error;
            if error > deviation {
                // A falling RTT must not raise the RTO: damp it (Eifel).
                self.mdev4 += (error - deviation) >> 3;
            } else {
                self.mdev4 -= deviation - error;
            }
        } else {
            let error = rtt_us - srtt;
            self.srtt8 += error;
            self.mdev4 = self.mdev4 + error - deviation;
        }
        self.srtt8 = self.srtt8.max(1);
    }

    #[inline]
    fn vary(&mut self, una: u32, next: u32) {
        if self.mdev4 > self.mdev_max {
            self.mdev_max = self.mdev4;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una > self.round_end {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.round_end = next;
            self.mdev_max = RTO_MIN_US;
        }
    }

    /// RTO in ticks, with backoff.
    pub(crate) fn rto_ticks(&self) -> u64 {
        let max = self.max_rto_ticks;
        if self.backoff >= 20 { max } else { (self.rto_ticks << self.backoff).min(max) }
    }

    /// RTO in us, with backoff.
    pub(crate) fn rto_us(&self) -> u64 {
        self.jiffies.to_micros(self.rto_ticks())
    }

    /// Returns `true` if nothing was acknowledged since the last timeout.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// How often the RTO was doubled since the last answer (`icsk_backoff`).
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Sets the first RTO by an earlier connection's RTT (in us, times 8) if that was longer: a
    /// SYN is small and finds a lower RTT than full packets do (`tcp_init_metrics`).
    pub(crate) fn recall(&mut self, srtt8: u64) {
        if srtt8 > self.srtt8 {
            let rtt = self.jiffies.floor_nanos((srtt8 >> 3) * 1000);
            self.rto_ticks = rtt + (2 * rtt).max(self.jiffies.ceil_micros(RTO_MIN_US));
        }
    }

    /// Ends the backoff, so the RTO follows from the estimate again.
    pub(crate) fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Doubles the RTO after a timeout.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }
}

fn narrow(ticks: u64) -> u32 {
    u32::try_from(ticks).expect("a run shorter than 2^32 ticks")
}

/// Lowest RTT in us over a sliding window of ticks, computed as the maximum of its complement.
#[derive(Debug, Default)]
struct RunningMin {
    complement: WindowedMax,
}

impl RunningMin {
    fn get(&self) -> u64 {
        match self.complement.get() {
            0 => u64::MAX,
            complement => u64::from(u32::MAX - complement),
        }
    }

    fn update(&mut self, window: u32, ticks: u32, rtt_us: u64) {
        let rtt_us = u32::try_from(rtt_us).unwrap_or(u32::MAX);
        self.complement.update(window, ticks, u32::MAX - rtt_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RttEstimator {
        RttEstimator::new(Jiffies::new(1000))
    }

    #[test]
    fn first_sample_sets_the_rto() {
        for (sample_ms, rto_ms) in [(10, 210), (40, 240), (100, 300), (200, 600)] {
            let mut rtt = estimator();
            rtt.update(sample_ms * 1000, 0, 10);
            assert_eq!(rtt.rto_us(), rto_ms * 1000, "first sample {sample_ms} ms");
        }
    }

    #[test]
    fn follows_a_sequence_of_one_sample_per_round_trip() {
        // Samples in ms; expected srtt, mdev and RTO in ms, computed from Linux's formulas.
        let expected = [
            (40, 40.0, 20.0, 240.0),
            (40, 40.0, 15.0, 240.0),
            (60, 42.5, 16.25, 242.5),
            (40, 42.19, 12.81, 242.2),
            (40, 41.91, 10.16, 241.9),
            (200, 61.67, 47.14, 261.7),
            (40, 58.97, 40.77, 259.0),
            (40, 56.60, 35.32, 256.6),
        ];
        let mut rtt = estimator();
        for (round, (sample, srtt, mdev, rto)) in expected.into_iter().enumerate() {
            let una = 10 * u32::try_from(round).unwrap() + 1;
            rtt.update(sample * 1000, una, una + 9);
            let near = |value: u64, want: f64, scale: f64| {
                let value = f64::from(u32::try_from(value).unwrap()) / scale;
                assert!((value - want).abs() < 0.01, "round {round}: {value} instead of {want}");
            };
            near(rtt.srtt8, srtt, 8000.0);
            near(rtt.mdev4, mdev, 4000.0);
            let rto_exact = f64::from(u32::try_from(rtt.rto_us()).unwrap()) / 1000.0;
            assert!((rto_exact - rto).abs() < 1.0, "round {round}: RTO {rto_exact}");
            assert_eq!(rtt.rttvar, 200_000);
        }
    }

    #[test]
    fn backs_off_and_recovers() {
        let mut rtt = estimator();
        rtt.update(40_000, 0, 10);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto_us(), 960_000);
        rtt.update(40_000, 0, 10);
        assert_eq!(rtt.rto_us(), 240_000);
        (0..30).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto_us(), 120_000_000);
    }

    #[test]
    fn the_minimum_expires_after_300_s() {
        let mut rtt = estimator();
        assert_eq!(rtt.min_us(), u64::MAX);
        for (second, rtt_us, lowest) in
            [(0, 10, 10), (100, 20, 10), (299, 30, 10), (301, 30, 20), (700, 40, 40)]
        {
            rtt.update_min(rtt_us, Time::from_nanos(second * 1_000_000_000));
            assert_eq!(rtt.min_us(), lowest, "after {second} s");
        }
    }
}
