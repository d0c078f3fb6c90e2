//! The media rate control of `SCReAM`, RFC 8298 section 4.1.3.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};
use narrows_spec::scenario::{Media, MediaControl};

use crate::number::real;

// The constants of section 4.1.1.1; rates in bit/s. Constants with a range have the value that the
// section calls suitable.
const BETA_R: f64 = 0.9;
const BETA_ECN: f64 = 0.9;
const RATE_ADJUST_INTERVAL: Duration = Duration::from_millis(200);
const RAMP_UP_SPEED: f64 = 200_000.0;
const PRE_CONGESTION_GUARD: f64 = 0.1;
const TX_QUEUE_SIZE_FACTOR: f64 = 1.0;
const RTP_QDELAY_TH: f64 = 0.02;
const TARGET_RATE_SCALE_RTP_QDELAY: f64 = 0.95;
/// Intervals in the median of the encoder's rate, which spans more than 10 s.
const MEDIAN_OF: usize = 51;
/// The smallest part of an increase that is allowed.
const LEAST_SCALE: f64 = 0.2;

/// Counts the bytes of an interval and gives their rate.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    bytes: u64,
    bps: f64,
}

impl Meter {
    fn close(&mut self, seconds: f64) {
        self.bps = real(std::mem::take(&mut self.bytes)) * 8.0 / seconds;
    }
}

/// The target bitrate of the encoder.
#[derive(Debug)]
pub(crate) struct Rates {
    bounds: (f64, f64),
    target: f64,
    /// True if a change is the rate's excess over the target; RFC 8298 doesn't subtract the target.
    is_program: bool,
    /// The target at the last congestion.
    last_max: f64,
    transmitted: Meter,
    acked: Meter,
    media: Meter,
    medians: VecDeque<f64>,
    updated: Time,
}

