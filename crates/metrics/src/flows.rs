//! Goodput, throughput, share, round-trip times and completion times of each flow.
//!
//! Goodput is payload that reached the receiver, each byte once; throughput is IP bytes that left
//! the bottleneck; both are in 10^6 bit/s. They are measured over the flow's own span:
//!
//! - an endless flow: from the warm-up, or its start if that is later, to the end of the run, or
//!   its stop if that is earlier (what was in flight then and still arrives counts);
//! - a finished flow, alone or in a chain: its whole life, from connecting to the arrival of the
//!   last byte's acknowledgement.
//!
//! A share is always of the payload that arrived between the warm-up and the end.

use arrow_schema::ArrowError;
use serde::Serialize;
use serde_json::Value;

use crate::counters::{SampleCounters, float, whole};
use crate::distributions::{Statistics, numpy_mean};
use crate::fairness::shares;
use crate::lives::{Life, of_flow};
use crate::offered::{LeastTimes, Steps, flow_two_way_ns};
use crate::run::RunMetrics;
use crate::scenario::{flows, has_samples, number};
use crate::tables::RunTables;
use crate::workloads::WorkloadSummary;

/// The statistics of round-trip times.
pub const RTT_STATISTICS: [&str; 5] = ["min", "mean", "p50", "p95", "p99"];
/// The mean over time of the latest round-trip time.
pub const TIME_MEAN: &str = "time_mean";
const COUNTERS: [&str; 3] = ["received_bytes", "wire_bytes", "retransmitted"];
/// Samples of flows that are in memory at a time.
const SAMPLES: usize = 1 << 22;

/// The numbers of a flow, or of one flow of a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// The number of the flow or of its chain.
    #[serde(skip)]
    pub flow: usize,
    /// The name of the flow or of its chain.
    pub name: String,
    /// Its control.
    pub cca: String,
    /// Its number in its chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// Its start.
    pub start_s: f64,
    /// Payload at the receiver, each byte once.
    pub goodput_mbps: Option<f64>,
    /// IP bytes out of the bottleneck; unknown in a chain.
    pub throughput_mbps: Option<f64>,
    /// Packets retransmitted.
    pub retransmits: Option<i64>,
    /// The round-trip times, each counting once, and the mean over time of the latest one, which
    /// holds for long where a flow sends little; in a chain those of the whole chain.
    pub rtt_ms: Statistics,
    /// The queueing delays, if the path's own delay changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<Statistics>,
    /// The one-way delays of its data, if the back end sees them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_ms: Option<Statistics>,
    /// The completion time of a finished flow.
    pub fct_s: Option<f64>,
    /// The minimum completion time, if a rate or a delay isn't constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_s: Option<f64>,
    /// Its part of all payload.
    pub share: Option<f64>,
    /// The metrics of its application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSummary>,
}

/// Bytes in a span of seconds as 10^6 bit/s; `None` if either is meaningless.
#[must_use]
pub fn mbps(bytes: Option<f64>, span_s: f64) -> Option<f64> {
    bytes.filter(|_| span_s > 0.0).map(|bytes| bytes * 8.0 / span_s / 1e6)
}

impl<T: RunTables> RunMetrics<T> {
    /// The summaries of every flow, and of every flow of a chain, in the order of ids and starts.
    ///
    /// # Errors
    /// If a table can't be read.
    pub fn flows(&self) -> Result<Vec<FlowSummary>, ArrowError> {
        let described = flows(&self.scenario);
        let counters =
            SampleCounters::of(&self.tables, ("flow_samples", "flow"), &COUNTERS, self.span_s)?;
        let received = (0..).zip(described).map(|(id, _)| counters.growth(id, "received_bytes"));
        let received: Vec<_> = received.collect();
        let inputs = SharedInputs {
            shares: shares(&received.iter().map(|amount| amount.map(float)).collect::<Vec<_>>()),
            total_bytes: float(received.iter().flatten().sum()),
            delays: self.delays()?,
            least: LeastTimes::new(&self.scenario),
            counters,
        };
        let mut found = Vec::with_capacity(described.len());
        for (id, flow) in described.iter().enumerate() {
            let one = FlowOfRun { run: self, inputs: &inputs, id, flow };
            one.summarise(&mut found)?;
        }
        Ok(found)
    }

    /// The delays over time of each flow.
    fn delays(&self) -> Result<Vec<Delays>, ArrowError> {
        let count = flows(&self.scenario).len();
        let mut found = vec![Delays::default(); count];
        if !has_samples(&self.scenario) {
            return Ok(found);
        }
        let mut rows_in_all = 0;
        self.tables.each("flow_samples", &["flow"], &mut |rows| {
            rows_in_all += rows.len();
            Ok(())
        })?;
        let of_each = (rows_in_all / count.max(1)).max(1);
        let at_once = (SAMPLES / of_each).max(1);
        for (part, delays) in found.chunks_mut(at_once).enumerate() {
            self.delays_of(part * at_once, delays)?;
        }
        Ok(found)
    }

