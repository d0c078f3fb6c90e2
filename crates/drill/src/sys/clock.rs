//! Clocks, and waiting for descriptors until a time.

use std::io::{Error, Result};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const NANOS_PER_SEC: i64 = 1_000_000_000;

fn clock(id: libc::clockid_t) -> i64 {
    // SAFETY: plain data.
    let mut time: libc::timespec = unsafe { zeroed() };
    // SAFETY: `time` outlives the call.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec * NANOS_PER_SEC + time.tv_nsec
}

/// CLOCK_MONOTONIC in ns.
pub fn monotonic_ns() -> i64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME in ns, the clock of packets' timestamps.
pub fn realtime_ns() -> i64 {
    clock(libc::CLOCK_REALTIME)
}

/// The length of the kernel's tick in ns, which is the coarse clock's resolution.
pub fn coarse_tick_ns() -> i64 {
    // SAFETY: plain data.
    let mut tick: libc::timespec = unsafe { zeroed() };
    // SAFETY: `tick` outlives the call.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick) };
    tick.tv_nsec.max(1)
}

/// A timer among the descriptors that are waited for; the time limit of `poll(2)` itself may be
/// late by a thousandth of its length.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// A timer that isn't set.
    pub fn new() -> Result<Self> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no memory involved.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: a new descriptor that nobody else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Sets the time.
    pub fn set(&self, monotonic_ns: i64) -> Result<()> {
        // SAFETY: plain data; the interval stays 0, for a single expiry.
        let mut when: libc::itimerspec = unsafe { zeroed() };
        // All zeros would disarm the timer.
        let at = monotonic_ns.max(1);
        when.it_value = libc::timespec { tv_sec: at / NANOS_PER_SEC, tv_nsec: at % NANOS_PER_SEC };
        let (fd, flags) = (self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
        // SAFETY: `when` outlives the call, and a null pointer asks for no old value.
        if unsafe { libc::timerfd_settime(fd, flags, &raw const when, std::ptr::null_mut()) } < 0 {
            return Err(Error::last_os_error());
        }
        Ok(())
    }

    /// The descriptor, which is readable from the set time on.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Waits until one of the descriptors can be read; returns which can.
pub fn wait<const N: usize>(fds: [RawFd; N]) -> Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    loop {
        // SAFETY: the array has this many elements and outlives the call.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), super::raw::len(N), -1) };
        if ready >= 0 {
            return Ok(polled.map(|each| each.revents != 0));
        }
        let error = Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
