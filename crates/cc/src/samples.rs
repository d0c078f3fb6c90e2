//! The information that the sender gives a control.

use narrows_base::{Duration, Rate, Time};

use crate::progress::Progress;

/// The sender's recovery state (Linux `enum tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecoveryState {
    /// Nothing suspicious.
    #[default]
    Open,
    /// SACKs or duplicate ACKs arrived, but no loss is known.
    Disorder,
    /// The window is being reduced for a reason other than loss: ECN.
    Cwr,
    /// Lost packets are being repaired.
    Recovery,
    /// The retransmission timer fired.
    Loss,
}

impl RecoveryState {
    /// The names of all states, in their order.
    pub const NAMES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

    /// Returns `true` if PRR governs the window (Linux `tcp_in_cwnd_reduction`).
    #[must_use]
    pub const fn is_reducing(self) -> bool {
        matches!(self, Self::Cwr | Self::Recovery)
    }

    /// The name in tables and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The RTT information of one ACK; Linux's `pkts_acked` hook.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveredSample {
    /// When the ACK arrived.
    pub now: Time,
    /// Packets newly acknowledged cumulatively.
    pub acked: u32,
    /// RTT of the most recently sent packet that the ACK covers and that was
    /// never retransmitted.
    pub rtt: Option<Duration>,
    /// Packets in flight after the ACK was processed.
    pub in_flight: u32,
    /// Packets SACKed and not yet acknowledged cumulatively (`tp->sacked_out`).
    pub sacked: u32,
    /// The receiver's clock when the ACK left, in ms (TSval of RFC 7323).
    pub stamp_ms: u32,
    /// The sender's clock that the ACK echoes, in ms (TSecr).
    pub echo_ms: u32,
    /// How far the flow has come (`snd_una` and `snd_nxt`).
    pub progress: Progress,
    /// True if the sender enforces the pacing rate.
    pub paced: bool,
    /// The rate that pacing and TSO sizing use now (`sk_pacing_rate`).
    pub pacing_rate: Rate,
    /// True if growth was cwnd-limited in this window (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// True if the ACK echoes congestion experienced (ECE).
    pub ece: bool,
    /// Packets newly delivered by ACKs that carry ECE, since the flow began.
    pub delivered_ce: u64,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// Packets delivered when the newest packet of this ACK left; zero if the ACK delivers none
    /// (`rs->prior_delivered`).
    pub prior_delivered: u64,
    /// PRR's window while it is in force instead of the control's.
    pub prr_cwnd: Option<u32>,
}

/// A delivery-rate sample (Linux `struct rate_sample`, tcp_rate.c).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Packets delivered over `interval`.
    pub delivered: u64,
    /// The longer of the send and the ACK interval; never zero.
    pub interval: Duration,
    /// The flow's `delivered` when the sampled packet was sent.
    pub prior_delivered: u64,
    /// True if the sender had too little to send when the packet left.
    pub app_limited: bool,
    /// The flow's state when the packet left, for a control that watches packets.
    pub at_send: Option<AtSend>,
}

impl RateSample {
    /// The rate in payload bit/s, with packets of `mss` bytes.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough for a count of packets")]
    pub fn payload_bps(&self, mss: u32) -> f64 {
        self.delivered as f64 * f64::from(mss) * 8.0 / self.interval.as_secs_f64()
    }
}

/// The flow's state when a packet was last sent (`tx.in_flight` and `tx.lost` of Google's kernel;
/// `P.tx_in_flight` and `P.lost` of draft-ietf-ccwg-bbr section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtSend {
    /// Packets in flight, including this one.
    pub in_flight: u32,
    /// Packets marked lost since the flow began, modulo 2^32.
    pub lost: u32,
}

/// A packet, or its retransmission, was marked lost (`skb_marked_lost` of Google's kernel).
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// When the loss was noticed.
    pub now: Time,
    /// The flow's state when the packet was sent.
    pub at_send: AtSend,
    /// True if the sender had too little to send when the packet left.
    pub app_limited: bool,
    /// Packets marked lost since the flow began, including this one.
    pub lost_total: u64,
    /// Packets delivered since the flow began.
    pub delivered: u64,
}

