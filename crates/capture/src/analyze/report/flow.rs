//! The report on a finished flow, as JSON.

use serde::Serialize;

use crate::analyze::causes::{CauseReport, causes};
use crate::analyze::connection::{Connection, Spans};
use crate::analyze::identify::{Identification, identify};
use crate::analyze::path::{EndsReport, StageReport};
use crate::analyze::times::Times;
use crate::analyze::units::{float, mbps, millis, seconds};

/// A capture was made at an end if less than this part of the round trip leads to it.
const NEAR: f64 = 0.1;

/// Spans of time of one kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SpanReport {
    /// How many.
    pub count: u64,
    /// Total duration, in s.
    pub total_s: f64,
    /// The longest, in s.
    pub longest_s: f64,
}

impl From<Spans> for SpanReport {
    fn from(spans: Spans) -> Self {
        Self {
            count: spans.count,
            total_s: seconds(spans.total),
            longest_s: seconds(spans.longest),
        }
    }
}

/// The receiver's window.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WindowReport {
    /// The window scale; none if the handshake isn't in the capture.
    pub scale: Option<u8>,
    /// Smallest in bytes.
    pub min_bytes: Option<u64>,
    /// Largest in bytes.
    pub max_bytes: Option<u64>,
    /// How often it became zero, and for how long.
    pub zero: SpanReport,
    /// How long it limited the sender, in s.
    pub limiting_s: f64,
}

/// Runs of packets that left much closer than on average.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BurstReport {
    /// How many.
    pub count: u64,
    /// Mean number of packets.
    pub mean_packets: Option<f64>,
    /// Most packets.
    pub max_packets: u64,
    /// How many had at least 1, 2, 4, ... packets.
    pub at_least: Vec<u64>,
}

/// The fate of the flow's packets, as far as one capture shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LossReport {
    /// Packets seen again, or filling a hole after a retransmission.
    pub retransmitted: u64,
    /// The number whose first copy is missing, lost before the capture.
    pub lost_before: u64,
    /// Packets that DSACK says arrived twice.
    pub spurious: u64,
    /// Packets retransmitted though already acknowledged.
    pub needless: u64,
    /// Retransmissions after 200 ms of silence.
    pub timeouts: u64,
    /// Packets lost: retransmitted minus spurious.
    pub lost: u64,
    /// Lost packets over all packets sent.
    pub loss_rate: Option<f64>,
    /// Late packets that weren't retransmitted.
    pub reordered: u64,
    /// How far the highest number was ahead of each, in bytes.
    pub reordered_bytes: u64,
    /// How late each came, in ms.
    pub reordered_ms: f64,
    /// Packets captured twice.
    pub twins: u64,
    /// Acknowledged bytes that the capture lacks.
    pub missing_bytes: u64,
}

