//! Controls that are a few hooks on Linux's loss-based window.
//!
//! The TCP core keeps the window, the threshold and the state of recovery, and asks such a control
//! only how fast to grow and how much to reduce. [`Classic`] is that core; each file beside it is
//! one control.

pub(crate) mod bic;
pub(crate) mod cdg;
pub(crate) mod compound;
pub(crate) mod highspeed;
pub(crate) mod htcp;
pub(crate) mod hybla;
pub(crate) mod illinois;
pub(crate) mod lp;
pub(crate) mod nv;
mod rounds;
pub(crate) mod scalable;
pub(crate) mod veno;
pub(crate) mod yeah;

use narrows_base::Time;

use crate::control::{CongestionControl, Control, Needs};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::progress::Progress;
use crate::samples::{Congestion, RecoveryState, Unused};
use crate::window::LossWindow;

/// The hooks of a control (`struct tcp_congestion_ops`).
pub(crate) trait Hooks: Send + 'static {
    /// Takes an ACK's RTT sample, before the recovery state machine (`pkts_acked`). `state` is the
    /// state before the ACK. In a reducing state PRR's window is in force, and the hook must leave
    /// the window alone.
    fn on_delivered(&mut self, _: &mut LossWindow, _: RecoveryState, _: &DeliveredSample) {}

    /// Lets the window grow (`cong_avoid`).
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, moment: &SenderState);

    /// The threshold that follows from a window of `cwnd` packets (`ssthresh`).
    fn ssthresh(&mut self, cwnd: u32, moment: &SenderState) -> u32;

    /// The sender enters a state (`set_state`), perhaps the current one again.
    fn on_state(&mut self, _: RecoveryState, _: &SenderState) {}

    /// The last reduction was spurious (`undo_cwnd`). [`Classic`] restores the window.
    fn on_undo(&mut self) {}

    /// The flow begins to send with nothing in flight (`CA_EVENT_TX_START`), or resumes after
    /// it was idle (`CA_EVENT_CWND_RESTART`).
    fn on_restart(&mut self, _: &SenderState) {}

    /// The flow was idle, with a window of `cwnd` packets (`CA_EVENT_CWND_RESTART`).
    fn on_idle(&mut self, _cwnd: u32, moment: &SenderState) {
        self.on_restart(moment);
    }

    /// CWR or Recovery is complete (`CA_EVENT_COMPLETE_CWR`).
    fn on_complete(&mut self, _: &SenderState) {}

    /// Returns whether the control ever asks for CWR.
    fn may_request_cwr(&self) -> bool {
        false
    }

    /// Returns whether the sender should enter CWR now.
    fn requests_cwr(&self) -> bool {
        false
    }

    /// Shows the named internals.
    fn inspect(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// The sender's state at an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    /// The current time.
    pub(crate) now: Time,
    /// How many packets the flow has sent and delivered.
    pub(crate) progress: Progress,
}

/// A control made of hooks, with the window and state that Linux's core keeps for it.
#[derive(Clone, Debug)]
pub(crate) struct Classic<H> {
    window: LossWindow,
    hooks: H,
    state: RecoveryState,
    /// True if the end of the current state completes a reduction that isn't undone.
    completes: bool,
    moment: SenderState,
}

impl<H: Hooks> Classic<H> {
    /// A control that starts with `cwnd` packets.
    pub(crate) const fn new(cwnd: u32, hooks: H) -> Self {
        let moment = SenderState { now: Time::ZERO, progress: Progress::new(0, 0) };
        let (window, state) = (LossWindow::new(cwnd), RecoveryState::Open);
        Self { window, hooks, state, completes: false, moment }
    }

    fn enter(&mut self, state: RecoveryState) {
        self.leave(state);
        self.completes = state.is_reducing();
        self.state = state;
        self.hooks.on_state(state, &self.moment);
    }

    /// Ends the current state, before `next` begins.
    fn leave(&mut self, next: RecoveryState) {
        if self.completes && !next.is_reducing() && next != RecoveryState::Loss {
            self.hooks.on_complete(&self.moment);
        }
        self.completes = false;
    }
}

impl<H: Hooks> CongestionControl for Classic<H> {
    fn needs(&self) -> Needs {
        Needs { reductions: self.hooks.may_request_cwr(), ..Needs::LOSS_BASED }
    }

    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.moment = SenderState { now: sample.now, progress: sample.progress };
        self.hooks.on_delivered(&mut self.window, self.state, sample);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.moment.now = sample.now;
        if sample.state != self.state {
            self.enter(sample.state);
        }
        if sample.may_grow {
            self.hooks.grow(&mut self.window, sample, &self.moment);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.moment = SenderState { now: event.now, progress: event.progress };
        // The same ACK ended one episode and begins the next.
        if !event.state.is_reducing() {
            self.leave(event.state);
        }
        let (hooks, moment) = (&mut self.hooks, &self.moment);
        self.window.on_congestion(event, |cwnd| hooks.ssthresh(cwnd, moment));
        match event.kind {
            Congestion::Loss => self.enter(RecoveryState::Recovery),
            Congestion::Ecn => self.enter(RecoveryState::Cwr),
            Congestion::Timeout { .. } => self.enter(RecoveryState::Loss),
            // `tcp_process_tlp_ack`: CWR begins and ends with the same ACK.
            Congestion::TailLoss => {
                self.enter(RecoveryState::Cwr);
                self.enter(RecoveryState::Open);
            }
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        if self.window.can_undo() {
            self.hooks.on_undo();
        }
        self.window.on_undo(event);
        self.completes = false;
    }

    fn on_start(&mut self, event: &StartEvent) {
        self.moment.now = event.now;
        self.hooks.on_restart(&self.moment);
    }

    fn requests_cwr(&self) -> bool {
        self.hooks.requests_cwr()
    }

    fn on_threshold(&mut self, ssthresh: u32) {
        self.window.ssthresh = ssthresh;
    }

    fn on_unused(&mut self, unused: Unused) {
        if matches!(unused, Unused::Idle { .. }) {
            self.hooks.on_idle(self.window.cwnd, &self.moment);
        }
        self.window.on_unused(unused);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.hooks.inspect(visit);
    }

    fn state(&self) -> &'static str {
        self.window.phase()
    }
}

/// Half the window, at least 2 packets (`tcp_reno_ssthresh`).
const fn half(cwnd: u32) -> u32 {
    if cwnd / 2 < 2 { 2 } else { cwnd / 2 }
}
