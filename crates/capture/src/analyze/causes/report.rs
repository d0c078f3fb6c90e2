//! The report on a flow's causes.

use serde::Serialize;

use super::Cause;
use super::evidence::Evidence;
use super::policer::PolicerReport;
use super::queue_series::QueueSeries;
use crate::analyze::connection::StallReason;

/// The time for which one cause held.
#[derive(Clone, Debug, Serialize)]
pub struct CauseShare {
    /// The cause.
    pub cause: Cause,
    /// Its time, in s.
    pub time_s: f64,
    /// Its part of the flow's life.
    pub share: f64,
}

/// A span of time in which one cause predominates.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CauseSpan {
    /// The beginning, in s from the first segment of the capture.
    pub begin_s: f64,
    /// The end, likewise.
    pub end_s: f64,
    /// The cause.
    pub cause: Cause,
}

/// The stalls with one reason.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StallCount {
    /// Why nothing was seen.
    pub reason: StallReason,
    /// How many.
    pub count: usize,
    /// Their total, in s.
    pub total_s: f64,
}

/// The bottleneck's rate as the flow shows it, in Mbit/s of payload.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Capacity {
    /// The rate with a queue; `None` if there never was one, so the capacity is unknown.
    pub rate_mbps: Option<f64>,
    /// The highest rate over a round trip: the capacity is at least this.
    pub at_least_mbps: Option<f64>,
}

/// Why a flow was as fast as it was.
#[derive(Clone, Debug, Serialize)]
pub struct CauseReport {
    /// The cause with the most time.
    pub first: Cause,
    /// It in one sentence, with its evidence.
    pub sentence: String,
    /// All causes, the largest share first.
    pub shares: Vec<CauseShare>,
    /// The predominant cause over time.
    pub spans: Vec<CauseSpan>,
    /// Stalls by their reason.
    pub stalls: Vec<StallCount>,
    /// Spans in which nothing got through, up to between the last retransmission that was lost and
    /// the first that wasn't, in s.
    pub outages: Vec<(f64, f64)>,
    /// The bottleneck's rate.
    pub capacity: Capacity,
    /// The policer, if one explains the losses.
    pub policer: Option<PolicerReport>,
    /// The features that decided.
    pub evidence: Evidence,
    /// The queueing delay over time, by which flows in one queue are found.
    #[serde(skip)]
    pub(crate) queue: QueueSeries,
}

impl Default for CauseReport {
    fn default() -> Self {
        Self {
            first: Cause::Unknown,
            sentence: String::new(),
            shares: Vec::new(),
            spans: Vec::new(),
            stalls: Vec::new(),
            outages: Vec::new(),
            capacity: Capacity::default(),
            policer: None,
            evidence: Evidence::default(),
            queue: QueueSeries::default(),
        }
    }
}

/// The cause with the most time.
pub(super) fn first_of(shares: &[CauseShare]) -> Cause {
    shares.first().map_or(Cause::Unknown, |share| share.cause)
}
