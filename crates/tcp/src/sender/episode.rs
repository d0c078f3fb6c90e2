//! The recovery state and the end of the episode.

use narrows_cc::RecoveryState;

use crate::segment::Seq;

/// The current or last congestion episode.
#[derive(Debug, Default)]
pub(super) struct Episode {
    state: RecoveryState,
    /// It ends when this packet number is acknowledged (`high_seq`).
    high_seq: Seq,
    /// Timeouts since `snd_una` advanced (`icsk_retransmits`).
    timeouts: u32,
    /// True if F-RTO still tests if the timeout was spurious (RFC 5682).
    frto: bool,
}

impl Episode {
    pub(super) fn state(&self) -> RecoveryState {
        self.state
    }

    pub(super) fn enter(&mut self, state: RecoveryState) {
        self.state = state;
    }

    /// From now on it ends when everything sent so far, up to `next`, is acknowledged.
    pub(super) fn ends_with(&mut self, next: Seq) {
        self.high_seq = next;
    }

    /// Returns `true` if the packet was sent before the episode began.
    pub(super) fn covers(&self, seq: Seq) -> bool {
        seq < self.high_seq
    }

    /// Returns `true` if the episode ends before this number, which was acknowledged or sent after
    /// the episode began.
    pub(super) fn is_behind(&self, seq: Seq) -> bool {
        self.high_seq < seq
    }

    pub(super) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    pub(super) fn count_timeout(&mut self) {
        self.timeouts += 1;
    }

    /// Resets the timeouts after progress.
    pub(super) fn forget_timeouts(&mut self) {
        self.timeouts = 0;
    }

    /// Returns `true` if F-RTO is still in progress.
    pub(super) fn tries_frto(&self) -> bool {
        self.frto
    }

    pub(super) fn try_frto(&mut self, tries: bool) {
        self.frto = tries;
    }
}
