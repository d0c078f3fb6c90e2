//! Makes a large capture: `make_capture FILE MEBIBYTES [SNAP]`.
//!
//! It has 64 flows of full packets with timestamps; one in 500 packets is lost, reported by SACK
//! and retransmitted. It only serves to measure speed: no congestion control sent it.

use std::fs::File;
use std::io::{BufWriter, Result, Write};

const FLOWS: u32 = 64;
const PAYLOAD: u32 = 1448;
const WINDOW: u32 = 40;
const LOST: u32 = 500;
const RTT: u64 = 20_000_000;

struct Output {
    file: BufWriter<File>,
    written: u64,
    snap: usize,
    time: u64,
}

/// The properties of a segment besides its flow.
#[derive(Default)]
struct Tcp {
    forward: bool,
    number: u32,
    payload: u32,
    sack: Option<(u32, u32)>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "make_capture FILE MEBIBYTES [SNAP]";
    let size: u64 = arguments.get(1).and_then(|size| size.parse().ok()).expect(usage);
    let snap = arguments.get(2).map_or(65_535, |snap| snap.parse().expect(usage));
    let file = BufWriter::with_capacity(1 << 20, File::create(arguments.first().expect(usage))?);
    let mut output = Output { file, written: 0, snap, time: RTT };
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        output.file.write_all(&word.to_le_bytes())?;
    }
    let mut window = 0;
    while output.written < size << 20 {
        for flow in 0..FLOWS {
            round(&mut output, flow, window * WINDOW)?;
        }
        window += 1;
    }
    output.file.flush()
}

/// A window of packets and its acknowledgements.
fn round(output: &mut Output, flow: u32, first: u32) -> Result<()> {
    let lost = (first..first + WINDOW).find(|packet| (packet + flow * 7).is_multiple_of(LOST));
    for packet in first..first + WINDOW {
        output.segment(flow, &data(packet))?;
    }
    let mut edge = first;
    for packet in first..first + WINDOW {
        let late = lost.is_some_and(|lost| packet > lost);
        match lost {
            Some(lost) if packet == lost => {}
            Some(lost) if late => output.segment(flow, &ack(edge, Some((lost + 1, packet + 1))))?,
            _ => {
                edge = packet + 1;
                if packet % 2 == 1 {
                    output.segment(flow, &ack(edge, None))?;
                }
            }
        }
    }
    if let Some(lost) = lost {
        output.segment(flow, &data(lost))?;
    }
    output.segment(flow, &ack(first + WINDOW, None))
}

fn data(packet: u32) -> Tcp {
    Tcp { forward: true, number: packet, payload: PAYLOAD, sack: None }
}

fn ack(packet: u32, sack: Option<(u32, u32)>) -> Tcp {
    Tcp { number: packet, sack, ..Tcp::default() }
}

impl Output {
    fn segment(&mut self, flow: u32, tcp: &Tcp) -> Result<()> {
        self.time += RTT / u64::from(FLOWS * WINDOW * 2);
        let frame = frame(flow, tcp, self.time);
        let length = frame.len() + tcp.payload as usize;
        let kept = length.min(self.snap);
        let word = |value: u64| u32::try_from(value).expect("a word").to_le_bytes();
        self.file.write_all(&word(self.time / 1_000_000_000))?;
        self.file.write_all(&word(self.time % 1_000_000_000))?;
        self.file.write_all(&word(kept as u64))?;
        self.file.write_all(&word(length as u64))?;
        let headers = frame.len().min(kept);
        self.file.write_all(&frame[..headers])?;
        self.file.write_all(&[0x55; PAYLOAD as usize][..kept - headers])?;
        self.written += 16 + kept as u64;
        Ok(())
    }
}

/// Ethernet, IPv4 and TCP headers; checksums are left out.
fn frame(flow: u32, tcp: &Tcp, time: u64) -> Vec<u8> {
    let at = |packet: u32| 1u32.wrapping_add(packet.wrapping_mul(PAYLOAD));
    let stamp = u32::try_from(time / 1_000_000).expect("short").to_be_bytes();
    let options = if tcp.sack.is_some() { 24 } else { 12 };
    let length = u16::try_from(40 + options + tcp.payload).expect("a packet");
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    let mut ends = [[10, 0, 0, 1], [10, 0, 1, 1]];
    let mut ports = [20_000 + u16::try_from(flow).expect("few flows"), 443];
    let (mut seq, mut next) = (at(tcp.number), 1);
    if !tcp.forward {
        ends.reverse();
        ports.reverse();
        (seq, next) = (next, seq);
    }
    ends.iter().for_each(|end| bytes.extend(end));
    ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
    bytes.extend(seq.to_be_bytes());
    bytes.extend(next.to_be_bytes());
    bytes.extend([u8::try_from(5 + options / 4).expect("few options") << 4, 16, 0xff, 0xff]);
    bytes.extend([0, 0, 0, 0, 1, 1, 8, 10]);
    bytes.extend(stamp);
    bytes.extend(stamp);
    if let Some((begin, end)) = tcp.sack {
        bytes.extend([1, 1, 5, 10]);
        bytes.extend(at(begin).to_be_bytes());
        bytes.extend(at(end).to_be_bytes());
    }
    bytes
}
