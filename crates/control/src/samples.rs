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
    /// A number for this connection that depends only on the run's seed: seed a random generator
    /// with it, so that the run can be repeated.
    pub seed: u64,
    pub(crate) options: &'a [(&'static str, f64)],
}

impl Connection<'_> {
    /// The value of an option of [`CongestionControl::OPTIONS`](crate::CongestionControl::OPTIONS).
    ///
    /// # Panics
    /// If the option isn't declared.
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
    /// Returns `true` if PRR governs the window (Linux `tcp_in_cwnd_reduction`).
    #[must_use]
    pub const fn is_reducing(self) -> bool {
        matches!(self, Self::Cwr | Self::Recovery)
    }
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
    /// True if the sender had too little to send when the packet left.
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

/// The reason for which the window must shrink.
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
    /// The timer fired again or within an episode: `ssthresh` isn't recomputed, but the window
    /// collapses all the same.
    RepeatedTimeout,
}

/// The window went unused, so a loss-based control gives up part of it.
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
