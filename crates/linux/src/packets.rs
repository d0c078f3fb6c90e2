//! Packets of packet sockets (packet(7)), many with one system call, each with the time when it
//! came.
//!
//! A system call of a guest costs its host some 20 us, which is more than all else that happens to
//! a packet in it.

use std::io::{Error, Result};
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd as _};
use std::ptr::null_mut;

use crate::clock::NANOS;
use crate::socket::{get_option, set_option};

/// Packets that one system call takes.
const MOST: usize = 64;

/// A `struct cmsghdr` with a `struct timespec` on a machine of 64 bits.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Control {
    length: u64,
    level: libc::c_int,
    kind: libc::c_int,
    seconds: u64,
    nanoseconds: u64,
}

/// An address of packet sockets before the kernel fills it.
const NOWHERE: libc::sockaddr_ll = libc::sockaddr_ll {
    sll_family: 0,
    sll_protocol: 0,
    sll_ifindex: 0,
    sll_hatype: 0,
    sll_pkttype: 0,
    sll_halen: 0,
    sll_addr: [0; 8],
};

/// A packet as a packet socket got it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedPacket<'a> {
    /// CLOCK_REALTIME of its arrival, ns.
    pub at_ns: u64,
    /// True if this host sent it.
    pub outgoing: bool,
    /// Its first bytes, as many as the batch keeps.
    pub data: &'a [u8],
}

/// Buffers for packets.
pub struct PacketBatch {
    buffers: Vec<Vec<u8>>,
    controls: [Control; MOST],
    addresses: [libc::sockaddr_ll; MOST],
}

impl PacketBatch {
    /// Buffers for packets, of each of which the first `largest` bytes are kept.
    #[must_use]
    pub fn new(largest: usize) -> Self {
        // Not `vec![vec![..]; n]`, whose copies would use all of the memory at once.
        let buffers = (0..MOST).map(|_| vec![0; largest]).collect();
        Self { buffers, controls: [Control::default(); MOST], addresses: [NOWHERE; MOST] }
    }

    /// Passes every packet that waits at the socket to `each`. The socket has to stamp them
    /// ([`stamp_packets`]).
    ///
    /// # Errors
    /// Errors of `recvmmsg(2)` and of `each`, or if a packet has no time.
    pub fn take(
        &mut self,
        socket: impl AsFd,
        mut each: impl FnMut(ReceivedPacket<'_>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let lengths = self.receive(&socket)?;
            for (number, &length) in lengths.iter().enumerate() {
                each(ReceivedPacket {
                    at_ns: arrival_ns(&self.controls[number])?,
                    outgoing: self.addresses[number].sll_pkttype == libc::PACKET_OUTGOING,
                    data: &self.buffers[number][..length],
                })?;
            }
            if lengths.len() < MOST {
                return Ok(());
            }
        }
    }

    /// Fills the buffers; returns the length of each packet that came.
    fn receive(&mut self, socket: impl AsFd) -> Result<Vec<usize>> {
        let mut parts: Vec<_> = self.buffers.iter_mut().map(|buffer| part(buffer)).collect();
        let places = parts.iter_mut().zip(&mut self.controls).zip(&mut self.addresses);
        let mut messages: Vec<_> =
            places.map(|((part, control), from)| message(part, control, from)).collect();
        let (fd, first) = (socket.as_fd().as_raw_fd(), messages.as_mut_ptr());
        let (count, flags) = (MOST as libc::c_uint, libc::MSG_DONTWAIT as _);
        // SAFETY: the messages, and all that they point to, outlive the call.
        let got = unsafe { libc::recvmmsg(fd, first, count, flags, null_mut()) };
        if let Ok(got) = usize::try_from(got) {
            return Ok(messages[..got].iter().map(|each| each.msg_len as usize).collect());
        }
        match Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::EAGAIN) => Ok(Vec::new()),
            error => Err(error),
        }
    }
}

fn part(buffer: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() }
}