    /// The delays over time of consecutive flows.
    fn delays_of(&self, first: usize, found: &mut [Delays]) -> Result<(), ArrowError> {
        let own = &flows(&self.scenario)[first..first + found.len()];
        let own: Vec<Steps> =
            own.iter().map(|flow| flow_two_way_ns(&self.scenario, flow)).collect();
        let mut series = vec![DelaySamples::default(); found.len()];
        let (warmup_s, end_s) = self.span_s;
        let columns = ["flow", "time_s", "rtt_ms", "srtt_ms"];
        self.tables.each("flow_samples", &columns, &mut |rows| {
            let (keys, times) = (rows.numbers("flow")?, rows.numbers("time_s")?);
            let (rtts, smoothed) = (rows.numbers("rtt_ms")?, rows.numbers("srtt_ms")?);
            for row in 0..rows.len() {
                let place = (keys.key(row) as usize).checked_sub(first);
                let Some(place) = place.filter(|&place| place < own.len()) else { continue };
                let (time_s, rtt_ms) = (times.at(row), rtts.at(row));
                if !(warmup_s..=end_s).contains(&time_s) {
                    continue;
                }
                let latest = if rtt_ms.is_finite() { rtt_ms } else { smoothed.at(row) };
                if latest.is_finite() {
                    series[place].latest_ms.push(latest);
                }
                if own[place].varies() && rtt_ms.is_finite() {
                    let beyond = queueing_ms(&own[place], time_s * 1e9, rtt_ms * 1e6);
                    series[place].queueing_ms.push(beyond);
                }
            }
            Ok(())
        })?;
        for (found, series) in found.iter_mut().zip(series) {
            found.time_mean_ms = numpy_mean(&series.latest_ms);
            found.queueing_ms = (!series.queueing_ms.is_empty())
                .then(|| Statistics::of(&series.queueing_ms, &RTT_STATISTICS));
        }
        Ok(())
    }
}

/// The delay of a packet beyond the path's, which is half of its value when the packet left plus
/// half of its value when the acknowledgement left.
fn queueing_ms(own: &Steps, now_ns: f64, rtt_ns: f64) -> f64 {
    let back_ns = own.at(now_ns) / 2.0;
    let base_ns = own.at(now_ns - rtt_ns) / 2.0 + own.at(now_ns - back_ns) / 2.0;
    (rtt_ns - base_ns).max(0.0) / 1e6
}

#[derive(Clone, Debug, Default)]
struct DelaySamples {
    latest_ms: Vec<f64>,
    queueing_ms: Vec<f64>,
}

/// The delays of a flow in its samples.
#[derive(Clone, Debug, Default)]
struct Delays {
    time_mean_ms: Option<f64>,
    queueing_ms: Option<Statistics>,
}

/// The inputs that all flows share.
#[derive(Debug)]
struct SharedInputs<'a> {
    counters: SampleCounters<'static>,
    shares: Vec<Option<f64>>,
    total_bytes: f64,
    delays: Vec<Delays>,
    least: LeastTimes<'a>,
}

/// A flow or a chain.
struct FlowOfRun<'a, T: RunTables> {
    run: &'a RunMetrics<T>,
    inputs: &'a SharedInputs<'a>,
    id: usize,
    flow: &'a Value,
}

