//! The completion times of a run, for the transfers of each class of flows together.
//!
//! A transfer is a flow with a size, a flow of a chain, or a unit of a workload: a flow that arrives,
//! an answer, a chunk of video. For a workload only transfers that began after the warm-up count;
//! for flows with a size all do.
//!
//! Slowdown is the completion time as a multiple of the minimum: the payload in full packets at the
//! rate of the slowest link on the way, plus two round trips, or one on an existing connection. It
//! is given by size, since many short transfers dominate the mean over all transfers, and a few long
//! ones the mean over bytes.

use std::collections::BTreeMap;

use arrow_schema::ArrowError;
use serde::Serialize;
use serde_json::Value;

use crate::classes::{FlowClass, members};
use crate::counters::whole;
use crate::distributions::{Statistics, mean};
use crate::lives::{Life, of_flow};
use crate::offered::LeastTimes;
use crate::run::RunMetrics;
use crate::scenario::{flows, number, workload};
use crate::tables::RunTables;

/// The statistics of completion times.
pub const COMPLETION_STATISTICS: [&str; 5] = ["mean", "p50", "p95", "p99", "max"];
/// The statistics of slowdowns.
pub const SLOWDOWN_STATISTICS: [&str; 4] = ["mean", "p50", "p95", "p99"];
/// Workloads whose transfers never end.
pub const ENDLESS: [&str; 3] = ["on_off", "udp", "ping"];
/// Ranges of sizes: the name, the title, and the most bytes of payload, beyond those of the range
/// before.
pub const SIZES: [(&str, &str, f64); 4] = [
    ("to_10kb", "up to 10 kB", 1e4),
    ("to_100kb", "10 to 100 kB", 1e5),
    ("to_1mb", "100 kB to 1 MB", 1e6),
    ("above_1mb", "above 1 MB", f64::INFINITY),
];

/// A finished transfer that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The number of its flow.
    pub flow: u32,
    /// Its start.
    pub start_s: f64,
    /// Its payload.
    pub bytes: f64,
    /// Its completion time.
    pub fct_s: f64,
    /// The completion time as a multiple of the minimum.
    pub slowdown: f64,
    /// True if it missed its deadline; `None` without one.
    pub late: Option<bool>,
}

/// The transfers of a class of flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompletionSummary {
    /// The class's name.
    pub class: String,
    /// Transfers that weren't done at the end of the run, which the percentiles leave out; `None` if
    /// that isn't known.
    pub unfinished: Option<i64>,
    /// The share of transfers that missed their deadline, unfinished ones included; `None` without
    /// deadlines, or if the tables don't list the unfinished ones.
    pub late: Option<f64>,
    /// Statistics of the finished ones.
    #[serde(flatten)]
    pub all: TransferStatistics,
    /// Statistics of each range of sizes that has finished ones.
    pub by_size: Vec<SizeSummary>,
}

/// The transfers in a range of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeSummary {
    /// The name of the range.
    pub size: &'static str,
    /// Their statistics.
    #[serde(flatten)]
    pub transfers: TransferStatistics,
}

/// Statistics of finished transfers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferStatistics {
    /// Their number.
    pub completed: usize,
    /// Their mean size.
    pub mean_bytes: Option<f64>,
    /// Their completion times.
    pub completion_s: Statistics,
    /// Their slowdowns.
    pub slowdown: Statistics,
}

impl TransferStatistics {
    fn of(transfers: &[&Transfer]) -> Self {
        let all = |read: fn(&Transfer) -> f64| -> Vec<f64> {
            transfers.iter().map(|one| read(one)).collect()
        };
        Self {
            completed: transfers.len(),
            mean_bytes: mean(&all(|one| one.bytes)),
            completion_s: Statistics::of(&all(|one| one.fct_s), &COMPLETION_STATISTICS),
            slowdown: Statistics::of(&all(|one| one.slowdown), &SLOWDOWN_STATISTICS),
        }
    }
}

/// Returns whether the transfers of a flow end.
#[must_use]
pub fn can_complete(flow: &Value) -> bool {
    match flow["workload"].is_null() {
        true => !flow["size_bytes"].is_null(),
        false => !ENDLESS.contains(&workload(flow)),
    }
}

