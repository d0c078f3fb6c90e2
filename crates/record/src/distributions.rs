//! Builds the table `distributions` from histograms.

use narrows_base::{Histogram, Weights};

use crate::builder::{Table, TableBuilder};
use crate::columns::DISTRIBUTIONS;

/// A row: a bucket of a histogram, or its mean or one of its extremes, which have no weight.
struct Row {
    kind: &'static str,
    id: u32,
    value: f64,
    weight: f64,
}

/// The kinds of the rows of a histogram, and the units of its values and weights.
struct Kinds {
    bucket: &'static str,
    mean: &'static str,
    least: &'static str,
    most: &'static str,
    per_value: f64,
    per_weight: f64,
}

const RTTS: Kinds = Kinds {
    bucket: "rtt_ms",
    mean: "rtt_mean_ms",
    least: "rtt_min_ms",
    most: "rtt_max_ms",
    per_value: 1e6,
    per_weight: 1.0,
};

const QUEUES: Kinds = Kinds {
    bucket: "queue_bytes",
    mean: "queue_mean_bytes",
    least: "queue_min_bytes",
    most: "queue_max_bytes",
    per_value: 1.0,
    per_weight: 1e9,
};

/// The table of round-trip times in ns by flow, each counting as one, and of queues in bytes by
/// link, weighted by ns.
pub fn distributions<'a, R: Weights + 'a, Q: Weights + 'a>(
    rtts: impl Iterator<Item = (u32, &'a Histogram<R>)>,
    queues: impl Iterator<Item = (u32, &'a Histogram<Q>)>,
) -> Table {
    let mut rows = Vec::new();
    rtts.for_each(|(id, histogram)| push(&mut rows, &RTTS, id, histogram));
    queues.for_each(|(id, histogram)| push(&mut rows, &QUEUES, id, histogram));
    let mut columns = TableBuilder::of(&DISTRIBUTIONS);
    columns.texts("kind", rows.iter().map(|r| r.kind));
    columns.small("id", rows.iter().map(|r| r.id));
    columns.floats("value", rows.iter().map(|r| r.value));
    columns.floats("weight", rows.iter().map(|r| r.weight));
    columns.finish()
}

fn push<W: Weights>(rows: &mut Vec<Row>, kinds: &Kinds, id: u32, histogram: &Histogram<W>) {
    let row = |kind, value, weight| Row { kind, id, value: value / kinds.per_value, weight };
    rows.extend(
        histogram
            .buckets()
            .map(|(value, weight)| row(kinds.bucket, value, float(weight) / kinds.per_weight)),
    );
    let extremes = histogram.extremes().map(|(least, most)| (float(least), float(most)));
    if let (Some(mean), Some((least, most))) = (histogram.mean(), extremes) {
        let exact = [(kinds.mean, mean), (kinds.least, least), (kinds.most, most)];
        rows.extend(exact.map(|(kind, value)| row(kind, value, 0.0)));
    }
}

/// The nearest number with 53 bits.
#[expect(clippy::cast_precision_loss, reason = "what tables hold has 53 bits")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}
