//! How much of a run is recorded.

use serde::{Deserialize, Serialize};

/// How much a run records; each level includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Counters at the warm-up and at the end, distributions, completions.
    Summary,
    /// Rows at every sample interval and the internals of the controls too.
    Samples,
    /// A row for every packet event too.
    Packets,
}
