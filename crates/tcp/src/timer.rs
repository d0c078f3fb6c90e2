//! Linux's coarse clock: timers fire on ticks (jiffies).

use narrows_base::{Duration, Time};

/// A tick clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jiffies {
    tick_us: u64,
}

impl Jiffies {
    /// A clock of `hz` ticks a second.
    pub(crate) fn new(hz: u32) -> Self {
        Self { tick_us: 1_000_000 / u64::from(hz) }
    }

    /// Whole ticks that have passed at `now`.
    pub(crate) fn at(self, now: Time) -> u64 {
        now.as_micros() / self.tick_us
    }

    /// Ticks that cover `us` microseconds, rounded up (`usecs_to_jiffies`).
    pub(crate) fn ticks(self, us: u64) -> u64 {
        us.div_ceil(self.tick_us)
    }

    /// Microseconds in `ticks` ticks.
    pub(crate) fn to_us(self, ticks: u64) -> u64 {
        ticks * self.tick_us
    }

    /// When a timer set at `now` for `ticks` ticks fires (`mod_timer(jiffies + ticks)`).
    pub(crate) fn deadline(self, now: Time, ticks: u64) -> Time {
        Time::ZERO + Duration::from_micros((self.at(now) + ticks) * self.tick_us)
    }
}

/// TCP's timestamp clock: milliseconds (RFC 7323, `TCP_TS_HZ`), never zero.
pub(crate) fn timestamp_ms(now: Time) -> u32 {
    u32::try_from(now.as_micros() / 1000 + 1).expect("a run shorter than 49 days")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_on_ticks() {
        let jiffies = Jiffies::new(250);
        let now = Time::from_nanos(5_900_000);
        assert_eq!(jiffies.at(now), 1);
        assert_eq!(jiffies.ticks(8_001), 3);
        assert_eq!(jiffies.deadline(now, 3), Time::from_nanos(16_000_000));
    }
}
