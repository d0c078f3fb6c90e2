//! The parts of the events that the sender tells a control.

use narrows_base::Duration;

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
