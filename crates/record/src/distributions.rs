//! Builds the table `distributions` from histograms.

use crate::builder::{Table, TableBuilder};
use crate::columns::DISTRIBUTIONS;
use crate::histogram::{Histogram, Weights, float};

/// A row: a bucket of a histogram, or one of its extremes, which has no weight.
struct Row {
    kind: &'static str,
    id: u32,
    value: f64,
    weight: f64,
}

/// The table of round-trip times in ns by flow, each counting as one, and of queues in bytes by
/// link, weighted by ns.
pub fn distributions<'a, R: Weights + 'a, Q: Weights + 'a>(
    rtts: impl Iterator<Item = (u32, &'a Histogram<R>)>,
    queues: impl Iterator<Item = (u32, &'a Histogram<Q>)>,
) -> Table {
    let mut rows = Vec::new();
    for (id, histogram) in rtts {
        let bucket = |(ns, samples)| ("rtt_ms", ns / 1e6, float(samples));
        push(&mut rows, id, histogram.buckets().map(bucket));
        let named = |(least, most)| [("rtt_min_ms", least), ("rtt_max_ms", most)];
        let extremes = histogram.extremes().map(named).into_iter().flatten();
        push(&mut rows, id, extremes.map(|(kind, ns)| (kind, float(ns) / 1e6, 0.0)));
    }
    for (id, histogram) in queues {
        let bucket = |(bytes, ns)| ("queue_bytes", bytes, float(ns) / 1e9);
        push(&mut rows, id, histogram.buckets().map(bucket));
        let named = |(least, most)| [("queue_min_bytes", least), ("queue_max_bytes", most)];
        let extremes = histogram.extremes().map(named).into_iter().flatten();
        push(&mut rows, id, extremes.map(|(kind, bytes)| (kind, float(bytes), 0.0)));
    }
    let mut columns = TableBuilder::of(&DISTRIBUTIONS);
    columns.texts("kind", rows.iter().map(|r| r.kind));
    columns.small("id", rows.iter().map(|r| r.id));
    columns.floats("value", rows.iter().map(|r| r.value));
    columns.floats("weight", rows.iter().map(|r| r.weight));
    columns.finish()
}

fn push(rows: &mut Vec<Row>, id: u32, found: impl Iterator<Item = (&'static str, f64, f64)>) {
    rows.extend(found.map(|(kind, value, weight)| Row { kind, id, value, weight }));
}
