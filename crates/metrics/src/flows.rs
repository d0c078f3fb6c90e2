//! Goodput, share and round-trip times of each flow.
//!
//! Goodput is payload that reached the receiver, each byte once, over the flow's own span: of an
//! endless flow from the warm-up, or its start if that is later, to the end of the run, or its stop
//! if that is earlier; of a finished one its whole life. A share is always of the payload that
//! arrived between the warm-up and the end.

use std::collections::BTreeMap;

use narrows_record::Table;
use serde_json::Value;

use crate::counters::growth;
use crate::distributions::Statistic;
use crate::fairness::shares;
use crate::tables::{Columns, Distributions};

/// Bytes in a span of seconds as 10^6 bit/s; `None` if the span is empty.
#[must_use]
pub fn mbps(bytes: f64, span_s: f64) -> Option<f64> {
    (span_s > 0.0).then(|| bytes * 8.0 / span_s / 1e6)
}

/// The mean of the known values; `None` without any.
#[expect(clippy::cast_precision_loss, reason = "flows are few")]
pub(crate) fn average(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.into_iter().flatten().collect();
    let sum = known.iter().fold(0.0, |sum, value| sum + value);
    (!known.is_empty()).then(|| sum / known.len() as f64)
}

/// The lifetime of a finished flow, alone or in a chain, or a transfer of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowLifetime {
    start_s: f64,
    end_s: f64,
    bytes: f64,
}

impl FlowLifetime {
    pub(crate) const fn completion_s(&self) -> f64 {
        self.end_s - self.start_s
    }
}

/// The numbers of a flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowNumbers {
    /// In 10^6 bit/s; of a chain the mean over its flows.
    pub(crate) goodput_mbps: Option<f64>,
    pub(crate) share: Option<f64>,
    pub(crate) rtt_mean_ms: Option<f64>,
    pub(crate) rtt_p95_ms: Option<f64>,
    /// Transfers that count: those of a workload that began after the warm-up, and all others.
    pub(crate) completed: Vec<FlowLifetime>,
}

/// The numbers of every flow, in their order.
pub(crate) fn flows(
    scenario: &Value,
    tables: &[Table],
    span_s: (f64, f64),
    distributions: &Distributions<'_>,
) -> Vec<FlowNumbers> {
    let described = scenario["flows"].as_array().map_or(&[][..], Vec::as_slice);
    let samples = Columns::of(tables, "flow_samples");
    let (flows, times) = (samples.numbers("flow"), samples.floats("time_s"));
    let bytes = samples.floats("received_bytes");
    let counted = growth(flows, &times, &bytes, span_s);
    let whole = growth(flows, &times, &bytes, (-1.0, span_s.1));
    let lives = lives(tables);
    let idents = (0_u32..).zip(described);
    let received = |grown: &BTreeMap<u32, Option<f64>>, ident| {
        grown.get(&ident).copied().unwrap_or(Some(0.0)) // without rows it never started
    };
    let amounts: Vec<_> = idents.clone().map(|(ident, _)| received(&counted, ident)).collect();
    let numbers = |((ident, flow), share): ((u32, &Value), Option<f64>)| {
        let its = lives.get(&ident).map_or(&[][..], Vec::as_slice);
        let statistic = |statistic| distributions.statistic("rtt_ms", ident, statistic);
        let works = !flow["workload"].is_null();
        let since = if works { span_s.0 } else { f64::NEG_INFINITY };
        let goodput = match its {
            [] => active(flow, received(&counted, ident), span_s),
            _ if works => active(flow, received(&counted, ident), span_s),
            _ if flow["repeat_gap_ns"].is_null() => mbps(its[0].bytes, its[0].completion_s()),
            _ => chain(flow, its, received(&whole, ident), span_s.1),
        };
        FlowNumbers {
            goodput_mbps: goodput,
            share,
            rtt_mean_ms: statistic(Statistic::Mean),
            rtt_p95_ms: statistic(Statistic::Quantile(0.95)),
            completed: its.iter().filter(|life| life.start_s >= since).copied().collect(),
        }
    };
    idents.zip(shares(&amounts)).map(numbers).collect()
}

/// The goodput of a flow while it is active in the counted part of the run.
fn active(flow: &Value, received: Option<f64>, (warmup_s, end_s): (f64, f64)) -> Option<f64> {
    let start_s = flow["start_ns"].as_f64().unwrap_or_default() / 1e9;
    let stop_s = flow["stop_ns"].as_f64().map_or(end_s, |stop| stop / 1e9);
    mbps(received?, end_s.min(stop_s) - warmup_s.max(start_s))
}

/// The mean goodput of a chain's flows, of which the last may be unfinished.
fn chain(flow: &Value, lives: &[FlowLifetime], received: Option<f64>, end_s: f64) -> Option<f64> {
    let of_life = |life: &FlowLifetime| mbps(life.bytes, life.completion_s());
    let left = received.map(|received| lives.iter().fold(received, |left, life| left - life.bytes));
    let unfinished = left.filter(|&left| left > 0.0).map(|left| {
        let gap_s = flow["repeat_gap_ns"].as_f64().unwrap_or_default() / 1e9;
        let start_s = lives.last().map_or(0.0, |life| life.end_s) + gap_s;
        mbps(left, end_s - start_s)
    });
    average(lives.iter().map(of_life).chain(unfinished))
}

/// The finished flows and transfers by flow, each by its start.
fn lives(tables: &[Table]) -> BTreeMap<u32, Vec<FlowLifetime>> {
    let table = Columns::of(tables, "completions");
    let flows = table.numbers("flow");
    let [starts, ends, sizes] = ["start_s", "end_s", "size_bytes"].map(|name| table.floats(name));
    let mut found: BTreeMap<u32, Vec<FlowLifetime>> = BTreeMap::new();
    for row in table.rows() {
        let life = FlowLifetime { start_s: starts[row], end_s: ends[row], bytes: sizes[row] };
        found.entry(flows[row]).or_default().push(life);
    }
    for its in found.values_mut() {
        its.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
    }
    found
}
