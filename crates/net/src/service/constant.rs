//! One rate at all times.

use narrows_base::registry::{Info, Role};
use narrows_base::{Bytes, Rate, Time};

use super::steps::SteppedRate;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "constant",
    title: "Constant rate",
    family: "rate",
    summary: "one packet after the other at the link's rate",
    source: "the model of a serialiser; its fractions of a ns add up exactly",
    role: Role::Service,
    parameters: &[],
};

const NANOS_PER_BYTE_AT_1_BPS: u64 = 8_000_000_000;

/// A serialiser at a constant rate.
///
/// Its instants are truncated to the nanosecond, and the fraction is carried to
/// the next packet of the same busy period: N packets back to back take
/// N x size x 8 / rate, not N truncated times. A transmission that begins later
/// than the last one ended begins on the nanosecond.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    rate: u64,
    /// When the last transmission ended, truncated.
    end: Time,
    /// The remainder of the truncation, in units of 1/rate ns; below `rate`.
    fraction: u64,
    /// Time and fraction of the last size: this saves a division, since most packets are as large
    /// as the one before.
    size: Bytes,
    whole_nanos: u64,
    rest: u64,
}

impl ConstantRate {
    /// A serialiser at `rate`.
    ///
    /// # Panics
    /// If `rate` is zero.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        let rate = rate.as_bps();
        assert!(rate > 0, "a link needs a rate above zero");
        let size = Bytes::ZERO;
        Self { rate, end: Time::ZERO, fraction: 0, size, whole_nanos: 0, rest: 0 }
    }

    /// Converts the rate to one that may change.
    pub(super) const fn to_steps(&self) -> SteppedRate {
        SteppedRate::constant_after(self.rate, self.end, self.fraction)
    }

    /// When a transmission of `size` that begins at `start` ends.
    ///
    /// # Panics
    /// If `size` is beyond 2 GB or the end beyond the range of [`Time`].
    #[inline(always)]
    pub fn transmit(&mut self, start: Time, size: Bytes) -> Time {
        if size != self.size {
            self.divide(size);
        }
        if start != self.end {
            self.fraction = 0;
        }
        let carry = self.carry();
        self.end = Time::from_nanos(start.as_nanos() + self.whole_nanos + carry);
        self.end
    }

    /// When the last transmission ends.
    #[inline]
    pub(crate) const fn end(&self) -> Time {
        self.end
    }

    /// Takes back the last transmission, of a packet of `size`, which began at `start` when the one
    /// before it ended.
    pub(crate) fn take_back(&mut self, start: Time, size: Bytes) {
        if size != self.size {
            self.divide(size);
        }
        self.end = start;
        self.fraction = match self.fraction.checked_sub(self.rest) {
            Some(before) => before,
            None => self.rate - (self.rest - self.fraction), // the fractions had filled a ns
        };
    }

    fn divide(&mut self, size: Bytes) {
        let nanos_times_rate = size.get() * NANOS_PER_BYTE_AT_1_BPS;
        self.size = size;
        self.whole_nanos = nanos_times_rate / self.rate;
        self.rest = nanos_times_rate % self.rate;
    }

    /// Adds the packet's fraction to the one carried; 1 if that fills a ns.
    #[inline]
    const fn carry(&mut self) -> u64 {
        // Both are below the rate; compared so that the sum can't overflow.
        let to_next = self.rate - self.fraction;
        if self.rest >= to_next {
            self.fraction = self.rest - to_next;
            return 1;
        }
        self.fraction += self.rest;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateProcess;

    fn back_to_back(rate: u64, sizes: impl Iterator<Item = u64>, start: u64) -> u64 {
        let mut rate = RateProcess::constant(Rate::from_bps(rate));
        let end = sizes.fold(Time::from_nanos(start), |t, n| rate.transmit(t, Bytes::new(n)));
        end.as_nanos() - start
    }

    /// The exact time of `bytes` at `rate` in ns, truncated once.
    fn exact(rate: u64, bytes: u64) -> u64 {
        u64::try_from(u128::from(bytes) * 8_000_000_000 / u128::from(rate)).unwrap()
    }

    #[test]
    fn a_million_packets_take_their_exact_time() {
        for rate in [1_000_003, 7_777_777, 80_000_000, 999_999_937, 99_999_999_977] {
            let took = back_to_back(rate, std::iter::repeat_n(1500, 1_000_000), 17);
            assert_eq!(took, exact(rate, 1_500_000_000), "at {rate} bit/s");
        }
    }

    #[test]
    fn mixed_sizes_take_their_exact_time() {
        let sizes = || (0..1_000_000u64).map(|n| 40 + n * 7_919 % 1_461);
        for rate in [1_000_003, 999_999_937] {
            assert_eq!(back_to_back(rate, sizes(), 0), exact(rate, sizes().sum()));
        }
    }

    #[test]
    fn every_single_end_is_the_exact_one_truncated() {
        let mut rate = ConstantRate::new(Rate::from_bps(7_000_000_000));
        let mut end = Time::ZERO;
        for n in 1..=10_000 {
            end = rate.transmit(end, Bytes::new(1500));
            assert_eq!(end.as_nanos(), exact(7_000_000_000, n * 1500));
        }
    }

    #[test]
    fn after_an_idle_time_no_fraction_is_left() {
        let mut rate = ConstantRate::new(Rate::from_bps(3_000_000_000));
        // 2/3 ns per bit: one byte takes 2 2/3 ns.
        assert_eq!(rate.transmit(Time::ZERO, Bytes::new(1)), Time::from_nanos(2));
        assert_eq!(rate.transmit(Time::from_nanos(10), Bytes::new(1)), Time::from_nanos(12));
        assert_eq!(rate.transmit(Time::from_nanos(12), Bytes::new(1)), Time::from_nanos(15));
    }

    #[test]
    fn a_transmission_taken_back_leaves_no_trace() {
        let sizes = |n: u64| Bytes::new(40 + n * 7_919 % 1_461);
        let mut rate = ConstantRate::new(Rate::from_bps(999_999_937));
        let mut end = Time::ZERO;
        for n in 0..1_000 {
            let before = (rate.end, rate.fraction);
            rate.transmit(end, sizes(n));
            rate.take_back(end, sizes(n));
            assert_eq!((rate.end, rate.fraction), before);
            end = rate.transmit(end, sizes(n));
        }
    }

    #[test]
    fn the_highest_rate_does_not_overflow() {
        assert_eq!(back_to_back(u64::MAX, std::iter::repeat_n(1500, 1_000_000), 0), 0);
    }

    #[test]
    #[should_panic(expected = "rate above zero")]
    fn a_rate_of_zero_panics() {
        let _ = RateProcess::constant(Rate::from_bps(0));
    }
}
