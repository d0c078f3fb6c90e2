//! Waits for events of an epoll instance.

use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::ptr::{from_ref, null};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::clock::timespec;

/// Descriptors to wait for, each with a token (epoll(7)).
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl Epoll {
    /// Without a descriptor.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new() -> Result<Self> {
        Ok(Self(epoll::create(CreateFlags::CLOEXEC)?))
    }

    /// Waits for these events of a descriptor as well.
    ///
    /// # Errors
    /// Errors of `epoll_ctl(2)`.
    pub fn add(&self, descriptor: impl AsFd, events: EventFlags, token: u64) -> Result<()> {
        Ok(epoll::add(&self.0, descriptor, EventData::new_u64(token), events)?)
    }

    /// Changes the events of a descriptor.
    ///
    /// # Errors
    /// Errors of `epoll_ctl(2)`.
    pub fn modify(&self, descriptor: impl AsFd, events: EventFlags, token: u64) -> Result<()> {
        Ok(epoll::modify(&self.0, descriptor, EventData::new_u64(token), events)?)
    }

    /// Waits up to `timeout_ns`; returns (token, events) pairs.
    ///
    /// # Errors
    /// Any except an interruption by a signal.
    pub fn wait(&self, timeout_ns: u64) -> Result<Vec<(u64, EventFlags)>> {
        let mut events = NO_EVENTS;
        let timeout = timespec(timeout_ns);
        let found = match epoll_pwait2(&self.0, &mut events, &timeout) {
            Err(Errno::NOSYS) => poll_epoll(&self.0, &mut events, &timeout),
            found => found,
        };
        match found {
            Ok(n) => Ok(events[..n].iter().map(|event| (event.data.u64(), event.flags)).collect()),
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

const MOST_EVENTS: usize = 64;
type Events = [Event; MOST_EVENTS];
const NO_EVENTS: Events =
    [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; MOST_EVENTS];

/// Waits with a time limit in ns (since Linux 5.11); returns the number of events.
fn epoll_pwait2(
    epoll: &OwnedFd,
    events: &mut Events,
    timeout: &Timespec,
) -> rustix::io::Result<usize> {
    let (call, fd, most) = (libc::SYS_epoll_pwait2, epoll.as_raw_fd(), MOST_EVENTS as libc::c_int);
    let (to, limit, no_mask) = (events.as_mut_ptr(), from_ref(timeout), null::<libc::sigset_t>());
    // SAFETY: `Event` is a `struct epoll_event`, the array has MOST_EVENTS, and the time limit
    // outlives the call.
    let n = unsafe { libc::syscall(call, fd, to, most, limit, no_mask, 0_usize) };
    usize::try_from(n)
        .map_err(|_| Errno::from_io_error(&Error::last_os_error()).unwrap_or(Errno::INVAL))
}

/// Waits by `ppoll(2)` on the instance, for kernels without `epoll_pwait2`; returns the number of
/// events. Its time limit is in ns, too.
fn poll_epoll(
    epoll: &OwnedFd,
    events: &mut Events,
    timeout: &Timespec,
) -> rustix::io::Result<usize> {
    poll(&mut [PollFd::new(epoll, PollFlags::IN)], Some(timeout))?;
    epoll::wait(epoll, events, Some(&timespec(0)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn both_ways_to_wait_find_the_same_events() -> Result<()> {
        let (mut near, far) = UnixStream::pair()?;
        let instance = Epoll::new()?;
        instance.add(&far, EventFlags::IN, 7)?;
        let ways = [epoll_pwait2, poll_epoll];
        let counts =
            |events: &mut Events| ways.map(|wait| wait(&instance.0, events, &timespec(1_000)));
        let mut events = NO_EVENTS;
        assert_eq!(counts(&mut events), [Ok(0), Ok(0)]);
        near.write_all(b"x")?;
        assert_eq!(counts(&mut events), [Ok(1), Ok(1)]);
        assert_eq!({ events[0].data }.u64(), 7);
        assert_eq!(instance.wait(0)?, [(7, EventFlags::IN)]);
        instance.modify(&far, EventFlags::empty(), 7)?;
        assert_eq!(instance.wait(0)?, []);
        Ok(())
    }
}
