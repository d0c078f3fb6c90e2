//! A QUIC connection's packets as segments, so that the analysis is the same.
//!
//! A log names the stream bytes of each packet and the packets that arrived. The bytes of all
//! streams get numbers in the order in which they were first sent, so a byte that is sent again
//! keeps its number; with one stream, its offset is the number. What arrived becomes a cumulative
//! number and selective ranges. Packet numbers take the place of timestamps, and the largest that
//! arrived that of their echo.

#[cfg(feature = "quic-keys")]
mod decrypt;
mod key_log;
mod side;

use crate::decode::{CapturedSegment, Endpoint, Flags, MOST_SACKS};
use crate::read::{QlogTrace, QuicEvent, QuicFrame, QuicPacket};
use side::{Range, Side};

#[cfg(feature = "quic-keys")]
pub(crate) use decrypt::Decryptor;
pub use key_log::KeyLog;

/// Bytes of the UDP header and that of IPv4 or IPv6.
const UDP_HEADERS: [u64; 2] = [28, 48];
const SERVER_PORT: u16 = 443;
const CLIENT_PORT: u16 = 50_000;
/// TCP's timestamps, which a SYN's MSS includes.
const STAMPS: u64 = 12;

/// A segment whose window isn't scaled yet; none if the log has no limit.
struct Draft {
    segment: CapturedSegment,
    window: Option<u64>,
}

/// The segments of all traces of a log.
pub(crate) fn segments(traces: &[QlogTrace]) -> Vec<CapturedSegment> {
    let of = |trace: &QlogTrace| segments_between(trace, made_up_ends(trace));
    let mut segments: Vec<CapturedSegment> = traces.iter().flat_map(of).collect();
    if traces.len() > 1 {
        // Connections of one log overlap; within each the log's order stays.
        segments.sort_by_key(|segment| segment.time);
    }
    segments
}

/// Addresses for a connection whose log has none: those of documentation (RFC 3849).
fn made_up_ends(trace: &QlogTrace) -> [Endpoint; 2] {
    let mut ends = [(1, SERVER_PORT), (2, CLIENT_PORT)].map(|(host, port)| Endpoint {
        address: 0x2001_0db8 << 96 | u128::from(trace.connection) << 64 | host,
        port,
    });
    if !trace.server {
        ends.reverse();
    }
    ends
}

/// The segments of a connection between the endpoint of its log and its peer.
fn segments_between(trace: &QlogTrace, ends: [Endpoint; 2]) -> Vec<CapturedSegment> {
    let mut made = Converter::new(trace, ends);
    for event in &trace.events {
        match event {
            QuicEvent::Packet(packet) => made.on_packet(packet),
            &QuicEvent::InitialLimits { own, data, stream } => {
                made.sides[usize::from(own)].allow(data, stream);
            }
        }
    }
    made.finish()
}

struct Converter {
    /// The data of the log's endpoint, and those of its peer.
    sides: [Side; 2],
    ends: [Endpoint; 2],
    /// Bytes of the headers around a packet.
    headers: u64,
    handshake: Option<[u64; 3]>,
    /// The largest number of each endpoint's packets that arrived at the other, plus one.
    echoes: [u32; 2],
    drafts: Vec<Draft>,
}

impl Converter {
    fn new(trace: &QlogTrace, ends: [Endpoint; 2]) -> Self {
        // Logs are taken for those of IPv4, whatever their addresses look like.
        let v6 = ends != made_up_ends(trace) && !ends[0].is_ipv4();
        let packets = |sent: bool| {
            let all = trace.events.iter().filter_map(|event| match event {
                QuicEvent::Packet(packet) => Some(packet),
                QuicEvent::InitialLimits { .. } => None,
            });
            all.filter(move |packet| packet.sent == sent)
        };
        Self {
            sides: [Side::new(packets(true)), Side::new(packets(false))],
            ends,
            headers: UDP_HEADERS[usize::from(v6)],
            handshake: trace.handshake,
            echoes: [0; 2],
            drafts: Vec::new(),
        }
    }

    fn on_packet(&mut self, packet: &QuicPacket) {
        let from = usize::from(!packet.sent);
        if let Some(number) = packet.heard {
            self.echoes[1 - from] = self.echoes[1 - from].max(stamp(number));
        }
        let mut changed = false;
        for frame in &packet.frames {
            match frame {
                QuicFrame::Ack(ranges) => self.acknowledge(from, packet, ranges),
                &QuicFrame::MaxData(most) => {
                    changed |= self.sides[1 - from].allow(Some(most), None);
                }
                &QuicFrame::MaxStreamData(id, most) => {
                    changed |= self.sides[1 - from].allow_stream(id, most);
                }
                QuicFrame::Stream { .. } => {}
            }
        }
        if changed && !self.drafts.is_empty() {
            self.draft(from, packet, None, &[]);
        }
        let ranges = self.sides[from].send(packet);
        let payload: u64 = ranges.iter().map(|range| range.end - range.begin).sum();
        let headers = packet.size.saturating_sub(payload) + self.headers;
        for (number, range) in ranges.iter().enumerate() {
            self.open(packet.time);
            self.draft(from, packet, Some((*range, if number == 0 { headers } else { 0 })), &[]);
        }
    }

