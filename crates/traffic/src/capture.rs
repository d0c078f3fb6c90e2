//! Captures of packet headers at the sending host.

use std::fmt::Write as _;
use std::io::Result;
use std::path::Path;

use narrows_linux::clock::{monotonic_ns, realtime_ns};

use crate::packet_thread::{PacketStream, PacketThread};

const HEADER: &str = "time_ns,direction,source,destination,seq,ack,payload,window,flags,sack\n";
/// Bytes of a packet that hold its headers.
const HEADERS: usize = 128;

/// A capture that runs in its own thread.
pub struct Capture(PacketThread<String>);

impl Capture {
    /// Starts in the current namespace and lasts `until` ns after `zero`, which is CLOCK_MONOTONIC
    /// at time 0 of the run.
    ///
    /// # Errors
    /// If there is no such device or no right to capture.
    pub fn start(device: &str, until: u64, zero: u64) -> Result<Self> {
        let zero = zero + realtime_ns() - monotonic_ns();
        PacketThread::start(device, move |packets| collect(packets, zero, until)).map(Self)
    }

    /// Ends the capture and writes `packets.csv`.
    ///
    /// # Errors
    /// If the packets couldn't be read, or the file can't be written.
    pub fn write(self, dir: &Path) -> Result<()> {
        std::fs::write(dir.join("packets.csv"), self.0.finish()?)
    }
}

fn collect(packets: &PacketStream, zero: u64, until: u64) -> Result<String> {
    let mut rows = String::from(HEADER);
    packets.take(HEADERS, |packet| {
        let at = packet.at_ns.saturating_sub(zero);
        if let Some(row) = describe(packet.data).filter(|_| at <= until) {
            let direction = if packet.outgoing { "out" } else { "in" };
            _ = writeln!(rows, "{at},{direction},{row}");
        }
        Ok(())
    })?;
    Ok(rows)
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
