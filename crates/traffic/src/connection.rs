//! A connection of ours at the sending host.

use std::io::Result;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::time::Duration;

use narrows_base::Dscp;
use narrows_linux::socket::{get_option, set_option, tell_acknowledgements};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sockopt};

use crate::info::{self, TcpInfo};
use crate::stage::EpollRegistration;

/// A number of bytes as socket options take it.
pub fn as_option(bytes: u64) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

/// How a connection is opened.
#[derive(Clone, Copy)]
pub struct ConnectOptions<'a> {
    /// The kernel's name of its congestion control.
    pub cca: &'a str,
    /// The receiver.
    pub to: SocketAddrV4,
    /// The values of the sysctl `tcp_ecn` while it connects, and afterwards; untouched if none.
    pub tcp_ecn: Option<[u8; 2]>,
    /// Unsent data from which on the socket takes no more, bytes; untouched if none.
    pub notsent_lowat: Option<u64>,
    /// The DSCP of what it sends; untouched if none.
    pub dscp: Option<Dscp>,
    /// True if it is reset when it is closed, so that a network carries nothing after a run.
    pub resets: bool,
}

impl ConnectOptions<'_> {
    /// Connects a socket of an application that pauses between writes; it reports by an error event
    /// when what was written is acknowledged. It is watched for `events` besides.
    ///
    /// # Errors
    /// If the kernel lacks the congestion control or refuses the connection.
    pub fn open(&self, registration: EpollRegistration<'_>, events: EventFlags) -> Result<OwnedFd> {
        self.connect(registration, events, true)
    }

    /// Connects a socket that is watched for room to write.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_for_bulk(&self, registration: EpollRegistration<'_>) -> Result<OwnedFd> {
        self.connect(registration, EventFlags::OUT, false)
    }

    fn connect(
        &self,
        registration: EpollRegistration<'_>,
        events: EventFlags,
        tells: bool,
    ) -> Result<OwnedFd> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        // Before connect: the pacing that BBR asks for would stay with the socket.
        sockopt::set_tcp_congestion(&fd, self.cca)?;
        if let Some(bytes) = self.notsent_lowat {
            set_option(&fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, as_option(bytes))?;
        }
        if let Some(dscp) = self.dscp {
            sockopt::set_ip_tos(&fd, dscp.bits() << 2)?;
        }
        if self.resets {
            sockopt::set_socket_linger(&fd, Some(Duration::ZERO))?;
        }
        if tells {
            tell_acknowledgements(&fd)?;
            // The last packet of an answer leaves at once.
            sockopt::set_tcp_nodelay(&fd, true)?;
        }
        registration.epoll.add(&fd, events, registration.token)?;
        self.set_ecn(0)?;
        match rustix::net::connect(&fd, &self.to) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(e.into()),
        }
        self.set_ecn(1)?;
        Ok(fd)
    }

    /// The SYN, which leaves within connect(2), asks for what the namespace is set to.
    fn set_ecn(&self, which: usize) -> Result<()> {
        let Some(values) = self.tcp_ecn else { return Ok(()) };
        std::fs::write("/proc/sys/net/ipv4/tcp_ecn", [values[which]])
    }
}

/// The kernel's `TCP_INFO` of a connection, and its congestion control's own words.
#[must_use]
pub fn info(fd: &OwnedFd) -> Option<(TcpInfo, [u32; 5])> {
    let (tcp, mut buffer) = (libc::IPPROTO_TCP, [0; 256]);
    let raw = get_option(fd, tcp, libc::TCP_INFO, &mut buffer).ok()?;
    let info = TcpInfo::decode(raw);
    let cc = get_option(fd, tcp, libc::TCP_CC_INFO, &mut buffer);
    Some((info, info::decode_cc(cc.unwrap_or(&[]))))
}

/// Writes zeros until the socket is full or nothing is left, but no more than 16 MiB: a receiver that
/// takes them as fast would keep us here beyond samples and the end.
///
/// # Errors
/// If the connection is broken.
pub fn write_all(fd: &OwnedFd, left: &mut Option<u64>) -> Result<()> {
    static ZEROS: [u8; 256 * 1024] = [0; 256 * 1024];
    const TURNS: usize = 64;
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    for _ in 0..TURNS {
        if *left == Some(0) {
            break;
        }
        let most = left.map_or(ZEROS.len(), |n| ZEROS.len().min(usize::try_from(n).unwrap_or(0)));
        let written = match rustix::net::send(fd, &ZEROS[..most], flags) {
            Err(Errno::AGAIN) => break,
            done => done?,
        };
        if let Some(n) = left {
            *n -= written as u64;
        }
        if written < most {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_low_water_mark_is_too_large_for_the_option() {
        assert_eq!([as_option(262_144), as_option(u64::MAX)], [262_144, i32::MAX]);
    }
}
