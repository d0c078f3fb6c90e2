//! The tables that every back end writes: each column's type, unit, nulls and meaning. All code
//! that makes, reads or describes a table uses this declaration.

use arrow_schema::DataType;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Numbers with 53 bits of precision.
    Float,
    /// Whole numbers of 32 bits.
    Small,
    /// Whole numbers of 64 bits.
    Large,
    /// Words.
    Text,
    /// True or false.
    Flag,
}

impl ColumnType {
    /// The type in Arrow.
    #[must_use]
    pub const fn arrow(self) -> DataType {
        match self {
            Self::Float => DataType::Float64,
            Self::Small => DataType::UInt32,
            Self::Large => DataType::UInt64,
            Self::Text => DataType::Utf8View,
            Self::Flag => DataType::Boolean,
        }
    }

    /// Its name in documentation and other languages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float => "float64",
            Self::Small => "uint32",
            Self::Large => "uint64",
            Self::Text => "text",
            Self::Flag => "flag",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub data: ColumnType,
    /// The unit of its numbers; empty for numbers without one and for words.
    pub unit: &'static str,
    /// When it is null; none if it never is.
    pub null: Option<&'static str>,
    /// Its meaning.
    pub meaning: &'static str,
}

impl Column {
    const fn null(self, null: &'static str) -> Self {
        Self { null: Some(null), ..self }
    }
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: &'static str,
    /// The meaning of a row.
    pub row: &'static str,
    /// Its columns, in their order.
    pub columns: &'static [Column],
}

const fn column(
    name: &'static str,
    data: ColumnType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, data, unit, null: None, meaning }
}

const fn float(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    column(name, ColumnType::Float, unit, meaning)
}

const fn small(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    column(name, ColumnType::Small, unit, meaning)
}

const fn large(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    column(name, ColumnType::Large, unit, meaning)
}

const fn text(name: &'static str, meaning: &'static str) -> Column {
    column(name, ColumnType::Text, "", meaning)
}

const TIME: Column = float("time_s", "s", "the instant, from the start of the run or capture");
const FLOW: Column = small("flow", "", "the flow's number, from 0, in the scenario's order");
const INSTANCE: Column =
    small("instance", "", "the connection's number in a flow that has several, from 0");
const AGAIN: Column = large("retransmitted", "packets", "retransmissions");

/// The state of each flow at each sampled instant.
pub const FLOW_SAMPLES: TableInfo = TableInfo {
    name: "flow_samples",
    row: "a flow at an instant; counters run over all connections of a flow",
    columns: &[
        TIME,
        FLOW,
        small("cwnd", "packets", "congestion window").null("in captures without a log of `ss`"),
        small("ssthresh", "packets", "slow-start threshold")
            .null("while it is infinite; in captures without a log of `ss`"),
        small("in_flight", "packets", "packets in flight")
            .null("in captures that show no acknowledgement yet"),
        float("rtt_ms", "ms", "latest round-trip time sample")
            .null("before the first; on real kernels"),
        float("srtt_ms", "ms", "smoothed round-trip time").null("before the first sample"),
        float("min_rtt_ms", "ms", "lowest round-trip time that the sender remembers")
            .null("before the first sample"),
        float("pacing_mbps", "Mbit/s", "pacing rate")
            .null("if the flow isn't paced; in captures without a log of `ss`"),
        float("delivery_mbps", "Mbit/s", "latest delivery-rate sample")
            .null("before the first sample"),
        large("sent", "packets", "data packets sent, including retransmissions"),
        large("delivered", "packets", "packets delivered, as far as the sender knows"),
        large("lost", "packets", "packets that the sender marked lost").null("on real kernels"),
        AGAIN,
        large("received_bytes", "bytes", "payload that reached the receiver, each byte once"),
        large("wire_bytes", "bytes", "IP bytes of the flow's data that left the bottleneck")
            .null("on kernels in virtual time if the path loses packets"),
        large("dropped", "packets", "data packets that a queue dropped or the path lost")
            .null("on kernels in virtual time; in captures made at one point only"),
        text(
            "state",
            "recovery state: open, disorder, cwr, recovery, loss; closed without a connection",
        ),
        text("cca_state", "state that the congestion control names; empty if it names none"),
    ],
};

