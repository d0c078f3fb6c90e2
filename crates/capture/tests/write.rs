//! Captures made from segments, without a simulator: what no run of it shows in a test's
//! time.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use narrows_base::{Ecn, FlowId, Heading, Point, Time};
use narrows_capture::write::{CaptureOptions, Captures, FlowInfo, IpVersion};
use narrows_record::Tap;
use narrows_tcp::{Ace, Ack, Data, Kind, MSS, SackBlocks, Segment, Seq};

const FIRST: u32 = 1_000_000_000;
const SYN: Kind = Kind::Syn { window: 64_240, scale: 7, ts: 1, ace: Ace::NONE };
const SYN_ACK: Kind =
    Kind::SynAck { window: 65_160, scale: 7, ts: 2, ts_echo: 1, ace: Ace::NONE, option: None };

/// A capture of one flow at the sender.
struct Wire(Captures<Vec<u8>>);

impl Wire {
    fn new() -> Self {
        let flow = FlowInfo { name: "flow".into(), several: true };
        let options =
            CaptureOptions { snaplen: None, version: IpVersion::V4, comment: String::new() };
        let mut wire =
            Self(Captures::new(|_| Ok(Vec::new()), &options, &[flow]).expect("memory is writable"));
        wire.pass(0, SYN);
        wire.pass(0, SYN_ACK);
        wire
    }

    /// A segment leaves its host.
    fn pass(&mut self, instance: u32, kind: Kind) {
        let packet = Segment { instance, kind }.into_packet(FlowId(0), Ecn::NotEct);
        let point = match kind {
            Kind::SynAck { .. } | Kind::Ack(_) => Point::Receiver,
            _ => Point::Sender,
        };
        self.0.packet(point, Heading::Out, Time::ZERO, &packet);
    }

    /// The TCP headers that a point saw.
    fn headers(self, point: Point) -> Vec<Vec<u8>> {
        let mut files = self.0.finish().expect("memory is writable");
        let data = files.swap_remove(point as usize).1;
        let mut headers = Vec::new();
        let mut at = 0;
        while at < data.len() {
            let word = |offset: usize| {
                u32::from_le_bytes(data[at + offset..at + offset + 4].try_into().expect("4 bytes"))
            };
            if word(0) == 6 {
                headers.push(data[at + 28 + 20..at + 28 + word(20) as usize].to_vec());
            }
            at += word(4) as usize;
        }
        headers
    }
}

fn data(seq: Seq, len: u16) -> Kind {
    Kind::Data(Data {
        count: 1,
        seq,
        len,
        psh: false,
        fin: false,
        retransmission: false,
        ts: 3,
        ts_echo: 2,
        cwr: false,
        ace: Ace::NONE,
        ecn: Ecn::NotEct,
    })
}

/// A packet with the FIN.
fn last(seq: Seq, len: u16) -> Kind {
    let Kind::Data(packet) = data(seq, len) else { unreachable!("it is data") };
    Kind::Data(Data { fin: true, ..packet })
}

fn ack(ack: Seq, blocks: &[(Seq, Seq)]) -> Kind {
    let sack: SackBlocks = blocks.iter().copied().collect();
    Kind::Ack(Ack { ack, window: 1000, sack, ..Ack::default() })
}

fn word(header: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(header[at..at + 4].try_into().expect("4 bytes"))
}

/// AE, CWR, ECE and the rest.
fn flags(header: &[u8]) -> u16 {
    u16::from_be_bytes([header[12] & 1, header[13]])
}

#[test]
fn packets_may_be_short_anywhere() {
    let mut wire = Wire::new();
    let lengths = [MSS as u16, 100, MSS as u16, 1, 1, MSS as u16];
    for (seq, &len) in (0..).zip(&lengths) {
        wire.pass(0, data(seq, len));
    }
    for number in 0..=6 {
        wire.pass(0, ack(number, &[]));
    }
    wire.pass(0, ack(0, &[(1, 2), (3, 5)]));
    let mut edges = vec![FIRST + 1];
    for len in lengths {
        edges.push(edges[edges.len() - 1] + u32::from(len));
    }
    let acks = wire.headers(Point::Receiver);
    let numbers: Vec<u32> = acks[1..8].iter().map(|header| word(header, 8)).collect();
    assert_eq!(numbers, edges);
    let blocks: Vec<u32> = (0..4).map(|n| word(&acks[8], 36 + 4 * n)).collect();
    assert_eq!(blocks, [edges[1], edges[2], edges[3], edges[5]]);
}

