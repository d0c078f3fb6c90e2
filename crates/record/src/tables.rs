//! Rows into Arrow tables: the columns that every back end writes.
//!
//! Times are in seconds and `_ms` in milliseconds, rates in 10^6 bit/s, sizes
//! in bytes. A column may hold nulls only where its type here says so.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringViewArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{Field, Schema};
use narrows_base::{Duration, Rate, Time};

use crate::recorder::{Recorder, Rows};
use crate::{Completion, FlowSample, Histogram, Internal, Level, PacketEvent, QueueSample};

/// A named table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name, the same for every back end.
    pub name: &'static str,
    /// Its columns.
    pub batch: RecordBatch,
}

/// Every table of a recording; `packets` only where the level holds it.
pub(crate) fn of(recorder: Recorder) -> Vec<Table> {
    let mut tables = vec![
        flow_samples(&recorder.flows),
        internals(&recorder.internals),
        queue_samples(&recorder.queues),
        completions(&recorder.completions),
        distributions(&recorder.rtts, &recorder.depths),
    ];
    if recorder.level() >= Level::Packets {
        tables.push(packets(&recorder.packets));
    }
    tables
}

fn flow_samples(rows: &Rows<FlowSample>) -> Table {
    let mut columns = Columns::of(rows);
    columns.seconds("time_s", |at, _| at);
    columns.small("flow", |r| r.flow.0);
    columns.small("cwnd", |r| r.cwnd);
    columns.optional_small("ssthresh", |r| r.ssthresh);
    columns.small("in_flight", |r| r.in_flight);
    columns.optional_float("rtt_ms", |r| r.rtt.map(millis));
    columns.optional_float("srtt_ms", |r| r.srtt.map(millis));
    columns.optional_float("min_rtt_ms", |r| r.min_rtt.map(millis));
    columns.optional_float("pacing_mbps", |r| r.pacing_rate.map(Rate::as_mbps));
    columns.optional_float("delivery_mbps", |r| r.delivery_rate.map(Rate::as_mbps));
    columns.large("sent", |r| r.sent);
    columns.large("delivered", |r| r.delivered);
    columns.large("lost", |r| r.lost);
    columns.large("retransmitted", |r| r.retransmitted);
    columns.large("received_bytes", |r| r.received.get());
    columns.large("wire_bytes", |r| r.wire.get());
    columns.large("dropped", |r| r.dropped);
    columns.text("state", |r| r.state);
    columns.text("cca_state", |r| r.cca_state);
    columns.table("flow_samples")
}

fn internals(rows: &Rows<Internal>) -> Table {
    let mut columns = Columns::of(rows);
    columns.seconds("time_s", |at, _| at);
    columns.small("flow", |r| r.flow.0);
    columns.text("name", |r| r.name);
    columns.float("value", |r| r.value);
    columns.table("internals")
}

fn queue_samples(rows: &Rows<QueueSample>) -> Table {
    let mut columns = Columns::of(rows);
    columns.seconds("time_s", |at, _| at);
    columns.small("link", |r| r.link);
    columns.large("backlog_bytes", |r| r.backlog.get());
    columns.large("backlog_packets", |r| r.backlog_packets);
    columns.large("arrived_packets", |r| r.arrived);
    columns.large("dropped_packets", |r| r.dropped);
    columns.large("marked_packets", |r| r.marked);
    columns.large("forwarded_packets", |r| r.forwarded);
    columns.large("forwarded_bytes", |r| r.forwarded_bytes.get());
    columns.table("queue_samples")
}

fn completions(rows: &Rows<Completion>) -> Table {
    let mut columns = Columns::of(rows);
    columns.small("flow", |r| r.flow.0);
    columns.small("instance", |r| r.instance);
    columns.seconds("start_s", |_, r| r.start);
    columns.seconds("end_s", |at, _| at);
    columns.large("size_bytes", |r| r.size.get());
    columns.large("retransmitted", |r| r.retransmitted);
    columns.table("completions")
}

