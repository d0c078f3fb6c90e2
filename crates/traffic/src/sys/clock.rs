//! The kernel's clocks.

use std::fs::File;
use std::io::{Error, Read as _, Result};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

fn clock(id: libc::clockid_t) -> u64 {
    // SAFETY: the structure is plain data and ours.
    let mut t: libc::timespec = unsafe { zeroed() };
    // SAFETY: `t` outlives the call.
    unsafe { libc::clock_gettime(id, &raw mut t) };
    u64::try_from(t.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(t.tv_nsec).unwrap_or(0)
}

/// CLOCK_MONOTONIC in ns.
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME in ns, the clock of packet time stamps.
#[must_use]
pub fn realtime_ns() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// The kernel's next tick from `monotonic_ns` on. Since Linux 6.4 ticks are at multiples of their
/// length (`tick_init_jiffy_update`), which is the resolution of the coarse clock.
#[must_use]
pub fn tick_after(monotonic_ns: u64) -> u64 {
    // SAFETY: the structure is plain data and ours.
    let mut tick: libc::timespec = unsafe { zeroed() };
    // SAFETY: `tick` outlives the call.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick) };
    let length = u64::try_from(tick.tv_nsec).unwrap_or(0).max(1);
    monotonic_ns.next_multiple_of(length)
}

/// Sleeps until CLOCK_MONOTONIC has this value.
///
/// A time limit of `epoll(7)` or `poll(2)` would be up to a thousandth of its length late
/// (`select_estimate_accuracy()`): 24 ms after the 24 s in which guests in virtual time boot.
///
/// # Errors
/// If the process has no descriptor left.
pub fn sleep_until(monotonic_ns: u64) -> Result<()> {
    // SAFETY: no memory involved.
    let timer = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
    if timer < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    let timer = unsafe { OwnedFd::from_raw_fd(timer) };
    // SAFETY: plain data; the interval stays 0, for a single expiry.
    let mut when: libc::itimerspec = unsafe { zeroed() };
    // All zeros would disarm the timer.
    when.it_value = timespec(monotonic_ns.max(1));
    let (flags, old) = (libc::TFD_TIMER_ABSTIME, std::ptr::null_mut());
    // SAFETY: `when` outlives the call, and a null pointer asks for no old value.
    if unsafe { libc::timerfd_settime(timer.as_raw_fd(), flags, &raw const when, old) } < 0 {
        return Err(Error::last_os_error());
    }
    let mut timer = File::from(timer);
    timer.read_exact(&mut [0; size_of::<u64>()])
}

/// A time as the kernel takes it.
pub(super) const fn timespec(ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_at_multiples_of_their_length() {
        let length = tick_after(1);
        assert!((1_000_000..=10_000_000).contains(&length), "HZ is 100 to 1000");
        assert_eq!([tick_after(length), tick_after(length + 1)], [length, 2 * length]);
    }
}