impl<T: RunTables> FlowOfRun<'_, T> {
    fn summarise(&self, found: &mut Vec<FlowSummary>) -> Result<(), ArrowError> {
        let lives = of_flow(self.run.lives()?, self.key());
        if !self.flow["workload"].is_null() {
            let of = (self.key(), self.run.span_s.0);
            let internals = self.run.internals()?;
            let work = WorkloadSummary::of(&self.flow["workload"], lives, internals, of);
            found.push(FlowSummary { workload: Some(work), ..self.single(None)? });
        } else if self.flow["repeat_gap_ns"].is_null() {
            found.push(self.single(lives.first())?);
        } else {
            found.extend(self.chain(lives)?);
        }
        Ok(())
    }

    fn key(&self) -> u32 {
        u32::try_from(self.id).expect("fewer flows than 2^32")
    }

    /// The fields that all flows of a chain share.
    fn common(&self) -> Result<FlowSummary, ArrowError> {
        let (distributions, delays) = (self.run.distributions()?, &self.inputs.delays[self.id]);
        let of = |kind| distributions.statistics((kind, self.key()), &RTT_STATISTICS, 1.0);
        let text = |name: &str| self.flow[name].as_str().unwrap_or_default().to_owned();
        let varies = flow_two_way_ns(&self.run.scenario, self.flow).varies();
        let unknown = || Statistics::unknown(&RTT_STATISTICS);
        Ok(FlowSummary {
            flow: self.id,
            name: text("name"),
            cca: text("cca"),
            instance: None,
            start_s: number(&self.flow["start_ns"]) / 1e9,
            goodput_mbps: None,
            throughput_mbps: None,
            retransmits: None,
            rtt_ms: of("rtt_ms").with(TIME_MEAN, delays.time_mean_ms),
            delay_ms: varies.then(|| delays.queueing_ms.clone().unwrap_or_else(unknown)),
            one_way_ms: distributions.has("one_way_ms", self.key()).then(|| of("one_way_ms")),
            fct_s: None,
            least_s: None,
            share: self.inputs.shares[self.id],
            workload: None,
        })
    }

    /// The summary of a flow that isn't a chain.
    fn single(&self, life: Option<&Life>) -> Result<FlowSummary, ArrowError> {
        let counters = &self.inputs.counters;
        let common = self.common()?;
        let Some(life) = life else {
            let (span_s, grown) = (self.active_s(), |name| counters.growth(self.key(), name));
            return Ok(FlowSummary {
                goodput_mbps: mbps(grown("received_bytes").map(float), span_s),
                throughput_mbps: mbps(grown("wire_bytes").map(float), span_s),
                retransmits: grown("retransmitted"),
                ..common
            });
        };
        let (fct_s, at_end) = (life.completion_s(), |name| counters.at_end(self.key(), name));
        Ok(FlowSummary {
            goodput_mbps: mbps(Some(life.bytes), fct_s),
            throughput_mbps: mbps(at_end("wire_bytes").map(float), fct_s),
            retransmits: at_end("retransmitted"),
            fct_s: Some(fct_s),
            least_s: self.inputs.least.of_connection(self.flow, life.start_s, life.bytes),
            ..common
        })
    }

    /// How long an endless flow was active in the counted part of the run.
    fn active_s(&self) -> f64 {
        let (warmup_s, end_s) = self.run.span_s;
        let stop_s = self.flow["stop_ns"].as_f64().map_or(end_s, |stop| stop / 1e9);
        end_s.min(stop_s) - warmup_s.max(number(&self.flow["start_ns"]) / 1e9)
    }

    /// The summaries of the flows of a chain; the last may be unfinished.
    fn chain(&self, finished: &[Life]) -> Result<Vec<FlowSummary>, ArrowError> {
        let common = self.common()?;
        let lives: Vec<Life> = finished.iter().copied().chain(self.open_flow(finished)).collect();
        let shares = self.shares(&lives);
        let summary = |(place, (life, share)): (usize, (&Life, Option<f64>))| FlowSummary {
            instance: Some(life.instance),
            start_s: life.start_s,
            goodput_mbps: mbps(Some(life.bytes), life.completion_s()),
            retransmits: whole(life.retransmitted),
            fct_s: (place < finished.len()).then(|| life.completion_s()),
            least_s: self.inputs.least.of_connection(self.flow, life.start_s, life.bytes),
            share,
            ..common.clone()
        };
        Ok(lives.iter().zip(shares).enumerate().map(summary).collect())
    }

    /// The flow that received the data after the last finished one of a chain.
    fn open_flow(&self, finished: &[Life]) -> Option<Life> {
        let at_end = |name| self.inputs.counters.at_end(self.key(), name).map(float);
        let rest = |all: f64, of: fn(&Life) -> f64| all - finished.iter().map(of).sum::<f64>();
        let bytes = rest(at_end("received_bytes")?, |life| life.bytes);
        let retransmitted =
            rest(at_end("retransmitted").unwrap_or(f64::NAN), |life| life.retransmitted);
        let (instance, start_s) = match finished.last() {
            None => (0, number(&self.flow["start_ns"]) / 1e9),
            Some(_) if bytes <= 0.0 => return None,
            Some(last) => {
                (last.instance + 1, last.end_s + number(&self.flow["repeat_gap_ns"]) / 1e9)
            }
        };
        let end_s = self.run.span_s.1;
        Some(Life { flow: self.key(), instance, start_s, end_s, bytes, retransmitted })
    }

    /// The shares of a chain's flows, which add up to the chain's.
    ///
    /// The flows follow one another, so only one can be partly in the warm-up. Its amount is what
    /// the chain received since the warm-up, minus the sizes of the later flows.
    fn shares(&self, lives: &[Life]) -> Vec<Option<f64>> {
        let received = self.inputs.counters.growth(self.key(), "received_bytes");
        let received = received.filter(|_| self.inputs.total_bytes != 0.0);
        let Some(received) = received else { return vec![None; lives.len()] };
        let (mut left, mut found) = (float(received), vec![None; lives.len()]);
        for (life, share) in lives.iter().zip(&mut found).rev() {
            let counted = if life.start_s >= self.run.span_s.0 {
                life.bytes
            } else if life.end_s > self.run.span_s.0 {
                left
            } else {
                0.0
            };
            *share = Some(counted / self.inputs.total_bytes);
            left = (left - counted).max(0.0);
        }
        found
    }
}