fn message(
    part: &mut libc::iovec,
    control: &mut Control,
    from: &mut libc::sockaddr_ll,
) -> libc::mmsghdr {
    (*control, *from) = (Control::default(), NOWHERE);
    // SAFETY: plain data.
    let mut message: libc::mmsghdr = unsafe { zeroed() };
    message.msg_hdr.msg_name = (&raw mut *from).cast();
    message.msg_hdr.msg_namelen = size_of::<libc::sockaddr_ll>() as _;
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    message.msg_hdr.msg_control = (&raw mut *control).cast();
    message.msg_hdr.msg_controllen = size_of::<Control>() as _;
    message
}

/// The time of arrival in ns (SO_TIMESTAMPNS, socket(7)).
fn arrival_ns(control: &Control) -> Result<u64> {
    if (control.level, control.kind) != (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS) {
        return Err(Error::other("a packet came without its time"));
    }
    Ok(control.seconds * NANOS + control.nanoseconds)
}

/// Has a socket give each packet its time of arrival.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn stamp_packets(socket: impl AsFd) -> Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Has each frame of a socket, both ways, follow a `struct virtio_net_hdr`, as on a TUN device with
/// offloads.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn precede_with_headers(socket: impl AsFd) -> Result<()> {
    /// An option of packet sockets (linux/if_packet.h).
    const PACKET_VNET_HDR: libc::c_int = 15;
    set_option(socket, libc::SOL_PACKET, PACKET_VNET_HDR, 1)
}

/// Binds a packet socket to a device and a protocol, such as `libc::ETH_P_ALL`.
///
/// # Errors
/// Errors of `bind(2)`.
pub fn bind_packets(socket: impl AsFd, protocol: libc::c_int, device: u32) -> Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: (protocol as libc::c_ushort).to_be(),
        sll_ifindex: device.cast_signed(),
        ..NOWHERE
    };
    let (place, length) = ((&raw const address).cast(), size_of::<libc::sockaddr_ll>() as _);
    // SAFETY: the address is a live `sockaddr_ll` of this length.
    match unsafe { libc::bind(socket.as_fd().as_raw_fd(), place, length) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Packets that a packet socket missed because they weren't read in time (packet(7)).
///
/// # Errors
/// Errors of `getsockopt(2)`.
pub fn missed_packets(socket: impl AsFd) -> Result<u64> {
    // A `tpacket_stats`: packets and drops, both of 32 bits.
    let mut stats = [0; 8];
    get_option(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut stats)?;
    Ok(u32::from_ne_bytes([stats[4], stats[5], stats[6], stats[7]]).into())
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::clock::{realtime_ns, timespec};

    /// UDP sockets are stamped alike, without the right to capture.
    #[test]
    fn a_batch_has_each_packet_with_its_time() -> Result<()> {
        let socket = UdpSocket::bind(("127.0.0.1", 0))?;
        stamp_packets(&socket)?;
        let before = realtime_ns();
        for number in 0..100_u8 {
            socket.send_to(&[number; 8], socket.local_addr()?)?;
        }
        let mut polled = [rustix::event::PollFd::new(&socket, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(&timespec(NANOS)))?;
        let mut batch = PacketBatch::new(4);
        let mut got = Vec::new();
        batch.take(&socket, |packet| {
            assert!((before..=realtime_ns()).contains(&packet.at_ns));
            got.push(packet.data.to_vec());
            Ok(())
        })?;
        assert_eq!(got, (0..100).map(|number| vec![number; 4]).collect::<Vec<_>>());
        batch.take(&socket, |_| Err(Error::other("none is left")))
    }

    #[test]
    fn a_packet_without_its_time_is_an_error() -> Result<()> {
        let socket = UdpSocket::bind(("127.0.0.1", 0))?;
        socket.send_to(b"x", socket.local_addr()?)?;
        let error = PacketBatch::new(1).take(&socket, |_| Ok(())).expect_err("it isn't stamped");
        assert!(error.to_string().contains("without its time"));
        Ok(())
    }
}
