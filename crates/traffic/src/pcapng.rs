//! Captures of a host's packets as pcapng files (draft-ietf-opsawg-pcapng).

use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::capture::{self, header_length};
use crate::sys;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// `LINKTYPE_RAW`: a packet begins with its IP header.
const RAW: u32 = 101;
const LARGEST: usize = 65_536;
/// How soon the end is noticed where no packet comes.
const GLANCE_MS: u64 = 50;

/// A capture that runs in a thread of its own.
pub struct PacketFile {
    thread: JoinHandle<Result<u64>>,
    stop: Arc<AtomicBool>,
}

impl PacketFile {
    /// Starts on a device of the current namespace. Times in the file count from `zero`,
    /// CLOCK_MONOTONIC at time 0 of the run. Of each packet the headers are kept, or `snaplen`
    /// bytes.
    ///
    /// # Errors
    /// If there is no such device, no right to capture, or the file can't be made.
    pub fn start(device: &str, file: &Path, snaplen: Option<u32>, zero: u64) -> Result<Self> {
        let socket = capture::open(device)?;
        sys::receive_timeout(socket.as_raw_fd(), GLANCE_MS)?;
        let mut out = BufWriter::new(File::create(file)?);
        out.write_all(&section(device))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (theirs, zero) = (Arc::clone(&stop), zero + sys::realtime_ns() - sys::monotonic_ns());
        let work = move || collect(&socket, out, snaplen, zero, &theirs);
        Ok(Self { thread: thread::Builder::new().spawn(work)?, stop })
    }

    /// Ends the file; the number of its packets.
    ///
    /// # Errors
    /// If it couldn't be written.
    pub fn finish(self) -> Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| Error::from(ErrorKind::Other))?
    }
}

fn collect(
    socket: &OwnedFd,
    mut out: impl Write,
    snaplen: Option<u32>,
    zero: u64,
    stop: &AtomicBool,
) -> Result<u64> {
    let (mut buffer, mut packets) = (vec![0; LARGEST], 0);
    while !stop.load(Ordering::Relaxed) {
        let packet = match sys::capture(socket.as_raw_fd(), &mut buffer) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => continue,
            other => other?,
        };
        let Some(at) = packet.at_ns.checked_sub(zero) else { continue };
        let whole = &buffer[..packet.len];
        let kept = snaplen.map_or_else(|| header_length(whole), |n| n as usize).min(whole.len());
        out.write_all(&block(at, packet.outgoing, &whole[..kept], packet.len))?;
        packets += 1;
    }
    out.flush()?;
    Ok(packets)
}

/// The section's header and its one interface.
fn section(device: &str) -> Vec<u8> {
    let mut header = words(&[BYTE_ORDER, 1, u32::MAX, u32::MAX]);
    header.extend(option(4, concat!("narrows ", env!("CARGO_PKG_VERSION")).as_bytes()));
    header.extend(option(0, &[]));
    let mut interface = words(&[RAW, 0]);
    interface.extend(option(2, device.as_bytes()));
    // Times in 10^-9 s.
    interface.extend(option(9, &[9]));
    interface.extend(option(0, &[]));
    [framed(SECTION_HEADER, &header), framed(INTERFACE_DESCRIPTION, &interface)].concat()
}

/// A packet that was `length` bytes long.
fn block(at: u64, outgoing: bool, data: &[u8], length: usize) -> Vec<u8> {
    let time = [(at >> 32) as u32, at as u32];
    let mut body = words(&[0, time[0], time[1], data.len() as u32, length as u32]);
    body.extend(data);
    body.resize(body.len().next_multiple_of(4), 0);
    // epb_flags: 1 inbound, 2 outbound.
    body.extend(option(2, &(1 + u32::from(outgoing)).to_le_bytes()));
    body.extend(option(0, &[]));
    framed(ENHANCED_PACKET, &body)
}

fn framed(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32 + 12;
    [&words(&[kind, length]), body, &words(&[length])].concat()
}

fn option(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut out = [kind.to_le_bytes(), (value.len() as u16).to_le_bytes()].concat();
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_length_at_both_ends() {
        let mut file = section("path0");
        file.extend(block((7 << 32) | 9, true, &[0x45, 0, 0, 40, 1], 1500));
        let (mut rest, mut kinds) = (&file[..], Vec::new());
        while !rest.is_empty() {
            let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().expect("four"));
            let length = word(4) as usize;
            assert_eq!((length % 4, word(length - 4) as usize), (0, length));
            kinds.push(word(0));
            if word(0) == ENHANCED_PACKET {
                assert_eq!([word(12), word(16), word(20), word(24)], [7, 9, 5, 1500]);
                assert_eq!(&rest[28..36], [0x45, 0, 0, 40, 1, 0, 0, 0]);
            }
            rest = &rest[length..];
        }
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE_DESCRIPTION, ENHANCED_PACKET]);
    }
}
