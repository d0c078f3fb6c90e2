//! Clocks with signed times, as scripts have times before their start.

use std::io::Result;

use narrows_linux::clock;
use rustix::event::{PollFd, poll};
use rustix::io::Errno;

/// CLOCK_MONOTONIC in ns.
pub fn monotonic_ns() -> i64 {
    clock::monotonic_ns().cast_signed()
}

/// CLOCK_REALTIME in ns, the clock of packets' timestamps.
pub fn realtime_ns() -> i64 {
    clock::realtime_ns().cast_signed()
}

/// The length of the kernel's tick in ns.
pub fn tick_ns() -> i64 {
    clock::tick_ns().cast_signed()
}

/// Waits until one of the descriptors can be read; returns which can.
pub fn wait<const N: usize>(mut polled: [PollFd<'_>; N]) -> Result<[bool; N]> {
    loop {
        match poll(&mut polled, None) {
            Ok(_) => return Ok(polled.map(|each| !each.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
