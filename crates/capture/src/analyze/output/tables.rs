//! What was found as the tables that every run has.
//!
//! Columns and units are those of crates/record/src/tables.rs. What a capture
//! can't show is null: the congestion window, the threshold, the pacing rate and
//! the packets that a queue dropped, unless both ends were captured.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringViewArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{Field, Schema};
use narrows_record::Table;

use crate::analyze::flows::{FinishedFlow, GraphPoint, Listed, Row};
use crate::analyze::units::{millis, seconds};

pub(crate) fn flow_samples(rows: &[Row], dropped: impl Fn(&Row) -> Option<u64>) -> Table {
    let rates = delivery(rows);
    let mut columns = Columns::default();
    columns.floats("time_s", rows.iter().map(|r| seconds(r.time)));
    columns.push("flow", UInt32Array::from_iter_values(rows.iter().map(|r| r.flow)));
    columns.push("cwnd", nothing32(rows));
    columns.push("ssthresh", nothing32(rows));
    columns.push("in_flight", UInt32Array::from_iter(rows.iter().map(|r| r.in_flight)));
    columns.optional("rtt_ms", rows.iter().map(|r| r.rtt.map(millis)));
    columns.optional("srtt_ms", rows.iter().map(|r| r.srtt.map(millis)));
    columns.optional("min_rtt_ms", rows.iter().map(|r| r.lowest.map(millis)));
    columns.optional("pacing_mbps", rows.iter().map(|_| None));
    columns.optional("delivery_mbps", rates.into_iter());
    columns.counts("sent", rows.iter().map(|r| r.sent));
    columns.counts("delivered", rows.iter().map(|r| r.delivered));
    columns.counts("lost", rows.iter().map(|r| r.lost));
    columns.counts("retransmitted", rows.iter().map(|r| r.again));
    columns.counts("received_bytes", rows.iter().map(|r| r.received));
    columns.counts("wire_bytes", rows.iter().map(|r| r.wire));
    columns.push("dropped", UInt64Array::from_iter(rows.iter().map(dropped)));
    columns.text("state", rows.iter().map(|r| if r.repairing { "recovery" } else { "open" }));
    columns.text("cca_state", rows.iter().map(|_| ""));
    columns.table("flow_samples")
}

fn nothing32(rows: &[Row]) -> UInt32Array {
    UInt32Array::from_iter(rows.iter().map(|_| None::<u32>))
}

/// Payload that arrived since the flow's last row, in Mbit/s.
#[allow(clippy::cast_precision_loss)]
fn delivery(rows: &[Row]) -> Vec<Option<f64>> {
    let mut last = std::collections::BTreeMap::new();
    let rate = |row: &Row| {
        let (time, received) = last.insert(row.flow, (row.time, row.received))?;
        let span = row.time.checked_sub(time).filter(|&span| span > 0)?;
        Some(row.received.saturating_sub(received) as f64 * 8e3 / span as f64)
    };
    rows.iter().map(rate).collect()
}

pub(crate) fn internals() -> Table {
    let mut columns = Columns::default();
    columns.floats("time_s", [].into_iter());
    columns.push("flow", UInt32Array::from_iter_values([]));
    columns.text("name", [].into_iter());
    columns.floats("value", [].into_iter());
    columns.table("internals")
}

pub(crate) fn completions(flows: &[FinishedFlow]) -> Table {
    let lives: Vec<_> = flows.iter().filter_map(|d| d.life.map(|life| (d, life))).collect();
    let mut columns = Columns::default();
    columns.push("flow", UInt32Array::from_iter_values(lives.iter().map(|(d, _)| d.report.id)));
    columns.push("instance", UInt32Array::from_iter_values(lives.iter().map(|_| 0)));
    columns.floats("start_s", lives.iter().map(|(_, life)| seconds(life.0)));
    columns.floats("end_s", lives.iter().map(|(_, life)| seconds(life.1)));
    columns.counts("size_bytes", lives.iter().map(|(d, _)| d.report.received_bytes));
    columns.counts("retransmitted", lives.iter().map(|(d, _)| d.report.loss.retransmitted));
    columns.table("completions")
}

#[allow(clippy::cast_precision_loss)]
pub(crate) fn distributions(flows: &[FinishedFlow]) -> Table {
    let buckets = |done: &FinishedFlow| {
        let id = done.report.id;
        done.rtts.iter().map(|(ns, count)| (id, ns / 1e6, count as f64)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = flows.iter().flat_map(buckets).collect();
    let mut columns = Columns::default();
    columns.text("kind", rows.iter().map(|_| "rtt_ms"));
    columns.push("id", UInt32Array::from_iter_values(rows.iter().map(|row| row.0)));
    columns.floats("value", rows.iter().map(|row| row.1));
    columns.floats("weight", rows.iter().map(|row| row.2));
    columns.table("distributions")
}

/// `at_receiver` says by flow whether the capture was made at its receiver.
pub(crate) fn packets(rows: &[Listed], at_receiver: impl Fn(u32) -> bool) -> Table {
    let event = |row: &Listed| match (at_receiver(row.flow), row.ack) {
        (false, false) => "sent",
        (false, true) => "ack_received",
        (true, false) => "received",
        (true, true) => "ack_sent",
    };
    let mut columns = Columns::default();
    columns.floats("time_s", rows.iter().map(|r| seconds(r.time)));
    columns.text("event", rows.iter().map(event));
    columns.push("flow", UInt32Array::from_iter_values(rows.iter().map(|r| r.flow)));
    columns.push("instance", UInt32Array::from_iter_values(rows.iter().map(|_| 0)));
    columns.counts("seq", rows.iter().map(|r| r.seq));
    columns.push("size", UInt32Array::from_iter_values(rows.iter().map(|r| r.size)));
    columns.push("retransmission", BooleanArray::from_iter(rows.iter().map(|r| Some(r.again))));
    columns.table("packets")
}

/// The points of time-sequence graphs, by flow and time: a table that only captures have.
///
/// `begin` and `end` count bytes from the flow's first; of `ack` and `window`
/// they are equal.
pub(crate) fn sequence(points: &[GraphPoint]) -> Table {
    let mut columns = Columns::default();
    columns.floats("time_s", points.iter().map(|p| seconds(p.time)));
    columns.push("flow", UInt32Array::from_iter_values(points.iter().map(|p| p.flow)));
    columns.text("kind", points.iter().map(|p| p.kind.name()));
    columns.counts("begin", points.iter().map(|p| p.begin));
    columns.counts("end", points.iter().map(|p| p.end));
    columns.table("sequence")
}

#[derive(Default)]
struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(&mut self, name: &str, array: impl Array + 'static) {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(Arc::new(array));
    }

    fn floats(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.push(name, Float64Array::from_iter_values(values));
    }

    fn optional(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        self.push(name, Float64Array::from_iter(values));
    }

    fn counts(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.push(name, UInt64Array::from_iter_values(values));
    }

    fn text(&mut self, name: &str, values: impl Iterator<Item = &'static str>) {
        self.push(name, StringViewArray::from_iter_values(values));
    }

    fn table(self, name: &'static str) -> Table {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema, self.arrays).expect("columns of the same rows");
        Table { name, batch }
    }
}
