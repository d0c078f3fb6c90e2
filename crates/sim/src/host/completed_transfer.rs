//! Reports of completed transfers.

use narrows_base::Time;

/// A completed transfer: a flow of a chain or of open-loop arrivals, or an answer or a chunk of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletedTransfer {
    pub(crate) instance: u32,
    pub(crate) start: Time,
    pub(crate) end: Time,
    /// Payload in bytes; none if the flow had no size.
    pub(crate) size: Option<u64>,
    pub(crate) retransmitted: u64,
}
