//! Decides when the router spins.

use narrows_base::Duration;

/// The router spins for this long before a deadline instead of sleeping, since a sleep ends late.
const SPIN: Duration = Duration::from_micros(50);
/// Window over which the use of the processor is measured.
const WINDOW_NS: u64 = 10_000_000;
/// The kernel stops real-time threads for 50 ms once they used 95 % of a second
/// (sched_rt_runtime_us); at high rates spinning alone would reach that.
const MOST_PERCENT: u64 = 80;

/// Spins as long as the thread leaves the processor some idle time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spin {
    wall_ns: u64,
    cpu_ns: u64,
    allowed: bool,
}

impl Spin {
    /// Spins until the first window is over.
    pub(crate) const fn new() -> Self {
        Self { wall_ns: 0, cpu_ns: 0, allowed: true }
    }

    /// How long before a deadline to spin; `cpu_ns` returns the thread's processor time.
    pub(crate) fn time_to_spin(&mut self, wall_ns: u64, cpu_ns: impl FnOnce() -> u64) -> Duration {
        let elapsed = wall_ns.saturating_sub(self.wall_ns);
        if elapsed >= WINDOW_NS {
            let cpu_ns = cpu_ns();
            let used = cpu_ns.saturating_sub(self.cpu_ns);
            *self = Self { wall_ns, cpu_ns, allowed: used * 100 < elapsed * MOST_PERCENT };
        }
        if self.allowed { SPIN } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_window_is_followed_by_one_without_spinning() {
        let mut spin = Spin::new();
        assert_eq!(spin.time_to_spin(9_999_999, || unreachable!("too early")), SPIN);
        assert_eq!(spin.time_to_spin(10_000_000, || 8_000_000), Duration::ZERO);
        assert_eq!(spin.time_to_spin(15_000_000, || unreachable!("too early")), Duration::ZERO);
        assert_eq!(spin.time_to_spin(20_000_000, || 15_900_000), SPIN);
    }
}
