//! The TUN device between the script and the kernel.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Result, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use narrows_linux::device::{TunOffloads, open_tun};

/// `struct virtio_net_hdr` before each packet.
const HEADER: usize = 10;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
/// More than the largest packet with its header.
const LARGEST: usize = 1 << 17;

/// The device `tun0`, which lives as long as this.
#[derive(Debug)]
pub struct Tun {
    file: File,
    buffer: Vec<u8>,
}

impl Tun {
    /// Makes the device.
    pub fn new() -> Result<Self> {
        let file = open_tun("tun0", TunOffloads::Tcp)?.into();
        Ok(Self { file, buffer: vec![0; LARGEST] })
    }

    /// The next packet that left, if one waits.
    pub fn receive(&mut self) -> Result<Option<&[u8]>> {
        match self.file.read(&mut self.buffer) {
            Ok(len) => Ok(Some(self.buffer.get(HEADER..len).unwrap_or(&[]))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel; with a segment size it comes as if a card had merged it.
    pub fn send(&mut self, packet: &[u8], merged_mss: Option<u16>) -> Result<()> {
        let mut header = [0; HEADER];
        if let Some(mss) = merged_mss {
            let version_4 = packet.first().is_some_and(|first| first >> 4 == 4);
            header[1] = if version_4 { GSO_TCPV4 } else { GSO_TCPV6 };
            header[4..6].copy_from_slice(&mss.to_ne_bytes());
        }
        let whole = [&header[..], packet].concat();
        self.file.write(&whole).map(drop)
    }
}

/// Readable when a packet waits.
impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
