//! Linux's coarse clock: timers fire on ticks (jiffies).

use narrows_base::{Duration, Time};

/// Ticks up to which the wheel keeps single ticks apart (`LVL_START(1)`).
const FINE_TICKS: u64 = 63;
/// Each level of the wheel is eight times as coarse (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;

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

    /// Whole ticks in `us` microseconds (`nsecs_to_jiffies`).
    pub(crate) fn whole_ticks(self, us: u64) -> u64 {
        us / self.tick_us
    }

    /// When a timer set at `now` for `ticks` ticks fires (`mod_timer(jiffies + ticks)`).
    ///
    /// The timer wheel never fires early: it adds a tick, and to longer timers it
    /// adds up to an eighth, because they wait in coarser slots (`calc_index` and
    /// `calc_wheel_index` of kernel/time/timer.c, since 4.8).
    pub(crate) fn deadline(self, now: Time, ticks: u64) -> Time {
        let mut shift = 0;
        while ticks >= FINE_TICKS << shift {
            shift += LEVEL_SHIFT;
        }
        let expires = self.at(now) + ticks;
        let slot = ((expires >> shift) + 1) << shift;
        Time::ZERO + Duration::from_micros(slot * self.tick_us)
    }
}

/// TCP's timestamp clock: milliseconds (RFC 7323, `TCP_TS_HZ`), never zero.
pub(crate) fn timestamp_ms(now: Time) -> u32 {
    u32::try_from(now.as_nanos() / 1_000_000 + 1).expect("a run shorter than 49 days")
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
        let at_tick = |tick: u64| Time::from_nanos(tick * 4_000_000);
        assert_eq!(jiffies.deadline(now, 3), at_tick(5), "not before three whole ticks");
        assert_eq!(jiffies.deadline(now, 62), at_tick(64));
        assert_eq!(jiffies.deadline(now, 69), at_tick(72), "slots of eight ticks");
        assert_eq!(jiffies.deadline(now, 504), at_tick(512), "slots of 64 ticks");
        assert_eq!(jiffies.whole_ticks(7_999), 1);
    }
}
