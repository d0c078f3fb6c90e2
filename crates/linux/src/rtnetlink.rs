//! Questions to the kernel over netlink sockets, and requests to rtnetlink (rtnetlink(7)): unlike
//! the ioctls they work in user namespaces too.

use std::io::{Error, Result};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::device::device_index;

const RTM_NEWLINK: u16 = 16;
/// NLM_F_REQUEST and NLM_F_ACK.
const REQUEST: u16 = 1 | 4;
const IFF_UP: u32 = 1;

/// A socket that speaks with the kernel (netlink(7)) about the namespace in which it was opened.
#[derive(Debug)]
pub struct NetlinkSocket(OwnedFd);

impl NetlinkSocket {
    /// Opens a socket of this protocol; none is protocol 0, NETLINK_ROUTE.
    ///
    /// # Errors
    /// If the kernel lacks the protocol.
    pub fn open(protocol: Option<Protocol>) -> Result<Self> {
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        Ok(Self(rustix::net::socket_with(family, SocketType::RAW, flags, protocol)?))
    }

    /// Sends a message and waits for the answer.
    ///
    /// # Errors
    /// If the kernel doesn't take the message; refusals of what it asks are answers.
    pub fn ask<'a>(&self, message: &[u8], buffer: &'a mut [u8]) -> Result<&'a [u8]> {
        // An unconnected netlink socket sends to port 0, the kernel.
        rustix::net::send(&self.0, message, SendFlags::empty())?;
        let (len, _) = rustix::net::recv(&self.0, &mut *buffer, RecvFlags::empty())?;
        Ok(&buffer[..len])
    }
}

/// Sends a request in the current namespace and waits for its acknowledgement.
///
/// # Errors
/// With the kernel's answer.
pub fn request(message: &[u8]) -> Result<()> {
    let mut answer = [0_u8; 1024];
    NetlinkSocket::open(None)?.ask(message, &mut answer)?;
    // A `nlmsghdr` of 16 bytes, then the negative error number; 0 acknowledges.
    match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
        0 => Ok(()),
        error => Err(Error::from_raw_os_error(-error)),
    }
}

/// A message that requests an acknowledgement: a `nlmsghdr` and the body.
///
/// # Panics
/// If the body is longer than 4 GB.
#[must_use]
pub fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(16 + body.len()).expect("a message of less than 4 GB");
    let mut out = len.to_ne_bytes().to_vec();
    out.extend([kind, REQUEST | flags].map(u16::to_ne_bytes).concat());
    out.extend([0; 8]);
    out.extend(body);
    out
}

/// A `rtattr`, whose value has a multiple of 4 bytes.
///
/// # Panics
/// If the value has more than 65,531 bytes.
#[must_use]
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = u16::try_from(4 + value.len()).expect("a value of less than 64 KB");
    [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
}

/// The message that brings a device up, with these attributes.
#[must_use]
pub fn link_up(device: u32, attributes: &[u8]) -> Vec<u8> {
    // struct ifinfomsg: family, padding, type, index, flags, mask of flags.
    let mut body = vec![0; 4];
    body.extend([device, IFF_UP, IFF_UP].map(u32::to_ne_bytes).concat());
    body.extend(attributes);
    message(RTM_NEWLINK, 0, &body)
}

/// Brings the loopback device of the current namespace up.
///
/// # Errors
/// Without the right to do so.
pub fn loopback_up() -> Result<()> {
    request(&link_up(device_index("lo")?, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_structures() {
        for (message, length) in [
            (link_up(3, &[]), 16 + 16),
            (link_up(3, &attribute(4, &1500_u32.to_ne_bytes())), 16 + 16 + 8),
        ] {
            assert_eq!((message.len(), usize::from(message[0])), (length, length));
        }
    }

    #[test]
    fn a_refusal_is_the_kernels_error() {
        let error = request(&link_up(u32::MAX, &[])).expect_err("there is no such device");
        assert!(matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EPERM | libc::EINVAL)));
    }
}
