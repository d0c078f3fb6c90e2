//! System calls for which `rustix` has no safe function, and small wrappers of others.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::mem::zeroed;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, TxTimeFlags};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{
    CpuSet, LinkNameSpaceType, UnshareFlags, clock_nanosleep_absolute, sched_getaffinity,
    sched_setaffinity,
};
use rustix::time::{ClockId, clock_gettime};

const TUN_DEVICE: &str = "/dev/net/tun";
/// Above interactive and below watchdog priorities.
const PRIORITY: libc::c_int = 50;
/// Values for the fields of `struct sockaddr_ll` (packet(7)).
const AF_PACKET: u16 = 17;
const ETH_P_IP: u16 = 0x0800;
const SOCKADDR_LL: u32 = 20;
/// An option of packet sockets (packet(7)).
const PACKET_VNET_HDR: libc::c_int = 15;
/// Frames that wait at the gate: more than any burst, or what is due in a window.
const FRAME_BYTES: usize = 128 << 20;
/// Nanoseconds of a second.
pub(crate) const NANOS: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC in ns.
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// The lead of CLOCK_REALTIME over CLOCK_MONOTONIC, in ns.
pub(crate) fn realtime_ahead_ns() -> u64 {
    // A guest's clock goes on by a fixed step with each look at it.
    let (before, realtime, after) = (monotonic_ns(), clock_ns(ClockId::Realtime), monotonic_ns());
    realtime.saturating_sub(before.midpoint(after))
}

/// The processor time of this thread in ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    t.tv_sec.cast_unsigned() * NANOS + t.tv_nsec.cast_unsigned()
}

fn set_scheduling(policy: libc::c_int, priority: libc::c_int) -> Result<()> {
    // The system call itself, because musl's function refuses: it would have to change the process.
    // The kernel's `struct sched_param` is the priority alone.
    let call = libc::SYS_sched_setscheduler;
    // SAFETY: `priority` outlives the call; 0 is this thread.
    match unsafe { libc::syscall(call, 0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Gives this thread, and those that it will start, real-time priority (SCHED_FIFO).
///
/// # Errors
/// If that isn't allowed, as in a user namespace.
pub fn real_time_scheduling() -> Result<()> {
    set_scheduling(libc::SCHED_FIFO, PRIORITY)
}

/// Makes this thread an ordinary one again.
///
/// # Errors
/// Never in practice: it is always allowed.
pub fn normal_scheduling() -> Result<()> {
    set_scheduling(libc::SCHED_OTHER, 0)
}

/// Lets timers of this thread fire on time; ordinary threads are otherwise 50 us late.
pub(crate) fn exact_timers() {
    // It fails only if the kernel lacks the setting, and then there is nothing to do.
    _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
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

/// Lets the kernel kill this process when the thread that started it ends.
///
/// # Errors
/// If the process `parent` is already gone, since no signal would follow.
pub fn die_with_parent(parent: Option<Pid>) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == parent { Ok(()) } else { Err(Error::from(rustix::io::Errno::SRCH)) }
}

/// Lets the kernel kill the child when the thread that starts it ends.
pub fn dies_with_us(command: &mut Command) -> &mut Command {
    let us = Some(getpid());
    // SAFETY: between fork and exec only prctl(2) and getppid(2) are called, which are
    // async-signal-safe.
    unsafe { command.pre_exec(move || die_with_parent(us)) }
}

/// Moves this thread into new namespaces of these kinds.
pub(crate) fn unshare(kinds: UnshareFlags) -> Result<()> {
    assert!(!kinds.contains(UnshareFlags::FILES), "descriptors are shared between threads here");
    // SAFETY: only FILES could affect other threads' descriptors.
    Ok(unsafe { rustix::thread::unshare_unsafe(kinds) }?)
}

/// Moves this thread into a network namespace.
pub(crate) fn enter(namespace: BorrowedFd<'_>) -> Result<()> {
    let kind = Some(LinkNameSpaceType::Network);
    Ok(rustix::thread::move_into_link_name_space(namespace, kind)?)
}

/// Makes a TUN device in the current namespace, with raw IP packets, one per read. With `offloads`
/// the host leaves checksums and segmentation to it, and each packet follows a header.
pub(crate) fn open_tun(name: &str, offloads: bool) -> Result<OwnedFd> {
    const CHECKSUMS_AND_TCP: libc::c_ulong = 1 | 2 | 8; // TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO_ECN
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(TUN_DEVICE).map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied => Error::other(format!(
            "{TUN_DEVICE} isn't open to this user; root, or mode 0666 for it,"
        )),
        _ => Error::other(format!("there is no usable {TUN_DEVICE} ({e}); `modprobe tun`")),
    })?;
    // SAFETY: plain data.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.as_bytes()) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    #[expect(clippy::cast_possible_truncation, reason = "flags of 16 bits")]
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI | if offloads { libc::IFF_VNET_HDR } else { 0 })
        as libc::c_short;
    request.ifr_ifru.ifru_flags = flags;
    let said = |e| Error::other(format!("{TUN_DEVICE} makes no device ({e}); `modprobe tun`"));
    // SAFETY: the request is a live `ifreq`, as TUNSETIFF requires.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) } != 0 {
        return Err(said(Error::last_os_error()));
    }
    // SAFETY: no memory involved.
    if offloads
        && unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, CHECKSUMS_AND_TCP) }
            != 0
    {
        return Err(said(Error::last_os_error()));
    }
    Ok(file.into())
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
    switch_on(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)?;
    if offloads {
        switch_on(&socket, libc::SOL_PACKET, PACKET_VNET_HDR)?;
    }
    // SAFETY: plain data.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = AF_PACKET;
    address.sll_protocol = ETH_P_IP.to_be();
    address.sll_ifindex = device_index(name)?.cast_signed();
    let (place, length) = ((&raw const address).cast(), SOCKADDR_LL);
    // SAFETY: the address is a live `sockaddr_ll` of this length.
    match unsafe { libc::bind(socket.as_raw_fd(), place, length) } {
        0 => Ok(socket),
        _ => Err(Error::last_os_error()),
    }
}

/// Sets an option of a socket that is on or off.
fn switch_on(socket: &OwnedFd, level: libc::c_int, option: libc::c_int) -> Result<()> {
    let on = 1_i32;
    let place = (&raw const on).cast();
    // SAFETY: the value is a live `int` of the stated size.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, place, 4) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// The number of a device in the current namespace.
pub(crate) fn device_index(name: &str) -> Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: a terminated string.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        index => Ok(index),
    }
}

/// Sends a request to rtnetlink in the current namespace and waits for its acknowledgement.
pub(crate) fn netlink_request(message: &[u8]) -> Result<()> {
    let family = AddressFamily::NETLINK;
    // No protocol is protocol 0: NETLINK_ROUTE.
    let socket = rustix::net::socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    rustix::net::send(&socket, message, SendFlags::empty())?;
    let mut answer = [0_u8; 1024];
    rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    // A `nlmsghdr` of 16 bytes, then the negative error number; 0 acknowledges.
    match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
        0 => Ok(()),
        error => Err(Error::from_raw_os_error(-error)),
    }
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
    while monotonic_ns > self::monotonic_ns() {
        match clock_nanosleep_absolute(ClockId::Monotonic, &timespec(monotonic_ns)) {
            Ok(()) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

const fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / NANOS).cast_signed(), tv_nsec: (nanos % NANOS).cast_signed() }
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