impl<T: RunTables> RunMetrics<T> {
    /// The names of the flows.
    pub fn flow_names(&self) -> Vec<&str> {
        flows(&self.scenario).iter().map(|flow| flow["name"].as_str().unwrap_or_default()).collect()
    }

    /// Every transfer that counts, by flow and start.
    ///
    /// # Errors
    /// If a table can't be read.
    pub fn transfers(&self) -> Result<Vec<Transfer>, ArrowError> {
        let (described, least) = (flows(&self.scenario), LeastTimes::new(&self.scenario));
        let lives = self.lives()?;
        let transfer = |(flow, life): (&Value, &Life), (fixed_s, byte_s): (f64, f64)| {
            let fct_s = life.completion_s();
            let least_s = least.of_transfer(flow, life.start_s, life.bytes);
            let deadline_s = flow["deadline_ns"].as_f64().map(|deadline| deadline / 1e9);
            Transfer {
                flow: life.flow,
                start_s: life.start_s,
                bytes: life.bytes,
                fct_s,
                slowdown: fct_s / least_s.unwrap_or(fixed_s + life.bytes * byte_s),
                late: deadline_s.map(|deadline_s| fct_s > deadline_s),
            }
        };
        let of_flow = |its: &[Life]| {
            let flow = &described[its[0].flow as usize];
            let since = if flow["workload"].is_null() { f64::NEG_INFINITY } else { self.span_s.0 };
            let (counted, constant) = (its.iter(), least.constant(flow));
            let counted = counted.filter(|life| life.start_s >= since);
            counted.map(|life| transfer((flow, life), constant)).collect::<Vec<_>>()
        };
        Ok(lives.chunk_by(|one, other| one.flow == other.flow).flat_map(of_flow).collect())
    }

    /// The transfers of each class that has any which end; `classes` names the class of each flow.
    ///
    /// # Errors
    /// If a table can't be read.
    pub fn completions(&self, classes: &[String]) -> Result<Vec<CompletionSummary>, ArrowError> {
        let described = flows(&self.scenario);
        if !described.iter().any(can_complete) {
            return Ok(Vec::new());
        }
        let (transfers, open) = (self.transfers()?, self.open_transfers()?);
        let first = |class: &FlowClass| {
            class.flows.iter().copied().find(|&flow| can_complete(&described[flow]))
        };
        let mut completing: Vec<_> =
            members(classes).into_iter().filter(|class| first(class).is_some()).collect();
        completing.sort_by_key(first);
        Ok(completing
            .into_iter()
            .map(|class| {
                let is_own =
                    |one: &&Transfer| class.flows.binary_search(&(one.flow as usize)).is_ok();
                let own: Vec<&Transfer> = transfers.iter().filter(is_own).collect();
                let open = |count: fn(&OpenTransfers) -> Option<i64>, of: fn(&Value) -> bool| {
                    let its = class.flows.iter().filter(|&&id| of(&described[id]));
                    its.map(|&id| count(&open[id])).sum::<Option<i64>>()
                };
                CompletionSummary {
                    class: class.name.clone(),
                    unfinished: open(|its| its.count, can_complete),
                    late: open(|its| its.late, |flow| !flow["deadline_ns"].is_null())
                        .and_then(|late| late_share(&own, late)),
                    all: TransferStatistics::of(&own),
                    by_size: by_size(&own),
                }
            })
            .collect())
    }

    /// The open transfers of each flow.
    fn open_transfers(&self) -> Result<Vec<OpenTransfers>, ArrowError> {
        let described = flows(&self.scenario);
        let has_size = described.iter().any(|flow| !flow["size_bytes"].is_null());
        let ends = if has_size { self.sample_ends()? } else { BTreeMap::new() };
        let (lives, internals) = (self.lives()?, self.internals()?);
        let open = |(id, flow): (u32, &Value)| {
            if flow["workload"].is_null() {
                return OpenTransfers::of(flow, of_flow(lives, id), ends.get(&id));
            }
            let last = |name| internals.last(id, name).and_then(whole);
            let late = if workload(flow) == "media" { Some(0) } else { last("late_transfers") };
            OpenTransfers { count: last("open_transfers"), late }
        };
        Ok((0..).zip(described).map(open).collect())
    }

