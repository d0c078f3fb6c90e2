//! Builds the tables from a recording's rows.

use narrows_base::{Duration, Rate, Time};

use crate::builder::{Table, TableBuilder};
use crate::columns::{COMPLETIONS, FLOW_SAMPLES, INTERNALS, PACKETS, QUEUE_SAMPLES};
use crate::distributions::float;
use crate::event::{Completion, FlowSample, Internal, PacketEvent, QueueSample};

/// A value of every row.
fn each<T, V>(rows: &[(Time, T)], get: impl Fn(&T) -> V) -> impl Iterator<Item = V> {
    rows.iter().map(move |(_, row)| get(row))
}

/// The instant of every row, in s.
fn instants<T>(rows: &[(Time, T)]) -> impl Iterator<Item = f64> {
    rows.iter().map(|(at, _)| at.as_secs_f64())
}

pub(crate) fn flow_samples(rows: &[(Time, FlowSample)]) -> Table {
    let mut columns = TableBuilder::of(&FLOW_SAMPLES);
    columns.floats("time_s", instants(rows));
    columns.small("flow", each(rows, |r| r.flow.0));
    columns.small("cwnd", each(rows, |r| r.cwnd));
    columns.optional_small("ssthresh", each(rows, |r| r.ssthresh));
    columns.small("in_flight", each(rows, |r| r.in_flight));
    columns.optional_floats("rtt_ms", each(rows, |r| r.rtt.map(millis)));
    columns.optional_floats("srtt_ms", each(rows, |r| r.srtt.map(millis)));
    columns.optional_floats("min_rtt_ms", each(rows, |r| r.min_rtt.map(millis)));
    columns.optional_floats("pacing_mbps", each(rows, |r| r.pacing_rate.map(Rate::as_mbps)));
    columns.optional_floats("delivery_mbps", each(rows, |r| r.delivery_rate.map(Rate::as_mbps)));
    columns.large("sent", each(rows, |r| r.sent));
    columns.large("delivered", each(rows, |r| r.delivered));
    columns.large("lost", each(rows, |r| r.lost));
    columns.large("retransmitted", each(rows, |r| r.retransmitted));
    columns.large("received_bytes", each(rows, |r| r.received.get()));
    columns.large("wire_bytes", each(rows, |r| r.wire.get()));
    columns.large("dropped", each(rows, |r| r.dropped));
    columns.texts("state", each(rows, |r| r.state));
    columns.texts("cca_state", each(rows, |r| r.cca_state));
    columns.finish()
}

pub(crate) fn internals(rows: &[(Time, Internal)]) -> Table {
    let mut columns = TableBuilder::of(&INTERNALS);
    columns.floats("time_s", instants(rows));
    columns.small("flow", each(rows, |r| r.flow.0));
    columns.texts("name", each(rows, |r| r.name));
    columns.floats("value", each(rows, |r| r.value));
    columns.finish()
}

pub(crate) fn queue_samples(rows: &[(Time, QueueSample)]) -> Table {
    let mut columns = TableBuilder::of(&QUEUE_SAMPLES);
    columns.floats("time_s", instants(rows));
    columns.small("link", each(rows, |r| r.link));
    columns.large("backlog_bytes", each(rows, |r| r.backlog.get()));
    columns.large("backlog_packets", each(rows, |r| r.backlog_packets));
    columns.large("arrived_packets", each(rows, |r| r.arrived));
    columns.large("dropped_packets", each(rows, |r| r.dropped));
    columns.large("marked_packets", each(rows, |r| r.marked));
    columns.large("forwarded_packets", each(rows, |r| r.forwarded));
    columns.large("forwarded_bytes", each(rows, |r| r.forwarded_bytes.get()));
    columns.finish()
}

pub(crate) fn completions(rows: &[(Time, Completion)]) -> Table {
    let mut columns = TableBuilder::of(&COMPLETIONS);
    columns.small("flow", each(rows, |r| r.flow.0));
    columns.small("instance", each(rows, |r| r.instance));
    columns.floats("start_s", each(rows, |r| r.start.as_secs_f64()));
    columns.floats("end_s", instants(rows));
    columns.large("size_bytes", each(rows, |r| r.size.get()));
    columns.large("retransmitted", each(rows, |r| r.retransmitted));
    columns.finish()
}

pub(crate) fn packets(rows: &[(Time, PacketEvent)]) -> Table {
    let mut columns = TableBuilder::of(&PACKETS);
    columns.floats("time_s", instants(rows));
    columns.texts("event", each(rows, |r| r.kind.name()));
    columns.small("flow", each(rows, |r| r.flow.0));
    columns.small("instance", each(rows, |r| r.instance));
    columns.large("seq", each(rows, |r| r.seq));
    columns.small("size", each(rows, |r| r.size));
    columns.flags("retransmission", each(rows, |r| r.retransmission));
    columns.finish()
}

fn millis(span: Duration) -> f64 {
    float(span.as_nanos()) / 1e6
}
