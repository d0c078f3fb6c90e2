//! The system calls, each a safe function.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "constants and sizes that the kernel's own fields hold"
)]

use std::fs::File;
use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::os::unix::thread::JoinHandleExt;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use libc::{c_int, c_void, socklen_t};

mod clock;
mod events;

pub use clock::{monotonic_ns, realtime_ns, sleep_until, tick_after};
pub use events::wait;

fn check(result: c_int) -> Result<c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

fn check_len(result: isize) -> Result<usize> {
    usize::try_from(result).map_err(|_| Error::last_os_error())
}

/// Moves this thread into the network namespace of a file such as `/run/netns/snd`.
///
/// # Errors
/// If the file can't be opened or isn't a network namespace.
pub fn enter_namespace(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    // SAFETY: no memory involved; the descriptor is open.
    check(unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// A new socket, close-on-exec.
///
/// # Errors
/// If the kernel lacks the family or refuses.
pub fn socket(family: c_int, kind: c_int, protocol: c_int) -> Result<OwnedFd> {
    // SAFETY: no memory involved; the result is a new descriptor that nobody else owns.
    let fd = check(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets an option to these bytes.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn set_option(fd: RawFd, level: c_int, name: c_int, value: &[u8]) -> Result<()> {
    let len = socklen_t::try_from(value.len()).map_err(Error::other)?;
    // SAFETY: pointer and length describe `value`.
    check(unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast::<c_void>(), len) })
        .map(drop)
}

/// Reads an option into the buffer; returns the filled part.
///
/// # Errors
/// Errors of `getsockopt(2)`.
pub fn get_option(fd: RawFd, level: c_int, name: c_int, buffer: &mut [u8]) -> Result<&[u8]> {
    let mut len = socklen_t::try_from(buffer.len()).map_err(Error::other)?;
    let to = buffer.as_mut_ptr().cast::<c_void>();
    // SAFETY: pointer and length describe `buffer`.
    check(unsafe { libc::getsockopt(fd, level, name, to, &raw mut len) })?;
    Ok(&buffer[..len as usize])
}

fn ipv4(address: SocketAddrV4) -> libc::sockaddr_in {
    // SAFETY: plain data.
    let mut raw: libc::sockaddr_in = unsafe { zeroed() };
    raw.sin_family = libc::AF_INET as libc::sa_family_t;
    raw.sin_port = address.port().to_be();
    raw.sin_addr.s_addr = u32::from(*address.ip()).to_be();
    raw
}

/// Listens on a port at every address.
///
/// # Errors
/// If the port is taken.
pub fn listen(port: u16) -> Result<OwnedFd> {
    let fd = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    let raw = ipv4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
    let len = size_of::<libc::sockaddr_in>() as socklen_t;
    // SAFETY: `raw` is a sockaddr_in of that length.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const raw).cast(), len) })?;
    // SAFETY: no memory involved.
    check(unsafe { libc::listen(fd.as_raw_fd(), 16) })?;
    Ok(fd)
}

/// Waits for a connection.
///
/// # Errors
/// Errors of `accept(2)`.
pub fn accept(listener: RawFd) -> Result<OwnedFd> {
    let none = std::ptr::null_mut();
    // SAFETY: null pointers ask for no address; the result is a new descriptor.
    let fd = check(unsafe { libc::accept4(listener, none, none.cast(), libc::SOCK_CLOEXEC) })?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Begins to connect a non-blocking socket.
///
/// # Errors
/// Any except "in progress".
pub fn connect(fd: RawFd, to: SocketAddrV4) -> Result<()> {
    let raw = ipv4(to);
    let len = size_of::<libc::sockaddr_in>() as socklen_t;
    // SAFETY: `raw` is a sockaddr_in of that length.
    match check(unsafe { libc::connect(fd, (&raw const raw).cast(), len) }) {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other.map(drop),
    }
}

/// Writes without blocking; `None` when the socket takes nothing now.
///
/// # Errors
/// If the connection is broken.
pub fn send(fd: RawFd, data: &[u8]) -> Result<Option<usize>> {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: pointer and length describe `data`.
    match check_len(unsafe { libc::send(fd, data.as_ptr().cast(), data.len(), flags) }) {
        Err(e) if e.raw_os_error() == Some(libc::EAGAIN) => Ok(None),
        other => other.map(Some),
    }
}

/// Lets a socket tell by an error event when what was written last is acknowledged
/// (Documentation/networking/timestamping.rst).
///
/// # Errors
/// As `setsockopt(2)`.
pub fn tell_acknowledgements(fd: RawFd) -> Result<()> {
    const TX_SOFTWARE_REPORTS: u32 = 1 << 4;
    const TX_ACK: u32 = 1 << 9;
    const WITHOUT_PAYLOAD: u32 = 1 << 11;
    let flags = TX_SOFTWARE_REPORTS | TX_ACK | WITHOUT_PAYLOAD;
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags.to_ne_bytes())
}

/// Takes all acknowledgements that a socket has queued.
///
/// # Errors
/// If the connection is broken.
pub fn take_acknowledgements(fd: RawFd) -> Result<()> {
    let mut control = [0_u64; 64];
    loop {
        // SAFETY: plain data.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: the message points to `control`, whose length it says.
        match check_len(unsafe { libc::recvmsg(fd, &raw mut message, flags) }) {
            Ok(_) => {}
            Err(e) if e.raw_os_error() == Some(libc::EAGAIN) => return Ok(()),
            Err(e) => return Err(e),
        }
    }
}

/// Bytes that were written and aren't acknowledged (SIOCOUTQ).
///
/// # Errors
/// If it isn't a socket.
pub fn unacknowledged_bytes(fd: RawFd) -> Result<c_int> {
    let mut bytes: c_int = 0;
    // SAFETY: the kernel writes one int.
    check(unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(bytes)
}

/// Reads up to `limit` bytes of a TCP stream into nothing, inside the kernel; blocks until that
/// many arrived or the stream ended (0).
///
/// # Errors
/// If the connection is broken.
pub fn discard(fd: RawFd, limit: usize) -> Result<usize> {
    // MSG_TRUNC on TCP drops the data without copying (tcp(7)); WAITALL saves wake-ups.
    let flags = libc::MSG_TRUNC | libc::MSG_WAITALL;
    // SAFETY: with MSG_TRUNC nothing is written, so a null buffer is allowed.
    check_len(unsafe { libc::recv(fd, std::ptr::null_mut(), limit, flags) })
}

/// Reads one message; returns the part that fitted.
///
/// # Errors
/// Errors of `recv(2)`.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> Result<&[u8]> {
    // SAFETY: pointer and length describe `buffer`.
    let len = check_len(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) })?;
    Ok(&buffer[..len])
}

