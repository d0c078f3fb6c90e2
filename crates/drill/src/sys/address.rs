//! Descriptors and addresses.

use std::mem::size_of;
use std::net::{IpAddr, SocketAddr};

use super::raw::len;

/// A descriptor.
pub type Fd = i32;

/// An address for the kernel.
#[derive(Clone, Debug)]
pub struct Sockaddr {
    bytes: Vec<u8>,
}

impl Sockaddr {
    /// The address of a socket of the address's family.
    pub fn new(address: SocketAddr) -> Self {
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let mut bytes = len::<u16>(usize::try_from(family).unwrap_or(0)).to_ne_bytes().to_vec();
        bytes.extend(address.port().to_be_bytes());
        match address.ip() {
            IpAddr::V4(ip) => {
                bytes.extend(ip.octets());
                bytes.resize(size_of::<libc::sockaddr_in>(), 0);
            }
            IpAddr::V6(ip) => {
                bytes.extend([0; 4]);
                bytes.extend(ip.octets());
                bytes.resize(size_of::<libc::sockaddr_in6>(), 0);
            }
        }
        Self { bytes }
    }

    /// No address, only a family, such as `AF_UNSPEC`.
    pub fn of_family(family: u16) -> Self {
        let mut bytes = family.to_ne_bytes().to_vec();
        bytes.resize(size_of::<libc::sockaddr_in6>(), 0);
        Self { bytes }
    }

    pub(super) fn pointer(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        (self.bytes.as_ptr().cast(), len(self.bytes.len()))
    }
}
