//! What flows' packets met between captures, as it goes out in JSON.

use serde::Serialize;

use crate::analyze::times::Times;

/// What a flow's packets met between the two captures.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndsReport {
    /// Packets that passed the first capture on their way.
    pub sent: u64,
    /// Of them, those that never passed the second.
    pub lost: u64,
    /// Their payload.
    pub lost_bytes: u64,
    /// Lost of sent.
    pub loss_rate: Option<f64>,
    /// Packets under way when the captures ended.
    pub under_way: u64,
    /// Payload that passed the second capture only.
    pub appeared_bytes: u64,
    /// Packets that were overtaken.
    pub overtaken: u64,
    /// One-way delay less its minimum, in ms.
    pub delay_variation_ms: Times,
    /// The least one-way delay in ms, if the two clocks seem to agree.
    pub least_delay_ms: Option<f64>,
}

/// What a flow's packets met from one of more than two points to the next.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StageReport {
    /// The file of the point that they pass first.
    pub from: String,
    /// The file of the next one.
    pub to: String,
    /// What happened in between.
    #[serde(flatten)]
    pub way: EndsReport,
}
