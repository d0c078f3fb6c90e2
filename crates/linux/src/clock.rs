//! The kernel's clocks and timers.

use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_getres,
    clock_gettime, timerfd_create, timerfd_settime,
};

/// Nanoseconds of a second.
pub const NANOS: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC in ns.
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// CLOCK_REALTIME in ns, the clock of packets' timestamps.
#[must_use]
pub fn realtime_ns() -> u64 {
    clock_ns(ClockId::Realtime)
}

/// The processor time of this thread in ns.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    t.tv_sec.cast_unsigned() * NANOS + t.tv_nsec.cast_unsigned()
}

/// The length of the kernel's tick in ns, which is the coarse clock's resolution. Since Linux 6.4
/// ticks are at multiples of it (`tick_init_jiffy_update`).
#[must_use]
pub fn tick_ns() -> u64 {
    clock_getres(ClockId::MonotonicCoarse).tv_nsec.cast_unsigned().max(1)
}

/// A time as the kernel takes it.
#[must_use]
pub const fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NANOS).cast_signed(), tv_nsec: (ns % NANOS).cast_signed() }
}

/// A timer (timerfd_create(2)), to wait for with other descriptors.
///
/// The time limit of `epoll(7)` or `poll(2)` itself may be late by a thousandth of its length
/// (`select_estimate_accuracy()`): by 24 ms after the 24 s in which guests in virtual time boot.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// A timer that isn't set.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new() -> Result<Self> {
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?))
    }

    /// Sets the time at which it is readable.
    ///
    /// # Errors
    /// If the time is more than 292 years after the boot.
    pub fn set(&self, monotonic_ns: u64) -> Result<()> {
        // All zeros would disarm the timer. The interval is 0, for a single expiry.
        let when = Itimerspec { it_interval: timespec(0), it_value: timespec(monotonic_ns.max(1)) };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &when)?;
        Ok(())
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sleeps until CLOCK_MONOTONIC has this value.
///
/// # Errors
/// If the process has no descriptor left.
pub fn sleep_until(monotonic_ns: u64) -> Result<()> {
    let alarm = Alarm::new()?;
    alarm.set(monotonic_ns)?;
    let mut expirations = [0; 8];
    loop {
        match rustix::io::read(&alarm, &mut expirations) {
            Err(Errno::INTR) => {}
            done => return Ok(done.map(drop)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_100_to_1000_ticks_a_second() {
        assert!((1_000_000..=10_000_000).contains(&tick_ns()));
    }

    #[test]
    fn a_sleep_ends_at_its_time_or_later() -> Result<()> {
        let end = monotonic_ns() + 2_000_000;
        sleep_until(end)?;
        assert!(monotonic_ns() >= end);
        sleep_until(0)
    }
}
