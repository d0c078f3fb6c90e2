//! The part of the pcapng format (draft-ietf-opsawg-pcapng) that a capture needs.
//!
//! Blocks are little-endian. Times are nanoseconds.

use std::io::{self, Write};
use std::net::IpAddr;

use narrows_base::{Heading, Time};
use serde::Serialize;

use crate::interface::Interface;

/// `LINKTYPE_RAW`: a packet begins with its IP header.
const LINKTYPE_RAW: u16 = 101;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// Bytes of an enhanced packet block beside the packet: header, fields, direction, end.
const PACKET_BLOCK: usize = 8 + 20 + 12 + 4;

/// The result of a capture of real packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// Packets in the file.
    pub packets: u64,
    /// Packets that passed and couldn't be captured in time.
    pub missed: u64,
}

/// Writes one section with one interface.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    /// The block under construction.
    block: Vec<u8>,
    packets: u64,
    last: Time,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a section; `comment` describes the capture.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn new(out: W, comment: &str, interface: &Interface) -> io::Result<Self> {
        let mut writer = Self { out, block: Vec::new(), packets: 0, last: Time::ZERO };
        writer.section_header(comment)?;
        writer.interface(interface)?;
        Ok(writer)
    }

    /// Packets so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    fn section_header(&mut self, comment: &str) -> io::Result<()> {
        self.begin(SECTION_HEADER);
        self.u32(0x1a2b_3c4d); // tells the byte order
        self.u16(1);
        self.u16(0);
        self.block.extend_from_slice(&u64::MAX.to_le_bytes()); // length unknown
        self.option(1, comment.as_bytes());
        self.option(4, concat!("narrows ", env!("CARGO_PKG_VERSION")).as_bytes());
        self.option(0, &[]);
        self.end()
    }

    fn interface(&mut self, interface: &Interface) -> io::Result<()> {
        self.begin(INTERFACE_DESCRIPTION);
        self.u16(LINKTYPE_RAW);
        self.u16(0);
        self.u32(interface.snaplen);
        self.option(2, interface.name.as_bytes());
        self.option(3, interface.description.as_bytes());
        self.option(9, &[9]); // if_tsresol: 10^-9 s
        self.option(0, &[]);
        self.end()
    }

    /// Gives addresses their names.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn names(&mut self, names: &[(IpAddr, String)]) -> io::Result<()> {
        self.begin(NAME_RESOLUTION);
        for (address, name) in names {
            let (kind, mut value) = match address {
                IpAddr::V4(address) => (1, address.octets().to_vec()),
                IpAddr::V6(address) => (2, address.octets().to_vec()),
            };
            value.extend(name.bytes().filter(|&byte| byte != 0));
            value.push(0);
            self.option(kind, &value);
        }
        self.option(0, &[]);
        self.end()
    }

    /// Writes a packet of `length` bytes on the wire; `data` are the bytes kept.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn packet(
        &mut self,
        at: Time,
        heading: Heading,
        data: &[u8],
        length: u32,
    ) -> io::Result<()> {
        let padded = data.len().next_multiple_of(4);
        let kept = u32::try_from(data.len()).expect("a packet is shorter than 4 GiB");
        let total = u32::try_from(PACKET_BLOCK + padded).expect("a block is shorter than 4 GiB");
        self.block.clear();
        self.block.reserve(PACKET_BLOCK + padded);
        for word in [ENHANCED_PACKET, total, 0] {
            self.u32(word);
        }
        self.time(at);
        self.u32(kept);
        self.u32(length);
        self.block.extend_from_slice(data);
        self.block.resize(28 + padded, 0);
        let way: u32 = match heading {
            Heading::In => 1,
            Heading::Out => 2,
        };
        self.option(2, &way.to_le_bytes()); // epb_flags
        self.option(0, &[]);
        self.u32(total);
        self.packets += 1;
        self.last = at;
        self.out.write_all(&self.block)
    }

    /// The output of the file.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// Ends the section with the interface's counters and returns the output; `missed` packets
    /// passed and aren't in the file.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(mut self, missed: u64) -> io::Result<W> {
        self.begin(INTERFACE_STATISTICS);
        self.u32(0);
        self.time(self.last);
        let passed = self.packets + missed;
        self.option(4, &passed.to_le_bytes()); // isb_ifrecv
        self.option(5, &missed.to_le_bytes()); // isb_ifdrop
        self.option(0, &[]);
        self.end()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        self.u32(0);
    }

    fn end(&mut self) -> io::Result<()> {
        let total = u32::try_from(self.block.len() + 4).expect("a block is shorter than 4 GiB");
        self.block[4..8].copy_from_slice(&total.to_le_bytes());
        self.u32(total);
        self.out.write_all(&self.block)
    }

    /// High and low half of the nanoseconds.
    #[expect(clippy::cast_possible_truncation, reason = "one half, then the other")]
    fn time(&mut self, at: Time) {
        let nanos = at.as_nanos();
        self.u32((nanos >> 32) as u32);
        self.u32(nanos as u32);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.u16(code);
        self.u16(u16::try_from(value.len()).expect("it was cut"));
        self.block.extend_from_slice(value);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn u16(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }
}
