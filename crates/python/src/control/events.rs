//! The arguments of a control written in Python: plain objects, units in their names.
//!
//! `make reference` makes this file from crates/control/samples.toml.

use narrows_base::{Duration, Time};
use narrows_cc::{self as cc, drop_placeholder};
use pyo3::prelude::*;

/// The information of one ACK, after loss detection and the recovery state machine.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct AckSample {
    /// When the ACK arrived.
    now_s: f64,
    /// Payload bytes of a full packet.
    mss: u32,
    /// Packets newly delivered: acknowledged or SACKed (`rs.acked_sacked`).
    acked: u32,
    /// Packets newly marked lost by this ACK (`rs.losses`).
    lost: u32,
    /// Packets in flight now (`tcp_packets_in_flight`).
    in_flight: u32,
    /// Packets in flight before this ACK.
    prior_in_flight: u32,
    /// Packets delivered since the flow began (`tp->delivered`); the handshake counts as one.
    delivered: u64,
    /// When `delivered` last grew (`tp->delivered_mstamp`).
    delivered_at_s: f64,
    /// Packets marked lost since the flow began (`tp->lost`).
    lost_total: u64,
    /// Delivery rate, if the ACK gives a valid sample.
    delivery_rate_bps: Option<f64>,
    /// Time over which the rate was measured: the longer of the send and the ACK interval.
    rate_interval_s: Option<f64>,
    /// `delivered` when the sampled packet was sent.
    prior_delivered: Option<u64>,
    /// True if the sampled packet left while the sender had too little to send.
    app_limited: bool,
    /// Packets in flight when the packet was sent, including it; none without `on_lost`.
    in_flight_at_send: Option<u32>,
    /// Packets marked lost before the packet was sent, modulo 2^32; none without `on_lost`.
    lost_at_send: Option<u32>,
    /// RTT sample of this ACK (`rs.rtt_us`).
    rtt_s: Option<f64>,
    /// Smoothed RTT.
    srtt_s: Option<f64>,
    /// Lowest RTT over the last 300 s.
    min_rtt_s: Option<f64>,
    /// True if the RTT sample may contain a receiver's delay (`is_ack_delayed`).
    ack_delayed: bool,
    /// True if a round trip has passed since the last ACK for which this was true.
    round_start: bool,
    /// The recovery state after this ACK: "open", "disorder", "cwr", "recovery" or "loss".
    state: &'static str,
    /// True if a loss-based control may grow now: not reducing, and `tcp_may_raise_cwnd`.
    may_grow: bool,
    /// True if the window limits the flow (`tcp_is_cwnd_limited`).
    cwnd_limited: bool,
    /// The departure clock (`tcp_wstamp_ns`): when the last paced packet leaves.
    departure_s: f64,
}

impl AckSample {
    pub(super) fn new(sample: &cc::AckSample, round_start: bool) -> Self {
        Self {
            now_s: sample.now.as_secs_f64(),
            mss: sample.mss,
            acked: sample.acked,
            lost: sample.lost,
            in_flight: sample.in_flight,
            prior_in_flight: sample.prior_in_flight,
            delivered: sample.delivered,
            delivered_at_s: sample.delivered_at.as_secs_f64(),
            lost_total: sample.lost_total,
            delivery_rate_bps: sample.rate.map(|rate| rate.payload_bps(sample.mss)),
            rate_interval_s: sample.rate.map(|rate| rate.interval.as_secs_f64()),
            prior_delivered: sample.rate.map(|rate| rate.prior_delivered),
            app_limited: sample.rate.is_some_and(|rate| rate.app_limited),
            in_flight_at_send: sample.rate.and_then(|rate| rate.at_send).map(|then| then.in_flight),
            lost_at_send: sample.rate.and_then(|rate| rate.at_send).map(|then| then.lost),
            rtt_s: sample.rtt.map(Duration::as_secs_f64),
            srtt_s: drop_placeholder(sample.srtt).map(Duration::as_secs_f64),
            min_rtt_s: drop_placeholder(sample.min_rtt).map(Duration::as_secs_f64),
            ack_delayed: sample.ack_delayed,
            round_start,
            state: sample.state.name(),
            may_grow: sample.may_grow,
            cwnd_limited: sample.cwnd_limited,
            departure_s: sample.departure.as_secs_f64(),
        }
    }
}

#[pymethods]
impl AckSample {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// The start of a congestion episode; the window must shrink.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct CongestionEvent {
    /// When the congestion was noticed.
    now_s: f64,
    /// The reason: "loss", "ecn", "tail_loss" or "timeout".
    kind: &'static str,
    /// False for a timeout that only repeats one, or comes within an episode.
    first: bool,
    /// The sender's state just before: "open", "disorder", "cwr", "recovery" or "loss".
    state: &'static str,
    /// The window in force just before; within an episode PRR's, not the control's.
    cwnd: u32,
    /// Packets in flight.
    in_flight: u32,
    /// Payload bytes of a full packet.
    mss: u32,
    /// Packets delivered since the flow began.
    delivered: u64,
    /// Packets marked lost since the flow began.
    lost_total: u64,
}