/// One direction of a connection that carried data.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowReport {
    /// Its number in the tables.
    pub id: u32,
    /// "source>destination", each an address and a port.
    pub name: String,
    /// The sender of the data.
    pub source: String,
    /// The receiver of the data.
    pub destination: String,
    /// Its first packet, SYN or data, in s from the first of the capture.
    pub start_s: f64,
    /// Its last packet or acknowledgement.
    pub end_s: f64,
    /// True if the capture has its handshake.
    pub handshake: bool,
    /// "closed", "reset", or "open" when the capture ended.
    pub ending: &'static str,
    /// True if it was captured from SYN to the acknowledgement of FIN.
    pub complete: bool,
    /// Where the capture was made: "sender", "receiver", "middle" or "unknown".
    pub vantage: &'static str,
    /// Minimum time from the capture to the receiver and back, in ms.
    pub to_receiver_ms: Option<f64>,
    /// Minimum time from the capture to the sender and back, in ms.
    pub to_sender_ms: Option<f64>,
    /// Frames with data.
    pub frames: u64,
    /// Packets with data, those in offloaded frames one by one.
    pub packets: u64,
    /// Frames that hold several packets.
    pub offloaded_frames: u64,
    /// Payload of a full packet.
    pub mss: Option<u64>,
    /// Payload sent, all copies.
    pub payload_bytes: u64,
    /// Payload of its first packet with data.
    pub first_bytes: u64,
    /// Payload that arrived, each byte once.
    pub received_bytes: u64,
    /// IP bytes of the packets with data.
    pub wire_bytes: u64,
    /// Payload that arrived, over the time from start to end, in Mbit/s.
    pub goodput_mbps: Option<f64>,
    /// IP bytes sent, over the same time.
    pub throughput_mbps: Option<f64>,
    /// RTT samples by sequence and acknowledgement numbers.
    pub rtt_ms: Times,
    /// RTT samples by timestamps and their echoes.
    pub timestamp_rtt_ms: Times,
    /// Mean RTT minus the minimum; none at the receiver, whose round trips don't pass the queue.
    pub queueing_ms: Option<f64>,
    /// Mean bytes in flight.
    pub in_flight_mean_bytes: Option<f64>,
    /// Maximum bytes in flight.
    pub in_flight_max_bytes: u64,
    /// Loss, retransmission and reordering.
    pub loss: LossReport,
    /// Segments of the other end with an acknowledgement.
    pub acks: u64,
    /// Duplicate acknowledgements.
    pub duplicate_acks: u64,
    /// The receiver's window.
    pub window: WindowReport,
    /// How it sends.
    pub bursts: BurstReport,
    /// Time with nothing in flight and nothing to send.
    pub idle: SpanReport,
    /// Something in flight and nothing seen for 200 ms or two RTTs.
    pub stalls: SpanReport,
    /// Packets marked by ECN.
    pub marked: u64,
    /// Acknowledgements that echo marks.
    pub ecn_echoes: u64,
    /// Fragmented packets.
    pub fragments: u64,
    /// True if SACK was agreed on.
    pub sack: Option<bool>,
    /// The fate of its packets on the path, if both ends were captured.
    pub ends: Option<EndsReport>,
    /// The fate of its packets from each point to the next, if more than two were captured.
    pub stages: Vec<StageReport>,
    /// Why it was as fast as it was.
    pub causes: CauseReport,
    /// The congestion control that it may have.
    pub control: Identification,
    /// Caveats.
    pub notes: Vec<String>,
}

/// The report on what end `from` sent.
pub(crate) fn report(connection: &Connection, from: usize) -> FlowReport {
    let half = &connection.halves[from];
    let counts = &half.counts;
    let (begin, end) = span(connection, from);
    let ends = [from, 1 - from].map(|end| connection.ends[end].to_string());
    let (vantage, to_receiver_ms, to_sender_ms) = vantage(connection, from);
    let causes = causes(connection, from, (begin, end), vantage);
    let rtts = half.rtts.mean().zip(half.rtts.least()).filter(|_| vantage != "receiver");
    let queueing = rtts.map(|(mean, least)| mean - float(least));
    FlowReport {
        id: half.id.unwrap_or(0),
        name: format!("{}>{}", ends[0], ends[1]),
        start_s: seconds(begin),
        end_s: seconds(end),
        handshake: connection.handshake_seen(),
        ending: ending(connection),
        complete: complete(connection, from),
        vantage,
        to_receiver_ms,
        to_sender_ms,
        frames: counts.frames,
        packets: counts.packets,
        offloaded_frames: counts.offloaded,
        mss: half.mss,
        payload_bytes: counts.payload,
        first_bytes: counts.first,
        received_bytes: half.payload_received(),
        wire_bytes: counts.wire,
        goodput_mbps: mbps(half.payload_received(), end - begin),
        throughput_mbps: mbps(counts.wire, end - begin),
        rtt_ms: Times::of(&half.rtts),
        timestamp_rtt_ms: Times::of(&half.echo_rtts),
        queueing_ms: queueing.map(|ns| (ns / 1e6).max(0.0)),
        in_flight_mean_bytes: half.mean_in_flight(),
        in_flight_max_bytes: half.most_in_flight,
        loss: loss(connection, from),
        acks: counts.acks,
        duplicate_acks: counts.duplicate_acks,
        window: window(connection, from),
        bursts: bursts(connection, from),
        idle: half.idle.into(),
        stalls: half.stalls.into(),
        marked: counts.marked,
        ecn_echoes: counts.echoes,
        fragments: counts.fragments,
        sack: connection.sack(),
        ends: None,
        stages: Vec::new(),
        control: identify(half.rounds.finished_rounds(), half.mss, vantage, &causes),
        causes,
        notes: notes(connection, from, vantage),
        source: ends[0].clone(),
        destination: ends[1].clone(),
    }
}

