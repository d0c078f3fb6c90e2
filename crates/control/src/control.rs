//! The trait of a control, and its output.

use crate::events::{
    AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent,
};
use crate::samples::{Connection, Maybe, Unused};

/// An infinite slow-start threshold (Linux `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The output of a control.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Congestion window in packets, from 1 to 10,000,000. During CWR and Recovery of a control
    /// without [`CongestionControl::OWNS_RECOVERY`] this is PRR's target.
    pub cwnd: u32,
    /// Slow-start threshold in packets. While it is [`INFINITE_SSTHRESH`], the sender uses the
    /// window after the last [`CongestionControl::on_congestion`], unless the control has
    /// [`CongestionControl::OWNS_RECOVERY`].
    pub ssthresh: u32,
    /// Pacing rate in payload bit/s; none leaves it to the sender. A control that paces gives a
    /// rate from the first call on.
    pub pacing_rate_bps: Maybe<u64>,
    /// True if samples of packets sent now don't measure the path (BBR's PROBE_RTT).
    pub app_limited: bool,
}

impl Control {
    /// A window of `cwnd` packets, without a threshold or a rate.
    #[must_use]
    pub const fn window(cwnd: u32) -> Self {
        let pacing_rate_bps = Maybe::NONE;
        Self { cwnd, ssthresh: INFINITE_SSTHRESH, pacing_rate_bps, app_limited: false }
    }

    /// Sets the slow-start threshold in packets.
    #[must_use]
    pub const fn with_ssthresh(self, ssthresh: u32) -> Self {
        Self { ssthresh, ..self }
    }

    /// Sets the pacing rate in payload bit/s.
    #[must_use]
    pub const fn with_pacing_rate(self, bps: u64) -> Self {
        Self { pacing_rate_bps: Maybe::some(bps), ..self }
    }
}

/// A congestion control algorithm. Every connection has its own value.
pub trait CongestionControl: Send + Sized + 'static {
    /// The options that a flow can set, with their defaults; each is a number.
    const OPTIONS: &'static [(&'static str, f64)] = &[];
    /// True if the control sets the window itself while recovering (Linux `cong_control`), so that
    /// PRR and cwnd validation don't apply.
    const OWNS_RECOVERY: bool = false;
    /// True if rate samples contain the flow's state when their packet left, and
    /// [`CongestionControl::on_lost`] is called.
    const WATCHES_PACKETS: bool = false;
    /// True if the sender calls [`CongestionControl::requests_cwr`].
    const REQUESTS_CWR: bool = false;

    /// The control of a new connection.
    fn new(connection: &Connection) -> Self;

    /// Takes the RTT sample of an ACK, before the recovery state machine (Linux `pkts_acked`).
    fn on_delivered(&mut self, _sample: &DeliveredSample) {}

    /// Takes an ACK, after loss detection and the recovery state machine.
    fn on_ack(&mut self, sample: &AckSample);

    /// Begins a congestion episode. Called at most once per episode, except that a timeout may
    /// interrupt another episode.
    fn on_congestion(&mut self, event: &CongestionEvent);

    /// Undoes the last reduction, which was spurious.
    fn on_undo(&mut self, _event: &UndoEvent) {}

    /// The flow begins to send after nothing was in flight.
    fn on_start(&mut self, _event: &StartEvent) {}

    /// A packet was marked lost; called before the episode or the ACK that it belongs to.
    fn on_lost(&mut self, _packet: &LostPacket) {}

    /// An earlier connection to the same destination left this slow-start threshold, in packets.
    fn on_threshold(&mut self, _ssthresh: u32) {}

    /// The window wasn't used for a time.
    fn on_unused(&mut self, _unused: &Unused) {}

    /// Returns whether the sender should enter CWR after this ACK (a control that calls `tcp_enter_cwr`).
    fn requests_cwr(&self) -> bool {
        false
    }

    /// The window and rate in force now; asked after each of the calls above.
    fn control(&self) -> Control;

    /// Fewest packets in a burst at this pacing rate in bit/s (Linux `min_tso_segs`).
    fn min_tso_segs(&self, _pacing_rate_bps: u64) -> u32 {
        2
    }

    /// Shows named values for the table `internals`.
    fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// The name of the control's state, for the column `cca_state`.
    fn state(&self) -> &'static str {
        ""
    }
}