impl CongestionEvent {
    pub(super) fn new(event: &cc::CongestionEvent) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            kind: event.kind.name(),
            first: event.kind.is_first(),
            state: event.state.name(),
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

/// The last reduction was spurious (`tcp_undo_cwnd_reduction`).
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct UndoEvent {
    /// When that was noticed.
    now_s: f64,
    /// The window in force just before.
    cwnd: u32,
    /// Packets delivered since the flow began.
    delivered: u64,
    /// Packets marked lost since the flow began.
    lost_total: u64,
}

impl UndoEvent {
    pub(super) fn new(event: &cc::UndoEvent) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            cwnd: event.cwnd,
            delivered: event.delivered,
            lost_total: event.lost_total,
        }
    }
}

#[pymethods]
impl UndoEvent {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// The RTT information of an ACK, before the recovery state machine (Linux `pkts_acked`).
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct DeliveredSample {
    /// When the ACK arrived.
    now_s: f64,
    /// Packets newly acknowledged cumulatively.
    acked: u32,
    /// RTT of the newest packet that the ACK covers and that was never retransmitted.
    rtt_s: Option<f64>,
    /// Packets in flight after the ACK was processed.
    in_flight: u32,
    /// Packets SACKed and not yet acknowledged cumulatively (`tp->sacked_out`).
    sacked: u32,
    /// True if growth was cwnd-limited in this window (`tcp_is_cwnd_limited`).
    cwnd_limited: bool,
    /// True if the ACK echoes congestion experienced (ECE).
    ece: bool,
    /// Packets newly delivered by ACKs that carry ECE, since the flow began.
    delivered_ce: u64,
    /// Packets delivered since the flow began.
    delivered: u64,
    /// Packets delivered when this ACK's newest packet left; zero if it delivers none.
    prior_delivered: u64,
    /// PRR's window while it is in force instead of the control's.
    prr_cwnd: Option<u32>,
}

impl DeliveredSample {
    pub(super) fn new(sample: &cc::DeliveredSample) -> Self {
        Self {
            now_s: sample.now.as_secs_f64(),
            acked: sample.acked,
            rtt_s: sample.rtt.map(Duration::as_secs_f64),
            in_flight: sample.in_flight,
            sacked: sample.sacked,
            cwnd_limited: sample.cwnd_limited,
            ece: sample.ece,
            delivered_ce: sample.delivered_ce,
            delivered: sample.delivered,
            prior_delivered: sample.prior_delivered,
            prr_cwnd: sample.prr_cwnd,
        }
    }
}

#[pymethods]
impl DeliveredSample {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// A packet, or its retransmission, was marked lost; called before its episode or ACK.
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct LostPacket {
    /// When the loss was noticed.
    now_s: f64,
    /// Packets in flight when the packet was sent, including it.
    in_flight_at_send: u32,
    /// Packets marked lost before the packet was sent, modulo 2^32.
    lost_at_send: u32,
    /// True if the sender had too little to send when the packet left.
    app_limited: bool,
    /// Packets marked lost since the flow began, including this one.
    lost_total: u64,
    /// Packets delivered since the flow began.
    delivered: u64,
}

impl LostPacket {
    pub(super) fn new(packet: &cc::LostPacket) -> Self {
        Self {
            now_s: packet.now.as_secs_f64(),
            in_flight_at_send: packet.at_send.in_flight,
            lost_at_send: packet.at_send.lost,
            app_limited: packet.app_limited,
            lost_total: packet.lost_total,
            delivered: packet.delivered,
        }
    }
}

#[pymethods]
impl LostPacket {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

/// The flow starts to send with nothing in flight (`CA_EVENT_TX_START`).
#[pyclass(frozen, get_all, module = "narrows._native")]
#[derive(Debug)]
pub struct StartEvent {
    /// When the packet leaves.
    now_s: f64,
    /// When the packet before it left; none for the first packet of the flow.
    last_sent_s: Option<f64>,
    /// True if the flow had too little to send (`tp->app_limited != 0`).
    app_limited: bool,
    /// Payload bytes of a full packet.
    mss: u32,
    /// Packets delivered since the flow began.
    delivered: u64,
}

impl StartEvent {
    pub(super) fn new(event: &cc::StartEvent) -> Self {
        Self {
            now_s: event.now.as_secs_f64(),
            last_sent_s: event.last_sent.map(Time::as_secs_f64),
            app_limited: event.app_limited,
            mss: event.mss,
            delivered: event.delivered,
        }
    }
}

#[pymethods]
impl StartEvent {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}
