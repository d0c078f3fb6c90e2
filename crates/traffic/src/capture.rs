//! Captures of packet headers at the sending host.

use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::sys;

const HEADER: &str = "time_ns,direction,source,destination,seq,ack,payload,window,flags,sack\n";

/// Time between two checks whether a packet after the end has come, and their number.
const GLANCE: Duration = Duration::from_millis(5);
const GRACE: u32 = 10;

/// A capture that runs in its own thread.
pub struct Capture(JoinHandle<String>);

impl Capture {
    /// Starts in the current namespace and lasts `until` ns after `zero`, which is CLOCK_MONOTONIC
    /// at time 0 of the run.
    ///
    /// # Errors
    /// If there is no such device or no right to capture.
    pub fn start(device: &str, until: u64, zero: u64) -> Result<Self> {
        let socket = open(device)?;
        let zero = zero + sys::realtime_ns() - sys::monotonic_ns();
        Ok(Self(thread::Builder::new().spawn(move || collect(&socket, zero, until))?))
    }

    /// Ends the capture, unless a packet after its end does so; writes `packets.csv`.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(self, dir: &Path) -> Result<()> {
        let mut glances = 0;
        while !self.0.is_finished() {
            glances += 1;
            if glances > GRACE {
                // It hears this only while it waits for a packet.
                sys::interrupt(&self.0)?;
            }
            thread::sleep(GLANCE);
        }
        let rows = self.0.join().map_err(|_| Error::from(ErrorKind::Other))?;
        std::fs::write(dir.join("packets.csv"), rows)
    }
}

/// A socket that receives all IP packets of a device of the current namespace.
///
/// # Errors
/// If there is no such device or no right to capture.
pub fn open(device: &str) -> Result<OwnedFd> {
    // Protocol 0: nothing is captured before the device is chosen.
    let socket = sys::socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)?;
    let raw = socket.as_raw_fd();
    let buffer = (256_i32 << 20).to_ne_bytes();
    // Only the first namespace's root may have more than net.core.rmem_max.
    sys::set_option(raw, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &buffer)
        .or_else(|_| sys::set_option(raw, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer))?;
    let on = 1_i32.to_ne_bytes();
    sys::set_option(raw, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on)?;
    sys::bind_packet(raw, sys::device_index(device)?)?;
    Ok(socket)
}

fn collect(socket: &OwnedFd, zero: u64, until: u64) -> String {
    let mut rows = String::from(HEADER);
    let mut buffer = [0; 128];
    while let Ok(packet) = sys::capture(socket.as_raw_fd(), &mut buffer) {
        let at = packet.at_ns.saturating_sub(zero);
        if at > until {
            break;
        }
        if let Some(row) = describe(&buffer[..packet.len.min(buffer.len())]) {
            let direction = if packet.outgoing { "out" } else { "in" };
            _ = writeln!(rows, "{at},{direction},{row}");
        }
    }
    rows
}

fn be32(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

fn be16(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(b.get(at..at + 2)?.try_into().ok()?))
}

/// The fields of an IPv4 TCP packet (RFC 791, RFC 9293); raw sequence numbers, the window as sent.
fn describe(packet: &[u8]) -> Option<String> {
    let ip_len = usize::from(packet.first()? & 15) * 4;
    if packet.first()? >> 4 != 4 || *packet.get(9)? != 6 {
        return None;
    }
    let tcp = packet.get(ip_len..)?;
    let tcp_len = usize::from(tcp.get(12)? >> 4) * 4;
    let payload = usize::from(be16(packet, 2)?) - ip_len - tcp_len;
    let (source, destination) = (be16(tcp, 0)?, be16(tcp, 2)?);
    let (seq, ack, window, flags) = (be32(tcp, 4)?, be32(tcp, 8)?, be16(tcp, 14)?, tcp.get(13)?);
    let sack = sack_blocks(tcp.get(20..tcp_len).unwrap_or(&[]));
    Some(format!("{source},{destination},{seq},{ack},{payload},{window},{flags},{sack}"))
}

/// SACK blocks (RFC 2018) as `from-to from-to`.
fn sack_blocks(mut options: &[u8]) -> String {
    let mut out = String::new();
    while let Some(&kind) = options.first() {
        let len = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(options.get(1).copied().unwrap_or(0)).max(2),
        };
        if kind == 5 {
            for block in options.get(2..len).unwrap_or(&[]).chunks_exact(8) {
                let (Some(from), Some(to)) = (be32(block, 0), be32(block, 4)) else { break };
                let space = if out.is_empty() { "" } else { " " };
                _ = write!(out, "{space}{from}-{to}");
            }
        }
        options = options.get(len..).unwrap_or(&[]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_with_sack_is_described() {
        let mut p = vec![0_u8; 20 + 32];
        p[0] = 0x45;
        p[2..4].copy_from_slice(&52_u16.to_be_bytes());
        p[9] = 6;
        p[20..22].copy_from_slice(&5000_u16.to_be_bytes());
        p[22..24].copy_from_slice(&40000_u16.to_be_bytes());
        p[28..32].copy_from_slice(&1449_u32.to_be_bytes());
        p[32] = 0x80;
        p[33] = 0x10;
        p[34..36].copy_from_slice(&501_u16.to_be_bytes());
        p[40..44].copy_from_slice(&[1, 1, 5, 10]);
        p[44..48].copy_from_slice(&2897_u32.to_be_bytes());
        p[48..52].copy_from_slice(&4345_u32.to_be_bytes());
        assert_eq!(describe(&p).expect("TCP"), "5000,40000,0,1449,0,501,16,2897-4345");
        p[9] = 17;
        assert_eq!(describe(&p), None);
    }
}