    /// The last sample of each flow.
    fn sample_ends(&self) -> Result<BTreeMap<u32, LastSample>, ArrowError> {
        let mut found: BTreeMap<u32, LastSample> = BTreeMap::new();
        self.tables.each("flow_samples", &["flow", "time_s", "received_bytes"], &mut |rows| {
            let (keys, times) = (rows.numbers("flow")?, rows.numbers("time_s")?);
            let received = rows.numbers("received_bytes")?;
            for row in 0..rows.len() {
                let end = found.entry(keys.key(row)).or_default();
                end.time_s = end.time_s.max(times.at(row));
                end.received = received.at(row);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The last sample of a flow: its time and the bytes received.
#[derive(Clone, Copy, Debug, Default)]
struct LastSample {
    time_s: f64,
    received: f64,
}

/// The transfers of a flow that weren't done at the end, and those of them that are past their
/// deadline; `None` if no table has them.
#[derive(Clone, Copy, Debug)]
struct OpenTransfers {
    count: Option<i64>,
    late: Option<i64>,
}

impl OpenTransfers {
    /// Those of a flow without a workload.
    fn of(flow: &Value, lives: &[Life], last: Option<&LastSample>) -> Self {
        let is_chain = !flow["repeat_gap_ns"].is_null();
        let age_s = match last {
            _ if !is_chain && !lives.is_empty() => None,
            Some(last) => age_s(flow, lives, last),
            None if is_chain => return Self { count: None, late: Some(0) },
            None => Some(0.0),
        };
        let late = age_s.zip(flow["deadline_ns"].as_f64());
        let late = late.is_some_and(|(age_s, deadline)| age_s > deadline / 1e9);
        Self { count: Some(i64::from(age_s.is_some())), late: Some(i64::from(late)) }
    }
}

/// The age of a flow's open transfer at the end; `None` in a gap of a chain, and after its stop in
/// one.
fn age_s(flow: &Value, lives: &[Life], last: &LastSample) -> Option<f64> {
    let gap_s = flow["repeat_gap_ns"].as_f64().map(|gap| gap / 1e9);
    let ended_s = lives.iter().map(|life| life.end_s).reduce(f64::max);
    let start_s = ended_s.zip(gap_s).map(|(ended_s, gap_s)| ended_s + gap_s);
    let start_s = start_s.unwrap_or(number(&flow["start_ns"]) / 1e9);
    let stop_s = flow["stop_ns"].as_f64().map_or(f64::INFINITY, |stop| stop / 1e9);
    let has_begun = if gap_s.is_some() && !flow["while"].is_null() {
        // The chain may have ended; data beyond its finished flows belong to an open one.
        last.received > lives.iter().map(|life| life.bytes).sum()
    } else {
        gap_s.is_none() || start_s < last.time_s.min(stop_s)
    };
    has_begun.then_some(last.time_s - start_s)
}

/// The share of transfers that missed their deadline; `open` more have missed theirs.
fn late_share(transfers: &[&Transfer], open: i64) -> Option<f64> {
    let known = transfers.iter().filter_map(|one| one.late).map(|late| f64::from(u8::from(late)));
    let open = (0..open).map(|_| 1.0);
    mean(&known.chain(open).collect::<Vec<_>>())
}

fn by_size(transfers: &[&Transfer]) -> Vec<SizeSummary> {
    let mut above = 0.0;
    let summary = |&(size, _, most): &(&'static str, &str, f64)| {
        let within = transfers.iter().filter(|one| one.bytes > above && one.bytes <= most);
        let within: Vec<&Transfer> = within.copied().collect();
        above = most;
        let transfers = TransferStatistics::of(&within);
        (!within.is_empty()).then_some(SizeSummary { size, transfers })
    };
    SIZES.iter().filter_map(summary).collect()
}