/// Ends the writing side.
///
/// # Errors
/// If it isn't connected.
pub fn shutdown_write(fd: RawFd) -> Result<()> {
    // SAFETY: no memory involved.
    check(unsafe { libc::shutdown(fd, libc::SHUT_WR) }).map(drop)
}

/// A new epoll instance.
///
/// # Errors
/// If the process has no descriptor left.
pub fn epoll() -> Result<OwnedFd> {
    // SAFETY: no memory involved; a new descriptor.
    let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Adds (or, with `modify`, changes) the events to wait for.
///
/// # Errors
/// Errors of `epoll_ctl(2)`.
pub fn watch(epoll: RawFd, fd: RawFd, events: c_int, token: u64, modify: bool) -> Result<()> {
    let op = if modify { libc::EPOLL_CTL_MOD } else { libc::EPOLL_CTL_ADD };
    let mut event = libc::epoll_event { events: events.cast_unsigned(), u64: token };
    // SAFETY: `event` outlives the call.
    check(unsafe { libc::epoll_ctl(epoll, op, fd, &raw mut event) }).map(drop)
}

/// The index of a network device in the current namespace.
///
/// # Errors
/// If there is no such device.
pub fn device_index(name: &str) -> Result<c_int> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: a terminated string.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        index => c_int::try_from(index).map_err(Error::other),
    }
}

/// Makes a device split super-packets into single ones before it sends them (TSO off), so that
/// routers and queues behind it see packets of at most the MTU.
///
/// # Errors
/// If there is no such device or no right to change it.
pub fn segmentation_offload_off(name: &str) -> Result<()> {
    const ETHTOOL_STSO: u32 = 0x1f;
    switch_off(name, ETHTOOL_STSO)
}

/// Makes the kernel compute the checksums of packets from a device of the current namespace, for
/// programs that read them.
///
/// # Errors
/// If there is no such device or no right to change it.
pub fn checksum_offload_off(name: &str) -> Result<()> {
    const ETHTOOL_STXCSUM: u32 = 0x17;
    switch_off(name, ETHTOOL_STXCSUM)
}

/// Sets a device's property to 0 (SIOCETHTOOL).
fn switch_off(name: &str, property: u32) -> Result<()> {
    let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut value = [property, 0];
    // SAFETY: plain data.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    // SAFETY: the request points to a live `ethtool_value`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) })
        .map(drop)
}

/// Sets the loopback device of the current namespace up (netdevice(7)).
///
/// # Errors
/// Without the right to do so.
pub fn loopback_up() -> Result<()> {
    let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    // SAFETY: plain data.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is a live `ifreq`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw mut request) })
        .map(drop)
}

/// Binds a packet socket to a device, all protocols.
///
/// # Errors
/// Errors of `bind(2)`.
pub fn bind_packet(fd: RawFd, device: c_int) -> Result<()> {
    // SAFETY: plain data.
    let mut raw: libc::sockaddr_ll = unsafe { zeroed() };
    raw.sll_family = libc::AF_PACKET as u16;
    raw.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    raw.sll_ifindex = device;
    let len = size_of::<libc::sockaddr_ll>() as socklen_t;
    // SAFETY: `raw` is a sockaddr_ll of that length.
    check(unsafe { libc::bind(fd, (&raw const raw).cast(), len) }).map(drop)
}

