//! The congestion control of a connection, and its last output.

use narrows_base::{Rate, prefetch};
use narrows_cc::{
    AckSample, CongestionControl, CongestionEvent, Control, DeliveredSample, LostPacket, Needs,
    Setting, StartEvent, UndoEvent, Unused, set_fixed,
};

/// The control, whose output is read after every call.
pub(super) struct Controller {
    cc: Box<dyn CongestionControl>,
    wish: Control,
    needs: Needs,
}

impl Controller {
    /// A new control; an earlier connection may have left a slow-start threshold.
    pub(super) fn new(mut cc: Box<dyn CongestionControl>, ssthresh: Option<u32>) -> Self {
        if let Some(ssthresh) = ssthresh {
            cc.on_threshold(ssthresh);
        }
        Self { wish: cc.control(), needs: cc.needs(), cc }
    }

    /// Begins to load the control.
    pub(super) fn prefetch(&self) {
        prefetch(&*self.cc);
    }

    /// The control's window, in packets.
    pub(super) fn cwnd(&self) -> u32 {
        self.wish.cwnd
    }

    pub(super) fn ssthresh(&self) -> u32 {
        self.wish.ssthresh
    }

    /// The control's pacing rate, if it sets one.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.wish.pacing_rate
    }

    /// Returns `true` if packets sent now don't measure the path.
    pub(super) fn is_app_limited(&self) -> bool {
        self.wish.app_limited
    }

    /// The control's needs.
    pub(super) fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Returns whether it asks for a reduction of the window.
    pub(super) fn requests_cwr(&self) -> bool {
        self.needs.reductions && self.cc.requests_cwr()
    }

    /// Fewest packets in a burst at this pacing rate.
    pub(super) fn least_burst(&self, pacing_rate: Rate) -> u32 {
        self.cc.min_tso_segs(pacing_rate)
    }

    /// Most packets in a burst, if it bounds bursts itself.
    pub(super) fn most_burst(&self) -> Option<u32> {
        self.needs.burst_bound.then(|| self.cc.max_tso_segs())
    }

    pub(super) fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.cc.on_delivered(sample);
        self.wish = self.cc.control();
    }

    pub(super) fn on_ack(&mut self, sample: &AckSample) {
        self.cc.on_ack(sample);
        self.wish = self.cc.control();
    }

    pub(super) fn on_congestion(&mut self, event: &CongestionEvent) {
        self.cc.on_congestion(event);
        self.wish = self.cc.control();
    }

    pub(super) fn on_undo(&mut self, event: &UndoEvent) {
        self.cc.on_undo(event);
        self.wish = self.cc.control();
    }

    pub(super) fn on_start(&mut self, event: &StartEvent) {
        self.cc.on_start(event);
        self.wish = self.cc.control();
    }

    pub(super) fn on_unused(&mut self, unused: Unused) {
        self.cc.on_unused(unused);
        self.wish = self.cc.control();
    }

    /// The output isn't read here, but with the episode or the ACK to which the loss belongs.
    pub(super) fn on_lost(&mut self, packet: &LostPacket) {
        self.cc.on_lost(packet);
    }

    /// Takes a window or a rate from outside, if it is `fixed`.
    pub(super) fn set(&mut self, setting: Setting) {
        set_fixed(&mut *self.cc, setting);
        self.wish = self.cc.control();
    }

    /// The name of its state.
    pub(super) fn state(&self) -> &'static str {
        self.cc.state()
    }

    /// Shows its named internals.
    pub(super) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.cc.inspect(visit);
    }
}
