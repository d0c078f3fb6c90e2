//! The fate of flows' packets between captures, as JSON.

use serde::Serialize;

use super::reverse_path::ReversePathReport;
use crate::analyze::times::Times;

/// The fate of a flow's packets between the two captures.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndsReport {
    /// Packets that passed the first capture.
    pub sent: u64,
    /// The number that never passed the second.
    pub lost: u64,
    /// Their payload.
    pub lost_bytes: u64,
    /// Lost packets over sent packets.
    pub loss_rate: Option<f64>,
    /// Packets in flight when the captures ended.
    pub under_way: u64,
    /// Payload that passed the second capture only.
    pub appeared_bytes: u64,
    /// Packets that were overtaken.
    pub overtaken: u64,
    /// One-way delay minus its minimum, in ms.
    pub delay_variation_ms: Times,
    /// The minimum one-way delay in ms, if the two clocks seem synchronised.
    pub least_delay_ms: Option<f64>,
    /// The fate of its acknowledgements; none if all came with data.
    pub reverse_path: Option<ReversePathReport>,
}

/// The clock of a capture compared with the first one's.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClockReport {
    /// The file.
    pub path: String,
    /// How far it is ahead when the captures begin, in ms.
    pub ahead_ms: f64,
    /// How much faster it runs, in parts in a million; 0 if no difference shows.
    pub drift_ppm: f64,
    /// True if its delays allow that the clocks are synchronised.
    pub synchronised: bool,
}

/// The fate of a flow's packets from one of more than two points to the next.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StageReport {
    /// The file of the point that they pass first.
    pub from: String,
    /// The file of the next one.
    pub to: String,
    /// The fate of packets in between.
    #[serde(flatten)]
    pub way: EndsReport,
}
