//! A part of a run whose packets are wanted.

use narrows_base::Level;
use narrows_spec::scenario::Scenario;
use serde::Deserialize;

/// A flow's packets from one time to another, in seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stretch {
    pub(crate) flow: u32,
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
}

impl Stretch {
    /// The same scenario with packets, only as long as needed; everything earlier stays the same.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a run")]
    pub(crate) fn shorten(&self, scenario: &mut Scenario) {
        let run = &mut scenario.run;
        run.record = Level::Packets;
        let ends = (self.to_s.max(0.001) * 1e9).min(1e18) as u64;
        let end_ns = ends.min(run.duration_ns);
        scenario.end_at(end_ns);
    }
}