fn packets(rows: &Rows<PacketEvent>) -> Table {
    let mut columns = Columns::of(rows);
    columns.seconds("time_s", |at, _| at);
    columns.text("event", |r| r.kind.name());
    columns.small("flow", |r| r.flow.0);
    columns.small("instance", |r| r.instance);
    columns.large("seq", |r| r.seq);
    columns.small("size", |r| r.size);
    columns.flag("retransmission", |r| r.retransmission);
    columns.table("packets")
}

/// A bucket of a distribution.
struct Bucket {
    kind: &'static str,
    id: u32,
    value: f64,
    weight: f64,
}

#[allow(clippy::cast_precision_loss)]
fn distributions(rtts: &[Histogram], depths: &[Histogram]) -> Table {
    let rtts = buckets("rtt_ms", rtts, |ns| ns / 1e6, |samples| samples as f64);
    let depths = buckets("queue_bytes", depths, |bytes| bytes, |ns| ns as f64 / 1e9);
    let rows = rtts.chain(depths).map(|bucket| (Time::ZERO, bucket)).collect();
    let mut columns = Columns::of(&rows);
    columns.text("kind", |r| r.kind);
    columns.small("id", |r| r.id);
    columns.float("value", |r| r.value);
    columns.float("weight", |r| r.weight);
    columns.table("distributions")
}

fn buckets(
    kind: &'static str,
    histograms: &[Histogram],
    value: impl Fn(f64) -> f64 + Copy,
    weight: impl Fn(u64) -> f64 + Copy,
) -> impl Iterator<Item = Bucket> {
    (0u32..).zip(histograms).flat_map(move |(id, histogram)| {
        let bucket = move |(v, w)| Bucket { kind, id, value: value(v), weight: weight(w) };
        histogram.buckets().map(bucket)
    })
}

#[allow(clippy::cast_precision_loss)]
fn millis(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}

/// Columns of the same rows, one after another.
struct Columns<'a, T> {
    rows: &'a Rows<T>,
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'a, T> Columns<'a, T> {
    fn of(rows: &'a Rows<T>) -> Self {
        Self { rows, fields: Vec::new(), arrays: Vec::new() }
    }

    fn values<V>(&self, get: impl Fn(&T) -> V) -> impl Iterator<Item = V> {
        self.rows.iter().map(move |(_, row)| get(row))
    }

    fn push(&mut self, name: &str, nullable: bool, array: impl Array + 'static) {
        self.fields.push(Field::new(name, array.data_type().clone(), nullable));
        self.arrays.push(Arc::new(array));
    }

    fn seconds(&mut self, name: &str, get: impl Fn(Time, &T) -> Time) {
        let seconds = self.rows.iter().map(|(at, row)| get(*at, row).as_secs_f64());
        let array = Float64Array::from_iter_values(seconds);
        self.push(name, false, array);
    }

    fn small(&mut self, name: &str, get: impl Fn(&T) -> u32) {
        let array = UInt32Array::from_iter_values(self.values(get));
        self.push(name, false, array);
    }

    fn optional_small(&mut self, name: &str, get: impl Fn(&T) -> Option<u32>) {
        let array = UInt32Array::from_iter(self.values(get));
        self.push(name, true, array);
    }

    fn large(&mut self, name: &str, get: impl Fn(&T) -> u64) {
        let array = UInt64Array::from_iter_values(self.values(get));
        self.push(name, false, array);
    }

    fn float(&mut self, name: &str, get: impl Fn(&T) -> f64) {
        let array = Float64Array::from_iter_values(self.values(get));
        self.push(name, false, array);
    }

    fn optional_float(&mut self, name: &str, get: impl Fn(&T) -> Option<f64>) {
        let array = Float64Array::from_iter(self.values(get));
        self.push(name, true, array);
    }

    fn text(&mut self, name: &str, get: impl Fn(&T) -> &'static str) {
        let array = StringViewArray::from_iter_values(self.values(get));
        self.push(name, false, array);
    }

    fn flag(&mut self, name: &str, get: impl Fn(&T) -> bool) {
        let array = BooleanArray::from_iter(self.values(|row| Some(get(row))));
        self.push(name, false, array);
    }

    fn table(self, name: &'static str) -> Table {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema, self.arrays).expect("columns of the same rows");
        Table { name, batch }
    }
}
