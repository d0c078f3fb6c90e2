//! The congestion control of a connection, and its last output.

use narrows_base::Rate;
use narrows_cc::{
    AckSample, CongestionControl, CongestionEvent, Control, DeliveredSample, LostPacket, Setting,
    StartEvent, UndoEvent, Unused,
};

/// The control, whose output is read after every call.
pub(super) struct Controller {
    cc: Box<dyn CongestionControl>,
    wish: Control,
    owns_recovery: bool,
    bounds_bursts: bool,
    watches_packets: bool,
    hears_deliveries: bool,
    may_ask_reduction: bool,
}

impl Controller {
    /// A new control; an earlier connection may have left a slow-start threshold.
    pub(super) fn new(mut cc: Box<dyn CongestionControl>, ssthresh: Option<u32>) -> Self {
        if let Some(ssthresh) = ssthresh {
            cc.on_threshold(ssthresh);
        }
        Self {
            wish: cc.control(),
            owns_recovery: cc.owns_recovery(),
            bounds_bursts: cc.max_tso_segs().is_some(),
            watches_packets: cc.watches_packets(),
            hears_deliveries: cc.hears_deliveries(),
            may_ask_reduction: cc.asks_reduction().is_some(),
            cc,
        }
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

    /// Whether packets sent now don't measure the path.
    pub(super) fn is_app_limited(&self) -> bool {
        self.wish.app_limited
    }

    /// Whether it sets the window while the sender recovers.
    pub(super) fn owns_recovery(&self) -> bool {
        self.owns_recovery
    }

    /// Windows that the send buffer has room for.
    pub(super) fn send_buffer_windows(&self) -> u32 {
        self.cc.send_buffer_windows()
    }

    /// Whether each lost packet is reported to it.
    pub(super) fn watches_packets(&self) -> bool {
        self.watches_packets
    }

    /// Whether each delivery is reported to it.
    pub(super) fn hears_deliveries(&self) -> bool {
        self.hears_deliveries
    }

    /// Whether it asks for a reduction of the window.
    pub(super) fn asks_reduction(&self) -> bool {
        self.may_ask_reduction && self.cc.asks_reduction() == Some(true)
    }

    /// Fewest packets in a burst at this pacing rate.
    pub(super) fn least_burst(&self, pacing_rate: Rate) -> u32 {
        self.cc.min_tso_segs(pacing_rate)
    }

    /// Most packets in a burst, if it bounds bursts itself.
    pub(super) fn most_burst(&self) -> Option<u32> {
        if self.bounds_bursts { self.cc.max_tso_segs() } else { None }
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

    /// Takes a window or a rate from outside.
    pub(super) fn set(&mut self, setting: Setting) {
        self.cc.set(setting);
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