/// Lets reads of a socket time out without a message.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn receive_timeout(fd: RawFd, milliseconds: u64) -> Result<()> {
    let timeout = [milliseconds / 1000, milliseconds % 1000 * 1000];
    let bytes = timeout.map(u64::to_ne_bytes).concat();
    set_option(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &bytes)
}

/// Packets that a packet socket missed because they weren't read in time (packet(7)).
///
/// # Errors
/// Errors of `getsockopt(2)`.
pub fn missed_packets(fd: RawFd) -> Result<u64> {
    // A `tpacket_stats`: packets and drops, both of 32 bits.
    let mut stats = [0; 8];
    get_option(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut stats)?;
    Ok(u32::from_ne_bytes([stats[4], stats[5], stats[6], stats[7]]).into())
}

/// One captured packet.
pub struct CapturedPacket {
    /// CLOCK_REALTIME of the capture, ns.
    pub at_ns: u64,
    /// Whether this host sent it.
    pub outgoing: bool,
    /// How much of the buffer is filled.
    pub len: usize,
}

/// Reads one packet and its time stamp (SO_TIMESTAMPNS) from a packet socket.
///
/// # Errors
/// Errors of `recvmsg(2)`.
pub fn capture(fd: RawFd, buffer: &mut [u8]) -> Result<CapturedPacket> {
    let mut control = [0_u64; 16];
    let mut io = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: plain data.
    let (mut from, mut msg): (libc::sockaddr_ll, libc::msghdr) = unsafe { (zeroed(), zeroed()) };
    msg.msg_name = (&raw mut from).cast();
    msg.msg_namelen = size_of::<libc::sockaddr_ll>() as socklen_t;
    msg.msg_iov = &raw mut io;
    msg.msg_iovlen = 1;
    msg.msg_control = control.as_mut_ptr().cast();
    msg.msg_controllen = size_of_val(&control) as _; // its type is that of the C library
    // SAFETY: every pointer in `msg` is to a live local of the stated size.
    let len = check_len(unsafe { libc::recvmsg(fd, &raw mut msg, 0) })?;
    // A header of 16 bytes (length, level, type), then the timespec.
    let at_ns = control[2] * 1_000_000_000 + control[3];
    Ok(CapturedPacket { at_ns, outgoing: from.sll_pkttype == libc::PACKET_OUTGOING, len })
}

/// Has a system call in which a thread waits fail with `Interrupted`.
///
/// # Errors
/// If the signal can't be handled.
pub fn interrupt<T>(thread: &JoinHandle<T>) -> Result<()> {
    extern "C" fn ignore(_: c_int) {}
    // SAFETY: plain data; without SA_RESTART.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = ignore as *const () as usize;
    // SAFETY: the handler does nothing, and nothing else uses this signal.
    check(unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) })?;
    // SAFETY: the handle isn't joined yet, so the thread's number is valid even if it has ended.
    unsafe { libc::pthread_kill(thread.as_pthread_t() as _, libc::SIGUSR1) };
    Ok(())
}

/// Lets the kernel kill the child when the thread that starts it ends.
pub fn dies_with_us(command: &mut Command) -> &mut Command {
    let parent = std::process::id().cast_signed();
    // SAFETY: between fork and exec only prctl(2) and getppid(2) are called, which are
    // async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // A parent that died before that sends no signal.
            if libc::getppid() == parent {
                Ok(())
            } else {
                Err(Error::from_raw_os_error(libc::ESRCH))
            }
        })
    }
}

/// Asks a child to end (SIGTERM).
///
/// # Errors
/// If it has been waited for already.
pub fn terminate(child: u32) -> Result<()> {
    let child = libc::pid_t::try_from(child).map_err(Error::other)?;
    // SAFETY: no memory involved.
    check(unsafe { libc::kill(child, libc::SIGTERM) }).map(drop)
}

/// Sends a signal to a group of processes; one that is gone needs none.
///
/// # Errors
/// Never in practice.
pub fn signal_group(leader: u32, signal: c_int) -> Result<()> {
    let group = libc::pid_t::try_from(leader).map_err(Error::other)?;
    // SAFETY: no memory involved.
    match check(unsafe { libc::kill(-group, signal) }) {
        Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        other => other.map(drop),
    }
}

/// A descriptor of a child that is readable once it has ended (pidfd_open(2)).
///
/// # Errors
/// If the kernel is older than 5.3.
pub fn process_descriptor(child: u32) -> Result<OwnedFd> {
    let child = libc::pid_t::try_from(child).map_err(Error::other)?;
    // SAFETY: no memory involved; the result is a new descriptor that nobody else owns.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
    let fd = check(fd as c_int)?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Powers a virtual machine off.
///
/// # Errors
/// If this isn't the machine's first process: anyone who runs the tool elsewhere, perhaps as root,
/// doesn't mean the whole machine.
pub fn power_off() -> Result<()> {
    let own = std::process::id();
    if own != 1 {
        let found = format!("found process {own}; the first process of a guest would be right");
        return Err(Error::other(format!("power-off: {found}")));
    }
    // SAFETY: no memory involved.
    check(unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF)
    })
    .map(drop)
}