    /// Both ends open as the handshake went, or when the first data are sent: no round trip of a
    /// handshake is made up.
    fn open(&mut self, time: u64) {
        if !self.drafts.is_empty() {
            return;
        }
        let seen = self.handshake.filter(|&[_, _, reply]| reply <= time);
        let [first, answer, reply] = seen.unwrap_or([time; 3]);
        let answers = if seen.is_some() { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
        for (from, time, flags) in [(0, first, Flags::SYN), (1, answer, answers)] {
            let mss = self.sides[1 - from].longest + STAMPS;
            let segment = CapturedSegment {
                time,
                source: self.ends[from],
                destination: self.ends[1 - from],
                ack: u32::from(flags.has(Flags::ACK)),
                flags,
                mss: Some(u16::try_from(mss).unwrap_or(u16::MAX)),
                sack_permitted: true,
                timestamps: Some((0, 0)),
                size: 40,
                headers: 40,
                ..CapturedSegment::default()
            };
            self.drafts.push(Draft { segment, window: None });
        }
        if seen.is_some() {
            let segment = CapturedSegment {
                time: reply,
                source: self.ends[0],
                destination: self.ends[1],
                seq: 1,
                ack: 1,
                flags: Flags::ACK,
                timestamps: Some((0, 0)),
                size: 40,
                headers: 40,
                ..CapturedSegment::default()
            };
            self.drafts.push(Draft { segment, window: self.sides[1].window() });
        }
    }

    fn acknowledge(&mut self, from: usize, packet: &QuicPacket, ranges: &[(u64, u64)]) {
        let largest = ranges.iter().map(|&(_, last)| last).max();
        self.echoes[1 - from] = self.echoes[1 - from].max(largest.map_or(0, stamp));
        let news = self.sides[1 - from].acknowledge(ranges);
        if self.drafts.is_empty() || !news.any {
            return;
        }
        let blocks: Vec<Range> = news.blocks;
        if blocks.is_empty() && news.spurious.is_none() {
            self.draft(from, packet, None, &[]);
        }
        if let Some((spurious, within)) = news.spurious {
            self.draft(from, packet, None, &[spurious, within]);
        }
        for part in blocks.chunks(MOST_SACKS) {
            self.draft(from, packet, None, part);
        }
    }

    fn draft(
        &mut self,
        from: usize,
        packet: &QuicPacket,
        data: Option<(Range, u64)>,
        blocks: &[Range],
    ) {
        let (range, headers) = data.unwrap_or((Range { begin: 0, end: 0 }, self.headers));
        let (payload, theirs) = (range.end - range.begin, &self.sides[1 - from]);
        let begin = if data.is_some() { range.begin } else { self.sides[from].next };
        let mut segment = CapturedSegment {
            time: packet.time,
            source: self.ends[from],
            destination: self.ends[1 - from],
            seq: wrap(begin),
            ack: wrap(theirs.una()),
            flags: Flags::ACK,
            payload: wrap(payload),
            size: wrap(payload + headers),
            headers: u16::try_from(headers).unwrap_or(u16::MAX),
            timestamps: Some((stamp(packet.number), self.echoes[1 - from])),
            ..CapturedSegment::default()
        };
        for (block, into) in blocks.iter().zip(&mut segment.sacks) {
            *into = (wrap(block.begin), wrap(block.end));
            segment.sack_count += 1;
        }
        self.drafts.push(Draft { segment, window: theirs.window() });
    }

    /// Writes windows with the smallest scale that holds the largest.
    fn finish(self) -> Vec<CapturedSegment> {
        let most = self.drafts.iter().filter_map(|draft| draft.window).max();
        let most = most.unwrap_or(u64::from(u16::MAX) << 14);
        let scale = (0..14).find(|scale| most >> scale <= u64::from(u16::MAX)).unwrap_or(14);
        let write = |Draft { mut segment, window }: Draft| {
            let syn = segment.flags.has(Flags::SYN);
            segment.scale = syn.then_some(scale);
            let field = window.map_or(u64::from(u16::MAX), |window| window >> scale);
            segment.window = u16::try_from(field).unwrap_or(u16::MAX);
            segment
        };
        self.drafts.into_iter().map(write).collect()
    }
}

/// The low bits of a number, as on TCP's wire.
#[expect(clippy::cast_possible_truncation, reason = "sequence numbers wrap")]
const fn wrap(number: u64) -> u32 {
    number as u32
}

/// A packet number as a timestamp; zero is none.
const fn stamp(number: u64) -> u32 {
    wrap(number.wrapping_add(1))
}