#[test]
fn each_connection_counts_its_own_bytes() {
    let mut wire = Wire::new();
    wire.pass(0, data(0, 100));
    wire.pass(1, SYN);
    wire.pass(1, data(0, 200));
    wire.pass(0, last(1, 100)); // side by side with the other
    wire.pass(1, last(1, 100));
    let sent = wire.headers(Point::Sender);
    let numbers: Vec<u32> = sent.iter().map(|header| word(header, 4)).collect();
    assert_eq!(numbers, [FIRST, FIRST + 1, FIRST, FIRST + 1, FIRST + 101, FIRST + 201]);
    let ports: Vec<u16> = sent.iter().map(|h| u16::from_be_bytes([h[0], h[1]])).collect();
    assert_eq!(ports, [10_000, 10_000, 10_001, 10_001, 10_000, 10_001]);
    assert_eq!(sent.iter().map(|h| flags(h)).collect::<Vec<_>>(), [2, 16, 2, 16, 17, 17], "FIN");
}

#[test]
fn numbers_wrap_after_4_gib() {
    let size = 5_000_000_000;
    let number = u32::try_from(size / u64::from(MSS)).expect("a packet number");
    let len = u16::try_from(size % u64::from(MSS)).expect("a short packet");
    let wire = || {
        let mut wire = Wire::new();
        wire.pass(0, last(number, len));
        wire.pass(0, ack(number + 1, &[]));
        wire
    };
    let sent = &wire().headers(Point::Sender)[1];
    let end = u64::from(word(sent, 4)) + u64::from(len);
    let expected = (u64::from(FIRST) + 1 + size) % (1 << 32);
    assert_eq!(end, expected);
    let acked = &wire().headers(Point::Receiver)[1];
    assert_eq!(u64::from(word(acked, 8)), expected + 1, "with the FIN");
}

#[test]
fn a_window_is_rounded_up() {
    let mut wire = Wire::new();
    wire.pass(0, ack(0, &[]));
    let header = &wire.headers(Point::Receiver)[1];
    assert_eq!(u16::from_be_bytes([header[14], header[15]]), 8, "1000 bytes in units of 128");
}

#[test]
fn accurate_ecn_counts_in_three_flags() {
    let mut wire = Wire::new();
    let ace = Ace::reflecting(Ecn::Ect1);
    let answer = Kind::SynAck { window: 1, scale: 7, ts: 2, ts_echo: 1, ace, option: None };
    wire.pass(0, answer);
    for marked in [0, 1, 3, 8] {
        wire.pass(0, Kind::Ack(Ack { ace: Ace::of_count(marked), ..Ack::default() }));
    }
    let received = wire.headers(Point::Receiver);
    let counts: Vec<u16> = received[1..].iter().map(|header| flags(header) >> 6).collect();
    assert_eq!(counts, [0b011, 5, 6, 0, 5], "RFC 9768: from 5 on, modulo 8");
}

#[test]
fn classic_ecn_has_its_flags() {
    let (ece, cwr) = (64, 128);
    let mut wire = Wire::new();
    let ace = Ace::CLASSIC_REQUEST;
    wire.pass(0, Kind::Syn { window: 64_240, scale: 7, ts: 1, ace });
    let Kind::Data(packet) = data(0, 100) else { unreachable!("it is data") };
    wire.pass(0, Kind::Data(Data { cwr: true, ..packet }));
    let sent = wire.headers(Point::Sender);
    assert_eq!(flags(&sent[1]), 2 | ece | cwr);
    assert_eq!(flags(&sent[2]), 16 | cwr);
    let mut wire = Wire::new();
    let ace = Ace::CLASSIC_ANSWER;
    wire.pass(0, Kind::SynAck { window: 1, scale: 7, ts: 2, ts_echo: 1, ace, option: None });
    wire.pass(0, Kind::Ack(Ack { ece: true, ..Ack::default() }));
    let received = wire.headers(Point::Receiver);
    assert_eq!(flags(&received[1]), 2 | 16 | ece);
    assert_eq!(flags(&received[2]), 16 | ece);
}