impl Rates {
    pub(crate) fn new(media: &Media, start: Time) -> Self {
        Self {
            bounds: (real(media.min_bps), real(media.max_bps)),
            target: real(media.min_bps),
            is_program: media.control == MediaControl::ScreamProgram,
            last_max: 1.0,
            transmitted: Meter::default(),
            acked: Meter::default(),
            media: Meter::default(),
            medians: VecDeque::with_capacity(MEDIAN_OF),
            updated: start,
        }
    }

    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.transmitted.bytes += bytes;
    }

    pub(crate) fn on_acked(&mut self, bytes: u64) {
        self.acked.bytes += bytes;
    }

    pub(crate) fn on_encoded(&mut self, bytes: u64) {
        self.media.bytes += bytes;
    }

    /// Lowers the target on a loss or a mark.
    pub(crate) fn congestion(&mut self, lost: bool) {
        self.last_max = self.target.max(1.0);
        let scale = if lost { BETA_R } else { BETA_ECN };
        self.target = (scale * self.target).max(self.bounds.0);
    }

    /// Updates the target if an interval has passed; `trend` is the delay's, now and remembered.
    pub(crate) fn pass(&mut self, now: Time, queued: u64, fast: bool, trend: (f64, f64)) {
        let passed = now.saturating_since(self.updated);
        if passed < RATE_ADJUST_INTERVAL {
            return;
        }
        self.updated = now;
        for meter in [&mut self.transmitted, &mut self.acked, &mut self.media] {
            meter.close(passed.as_secs_f64());
        }
        self.medians.push_back(self.media.bps);
        if self.medians.len() > MEDIAN_OF {
            self.medians.pop_front();
        }
        self.adjust(real(queued) * 8.0, fast, trend);
    }

    fn adjust(&mut self, queue_bits: f64, fast: bool, (trend, memory): (f64, f64)) {
        let interval = RATE_ADJUST_INTERVAL.as_secs_f64();
        let most = RAMP_UP_SPEED.min(self.target / 2.0) * interval;
        let current = self.transmitted.bps.max(self.acked.bps);
        if fast {
            self.target += most * self.scale();
        } else {
            let subtracted = if self.is_program { self.target } else { 0.0 };
            let change = current * (1.0 - PRE_CONGESTION_GUARD * trend)
                - TX_QUEUE_SIZE_FACTOR * queue_bits
                - subtracted;
            self.target += if change > 0.0 { (change * self.scale()).min(most) } else { change };
            if queue_bits > RTP_QDELAY_TH * current {
                self.target *= TARGET_RATE_SCALE_RTP_QDELAY;
            }
        }
        let limit = current.max(self.media.bps).max(self.median()) * (2.0 - memory);
        self.target = self.target.min(limit).clamp(self.bounds.0, self.bounds.1);
    }

    /// The part of an increase that is allowed near the rate of the last congestion.
    fn scale(&self) -> f64 {
        let away = (self.target - self.last_max) / self.last_max * 4.0;
        (away * away).clamp(LEAST_SCALE, 1.0)
    }

    fn median(&self) -> f64 {
        let mut sorted: Vec<f64> = self.medians.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use narrows_spec::scenario::MediaControl;

    use super::*;
    use crate::bench::{media, ms};

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected, "{found}, not {expected}");
    }

    /// An encoder at 500 kbit/s that sends all of it: 12500 bytes in 200 ms.
    fn rates() -> Rates {
        let mut rates = Rates::new(&media(MediaControl::Scream), ms(0));
        (rates.target, rates.transmitted.bytes) = (500e3, 12_500);
        (rates.media.bytes, rates.acked.bytes) = (12_500, 10_000);
        rates
    }

    #[test]
    fn it_ramps_up_by_the_speed_and_by_half_of_a_low_target() {
        let mut rates = rates();
        rates.pass(ms(199), 0, true, (0.0, 0.0));
        near(rates.target, 500e3);
        rates.pass(ms(200), 0, true, (0.0, 0.0));
        near(rates.target, 540e3);
        rates.target = 200e3;
        (rates.transmitted.bytes, rates.media.bytes) = (5_000, 5_000);
        rates.pass(ms(400), 0, true, (0.0, 0.0));
        near(rates.target, 220e3);
    }

    #[test]
    fn it_increases_slowly_near_the_last_congestion() {
        let mut rates = rates();
        rates.congestion(true);
        near(rates.target, 450e3);
        // 10 % below: (0.4)^2 = 0.16, and at least 0.2 of 40 kbit/s.
        rates.pass(ms(200), 0, true, (0.0, 0.0));
        near(rates.target, 458e3);
        rates.congestion(false);
        near(rates.target, 458e3 * 0.9);
    }

    #[test]
    fn a_queue_of_packets_lowers_the_target() {
        let mut rates = rates();
        // 20 ms of 500 kbit/s are 1250 bytes; a longer queue takes 5 % after the increase.
        rates.pass(ms(200), 1_251, false, (0.0, 0.0));
        near(rates.target, 540e3 * 0.95);
        // The excess over a second's worth is subtracted.
        let mut rates = self::rates();
        rates.pass(ms(200), 75_000, false, (0.0, 0.0));
        near(rates.target, (500e3 - 100e3) * 0.95);
    }

    /// From a target of 480 kbit/s: 500 kbit/s less a tenth of half, less 100 kbit in the queue.
    #[test]
    fn the_program_approaches_the_capacity_of_the_link() {
        let media = Media { control: MediaControl::ScreamProgram, ..media(MediaControl::Scream) };
        let mut rates = Rates { target: 480e3, ..Rates::new(&media, ms(0)) };
        (rates.transmitted.bytes, rates.media.bytes) = (12_500, 12_500);
        rates.pass(ms(200), 0, false, (0.5, 0.0));
        near(rates.target, 475e3);
        (rates.transmitted.bytes, rates.media.bytes) = (12_500, 12_500);
        rates.pass(ms(400), 12_500, false, (0.5, 0.0));
        near(rates.target, (475e3 - 100e3) * 0.95);
    }

    #[test]
    fn the_target_stays_below_twice_the_used_rate_and_less_after_congestion() {
        let mut rates = rates();
        rates.target = 2e6;
        rates.pass(ms(200), 0, true, (0.0, 0.0));
        near(rates.target, 1e6);
        let mut rates = self::rates();
        rates.target = 2e6;
        rates.pass(ms(200), 0, true, (0.0, 0.5));
        near(rates.target, 750e3);
    }
}