/// The information of one ACK, after loss detection and the recovery state machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// When the ACK arrived.
    pub now: Time,
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
    pub delivered_at: Time,
    /// Packets marked lost since the flow began (`tp->lost`).
    pub lost_total: u64,
    /// The delivery-rate sample, if the ACK gives a valid one.
    pub rate: Option<RateSample>,
    /// RTT sample of this ACK (`rs.rtt_us`).
    pub rtt: Option<Duration>,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Lowest RTT over the last 300 s; `Duration::MAX` before the first sample.
    pub min_rtt: Duration,
    /// True if the RTT sample may contain a receiver's delay (`is_ack_delayed`).
    pub ack_delayed: bool,
    /// The recovery state after this ACK.
    pub state: RecoveryState,
    /// True if a loss-based control may grow on this ACK: not reducing, and
    /// `tcp_may_raise_cwnd`.
    pub may_grow: bool,
    /// True if the window limits the flow (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// The departure clock (`tcp_wstamp_ns`): when the last paced packet leaves.
    pub departure: Time,
}

#[cfg(test)]
impl AckSample {
    /// An ACK of `acked` packets with `in_flight` before and after it, without further information.
    pub(crate) fn plain(acked: u32, mss: u32, in_flight: u32) -> Self {
        Self {
            mss,
            acked,
            in_flight,
            prior_in_flight: in_flight,
            delivered: 1_000,
            srtt: Duration::from_millis(40),
            min_rtt: Duration::from_millis(40),
            may_grow: true,
            cwnd_limited: true,
            ..Self::default()
        }
    }
}

/// Why the window must shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Losses were found and Recovery begins (`tcp_enter_recovery`).
    Loss,
    /// An ACK echoed a CE mark, or the control asked for a reduction, and CWR begins
    /// (`tcp_enter_cwr`).
    Ecn,
    /// A tail loss was repaired by its probe (`tcp_process_tlp_ack`).
    TailLoss,
    /// The retransmission timer fired. `reduce` says whether `ssthresh` is recomputed, which
    /// repeated timeouts and timeouts within an episode don't do; the window collapses in any case
    /// (`tcp_enter_loss`).
    Timeout {
        /// True if this timeout begins a new reduction.
        reduce: bool,
    },
}

impl Congestion {
    /// The names of all reasons.
    pub const NAMES: [&str; 4] = ["loss", "ecn", "tail_loss", "timeout"];

    /// The name for controls in other languages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self.number()]
    }

    /// Its place among [`Congestion::NAMES`].
    #[must_use]
    pub const fn number(self) -> usize {
        match self {
            Self::Loss => 0,
            Self::Ecn => 1,
            Self::TailLoss => 2,
            Self::Timeout { .. } => 3,
        }
    }

    /// Returns `true` if a reduction begins; a timeout that only repeats one doesn't count.
    #[must_use]
    pub const fn is_first(self) -> bool {
        !matches!(self, Self::Timeout { reduce: false })
    }
}

/// The start of a congestion episode.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When the congestion was noticed.
    pub now: Time,
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
    /// How far the flow has come (`snd_una` and `snd_nxt`).
    pub progress: Progress,
}

/// The last reduction was spurious (`tcp_undo_cwnd_reduction`).
#[derive(Clone, Copy, Debug)]
pub struct UndoEvent {
    /// When that was noticed.
    pub now: Time,
    /// The window in force just before.
    pub cwnd: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// Packets marked lost since the flow began.
    pub lost_total: u64,
}

/// The flow starts to send with nothing in flight (`CA_EVENT_TX_START`).
#[derive(Clone, Copy, Debug)]
pub struct StartEvent {
    /// When the packet leaves.
    pub now: Time,
    /// When the packet before it left; `None` for the first packet of the flow.
    pub last_sent: Option<Time>,
    /// True if the flow had too little to send (`tp->app_limited != 0`).
    pub app_limited: bool,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
}

/// The window went unused, so a loss-based control gives up part of it (the problem of RFC 7661,
/// with Linux's solution).
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
