//! The window, and its saved value.

use crate::control::INFINITE_SSTHRESH;
use crate::samples::RecoveryState;

/// Congestion window, and the value to which recovery and PROBE_RTT return.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// In packets.
    pub(super) cwnd: u32,
    /// The saved window.
    pub(super) prior_cwnd: u32,
    pub(super) ssthresh: u32,
    /// The sender's state at the previous ACK.
    pub(super) prior_state: RecoveryState,
}

impl Window {
    /// The initial window.
    pub(super) const fn new(cwnd: u32) -> Self {
        let prior_state = RecoveryState::Open;
        Self { cwnd, prior_cwnd: 0, ssthresh: INFINITE_SSTHRESH, prior_state }
    }

    /// Remembers the last good window (`bbr_save_cwnd`, `SaveCwnd`).
    pub(super) fn save(&mut self, probing_rtt: bool) {
        let good = self.prior_state < RecoveryState::Recovery && !probing_rtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// Restores the saved window.
    pub(super) fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// On a timeout: the packets in flight, and one more.
    pub(super) const fn collapse(&mut self, in_flight: u32) {
        self.cwnd = in_flight.saturating_add(1);
        self.prior_state = RecoveryState::Loss;
    }

    /// Grows by the packets delivered; shrinks to `target` once the pipe was full. Before that,
    /// a flow that `starts` grows whatever the target.
    pub(super) fn approach(&mut self, target: u32, full: bool, acked: u32, starts: bool) {
        let grown = self.cwnd.saturating_add(acked);
        if full {
            self.cwnd = grown.min(target);
        } else if self.cwnd < target || starts {
            self.cwnd = grown;
        }
    }
}
