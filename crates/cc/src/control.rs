//! The trait of a control, and its output.

use narrows_base::Rate;

use crate::samples::{
    AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent, Unused,
};

/// An infinite slow-start threshold (Linux `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The output of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Congestion window in packets, at least 1. During CWR and Recovery of a
    /// control without [`CongestionControl::owns_recovery`] this is PRR's target.
    pub cwnd: u32,
    /// Slow-start threshold in packets.
    pub ssthresh: u32,
    /// Pacing rate in the units of Linux's `sk_pacing_rate` (payload bits per second
    /// in today's kernels); `None` leaves it to the sender (200 % of cwnd/srtt in slow start, 120 %
    /// after), which enforces it only if the host does.
    pub pacing_rate: Option<Rate>,
    /// Whether samples of packets sent now don't measure the path (BBR's PROBE_RTT).
    pub app_limited: bool,
}

/// A window or a pacing rate from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// The window in packets; the same as before if none.
    pub window: Option<u32>,
    /// The pacing rate, as in [`Control`]; the same as before if none.
    pub pacing_rate: Option<Rate>,
}

/// A congestion control algorithm.
pub trait CongestionControl: Send {
    /// Takes the RTT sample of an ACK, before the recovery state machine.
    fn on_delivered(&mut self, _sample: &DeliveredSample) {}

    /// Whether [`CongestionControl::on_delivered`] has any effect; if not, it isn't called. It
    /// must not change.
    fn hears_deliveries(&self) -> bool {
        true
    }

    /// Takes an ACK, after loss detection and the recovery state machine.
    fn on_ack(&mut self, sample: &AckSample);

    /// Begins a congestion episode. Called at most once per episode, except that a timeout may
    /// interrupt another episode.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// Undoes the last reduction.
    fn on_undo(&mut self, event: &UndoEvent);

    /// The flow begins to send after nothing was in flight.
    fn on_start(&mut self, _event: &StartEvent) {}

    /// Whether rate samples contain the flow's state when their packet left, and
    /// [`CongestionControl::on_lost`] be called. It must not change.
    fn watches_packets(&self) -> bool {
        false
    }

    /// A packet was marked lost; called before the episode or the ACK that it belongs to.
    fn on_lost(&mut self, _packet: &LostPacket) {}

    /// An earlier connection to the same destination left this slow-start threshold, in packets;
    /// called before the flow starts, if at all (`tcp_init_metrics`).
    fn on_threshold(&mut self, _ssthresh: u32) {}

    /// Whether the sender shall enter CWR after this ACK (a control that calls `tcp_enter_cwr`);
    /// `None` if the control never asks for that, which must not change.
    fn asks_reduction(&self) -> Option<bool> {
        None
    }

    /// The window wasn't used.
    fn on_unused(&mut self, _unused: Unused) {}

    /// Takes a window or a rate from outside. Only the control `fixed` can be told; others know
    /// better.
    fn set(&mut self, _setting: Setting) {}

    /// The window and rate in force now.
    fn control(&self) -> Control;

    /// Whether the control sets the window itself while recovering (Linux
    /// `cong_control`), so that PRR and cwnd validation don't apply.
    fn owns_recovery(&self) -> bool {
        false
    }

    /// Fewest packets in a burst at this pacing rate (Linux `min_tso_segs`).
    fn min_tso_segs(&self, _pacing_rate: Rate) -> u32 {
        2
    }

    /// Most packets in a burst, if the control sets that bound (the `tso_segs` of the L4S team's
    /// kernel). Whether it does must not change.
    fn max_tso_segs(&self) -> Option<u32> {
        None
    }

    /// Windows that the send buffer has room for (Linux `sndbuf_expand`).
    fn send_buffer_windows(&self) -> u32 {
        2
    }

    /// Shows the named internals to `visit`, for the recorder.
    fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// The name of the control's state, for the recorder.
    fn state(&self) -> &'static str {
        ""
    }
}
