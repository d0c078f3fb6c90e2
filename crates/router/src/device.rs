//! What the packets of a host come from and go to: a TUN device, or a socket for the frames of
//! another device. With offloads, super-packets pass in one piece.

use std::io::Result;
use std::os::fd::OwnedFd;

use crate::super_packet::{self, HEADER};
use crate::sys;

/// Bytes of a buffer for anything that a device gives: a header, a frame's header, a packet.
pub(crate) const LARGEST: usize = 65_536 + HEADER + 14;

pub(crate) struct Device {
    descriptor: OwnedFd,
    offloads: bool,
}

impl Device {
    /// A new TUN device in the current namespace, with raw IP packets.
    pub(crate) fn tun(name: &str, offloads: bool) -> Result<Self> {
        Ok(Self { descriptor: sys::open_tun(name, offloads)?, offloads })
    }

    /// The descriptor, to wait for packets.
    pub(crate) const fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Reads a packet or frame; `None` if there is none now.
    pub(crate) fn read<'a>(&self, buffer: &'a mut [u8]) -> Result<Option<&'a [u8]>> {
        let before = if self.offloads { HEADER } else { 0 };
        Ok(sys::read_packet(&self.descriptor, buffer)?
            .map(|read| read.get(before..).unwrap_or(&[])))
    }

    /// Passes a packet to the host, behind `link`, the header of its frame if it has one.
    pub(crate) fn write(&self, link: &[u8], packet: &[u8]) -> Result<()> {
        if self.offloads {
            let header = super_packet::header(packet, link.len());
            return sys::write_parts(&self.descriptor, [&header, link, packet]);
        }
        sys::write_parts(&self.descriptor, [&[], link, packet])
    }
}
