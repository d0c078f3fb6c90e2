//! The kernel's tick clock, which Linux uses for coarse time.

use std::num::NonZeroU32;

use crate::time::Time;

const MICROS_PER_SEC: u32 = 1_000_000;

/// The clock of a kernel built with `CONFIG_HZ` ticks a second. Each method rounds like the
/// kernel's conversion that it names.
///
/// ```
/// use narrows_base::Jiffies;
///
/// let clock = Jiffies::new(250);
/// assert_eq!(clock.ceil_micros(4_001), 2);
/// assert_eq!(clock.floor_nanos(4_001_000), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Jiffies {
    hz: u32,
    /// Nonzero, so that divisions need no check.
    tick_us: NonZeroU32,
    tick_ns: NonZeroU32,
}

impl Jiffies {
    /// A clock of `hz` ticks a second.
    ///
    /// # Panics
    /// If a tick isn't a whole number of microseconds.
    #[must_use]
    pub const fn new(hz: u32) -> Self {
        assert!(MICROS_PER_SEC.is_multiple_of(hz), "a tick is a whole number of microseconds");
        let tick_us = NonZeroU32::new(MICROS_PER_SEC / hz).expect("a tick above zero");
        Self { hz, tick_us, tick_ns: tick_us.saturating_mul(NonZeroU32::new(1_000).unwrap()) }
    }

    /// Ticks in a second (`HZ`).
    #[must_use]
    pub const fn per_second(self) -> u64 {
        self.hz as u64
    }

    /// The ticks that have passed at `now`, rounded down (`jiffies`, `tcp_jiffies32`).
    #[inline]
    #[must_use]
    pub const fn at(self, now: Time) -> u64 {
        now.as_nanos() / self.tick_ns()
    }

    /// A span of `us` microseconds, rounded up, so that its timer never fires early
    /// (`usecs_to_jiffies`).
    #[inline]
    #[must_use]
    pub const fn ceil_micros(self, us: u64) -> u64 {
        us.div_ceil(self.tick_us())
    }

    /// A span of `ns` nanoseconds, rounded down (`nsecs_to_jiffies`, and divisions by
    /// `USEC_PER_SEC / HZ`).
    #[inline]
    #[must_use]
    pub const fn floor_nanos(self, ns: u64) -> u64 {
        ns / self.tick_ns()
    }

    /// A span of `ms` milliseconds, rounded up (`msecs_to_jiffies`).
    #[must_use]
    pub const fn ceil_millis(self, ms: u64) -> u64 {
        self.ceil_micros(ms * 1_000)
    }

    /// The microseconds in `ticks` ticks (`jiffies_to_usecs`).
    #[inline]
    #[must_use]
    pub const fn to_micros(self, ticks: u64) -> u64 {
        ticks * self.tick_us()
    }

    /// The instant when `ticks` ticks have passed.
    #[inline]
    #[must_use]
    pub const fn instant(self, ticks: u64) -> Time {
        Time::from_nanos(ticks * self.tick_ns())
    }

    #[inline]
    const fn tick_us(self) -> u64 {
        self.tick_us.get() as u64
    }

    #[inline]
    const fn tick_ns(self) -> u64 {
        self.tick_ns.get() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_round_down_and_spans_as_requested() {
        let clock = Jiffies::new(250);
        assert_eq!([7_999_999, 8_000_000].map(|ns| clock.at(Time::from_nanos(ns))), [1, 2]);
        assert_eq!([40_000, 40_001].map(|us| clock.ceil_micros(us)), [10, 11]);
        assert_eq!([7_999_999, 8_000_000].map(|ns| clock.floor_nanos(ns)), [1, 2]);
        assert_eq!(clock.ceil_millis(200), 50);
        assert_eq!(Jiffies::new(100).ceil_millis(25), 3);
        assert_eq!(clock.instant(2), Time::from_nanos(8_000_000));
        assert_eq!((clock.to_micros(3), clock.per_second()), (12_000, 250));
    }

    #[test]
    #[should_panic(expected = "a whole number of microseconds")]
    fn a_tick_that_time_cannot_express_is_refused() {
        let _ = Jiffies::new(300);
    }
}
