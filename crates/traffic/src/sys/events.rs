//! Waits for events of an epoll instance.

use std::io::{Error, Result};
use std::os::fd::RawFd;

use libc::{c_int, c_void};

use super::check;
use super::clock::timespec;

/// Waits up to `timeout_ns`; returns (token, events) pairs.
///
/// # Errors
/// Any except an interruption by a signal.
pub fn wait(epoll: RawFd, timeout_ns: u64) -> Result<Vec<(u64, c_int)>> {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST_EVENTS];
    let timeout = timespec(timeout_ns);
    let found = match epoll_pwait2(epoll, &mut events, &timeout) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            poll_epoll(epoll, &mut events, &timeout)
        }
        found => found,
    };
    match found {
        Ok(n) => Ok(events[..n].iter().map(|e| (e.u64, e.events.cast_signed())).collect()),
        Err(error) if error.raw_os_error() == Some(libc::EINTR) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

const MOST_EVENTS: usize = 64;
type Events = [libc::epoll_event; MOST_EVENTS];

/// Waits with a time-out in ns (since Linux 5.11); returns the number of events.
fn epoll_pwait2(epoll: RawFd, events: &mut Events, timeout: &libc::timespec) -> Result<usize> {
    // SAFETY: the array has MOST_EVENTS entries, the time-out outlives the call, no signal mask.
    let n = unsafe {
        let to = events.as_mut_ptr();
        let no_mask = std::ptr::null::<c_void>();
        let t = std::ptr::from_ref(timeout);
        libc::syscall(libc::SYS_epoll_pwait2, epoll, to, MOST_EVENTS as c_int, t, no_mask, 0_usize)
    };
    usize::try_from(n).map_err(|_| Error::last_os_error())
}

/// Waits by `ppoll(2)` on the instance, for kernels without `epoll_pwait2`; returns the number of
/// events. Its time-out is in ns, too.
fn poll_epoll(epoll: RawFd, events: &mut Events, timeout: &libc::timespec) -> Result<usize> {
    let mut polled = libc::pollfd { fd: epoll, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, and the time-out outlives the call; no signal mask.
    check(unsafe {
        libc::ppoll(&raw mut polled, 1, std::ptr::from_ref(timeout), std::ptr::null())
    })?;
    // SAFETY: the array has MOST_EVENTS entries.
    let n = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), MOST_EVENTS as c_int, 0) };
    usize::try_from(check(n)?).map_err(Error::other)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::sys::{epoll, watch};

    #[test]
    fn both_ways_to_wait_find_the_same_events() -> Result<()> {
        let (mut near, far) = UnixStream::pair()?;
        let instance = epoll()?;
        watch(instance.as_raw_fd(), far.as_raw_fd(), libc::EPOLLIN, 7, false)?;
        let ways = [epoll_pwait2, poll_epoll];
        let counts = |events: &mut Events| {
            ways.map(|wait| wait(instance.as_raw_fd(), events, &timespec(1_000)).ok())
        };
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST_EVENTS];
        assert_eq!(counts(&mut events), [Some(0), Some(0)]);
        near.write_all(b"x")?;
        assert_eq!(counts(&mut events), [Some(1), Some(1)]);
        assert_eq!({ events[0].u64 }, 7);
        Ok(())
    }
}