/// When the flow began and when it ended: an opening SYN is part of it.
pub(crate) fn span(connection: &Connection, from: usize) -> (u64, u64) {
    let half = &connection.halves[from];
    let begin = connection.syn[0].filter(|_| connection.handshake_seen());
    let begin = begin.or(half.first_data).unwrap_or(connection.first);
    (begin, half.last_data.max(half.advanced).max(begin))
}

pub(crate) fn complete(connection: &Connection, from: usize) -> bool {
    let half = &connection.halves[from];
    connection.handshake_seen()
        && connection.fin[from]
        && half.outstanding.is_empty()
        && half.una.is_some()
}

fn ending(connection: &Connection) -> &'static str {
    match (connection.reset, connection.is_over()) {
        (true, _) => "reset",
        (false, true) => "closed",
        _ => "open",
    }
}

fn vantage(connection: &Connection, from: usize) -> (&'static str, Option<f64>, Option<f64>) {
    let (receiver, sender) = (connection.beyond(from), connection.beyond(1 - from));
    let name = match (receiver, sender) {
        (Some(receiver), Some(sender)) if receiver + sender > 0 => {
            let part = float(sender) / float(receiver + sender);
            // Packets whose repair the capture saw were lost before it.
            if part < NEAR && connection.halves[from].counts.repaired == 0 {
                "sender"
            } else if part > 1.0 - NEAR {
                "receiver"
            } else {
                "middle"
            }
        }
        _ => "unknown",
    };
    (name, receiver.map(millis), sender.map(millis))
}

fn loss(connection: &Connection, from: usize) -> LossReport {
    let counts = &connection.halves[from].counts;
    let sent = counts.packets;
    LossReport {
        retransmitted: counts.again + counts.repaired,
        lost_before: counts.repaired,
        spurious: counts.spurious,
        needless: counts.needless,
        timeouts: counts.timeouts,
        lost: counts.lost,
        loss_rate: (sent > 0).then(|| float(counts.lost) / float(sent + counts.repaired)),
        reordered: counts.reordered,
        reordered_bytes: counts.reordered_bytes,
        reordered_ms: millis(counts.reordered_ns),
        twins: counts.duplicates,
        missing_bytes: counts.missing,
    }
}

fn window(connection: &Connection, from: usize) -> WindowReport {
    let half = &connection.halves[from];
    WindowReport {
        scale: half.scale,
        min_bytes: half.least_window,
        max_bytes: half.most_window,
        zero: half.zero.into(),
        limiting_s: seconds(half.counts.limited_ns),
    }
}

fn bursts(connection: &Connection, from: usize) -> BurstReport {
    let bursts = &connection.halves[from].bursts;
    let used = bursts.at_least.iter().take_while(|&&count| count > 0).count();
    BurstReport {
        count: bursts.count,
        mean_packets: (bursts.count > 0).then(|| float(bursts.packets) / float(bursts.count)),
        max_packets: bursts.most,
        at_least: bursts.at_least[..used].to_vec(),
    }
}

fn notes(connection: &Connection, from: usize, vantage: &str) -> Vec<String> {
    let half = &connection.halves[from];
    let mut notes = Vec::new();
    let mut note = |when: bool, what: &str| {
        if when {
            notes.push(what.to_owned());
        }
    };
    note(
        !connection.handshake_seen(),
        "the handshake isn't in the capture: segment size and window scale are unknown",
    );
    note(half.una.is_none(), "the capture has no acknowledgement of it: no RTT, nothing in flight");
    note(half.counts.missing > 0, "acknowledged bytes are missing in the capture");
    note(
        half.counts.duplicates > 0,
        "packets are in the capture twice; the second copies don't count",
    );
    note(half.counts.fragments > 0, "packets were fragmented: only first fragments count");
    note(half.outstanding.given_up > 0, "more data were outstanding than are remembered");
    note(
        vantage == "receiver" || vantage == "middle",
        "the capture wasn't made at the sender: RTT and packets in flight are those from there on",
    );
    notes
}
