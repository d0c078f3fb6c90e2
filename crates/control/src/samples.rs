//! The information that the sender gives a control: the types of `narrows_cc`, in a fixed layout.

/// A value that may be missing.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maybe<T> {
    is: bool,
    value: T,
}

impl<T: Copy> Maybe<T> {
    /// A value.
    #[must_use]
    pub const fn some(value: T) -> Self {
        Self { is: true, value }
    }

    /// The value, if there is one.
    #[must_use]
    pub const fn get(self) -> Option<T> {
        if self.is { Some(self.value) } else { None }
    }
}

impl Maybe<u64> {
    /// No value.
    pub const NONE: Self = Self { is: false, value: 0 };
}

impl<T: Copy + Default> From<Option<T>> for Maybe<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::default, Self::some)
    }
}

/// A new connection.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in packets.
    pub initial_cwnd: u32,
    /// The handshake's RTT, if there was a handshake.
    pub initial_rtt_ns: Option<u64>,
    /// A number of this connection's own, which only the run's seed decides: seed a random
    /// generator with it, so that the run can be repeated.
    pub seed: u64,
    pub(crate) options: &'a [(&'static str, f64)],
}

impl Connection<'_> {
    /// The value of an option of [`CongestionControl::OPTIONS`](crate::CongestionControl::OPTIONS).
    ///
    /// # Panics
    /// If it isn't declared there.
    #[must_use]
    pub fn option(&self, name: &str) -> f64 {
        let found = self.options.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("OPTIONS doesn't contain \"{name}\"")).1
    }
}

/// The sender's recovery state (Linux `enum tcp_ca_state`).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryState {
    /// Nothing suspicious.
    Open,
    /// SACKs or duplicates came, no loss is known.
    Disorder,
    /// The window is being reduced for a reason other than loss: ECN.
    Cwr,
    /// Lost packets are being repaired.
    Recovery,
    /// The retransmission timer fired.
    Loss,
}

impl RecoveryState {
    /// Whether PRR governs the window (Linux `tcp_in_cwnd_reduction`).
    #[must_use]
    pub const fn is_reducing(self) -> bool {
        matches!(self, Self::Cwr | Self::Recovery)
    }
}

/// The RTT information of one ACK; Linux's `pkts_acked` hook.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeliveredSample {
    /// When the ACK arrived.
    pub now_ns: u64,
    /// Packets newly acknowledged cumulatively.
    pub acked: u32,
    /// RTT of the most recently sent packet that the ACK covers and that was never retransmitted.
    pub rtt_ns: Maybe<u64>,
    /// Packets in flight after the ACK was processed.
    pub in_flight: u32,
    /// Packets SACKed and not yet acknowledged cumulatively (`tp->sacked_out`).
    pub sacked: u32,
    /// Whether growth was cwnd-limited in this window (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// Whether the ACK echoes congestion experienced (ECE).
    pub ece: bool,
    /// Packets newly delivered by ACKs that carry ECE, since the flow began.
    pub delivered_ce: u64,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// The same when the newest of the delivered packets left; zero if the ACK delivers none.
    pub prior_delivered: u64,
    /// PRR's window while it is in force instead of the control's.
    pub prr_cwnd: Maybe<u32>,
}

/// A delivery-rate sample (Linux `struct rate_sample`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// Packets delivered over the interval.
    pub delivered: u64,
    /// The longer of the send and the ACK interval; never zero.
    pub interval_ns: u64,
    /// The flow's `delivered` when the sampled packet was sent.
    pub prior_delivered: u64,
    /// Whether the sender had too little to send when the packet left.
    pub app_limited: bool,
    /// The flow's state when the packet left, for a control that watches packets.
    pub at_send: Maybe<AtSend>,
}

impl RateSample {
    /// The rate in payload bit/s, with packets of `mss` bytes.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "53 bits are enough for a count of packets")]
    pub fn payload_bps(&self, mss: u32) -> f64 {
        self.delivered as f64 * f64::from(mss) * 8.0 / (self.interval_ns as f64 / 1e9)
    }
}

/// The flow's state when a packet was last sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtSend {
    /// Packets in flight, including this one.
    pub in_flight: u32,
    /// Packets marked lost since the flow began, modulo 2^32.
    pub lost: u32,
}

