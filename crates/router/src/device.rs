//! The TUN device of a host, which gives and takes its packets. With offloads, super-packets pass
//! in one piece.

use std::io::Result;
use std::os::fd::OwnedFd;

use narrows_linux::device::{TunOffloads, open_tun};

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
        let kind = if offloads { TunOffloads::TcpV4 } else { TunOffloads::None };
        Ok(Self { descriptor: open_tun(name, kind)?, offloads })
    }

    /// The descriptor, to wait for packets.
    pub(crate) const fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Reads a packet; `None` if there is none now.
    pub(crate) fn read<'a>(&self, buffer: &'a mut [u8]) -> Result<Option<&'a [u8]>> {
        let before = if self.offloads { HEADER } else { 0 };
        Ok(sys::read_packet(&self.descriptor, buffer)?
            .map(|read| read.get(before..).unwrap_or(&[])))
    }

    /// Passes a packet to the host.
    pub(crate) fn write(&self, packet: &[u8]) -> Result<()> {
        if self.offloads {
            return sys::write_parts(&self.descriptor, [&super_packet::header(packet, 0), packet]);
        }
        sys::write_parts(&self.descriptor, [packet])
    }
}
