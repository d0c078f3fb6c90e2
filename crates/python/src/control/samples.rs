//! The arguments of a control written in Python: plain objects with units in their names.

use narrows_base::{Duration, Time};
use narrows_cc::{self as cc, RecoveryState};
use pyo3::prelude::*;

/// The information of one ACK, after loss detection and the recovery state machine.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct AckSample {
    /// When the ACK arrived, in seconds.
    now_s: f64,
    /// Payload bytes of a full packet.
    mss: u32,
    /// Packets newly acknowledged or SACKed by this ACK.
    acked: u32,
    /// Packets newly found lost.
    lost: u32,
    /// Packets in flight now.
    in_flight: u32,
    /// Packets in flight before this ACK.
    prior_in_flight: u32,
    /// Packets delivered since the flow began.
    delivered: u64,
    /// Packets found lost since the flow began.
    lost_total: u64,
    /// RTT sample of this ACK in seconds.
    rtt_s: Option<f64>,
    /// Smoothed RTT in seconds.
    srtt_s: Option<f64>,
    /// Lowest RTT over the last 300 s, in seconds.
    min_rtt_s: Option<f64>,
    /// Delivery rate in payload bits per second, where the ACK gives a sample.
    delivery_rate_bps: Option<f64>,
    /// Whether the sampled packet left while the sender had too little to send.
    app_limited: bool,
    /// Whether a round trip has passed since the last ACK for which this was true.
    round_start: bool,
    /// "open", "disorder", "cwr", "recovery" or "loss".
    state: &'static str,
    /// Whether a loss-based control may grow on this ACK.
    may_grow: bool,
    /// Whether the window limits the flow.
    cwnd_limited: bool,
}

impl AckSample {
    /// Converts the engine's sample; the adapter computes `round_start`.
    pub(super) fn new(sample: &cc::AckSample, round_start: bool) -> Self {
        Self {
            now_s: sample.now.as_secs_f64(),
            mss: sample.mss,
            acked: sample.acked,
            lost: sample.lost,
            in_flight: sample.in_flight,
            prior_in_flight: sample.prior_in_flight,
            delivered: sample.delivered,
            lost_total: sample.lost_total,
            rtt_s: sample.rtt.and_then(seconds),
            srtt_s: seconds(sample.srtt).filter(|&srtt| srtt > 0.0),
            min_rtt_s: seconds(sample.min_rtt),
            delivery_rate_bps: sample.rate.map(|rate| rate.payload_bps(sample.mss)),
            app_limited: sample.rate.is_some_and(|rate| rate.app_limited),
            round_start,
            state: state(sample.state),
            may_grow: sample.may_grow,
            cwnd_limited: sample.cwnd_limited,
        }
    }
}

#[pymethods]
impl AckSample {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// Why the window should shrink; reported once for each episode.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct CongestionEvent {
    /// When it was noticed, in seconds.
    now_s: f64,
    /// "loss", "ecn", "tail_loss" or "timeout".
    kind: &'static str,
    /// False for a timeout that only repeats one, or comes within an episode.
    first: bool,
    /// The state just before: "open", "disorder", "cwr", "recovery" or "loss".
    state: &'static str,
    /// The window in force just before, in packets.
    cwnd: u32,
    /// Packets in flight.
    in_flight: u32,
    /// Payload bytes of a full packet.
    mss: u32,
    /// Packets delivered since the flow began.
    delivered: u64,
    /// Packets found lost since the flow began.
    lost_total: u64,
}

impl CongestionEvent {
    pub(super) fn new(event: &cc::CongestionEvent) -> Self {
        let (kind, first) = match event.kind {
            cc::Congestion::Loss => ("loss", true),
            cc::Congestion::Ecn => ("ecn", true),
            cc::Congestion::TailLoss => ("tail_loss", true),
            cc::Congestion::Timeout { reduce } => ("timeout", reduce),
        };
        Self {
            now_s: event.now.as_secs_f64(),
            kind,
            first,
            state: state(event.state),
            cwnd: event.cwnd,
            in_flight: event.in_flight,
            mss: event.mss,
            delivered: event.delivered,
            lost_total: event.lost_total,
        }
    }
}

#[pymethods]
impl CongestionEvent {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// The last reduction was spurious.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct UndoEvent {
    /// When it was noticed, in seconds.
    now_s: f64,
    /// The window in force just before, in packets.
    cwnd: u32,
}

impl UndoEvent {
    pub(super) fn new(event: &cc::UndoEvent) -> Self {
        Self { now_s: Time::as_secs_f64(event.now), cwnd: event.cwnd }
    }
}

#[pymethods]
impl UndoEvent {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// The initial values of a connection.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct Connection {
    /// Payload bytes of a full packet.
    mss: u32,
    /// Initial window in packets.
    initial_cwnd: u32,
    /// The handshake's RTT in seconds.
    rtt_s: Option<f64>,
}

impl Connection {
    pub(super) fn new(config: &cc::CcConfig) -> Self {
        let rtt_s = config.initial_rtt.and_then(seconds);
        Self { mss: config.mss, initial_cwnd: config.initial_cwnd, rtt_s }
    }
}

#[pymethods]
impl Connection {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// A duration in seconds; none for a placeholder.
fn seconds(duration: Duration) -> Option<f64> {
    (duration < Duration::MAX).then(|| duration.as_secs_f64())
}

fn state(state: RecoveryState) -> &'static str {
    match state {
        RecoveryState::Open => "open",
        RecoveryState::Disorder => "disorder",
        RecoveryState::Cwr => "cwr",
        RecoveryState::Recovery => "recovery",
        RecoveryState::Loss => "loss",
    }
}
