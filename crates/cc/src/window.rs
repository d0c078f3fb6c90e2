//! The window of a loss-based control, which Linux's TCP core keeps for it.
//!
//! Reno and CUBIC grow and shrink the same variables; they differ in how fast
//! and how far. A reduction sets the target of the window: until the episode ends, the sender's PRR
//! window is in force.

use crate::control::{Control, INFINITE_SSTHRESH};
use crate::events::{AckSample, CongestionEvent, UndoEvent};
use crate::samples::{Congestion, Unused};

/// Congestion window, threshold, and the state for undo.
#[derive(Clone, Debug)]
pub(crate) struct LossWindow {
    /// Congestion window in packets (`snd_cwnd`).
    pub(crate) cwnd: u32,
    /// Slow-start threshold in packets (`snd_ssthresh`).
    pub(crate) ssthresh: u32,
    /// Packets acknowledged towards the next increase (`snd_cwnd_cnt`).
    pub(crate) credit: u32,
    prior_cwnd: u32,
    /// The threshold that undo restores; `None` if congestion was certain (ECN).
    prior_ssthresh: Option<u32>,
}

impl LossWindow {
    /// A window of `cwnd` packets in slow start.
    pub(crate) const fn new(cwnd: u32) -> Self {
        Self { cwnd, ssthresh: INFINITE_SSTHRESH, credit: 0, prior_cwnd: 0, prior_ssthresh: None }
    }

    /// Returns `true` if the window is below its threshold (`tcp_in_slow_start`).
    pub(crate) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by the acknowledged packets up to the threshold; returns the remaining ones
    /// (`tcp_slow_start`, RFC 5681 section 3.1 without its per-ACK cap).
    pub(crate) fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }

    /// Grows by one packet for each `per` acknowledged (`tcp_cong_avoid_ai`).
    pub(crate) fn additive_increase(&mut self, per: u32, acked: u32) {
        // Credit that was earned at a larger window counts for one packet only.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.credit = self.credit.saturating_add(acked);
        if self.credit >= per {
            let steps = self.credit / per;
            self.credit -= steps * per;
            self.cwnd = self.cwnd.saturating_add(steps);
        }
    }

    /// Reno's growth, where the window limits the flow (`tcp_reno_cong_avoid`);
    /// `allowed` says how much of an ACK counts in slow start.
    pub(crate) fn grow_as_reno(&mut self, sample: &AckSample, allowed: impl FnOnce(u32) -> u32) {
        if let Some(acked) = self.after_slow_start(sample, allowed) {
            self.additive_increase(self.cwnd, acked);
        }
    }

    /// Lets slow start use its part of an ACK if the window limits the flow; returns the rest for
    /// congestion avoidance, if any.
    pub(crate) fn after_slow_start(
        &mut self,
        sample: &AckSample,
        allowed: impl FnOnce(u32) -> u32,
    ) -> Option<u32> {
        if !sample.cwnd_limited {
            return None;
        }
        if !self.in_slow_start() {
            return Some(sample.acked);
        }
        let left = self.slow_start(allowed(sample.acked));
        (left > 0).then_some(left)
    }

    /// Returns `true` if the ACK belongs to congestion avoidance. If the window limits the flow,
    /// slow start uses whole ACKs as long as it lasts.
    pub(crate) fn is_past_slow_start(&mut self, sample: &AckSample) -> bool {
        if sample.cwnd_limited && self.in_slow_start() {
            self.slow_start(sample.acked);
            return false;
        }
        sample.cwnd_limited
    }

    /// Begins an episode; `ssthresh` turns the window in force into the new
    /// threshold, and isn't called for a repeated timeout.
    pub(crate) fn on_congestion(
        &mut self,
        event: &CongestionEvent,
        ssthresh: impl FnOnce(u32) -> u32,
    ) {
        self.credit = 0;
        let reduce = event.kind != Congestion::Timeout { reduce: false };
        if reduce {
            self.prior_ssthresh = self.undo_ssthresh(event);
            self.prior_cwnd = event.cwnd;
            self.ssthresh = ssthresh(event.cwnd);
        }
        self.cwnd = match event.kind {
            Congestion::Timeout { .. } => event.in_flight.saturating_add(1),
            Congestion::Loss | Congestion::Ecn | Congestion::TailLoss => self.ssthresh,
        };
    }

    /// The threshold to restore if this episode proves spurious.
    fn undo_ssthresh(&self, event: &CongestionEvent) -> Option<u32> {
        match event.kind {
            Congestion::Ecn | Congestion::TailLoss => None,
            _ if event.state.is_reducing() => Some(self.ssthresh),
            _ => Some(self.remembered_ssthresh(event.cwnd)),
        }
    }

    /// The threshold that keeps three quarters of a window (`tcp_current_ssthresh`
    /// outside a reduction).
    pub(crate) fn remembered_ssthresh(&self, cwnd: u32) -> u32 {
        self.ssthresh.max((cwnd >> 1) + (cwnd >> 2))
    }

    /// Returns `true` if an undo would restore the window. It doesn't if congestion was certain.
    pub(crate) const fn can_undo(&self) -> bool {
        self.prior_ssthresh.is_some()
    }

    /// Undoes the last reduction (`tcp_undo_cwnd_reduction` with
    /// `tcp_reno_undo_cwnd`). After ECN nothing is restored, and the window stays where PRR left
    /// it.
    pub(crate) fn on_undo(&mut self, event: &UndoEvent) {
        match self.prior_ssthresh {
            Some(prior) => {
                self.cwnd = event.cwnd.max(self.prior_cwnd);
                self.ssthresh = self.ssthresh.max(prior);
            }
            None => self.cwnd = event.cwnd,
        }
    }

    /// Forgets a part of a window that wasn't used.
    pub(crate) fn on_unused(&mut self, unused: Unused) {
        match unused {
            Unused::Idle { timeouts, restart_window } => self.restart(timeouts, restart_window),
            Unused::Underused { used } if used < self.cwnd => {
                self.ssthresh = self.remembered_ssthresh(self.cwnd);
                self.cwnd = self.cwnd.midpoint(used);
            }
            Unused::Underused { .. } => {}
        }
    }

    /// Halves for each timeout spent idle, down to the restart window
    /// (`tcp_cwnd_restart`, RFC 2861).
    fn restart(&mut self, timeouts: u32, restart_window: u32) {
        self.ssthresh = self.remembered_ssthresh(self.cwnd);
        let floor = restart_window.min(self.cwnd);
        for _ in 0..timeouts {
            if self.cwnd <= floor {
                break;
            }
            self.cwnd >>= 1;
        }
        self.cwnd = self.cwnd.max(floor);
    }

    /// The output of a loss-based control, which leaves pacing to the sender.
    pub(crate) const fn control(&self) -> Control {
        Control { cwnd: self.cwnd, ssthresh: self.ssthresh, pacing_rate: None, app_limited: false }
    }

    /// The phase, for the recorder.
    pub(crate) const fn phase(&self) -> &'static str {
        if self.in_slow_start() { "slow_start" } else { "congestion_avoidance" }
    }
}
