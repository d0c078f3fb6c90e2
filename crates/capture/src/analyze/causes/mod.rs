//! Why a flow was as fast as it was, over its time.
//!
//! The causes are those of T-RAT (Y. Zhang et al., "On the characteristics and origins of Internet
//! flow rates", SIGCOMM 2002), with the sender's buffer apart from the application and the
//! kinds of loss apart from each other. T-RAT divides a flow into flights; here its time is divided
//! into windows of a round trip. The time in which an end holds the flow up is measured to the
//! packet: the receiver's window had no room, nothing was there to send, or nothing happened until
//! a timer expired. In a round trip that the receiver's window holds up the rest is its own, too:
//! the sender waits for room for a longer burst. All else goes to the path, by the state of its
//! queue and by the kind of the last loss.

mod assign;
mod episodes;
mod evidence;
mod find;
mod policer;
mod queue_series;
mod report;
mod sharing;
mod windows;
mod words;

pub use evidence::{Evidence, FullTime};
pub(crate) use find::causes;
pub use policer::PolicerReport;
pub use report::{Capacity, CauseReport, CauseShare, CauseSpan, StallCount};
pub(crate) use sharing::find_shared;

use serde::Serialize;

/// A reason why a flow isn't faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The window grows from its initial size and has met no limit.
    SlowStart,
    /// The receiver's window has no room.
    ReceiverWindow,
    /// The sending application has nothing to send.
    Application,
    /// The sender's socket buffer holds no more.
    SendBuffer,
    /// The bottleneck is full, and its queue delays packets by several round trips.
    Queue,
    /// Packets are lost although the path isn't full.
    RandomLoss,
    /// A token bucket drops what exceeds its rate.
    Policer,
    /// Nothing happens until a timer expires.
    Timeouts,
    /// Packets overtake others and seem lost.
    Reordering,
    /// Other traffic has a share of the full bottleneck.
    FairShare,
    /// None: the flow fills the bottleneck.
    Healthy,
    /// The capture doesn't tell.
    Unknown,
}

impl Cause {
    /// All, in the order of their declaration.
    pub const ALL: [Self; 12] = [
        Self::SlowStart,
        Self::ReceiverWindow,
        Self::Application,
        Self::SendBuffer,
        Self::Queue,
        Self::RandomLoss,
        Self::Policer,
        Self::Timeouts,
        Self::Reordering,
        Self::FairShare,
        Self::Healthy,
        Self::Unknown,
    ];

    /// Its name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::ReceiverWindow => "receiver_window",
            Self::Application => "application",
            Self::SendBuffer => "send_buffer",
            Self::Queue => "queue",
            Self::RandomLoss => "random_loss",
            Self::Policer => "policer",
            Self::Timeouts => "timeouts",
            Self::Reordering => "reordering",
            Self::FairShare => "fair_share",
            Self::Healthy => "healthy",
            Self::Unknown => "unknown",
        }
    }
}
