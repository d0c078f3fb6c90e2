//! The kernel's tick clock: coarse time that Linux uses for epochs and stamps.

use narrows_base::Time;

/// The tick of a kernel built with `hz` ticks a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jiffies {
    hz: u64,
}

impl Jiffies {
    /// A clock of `hz` ticks a second.
    pub(crate) const fn new(hz: u32) -> Self {
        Self { hz: hz as u64 }
    }

    /// Ticks in a second.
    pub(crate) const fn per_second(self) -> u64 {
        self.hz
    }

    /// The ticks that passed since the run began (`tcp_jiffies32`).
    pub(crate) const fn at(self, now: Time) -> u64 {
        // 2^64 ns x 1000 Hz would overflow after 213 days of simulated time.
        now.as_nanos() * self.hz / 1_000_000_000
    }

    /// A span in ticks, rounded up (`usecs_to_jiffies`).
    pub(crate) const fn of_micros(self, micros: u64) -> u64 {
        (micros * self.hz).div_ceil(1_000_000)
    }

    /// A span in ticks, rounded up (`msecs_to_jiffies`).
    pub(crate) const fn of_millis(self, millis: u64) -> u64 {
        (millis * self.hz).div_ceil(1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_round_down_and_spans_round_up() {
        let clock = Jiffies::new(250);
        assert_eq!(clock.at(Time::from_nanos(7_999_999)), 1);
        assert_eq!(clock.at(Time::from_nanos(8_000_000)), 2);
        assert_eq!(clock.of_micros(40_000), 10);
        assert_eq!(clock.of_micros(40_001), 11);
        assert_eq!(clock.of_millis(200), 50);
        assert_eq!(Jiffies::new(100).of_millis(25), 3);
    }
}
