//! Turns the simulator's segments into packets on a wire.
//!
//! The simulator numbers packets; here they become bytes. A FIN isn't a separate packet there: the
//! last packet of a connection of known size carries it, and its acknowledgement covers it. The
//! receiver's own half of the connection stays open.

use std::collections::BTreeMap;

use narrows_base::FlowId;
use narrows_tcp::{Ack, Data, Datagram, Kind, MSS, Opaque, Segment, Seq};

use super::addresses::{ConnectionEnds, IpVersion, ends};
use super::ecn::ecn_flags;
use super::headers::{TcpOptions, WirePacket, flags};

/// First sequence numbers of both ends; a capture tool shows numbers from there on.
const FIRST_SENT: u32 = 1_000_000_000;
const FIRST_RECEIVED: u32 = 2_000_000_000;

/// The required information about a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowInfo {
    /// Its name.
    pub name: String,
    /// True if it may have several connections.
    pub several: bool,
}

/// Turns segments into headers, for all flows of a run.
#[derive(Debug)]
pub(super) struct Wire {
    version: IpVersion,
    flows: Vec<Flow>,
}

/// The state of a flow, which is small however much it sends.
#[derive(Debug)]
struct Flow {
    /// Scale of the windows that each end announces.
    sender_scale: u8,
    receiver_scale: u8,
    /// The sender's own receive window in bytes; nothing ever fills it.
    sender_window: u32,
    /// The packets that weren't full or carried the FIN, by connection and number.
    short: BTreeMap<(u32, Seq), Short>,
}

/// A packet that wasn't full, or the last one.
#[derive(Clone, Copy, Debug)]
struct Short {
    /// Bytes by which this packet and those before it in its connection are short of full ones.
    missing: u64,
    fin: bool,
}

impl Wire {
    pub(super) fn new(version: IpVersion, flows: &[FlowInfo]) -> Self {
        let flow = |_: &FlowInfo| Flow {
            sender_scale: 0,
            receiver_scale: 0,
            sender_window: 0,
            short: BTreeMap::new(),
        };
        Self { version, flows: flows.iter().map(flow).collect() }
    }

    /// Learns from a segment that leaves its host.
    pub(super) fn departs(&mut self, flow: FlowId, segment: &Segment) {
        let known = &mut self.flows[flow.index()];
        match &segment.kind {
            Kind::Syn { window, scale, .. } => {
                known.sender_window = *window;
                known.sender_scale = *scale;
            }
            Kind::SynAck { scale, .. } => known.receiver_scale = *scale,
            Kind::Data(data) => known.add_short(segment.instance, data),
            _ => {}
        }
    }

    /// Bytes of payload before the packet `seq`.
    pub(super) fn offset(&self, flow: FlowId, instance: u32, seq: Seq) -> u64 {
        self.flows[flow.index()].offset(instance, seq)
    }

    /// The headers of a segment.
    pub(super) fn packet(&self, packet: &narrows_base::Packet<Segment>) -> WirePacket {
        let segment = &packet.body;
        let flow = &self.flows[packet.flow.index()];
        let ends = ends(self.version, packet.flow, segment.instance);
        let mut made = match &segment.kind {
            Kind::Syn { window, scale, ts, .. } => flow.syn(&ends, *window, *scale, *ts),
            Kind::SynAck { window, scale, ts, ts_echo, option, .. } => {
                let options = TcpOptions::of_syn(mss_option(), (*ts, *ts_echo), *option, *scale);
                syn_ack(&ends, *window, options)
            }
            Kind::HandshakeAck { ts, ts_echo, option, .. } => {
                let options = TcpOptions::of_segment(*ts, *ts_echo, *option, &[]);
                WirePacket { options, ..flow.pure_ack(&ends, 0, *ts, *ts_echo) }
            }
            Kind::Challenge { seq, ts, ts_echo, .. } => {
                flow.pure_ack(&ends, flow.offset(segment.instance, *seq), *ts, *ts_echo)
            }
            Kind::WindowProbe { seq, ts, ts_echo, .. } => {
                let before = flow.offset(segment.instance, *seq).saturating_sub(1);
                flow.pure_ack(&ends, before, *ts, *ts_echo)
            }
            Kind::Data(data) => flow.data(&ends, segment.instance, data),
            Kind::Ack(ack) => flow.ack(&ends, segment.instance, ack),
            Kind::Datagram(Datagram { len, .. }) | Kind::Opaque(Opaque { len, .. }) => {
                WirePacket { is_datagram: true, payload: *len, ..flow.sender_packet(&ends) }
            }
            Kind::Echo(Datagram { len, .. }) | Kind::OpaqueReply(Opaque { len, .. }) => {
                WirePacket { is_datagram: true, payload: *len, ..receiver_packet(&ends) }
            }
        };
        made.ecn = packet.ecn;
        made.flags |= ecn_flags(&segment.kind);
        made
    }
}

impl Flow {
    fn add_short(&mut self, instance: u32, data: &Data) {
        let short = u32::from(data.count) * MSS - u32::from(data.len);
        if short == 0 && !data.fin {
            return;
        }
        let before = self.short_before(instance, data.seq).map_or(0, |short| short.missing);
        let missing = before + u64::from(short);
        let seq = data.seq + u32::from(data.count) - 1;
        self.short.insert((instance, seq), Short { missing, fin: data.fin });
    }