/// The internals of congestion controls.
pub const INTERNALS: TableInfo = TableInfo {
    name: "internals",
    row: "one named value inside a flow's congestion control, at an instant",
    columns: &[
        TIME,
        FLOW,
        text("name", "the value's name, with its unit"),
        float("value", "", "the value, in the unit given by its name"),
    ],
};

/// The state of each link's queue at each sampled instant.
pub const QUEUE_SAMPLES: TableInfo = TableInfo {
    name: "queue_samples",
    row: "a link's queue at an instant; counters run from the beginning",
    columns: &[
        TIME,
        small("link", "", "the link's number; the bottleneck is 0"),
        large("backlog_bytes", "bytes", "IP bytes that wait"),
        large("backlog_packets", "packets", "packets that wait"),
        large("arrived_packets", "packets", "packets that arrived"),
        large("dropped_packets", "packets", "packets that the queue dropped"),
        large("marked_packets", "packets", "packets that the queue marked (ECN)"),
        large("forwarded_packets", "packets", "packets that left"),
        large("forwarded_bytes", "bytes", "IP bytes that left"),
    ],
};

/// The finished flows of known size.
pub const COMPLETIONS: TableInfo = TableInfo {
    name: "completions",
    row: "a connection of known size that is done",
    columns: &[
        FLOW,
        INSTANCE,
        float("start_s", "s", "when it connected"),
        float("end_s", "s", "when the last acknowledgement arrived"),
        large("size_bytes", "bytes", "payload"),
        AGAIN,
    ],
};

/// The distributions of round-trip times and queues.
pub const DISTRIBUTIONS: TableInfo = TableInfo {
    name: "distributions",
    row: "a bucket of a histogram from the warm-up on, or its exact mean or extremes",
    columns: &[
        text(
            "kind",
            "rtt_ms: round-trip times of a flow; one_way_ms: times of its data from host to host, where a router carries it; queue_bytes: the queue of a link; rtt_mean_ms, rtt_min_ms, rtt_max_ms, queue_mean_bytes, queue_min_bytes, queue_max_bytes: the mean, minimum and maximum of them",
        ),
        small("id", "", "the flow's or the link's number"),
        float(
            "value",
            "",
            "the bucket's middle, the mean or the extreme, in the unit given by the kind",
        ),
        float(
            "weight",
            "",
            "round-trip times in the bucket; for a queue, seconds; for a mean or an extreme, 0",
        ),
    ],
};

/// The events of each packet.
pub const PACKETS: TableInfo = TableInfo {
    name: "packets",
    row: "an event of a packet, if packets are recorded",
    columns: &[
        TIME,
        text("event", "sent, dropped, lost, forwarded, received, ack_sent or ack_received"),
        FLOW,
        INSTANCE,
        large("seq", "packets", "the packet's number; of an ACK, the next one expected"),
        small("size", "bytes", "length with the IP header"),
        column("retransmission", ColumnType::Flag, "", "whether it was sent before"),
    ],
};

/// The data of captures' time-sequence graphs.
pub const SEQUENCE: TableInfo = TableInfo {
    name: "sequence",
    row: "a range of a flow's bytes in its time-sequence graph; in captures only",
    columns: &[
        TIME,
        FLOW,
        text("kind", "data, retransmission, out_of_order, ack, window or sack"),
        large("begin", "bytes", "first byte, counted from the flow's first"),
        large("end", "bytes", "one past the last byte; for ack and window the same as begin"),
    ],
};

/// Why captured flows weren't faster, over time.
pub const CAUSES: TableInfo = TableInfo {
    name: "causes",
    row: "a span of a flow's time with one predominant cause of its rate; in captures only",
    columns: &[
        TIME,
        float("end_s", "s", "when the span ends; `time_s` is when it begins"),
        FLOW,
        text(
            "cause",
            "slow_start, receiver_window, application, send_buffer, queue, random_loss, policer, \
             timeouts, reordering, fair_share, healthy or unknown",
        ),
    ],
};

/// Every table, in the order of the documentation.
pub const TABLES: [TableInfo; 8] =
    [FLOW_SAMPLES, INTERNALS, QUEUE_SAMPLES, COMPLETIONS, DISTRIBUTIONS, PACKETS, SEQUENCE, CAUSES];
