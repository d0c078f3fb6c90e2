//! RED's average of the backlog, and how it decays while the link is idle.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "tables of the kernel's, computed in floats as tc does"
)]

use narrows_base::{Rate, Time};

/// An exponentially weighted average in bytes, in fixed point with `wlog` bits
/// of fraction (Linux `red_calc_qavg`).
#[derive(Clone, Debug)]
pub(super) struct Average {
    /// The weight of a new value is 2^-wlog.
    wlog: u32,
    value: u64,
    idle_since: Option<Time>,
    /// How far an idle time shifts the average down, per cell of 2^`cell_log` us.
    shifts: Vec<u8>,
    cell_log: u32,
}

impl Average {
    /// # Panics
    /// If `burst` is too small for `min`, or the bandwidth is zero.
    pub(super) fn new(min: u64, burst: u64, avpkt: u64, bandwidth: Rate) -> Self {
        let wlog = weight_log(min, burst, avpkt).expect("red's burst doesn't go with its min");
        let (cell_log, shifts) = idle_table(wlog, avpkt, bandwidth);
        Self { wlog, value: 0, idle_since: Some(Time::ZERO), shifts, cell_log }
    }

    pub(super) const fn bytes_floor(&self) -> u64 {
        self.value >> self.wlog
    }

    /// Takes the backlog that an arrival meets, or the end of an idle time.
    pub(super) fn update(&mut self, backlog: u64, now: Time) {
        self.value = match self.idle_since.take() {
            Some(since) => self.decay(since, now),
            None => self.value + backlog - (self.value >> self.wlog),
        };
    }

    /// The link has nothing to send from `now` on.
    pub(super) fn idle_from(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    /// The average in whole bytes that an arrival at `now` would give.
    pub(super) fn at(&self, now: Time) -> u64 {
        self.idle_since.map_or(self.value, |since| self.decay(since, now)) >> self.wlog
    }

    /// `red_calc_qavg_from_idle_time`.
    fn decay(&self, since: Time, now: Time) -> u64 {
        let micros = (now - since).as_micros().min(255 << self.cell_log);
        let shift = self.shifts[(micros >> self.cell_log) as usize];
        if shift > 0 {
            return self.value >> shift;
        }
        let linear = (self.value * micros) >> self.cell_log;
        self.value - linear.min(self.value - (self.value >> 1))
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, bytes: u64) {
        self.value = bytes << self.wlog;
        self.idle_since = None;
        self.wlog_frozen();
    }

    /// A weight so small that a test's average stays constant.
    #[cfg(test)]
    fn wlog_frozen(&mut self) {
        let bytes = self.bytes_floor();
        self.wlog = 32;
        self.value = bytes << 32;
    }
}

/// The weight that lets `burst` packets pass (`tc_red_eval_ewma`); none if there is
/// no such weight.
pub(super) fn weight_log(min: u64, burst: u64, avpkt: u64) -> Option<u32> {
    let room = burst as f64 + 1.0 - min as f64 / avpkt as f64;
    if room < 1.0 || burst > MAX_BURST {
        return None;
    }
    let mut weight = 0.5;
    for log in 1..32 {
        let rest = (0..burst).fold(1.0, |rest, _| rest * (1.0 - weight));
        if room <= (1.0 - rest) / weight {
            return Some(log);
        }
        weight /= 2.0;
    }
    None
}

/// The largest burst in packets.
const MAX_BURST: u64 = 1_000_000;

/// The table of `tc_red_eval_idle_damping`. `tc` counts the time of a packet in
/// ticks of 64 ns and Linux looks it up in microseconds, so that the average decays 15.6 times more
/// slowly than intended. It is the same here.
fn idle_table(wlog: u32, avpkt: u64, bandwidth: Rate) -> (u32, Vec<u8>) {
    assert!(bandwidth.as_bps() > 0, "red needs a bandwidth above zero");
    let micros = avpkt as f64 * 8e6 / bandwidth.as_bps() as f64;
    let ticks = (micros * 15.625) as u64;
    let per_tick = -ln_of_one_minus(1.0 / (1u64 << wlog) as f64) / ticks.max(1) as f64;
    let span = 31.0 / per_tick;
    let log = (0..31).find(|&log| span / ((1u64 << log) as f64) < 512.0).unwrap_or(31);
    let shift = |cell: u32| (f64::from(cell) * (1u64 << log) as f64 * per_tick).min(31.0) as u8;
    (log, (0..255).map(shift).chain([31]).collect())
}

/// ln(1 - x) for x up to 1/2, as a series: the same on every platform.
fn ln_of_one_minus(x: f64) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for n in 1..60 {
        power *= x;
        sum -= power / f64::from(n);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_satisfies_floyds_inequality_and_the_next_larger_does_not() {
        for (min, burst) in [(30_000u64, 55u64), (33_000, 55), (5_000, 20), (100_000, 150)] {
            let log = weight_log(min, burst, 1_000).unwrap();
            let holds = |log: u32| {
                let weight = 1.0 / f64::from(1u32 << log);
                let rest = (0..burst).fold(1.0, |rest, _| rest * (1.0 - weight));
                burst as f64 + 1.0 - min as f64 / 1_000.0 <= (1.0 - rest) / weight
            };
            assert!(holds(log) && (log == 1 || !holds(log - 1)), "{min} {burst}: {log}");
        }
    }

    #[test]
    fn a_burst_below_the_minimum_has_no_weight_and_neither_has_an_endless_one() {
        assert_eq!(weight_log(30_000, 30, 1_000), Some(1));
        assert_eq!(weight_log(30_000, 29, 1_000), None);
        assert_eq!(weight_log(30_000, MAX_BURST + 1, 1_000), None);
    }

    #[test]
    fn the_series_is_the_logarithm() {
        for (x, ln) in [(0.5, -std::f64::consts::LN_2), (0.01, -0.010_050_335_853_501_45)] {
            assert!((ln_of_one_minus(x) - ln).abs() < 1e-14);
        }
    }

    #[test]
    fn a_constant_backlog_becomes_the_average() {
        let mut average = Average::new(30_000, 55, 1_000, Rate::from_bps(10_000_000));
        (0..2_000).for_each(|_| average.update(20_000, Time::ZERO));
        assert!((19_999..=20_000).contains(&average.bytes_floor()), "{}", average.bytes_floor());
    }

    #[test]
    fn the_average_decays_over_idle_time() {
        let mut average = Average::new(30_000, 55, 1_000, Rate::from_bps(10_000_000));
        (0..2_000).for_each(|_| average.update(20_000, Time::ZERO));
        average.idle_from(Time::ZERO);
        let after: Vec<_> =
            [0, 10, 1_000, 60_000].map(|ms| average.at(Time::from_nanos(ms * 1_000_000))).into();
        assert!(after.windows(2).all(|pair| pair[0] > pair[1]), "{after:?}");
        assert_eq!(after[3], 0);
    }
}