    /// The last packet before `seq` that wasn't full.
    fn short_before(&self, instance: u32, seq: Seq) -> Option<Short> {
        self.short.range((instance, 0)..(instance, seq)).next_back().map(|(_, &short)| short)
    }

    /// Bytes of payload before the packet `seq`.
    fn offset(&self, instance: u32, seq: Seq) -> u64 {
        let missing = self.short_before(instance, seq).map_or(0, |short| short.missing);
        u64::from(seq) * u64::from(MSS) - missing
    }

    /// The sequence number that follows everything before the packet `seq`, with the FIN.
    fn edge(&self, instance: u32, seq: Seq) -> u32 {
        let fin = self.short_before(instance, seq).is_some_and(|short| short.fin);
        sequence(FIRST_SENT, 1 + self.offset(instance, seq) + u64::from(fin))
    }

    fn syn(&self, ends: &ConnectionEnds, window: u32, scale: u8, ts: u32) -> WirePacket {
        WirePacket {
            seq: FIRST_SENT,
            ack: 0,
            flags: flags::SYN,
            window: header_window(window, 0),
            options: TcpOptions::of_syn(mss_option(), (ts, 0), None, scale),
            ..self.sender_packet(ends)
        }
    }

    fn pure_ack(&self, ends: &ConnectionEnds, offset: u64, ts: u32, ts_echo: u32) -> WirePacket {
        WirePacket {
            seq: sequence(FIRST_SENT, 1 + offset),
            options: TcpOptions::of_segment(ts, ts_echo, None, &[]),
            ..self.sender_packet(ends)
        }
    }

    fn data(&self, ends: &ConnectionEnds, instance: u32, data: &Data) -> WirePacket {
        let offset = self.offset(instance, data.seq);
        let psh = if data.psh { flags::PSH } else { 0 };
        let fin = if data.fin { flags::FIN } else { 0 };
        WirePacket {
            seq: sequence(FIRST_SENT, 1 + offset),
            flags: flags::ACK | psh | fin,
            options: TcpOptions::of_segment(data.ts, data.ts_echo, None, &[]),
            payload: data.len,
            ..self.sender_packet(ends)
        }
    }

    fn ack(&self, ends: &ConnectionEnds, instance: u32, ack: &Ack) -> WirePacket {
        let mut blocks = [(0, 0); 3];
        let sacked = ack.sack.as_slice();
        for (block, &(start, end)) in blocks.iter_mut().zip(sacked) {
            let start = sequence(FIRST_SENT, 1 + self.offset(instance, start));
            *block = (start, self.edge(instance, end));
        }
        WirePacket {
            ack: self.edge(instance, ack.ack),
            flags: flags::ACK,
            window: header_window(ack.window, self.receiver_scale),
            options: TcpOptions::of_segment(
                ack.ts,
                ack.ts_echo,
                ack.sack.option(),
                &blocks[..sacked.len()],
            ),
            ..receiver_packet(ends)
        }
    }

    /// An established sender's packet without payload.
    fn sender_packet(&self, ends: &ConnectionEnds) -> WirePacket {
        WirePacket {
            is_datagram: false,
            source: (ends.sender, ends.sender_port),
            destination: (ends.receiver, ends.receiver_port),
            ecn: narrows_base::Ecn::NotEct,
            seq: 0,
            ack: sequence(FIRST_RECEIVED, 1),
            flags: flags::ACK,
            window: header_window(self.sender_window, self.sender_scale),
            options: TcpOptions::of_segment(0, 0, None, &[]),
            payload: 0,
        }
    }
}

fn syn_ack(ends: &ConnectionEnds, window: u32, options: TcpOptions) -> WirePacket {
    WirePacket {
        seq: FIRST_RECEIVED,
        ack: sequence(FIRST_SENT, 1),
        flags: flags::SYN | flags::ACK,
        window: header_window(window, 0),
        options,
        ..receiver_packet(ends)
    }
}

/// An established receiver's packet; it never sends payload.
fn receiver_packet(ends: &ConnectionEnds) -> WirePacket {
    WirePacket {
        is_datagram: false,
        source: (ends.receiver, ends.receiver_port),
        destination: (ends.sender, ends.sender_port),
        ecn: narrows_base::Ecn::NotEct,
        seq: sequence(FIRST_RECEIVED, 1),
        ack: 0,
        flags: flags::ACK,
        window: 0,
        options: TcpOptions::of_segment(0, 0, None, &[]),
        payload: 0,
    }
}

/// Sequence numbers wrap around after 4 GiB.
#[expect(clippy::cast_possible_truncation, reason = "sequence numbers are modulo 2^32")]
fn sequence(first: u32, offset: u64) -> u32 {
    first.wrapping_add(offset as u32)
}

/// The window in the header, rounded up to a multiple of the scale, as Linux's `tcp_select_window`
/// rounds the edge that it promised before.
fn header_window(window: u32, scale: u8) -> u16 {
    u16::try_from(u64::from(window).div_ceil(1 << scale)).unwrap_or(u16::MAX)
}

/// The MSS that both ends announce: the payload without timestamps (`tcp_advertise_mss`).
fn mss_option() -> u16 {
    u16::try_from(MSS + 12).expect("an MSS fits 16 bits")
}
