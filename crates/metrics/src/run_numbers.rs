//! The numbers of a run for a page: of each class of flows, of the bottleneck, and how evenly flows
//! share.

use arrow_schema::ArrowError;
use serde::Serialize;

use crate::classes::members;
use crate::distributions::Statistics;
use crate::fairness::jain;
use crate::flows::FlowSummary;
use crate::labels::label;
use crate::run::RunMetrics;
use crate::scenario::number;
use crate::tables::RunTables;

/// The numbers of a run from the warm-up on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunNumbers {
    /// The numbers of each class, in the order of the classes' first flows.
    pub classes: Vec<ClassNumbers>,
    /// The numbers of the first link.
    pub bottleneck: BottleneckNumbers,
    /// Jain's index of the flows' goodputs.
    pub jain: Option<f64>,
}

/// The numbers of the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BottleneckNumbers {
    /// The part of the arriving packets that the queue dropped, 1 at most.
    pub loss_rate: Option<f64>,
    /// IP bits forwarded over those that the link offered.
    pub utilization: Option<f64>,
    /// The mean backlog in bandwidth-delay products.
    pub queue_mean_bdp: Option<f64>,
    /// The bandwidth-delay product in bytes.
    pub bdp_bytes: f64,
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
    /// The sum of the flows' goodputs; of a chain the mean over its flows.
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

impl<T: RunTables> RunMetrics<T> {
    /// The numbers of each class and of the bottleneck; `classes` names the class of each flow.
    ///
    /// # Errors
    /// If a table can't be read.
    pub fn numbers(&self, classes: &[String]) -> Result<RunNumbers, ArrowError> {
        let (every, transfers) = (self.flows()?, self.transfers()?);
        let entries: Vec<&[FlowSummary]> =
            every.chunk_by(|one, other| one.flow == other.flow).collect();
        let goodputs: Vec<f64> =
            entries.iter().map(|its| goodput(its).unwrap_or_default()).collect();
        let classes = members(classes).into_iter().map(|class| {
            let its: Vec<&[FlowSummary]> = class.flows.iter().map(|&flow| entries[flow]).collect();
            let own = transfers.iter().filter(|one| class.flows.contains(&(one.flow as usize)));
            let times: Vec<f64> = own.map(|one| one.fct_s).collect();
            ClassNumbers::of(class.name, class.flows, &its, &times)
        });
        let (path, link) = (&self.scenario["path"], self.links()?.swap_remove(0));
        Ok(RunNumbers {
            classes: classes.collect(),
            bottleneck: BottleneckNumbers {
                loss_rate: link.loss_rate,
                utilization: link.utilization,
                queue_mean_bdp: link.queue_bdp.get("mean"),
                bdp_bytes: number(&path["rate_bps"]) * number(&path["rtt_ns"]) / 8e9,
            },
            jain: jain(&goodputs),
        })
    }
}

impl ClassNumbers {
    fn of(name: String, flows: Vec<usize>, its: &[&[FlowSummary]], times: &[f64]) -> Self {
        let rtt = |name: &'static str| average(its.iter().map(|flow| flow[0].rtt_ms.get(name)));
        let completions = Statistics::of(times, &["p50", "p95"]);
        Self {
            label: label(&name).unwrap_or_else(|| name.clone()),
            name,
            flows,
            goodput_mbps: sum(its.iter().map(|flow| goodput(flow))),
            share: sum(its.iter().flat_map(|flow| flow.iter().map(|entry| entry.share))),
            rtt_mean_ms: rtt("mean"),
            rtt_p95_ms: rtt("p95"),
            completed: times.len(),
            completion_p50_s: completions.get("p50"),
            completion_p95_s: completions.get("p95"),
        }
    }
}

/// The goodput of a flow; of a chain the mean over its flows.
fn goodput(entries: &[FlowSummary]) -> Option<f64> {
    average(entries.iter().map(|entry| entry.goodput_mbps))
}

/// The sum of the known values; `None` without any.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The mean of the known values; `None` without any.
fn average(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (mut count, mut sum) = (0.0, 0.0);
    values.flatten().for_each(|value| (count, sum) = (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}
