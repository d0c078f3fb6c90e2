//! The numbers of a run: of each class of flows, of the bottleneck, and how evenly flows share.

use narrows_record::Table;
use serde::Serialize;
use serde_json::Value;

use crate::classes::members;
use crate::fairness::jain;
use crate::flows::{FlowNumbers, average, flows};
use crate::labels::label;
use crate::links::Bottleneck;
use crate::tables::Distributions;

/// The numbers of a run from the warm-up on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunNumbers {
    /// The numbers of each class, in the order of the classes' first flows.
    pub classes: Vec<ClassNumbers>,
    /// The numbers of the first link.
    pub bottleneck: Bottleneck,
    /// Jain's index of the flows' goodputs.
    pub jain: Option<f64>,
}

/// The numbers of a class of flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassNumbers {
    /// The class's name.
    pub name: String,
    /// The class's label.
    pub label: String,
    /// The ids of the class's flows.
    pub flows: Vec<usize>,
    /// The sum of the flows' goodputs.
    pub goodput_mbps: Option<f64>,
    /// The flows' share of all payload that arrived.
    pub share: Option<f64>,
    /// The mean over the flows of their mean round-trip time.
    pub rtt_mean_ms: Option<f64>,
    /// The mean over the flows of the 95th percentile of their round-trip time.
    pub rtt_p95_ms: Option<f64>,
    /// Transfers completed.
    pub completed: usize,
    /// The median completion time.
    pub completion_p50_s: Option<f64>,
    /// The 95th percentile of the completion times.
    pub completion_p95_s: Option<f64>,
}

impl RunNumbers {
    /// Computes the numbers of a run that ended at `end_s` seconds; `classes` names the class of each
    /// flow.
    ///
    /// # Panics
    /// If a table is missing.
    #[must_use]
    pub fn of(scenario: &Value, classes: &[String], tables: &[Table], end_s: f64) -> Self {
        let warmup_s = scenario["run"]["warmup_ns"].as_f64().unwrap_or_default() / 1e9;
        let (span_s, distributions) = ((warmup_s, end_s), Distributions::of(tables));
        let each = flows(scenario, tables, span_s, &distributions);
        let goodputs: Vec<f64> =
            each.iter().map(|flow| flow.goodput_mbps.unwrap_or_default()).collect();
        Self {
            classes: members(classes)
                .into_iter()
                .map(|class| {
                    let its: Vec<&FlowNumbers> =
                        class.flows.iter().map(|&flow| &each[flow]).collect();
                    ClassNumbers::of(class.name, class.flows, &its)
                })
                .collect(),
            bottleneck: Bottleneck::of(scenario, tables, span_s, &distributions),
            jain: jain(&goodputs),
        }
    }
}

impl ClassNumbers {
    fn of(name: String, flows: Vec<usize>, its: &[&FlowNumbers]) -> Self {
        let each = |read: fn(&FlowNumbers) -> Option<f64>| its.iter().map(move |flow| read(flow));
        let lives = its.iter().flat_map(|flow| &flow.completed);
        let mut times: Vec<f64> = lives.map(|life| life.completion_s()).collect();
        times.sort_by(f64::total_cmp);
        Self {
            label: label(&name).unwrap_or_else(|| name.clone()),
            name,
            flows,
            goodput_mbps: sum(each(|flow| flow.goodput_mbps)),
            share: sum(each(|flow| flow.share)),
            rtt_mean_ms: average(each(|flow| flow.rtt_mean_ms)),
            rtt_p95_ms: average(each(|flow| flow.rtt_p95_ms)),
            completed: times.len(),
            completion_p50_s: percentile(&times, 50),
            completion_p95_s: percentile(&times, 95),
        }
    }
}

/// The sum of the known values; `None` without any.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The smallest of ascending values that at least `percent` percent of them don't exceed.
fn percentile(ascending: &[f64], percent: usize) -> Option<f64> {
    let rank = (percent * ascending.len()).div_ceil(100).max(1);
    ascending.get(rank - 1).copied()
}
