//! The trait of a control, and its output.

use std::any::Any;

use narrows_base::Rate;

use crate::events::{
    AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent,
};
use crate::samples::Unused;

/// An infinite slow-start threshold (Linux `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The output of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Congestion window in packets, at least 1. During CWR and Recovery this is PRR's target, unless
    /// the control has [`Needs::own_recovery`].
    pub cwnd: u32,
    /// Slow-start threshold in packets.
    pub ssthresh: u32,
    /// Pacing rate in the units of Linux's `sk_pacing_rate` (payload bits per second
    /// in today's kernels); `None` leaves it to the sender (200 % of cwnd/srtt in slow start, 120 %
    /// after), which enforces it only if the host does.
    pub pacing_rate: Option<Rate>,
    /// True if samples of packets sent now don't measure the path (BBR's PROBE_RTT).
    pub app_limited: bool,
}

/// The services that a control needs of the sender. The sender asks once, when the connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each need is independent of the others")]
pub struct Needs {
    /// Calls of [`CongestionControl::on_delivered`].
    pub deliveries: bool,
    /// Calls of [`CongestionControl::on_lost`], and rate samples with the flow's state when their
    /// packet left.
    pub packets: bool,
    /// The window while recovering, so that neither PRR nor cwnd validation applies (Linux
    /// `cong_control`).
    pub own_recovery: bool,
    /// CWR whenever [`CongestionControl::requests_cwr`] says so (Linux `tcp_enter_cwr`).
    pub reductions: bool,
    /// The upper bound of bursts, [`CongestionControl::max_tso_segs`].
    pub burst_bound: bool,
    /// Windows that the send buffer has room for (Linux `sndbuf_expand`).
    pub send_buffer_windows: u32,
}

impl Needs {
    /// The needs of a loss-based control.
    pub const LOSS_BASED: Self = Self {
        deliveries: true,
        packets: false,
        own_recovery: false,
        reductions: false,
        burst_bound: false,
        send_buffer_windows: 2,
    };

    /// The needs of a control that sets window and rate itself at all times.
    pub const OWN_RECOVERY: Self = Self { own_recovery: true, ..Self::LOSS_BASED };
}

/// A congestion control algorithm.
pub trait CongestionControl: Any + Send {
    /// Its needs, which don't change.
    fn needs(&self) -> Needs {
        Needs::LOSS_BASED
    }

    /// Takes the RTT sample of an ACK, before the recovery state machine.
    fn on_delivered(&mut self, _sample: &DeliveredSample) {}

    /// Takes an ACK, after loss detection and the recovery state machine.
    fn on_ack(&mut self, sample: &AckSample);

    /// Begins a congestion episode. Called at most once per episode, except that a timeout may
    /// interrupt another episode.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// Undoes the last reduction.
    fn on_undo(&mut self, event: &UndoEvent);

    /// The flow begins to send after nothing was in flight.
    fn on_start(&mut self, _event: &StartEvent) {}

    /// A packet was marked lost; called before the episode or the ACK that it belongs to.
    fn on_lost(&mut self, _packet: &LostPacket) {}

    /// An earlier connection to the same destination left this slow-start threshold, in packets;
    /// called before the flow starts, if at all (`tcp_init_metrics`).
    fn on_threshold(&mut self, _ssthresh: u32) {}

    /// Returns whether the sender should enter CWR after this ACK.
    fn requests_cwr(&self) -> bool {
        false
    }

    /// The window wasn't used.
    fn on_unused(&mut self, _unused: Unused) {}

    /// The window and rate in force now.
    fn control(&self) -> Control;

    /// Fewest packets in a burst at this pacing rate (Linux `min_tso_segs`).
    fn min_tso_segs(&self, _pacing_rate: Rate) -> u32 {
        2
    }

    /// Most packets in a burst (the `tso_segs` of the L4S team's kernel).
    fn max_tso_segs(&self) -> u32 {
        u32::MAX
    }

    /// Shows the named internals to `visit`, for the recorder.
    fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// The name of the control's state, for the recorder.
    fn state(&self) -> &'static str {
        ""
    }
}