/// A packet, or its retransmission, was marked lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// When it was noticed.
    pub now_ns: u64,
    /// The flow's state when it was sent.
    pub at_send: AtSend,
    /// Whether the sender had too little to send when it left.
    pub app_limited: bool,
    /// Packets marked lost since the flow began, including this one.
    pub lost_total: u64,
    /// Packets delivered since the flow began.
    pub delivered: u64,
}

/// The information of one ACK, after loss detection and the recovery state machine.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When the ACK arrived.
    pub now_ns: u64,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Packets newly delivered: acknowledged or SACKed (`rs.acked_sacked`).
    pub acked: u32,
    /// Packets newly marked lost by this ACK (`rs.losses`).
    pub lost: u32,
    /// Packets in flight now (`tcp_packets_in_flight`).
    pub in_flight: u32,
    /// Packets in flight before this ACK.
    pub prior_in_flight: u32,
    /// Packets delivered since the flow began (`tp->delivered`).
    pub delivered: u64,
    /// When `delivered` last grew (`tp->delivered_mstamp`).
    pub delivered_at_ns: u64,
    /// Packets marked lost since the flow began (`tp->lost`).
    pub lost_total: u64,
    /// The delivery-rate sample, if the ACK gives a valid one.
    pub rate: Maybe<RateSample>,
    /// RTT sample of this ACK (`rs.rtt_us`).
    pub rtt_ns: Maybe<u64>,
    /// Smoothed RTT.
    pub srtt_ns: Maybe<u64>,
    /// Lowest RTT over the last 300 s.
    pub min_rtt_ns: Maybe<u64>,
    /// Whether the RTT sample may contain a receiver's delay (`is_ack_delayed`).
    pub ack_delayed: bool,
    /// Whether a round trip has passed since the last ACK for which this was true.
    pub round_start: bool,
    /// The recovery state after this ACK.
    pub state: RecoveryState,
    /// Whether a loss-based control may grow on this ACK: not reducing, and `tcp_may_raise_cwnd`.
    pub may_grow: bool,
    /// Whether the window limits the flow (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// The departure clock (`tcp_wstamp_ns`): when the last paced packet leaves.
    pub departure_ns: u64,
}

/// Why the window must shrink.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Losses were found and Recovery begins (`tcp_enter_recovery`).
    Loss,
    /// An ACK echoed a CE mark, or the control asked for a reduction (`tcp_enter_cwr`).
    Ecn,
    /// A tail loss was repaired by its probe (`tcp_process_tlp_ack`).
    TailLoss,
    /// The retransmission timer fired (`tcp_enter_loss`).
    Timeout,
    /// The same, but repeated or within an episode: `ssthresh` isn't recomputed, the window
    /// collapses in any case.
    RepeatedTimeout,
}

/// The start of a congestion episode.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was noticed.
    pub now_ns: u64,
    /// The reason.
    pub kind: Congestion,
    /// The sender's state just before.
    pub state: RecoveryState,
    /// The window in force just before; within an episode PRR's, not the control's.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// Packets marked lost since the flow began.
    pub lost_total: u64,
}

/// The last reduction was spurious (`tcp_undo_cwnd_reduction`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UndoEvent {
    /// When it was noticed.
    pub now_ns: u64,
    /// The window in force just before.
    pub cwnd: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// Packets marked lost since the flow began.
    pub lost_total: u64,
}

/// The flow starts to send with nothing in flight (`CA_EVENT_TX_START`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StartEvent {
    /// When the packet leaves.
    pub now_ns: u64,
    /// When the one before it left; none for the first packet of the flow.
    pub last_sent_ns: Maybe<u64>,
    /// Whether the flow had too little to send (`tp->app_limited != 0`).
    pub app_limited: bool,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
}

/// The window wasn't used; a loss-based control forgets part of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Nothing was sent for `timeouts` whole RTOs (`tcp_cwnd_restart`).
    Idle {
        /// Whole retransmission timeouts that passed.
        timeouts: u32,
        /// The initial window.
        restart_window: u32,
    },
    /// For an RTO at most `used` packets were in flight (`tcp_cwnd_application_limited`).
    Underused {
        /// Most packets in flight over that time, at least the initial window.
        used: u32,
    },
}
