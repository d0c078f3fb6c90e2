//! The router's own system calls, and its settings of sockets and threads.

use std::io::{IoSlice, Result};
use std::os::fd::{AsFd, OwnedFd};

use narrows_linux::clock::{self, timespec};
use narrows_linux::device::device_index;
use narrows_linux::packets::{bind_packets, precede_with_headers, stamp_packets};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, TxTimeFlags};
use rustix::thread::{CpuSet, clock_nanosleep_absolute, sched_getaffinity, sched_setaffinity};
use rustix::time::ClockId;

/// The protocol of IPv4 in Ethernet.
const ETH_P_IP: i32 = 0x0800;
/// Frames that wait at the gate: more than any burst, or what is due in a window.
const FRAME_BYTES: usize = 128 << 20;

/// The lead of CLOCK_REALTIME over CLOCK_MONOTONIC, in ns.
pub(crate) fn realtime_ahead_ns() -> u64 {
    // A guest's clock goes on by a fixed step with each look at it.
    let (before, realtime, after) =
        (clock::monotonic_ns(), clock::realtime_ns(), clock::monotonic_ns());
    realtime.saturating_sub(before.midpoint(after))
}

/// Pins this thread to the last of the processors that it may use, and returns its number; `None`
/// if there is only one, or it isn't allowed.
pub(crate) fn pin() -> Option<usize> {
    let allowed = sched_getaffinity(None).ok()?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|&cpu| allowed.is_set(cpu))?;
    let mut chosen = CpuSet::new();
    chosen.set(last);
    (allowed.count() > 1 && sched_setaffinity(None, &chosen).is_ok()).then_some(last)
}

/// A socket for the IPv4 frames of a device of the current namespace; each has its time both ways.
///
/// With `offloads` each frame follows a header, as on a TUN device with them.
pub(crate) fn frame_socket(name: &str, offloads: bool) -> Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    // The protocol is 0, so that nothing is received before the device is chosen.
    let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
    rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, FRAME_BYTES)?;
    rustix::net::sockopt::set_socket_send_buffer_size_force(&socket, FRAME_BYTES)?;
    rustix::net::sockopt::set_txtime(&socket, ClockId::Monotonic, TxTimeFlags::empty())?;
    stamp_packets(&socket)?;
    if offloads {
        precede_with_headers(&socket)?;
    }
    bind_packets(&socket, ETH_P_IP, device_index(name)?)?;
    Ok(socket)
}

/// Reads a packet; `None` if there is none now.
pub(crate) fn read_packet<'a>(tun: &OwnedFd, buffer: &'a mut [u8]) -> Result<Option<&'a [u8]>> {
    match rustix::io::read(tun, &mut *buffer) {
        Ok(len) => Ok(Some(&buffer[..len])),
        Err(rustix::io::Errno::AGAIN) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Passes a packet, in several parts, to the host behind the device.
pub(crate) fn write_parts<const N: usize>(device: &OwnedFd, parts: [&[u8]; N]) -> Result<()> {
    rustix::io::writev(device, &parts.map(IoSlice::new))?;
    Ok(())
}

/// Sleeps until CLOCK_MONOTONIC has this value.
pub(crate) fn sleep_until(monotonic_ns: u64) -> Result<()> {
    while monotonic_ns > clock::monotonic_ns() {
        match clock_nanosleep_absolute(ClockId::Monotonic, &timespec(monotonic_ns)) {
            Ok(()) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Waits up to `nanos` until one of them has a packet; the end may be late by a thousandth of that
/// (`select_estimate_accuracy()` of Linux).
pub(crate) fn wait_readable<'a>(
    devices: impl Iterator<Item = &'a OwnedFd>,
    nanos: u64,
) -> Result<()> {
    let polled = |device: &'a OwnedFd| PollFd::from_borrowed_fd(device.as_fd(), PollFlags::IN);
    let mut set: Vec<_> = devices.map(polled).collect();
    match poll(&mut set, Some(&timespec(nanos))) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
