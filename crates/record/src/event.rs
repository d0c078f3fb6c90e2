//! The events of a run.

use narrows_base::{Bytes, Duration, FlowId, Rate, Time};

/// An event or a measurement at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The state of a flow.
    Flow(FlowSample),
    /// One named internal of a flow's congestion control.
    Internal(Internal),
    /// The state of a link's queue.
    Queue(QueueSample),
    /// A sized flow is done, at the instant of its last acknowledgement.
    Completion(Completion),
    /// An event of a packet.
    Packet(PacketEvent),
    /// One round-trip time sample.
    Rtt(RttSample),
}

/// The kinds of [`Event`] and of what follows a run, to query which ones an observer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// [`Event::Flow`].
    Flow,
    /// [`Event::Internal`].
    Internal,
    /// [`Event::Queue`].
    Queue,
    /// [`Event::Completion`].
    Completion,
    /// [`Event::Packet`].
    Packet,
    /// [`Event::Rtt`].
    Rtt,
    /// The distribution of a queue's backlog over time, for [`Observer::on_queue`](crate::Observer::on_queue).
    QueueDepth,
}

/// The state of a flow. Counters run over the whole chain of a repeated flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// The flow.
    pub flow: FlowId,
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets; none while it is infinite.
    pub ssthresh: Option<u32>,
    /// Packets in flight.
    pub in_flight: u32,
    /// The latest round-trip time sample.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The lowest round-trip time that the sender remembers.
    pub min_rtt: Option<Duration>,
    /// The pacing rate, if the flow is paced.
    pub pacing_rate: Option<Rate>,
    /// The latest delivery-rate sample.
    pub delivery_rate: Option<Rate>,
    /// Data packets sent, including retransmissions.
    pub sent: u64,
    /// Packets delivered, as known to the sender.
    pub delivered: u64,
    /// Packets that the sender marked lost.
    pub lost: u64,
    /// Packets retransmitted.
    pub retransmitted: u64,
    /// Payload that reached the receiver, each byte once.
    pub received: Bytes,
    /// IP bytes of its data that left the bottleneck.
    pub wire: Bytes,
    /// Its packets dropped by a queue or lost on the path.
    pub dropped: u64,
    /// The sender's recovery state: "open", "disorder", "cwr", "recovery", "loss";
    /// "closed" before it connects.
    pub state: &'static str,
    /// The state that the congestion control names.
    pub cca_state: &'static str,
}

/// One named internal of a flow's congestion control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Internal {
    /// The flow.
    pub flow: FlowId,
    /// The internal's name, with its unit.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

/// The state of a link's queue. Counters run from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// The link.
    pub link: u32,
    /// IP bytes that wait.
    pub backlog: Bytes,
    /// Packets that wait.
    pub backlog_packets: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the queue marked.
    pub marked: u64,
    /// Packets that left.
    pub forwarded: u64,
    /// IP bytes that left.
    pub forwarded_bytes: Bytes,
}

/// A sized flow is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The flow.
    pub flow: FlowId,
    /// Its number in a chain, from 0.
    pub instance: u32,
    /// When it connected.
    pub start: Time,
    /// Its payload.
    pub size: Bytes,
    /// Packets retransmitted.
    pub retransmitted: u64,
}

/// An event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEvent {
    /// The kind of event.
    pub kind: PacketKind,
    /// The flow of the packet or acknowledgement.
    pub flow: FlowId,
    /// Its number in a chain, from 0.
    pub instance: u32,
    /// Number of the packet in its flow; of an ACK, the next one expected.
    pub seq: u64,
    /// Length in bytes with the IP header.
    pub size: u32,
    /// True if it was sent before.
    pub retransmission: bool,
}

/// The kinds of events of a packet. The numbers are part of digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// The sender sent it.
    Sent,
    /// A queue dropped it.
    Dropped,
    /// The path's own loss rate dropped it.
    Lost,
    /// It left the bottleneck. The digests of stored results depend on these numbers.
    Forwarded = 4,
    /// It reached the receiver.
    Received,
    /// The receiver sent an acknowledgement.
    AckSent,
    /// An acknowledgement reached the sender.
    AckReceived,
}

/// One round-trip time sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// The flow.
    pub flow: FlowId,
    /// The sample.
    pub rtt: Duration,
}

impl PacketKind {
    const ALL: [Self; 7] = [
        Self::Sent,
        Self::Dropped,
        Self::Lost,
        Self::Forwarded,
        Self::Received,
        Self::AckSent,
        Self::AckReceived,
    ];

    /// The kind with a name that [`PacketKind::name`] gave.
    ///
    /// # Panics
    /// On another name.
    pub(crate) fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.name() == name).expect("a name of a kind")
    }

    /// The name in the table of packets.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Dropped => "dropped",
            Self::Lost => "lost",
            Self::Forwarded => "forwarded",
            Self::Received => "received",
            Self::AckSent => "ack_sent",
            Self::AckReceived => "ack_received",
        }
    }
}

impl Event {
    /// The event's kind.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Flow(_) => EventKind::Flow,
            Self::Internal(_) => EventKind::Internal,
            Self::Queue(_) => EventKind::Queue,
            Self::Completion(_) => EventKind::Completion,
            Self::Packet(_) => EventKind::Packet,
            Self::Rtt(_) => EventKind::Rtt,
        }
    }
}
