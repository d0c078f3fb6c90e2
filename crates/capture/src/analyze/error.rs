//! Why captures can't be analysed.

use crate::read::OpenError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// A file can't be read.
    #[error("{path}: found {error}")]
    Open {
        /// Which.
        path: String,
        /// Why.
        error: OpenError,
    },
    /// There is nothing to report.
    #[error("{path}: found {found}")]
    Nothing {
        /// Which file.
        path: String,
        /// The contents found instead.
        found: String,
    },
    /// Most of its segments are out of order.
    #[error("{path}: found {backwards} of {segments} segments earlier than one before them")]
    Order {
        /// Which file.
        path: String,
        /// How many of its segments are too early.
        backwards: u64,
        /// The number of segments.
        segments: u64,
    },
    /// Files that don't belong together.
    #[error("{0}")]
    Together(String),
    /// The watcher stopped the analysis.
    #[error("stopped")]
    Stopped,
}

impl AnalyzeError {
    /// Says what would be right instead.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Together(_) => "captures of the same flows, eight at most, or the pieces of one",
            Self::Order { .. } => "a capture in the order of time, as `reordercap` makes one,",
            _ => "a pcap or pcapng file with TCP, UDP or pings in it",
        }
    }
}
