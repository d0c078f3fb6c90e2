//! The findings as the tables of a run.
//!
//! Values that a capture can't show are null: the congestion window, the threshold, the pacing
//! rate and the packets that a queue dropped, unless both ends were captured.

use std::collections::BTreeMap;
use std::iter;

use narrows_base::{Histogram, Sparse};
use narrows_record::columns::{CAUSES, COMPLETIONS, FLOW_SAMPLES, INTERNALS, PACKETS, SEQUENCE};
use narrows_record::{Table, TableBuilder};

use crate::analyze::flows::{FinishedFlow, GraphPoint, PacketRow, Row};
use crate::analyze::units::{mbps, millis, seconds};

pub(crate) fn flow_samples(rows: &[Row], dropped: impl Fn(&Row) -> Option<u64>) -> Table {
    let rates = delivery(rows);
    let mut columns = TableBuilder::of(&FLOW_SAMPLES);
    columns.floats("time_s", rows.iter().map(|r| seconds(r.time)));
    columns.small("flow", rows.iter().map(|r| r.flow));
    columns.optional_small("cwnd", rows.iter().map(|_| None));
    columns.optional_small("ssthresh", rows.iter().map(|_| None));
    columns.optional_small("in_flight", rows.iter().map(|r| r.in_flight));
    columns.optional_floats("rtt_ms", rows.iter().map(|r| r.rtt.map(millis)));
    columns.optional_floats("srtt_ms", rows.iter().map(|r| r.srtt.map(millis)));
    columns.optional_floats("min_rtt_ms", rows.iter().map(|r| r.lowest.map(millis)));
    columns.optional_floats("pacing_mbps", rows.iter().map(|_| None));
    columns.optional_floats("delivery_mbps", rates.into_iter());
    columns.large("sent", rows.iter().map(|r| r.sent));
    columns.large("delivered", rows.iter().map(|r| r.delivered));
    columns.large("lost", rows.iter().map(|r| r.lost));
    columns.large("retransmitted", rows.iter().map(|r| r.again));
    columns.large("received_bytes", rows.iter().map(|r| r.received));
    columns.large("wire_bytes", rows.iter().map(|r| r.wire));
    columns.optional_large("dropped", rows.iter().map(dropped));
    columns.texts("state", rows.iter().map(|r| if r.repairing { "recovery" } else { "open" }));
    columns.texts("cca_state", rows.iter().map(|_| ""));
    columns.finish()
}

/// Payload that arrived since the flow's last row, in Mbit/s.
fn delivery(rows: &[Row]) -> Vec<Option<f64>> {
    let mut last = BTreeMap::new();
    let rate = |row: &Row| {
        let (time, received) = last.insert(row.flow, (row.time, row.received))?;
        mbps(row.received.saturating_sub(received), row.time.checked_sub(time)?)
    };
    rows.iter().map(rate).collect()
}

pub(crate) fn internals() -> Table {
    let mut columns = TableBuilder::of(&INTERNALS);
    columns.floats("time_s", [].into_iter());
    columns.small("flow", [].into_iter());
    columns.texts("name", [].into_iter());
    columns.floats("value", [].into_iter());
    columns.finish()
}

pub(crate) fn completions(flows: &[FinishedFlow]) -> Table {
    let lives: Vec<_> = flows.iter().filter_map(|d| d.life.map(|life| (d, life))).collect();
    let mut columns = TableBuilder::of(&COMPLETIONS);
    columns.small("flow", lives.iter().map(|(d, _)| d.report.id));
    columns.small("instance", lives.iter().map(|_| 0));
    columns.floats("start_s", lives.iter().map(|(_, life)| seconds(life.0)));
    columns.floats("end_s", lives.iter().map(|(_, life)| seconds(life.1)));
    columns.large("size_bytes", lives.iter().map(|(d, _)| d.report.received_bytes));
    columns.large("retransmitted", lives.iter().map(|(d, _)| d.report.loss.retransmitted));
    columns.finish()
}

pub(crate) fn distributions(flows: &[FinishedFlow]) -> Table {
    let rtts = flows.iter().map(|done| (done.report.id, &done.rtts.histogram));
    narrows_record::distributions(rtts, iter::empty::<(u32, &Histogram<Sparse>)>())
}

/// `at_receiver` says by flow whether the capture was made at its receiver.
pub(crate) fn packets(rows: &[PacketRow], at_receiver: impl Fn(u32) -> bool) -> Table {
    let event = |row: &PacketRow| match (at_receiver(row.flow), row.ack) {
        (false, false) => "sent",
        (false, true) => "ack_received",
        (true, false) => "received",
        (true, true) => "ack_sent",
    };
    let mut columns = TableBuilder::of(&PACKETS);
    columns.floats("time_s", rows.iter().map(|r| seconds(r.time)));
    columns.texts("event", rows.iter().map(event));
    columns.small("flow", rows.iter().map(|r| r.flow));
    columns.small("instance", rows.iter().map(|_| 0));
    columns.large("seq", rows.iter().map(|r| r.seq));
    columns.small("size", rows.iter().map(|r| r.size));
    columns.flags("retransmission", rows.iter().map(|r| r.again));
    columns.finish()
}

/// The predominant cause of each flow's rate over time: a table that only captures have.
pub(crate) fn causes(flows: &[FinishedFlow]) -> Table {
    let of = |done: &FinishedFlow| {
        let id = done.report.id;
        done.report.causes.spans.iter().map(|&span| (id, span)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = flows.iter().flat_map(of).collect();
    let mut columns = TableBuilder::of(&CAUSES);
    columns.floats("time_s", rows.iter().map(|(_, span)| span.begin_s));
    columns.floats("end_s", rows.iter().map(|(_, span)| span.end_s));
    columns.small("flow", rows.iter().map(|&(flow, _)| flow));
    columns.texts("cause", rows.iter().map(|(_, span)| span.cause.name()));
    columns.finish()
}

/// The points of time-sequence graphs, by flow and time: a table that only captures have.
///
/// `begin` and `end` count bytes from the flow's first; for `ack` and `window` they are equal.
pub(crate) fn sequence(points: &[GraphPoint]) -> Table {
    let mut columns = TableBuilder::of(&SEQUENCE);
    columns.floats("time_s", points.iter().map(|p| seconds(p.time)));
    columns.small("flow", points.iter().map(|p| p.flow));
    columns.texts("kind", points.iter().map(|p| p.kind.name()));
    columns.large("begin", points.iter().map(|p| p.begin));
    columns.large("end", points.iter().map(|p| p.end));
    columns.finish()
}
