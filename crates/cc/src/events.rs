//! The events that the sender tells a control; their parts are in `samples`.
//!
//! `make reference` makes this file from crates/control/samples.toml.

use narrows_base::{Duration, Rate, Time};

use crate::progress::Progress;
use crate::samples::{AtSend, Congestion, RateSample, RecoveryState};

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
    /// Packets delivered since the flow began (`tp->delivered`); the handshake counts as one.
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
    /// True if a loss-based control may grow now: not reducing, and `tcp_may_raise_cwnd`.
    pub may_grow: bool,
    /// True if the window limits the flow (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// The departure clock (`tcp_wstamp_ns`): when the last paced packet leaves.
    pub departure: Time,
}

/// The start of a congestion episode; the window must shrink.
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
#[derive(Clone, Copy, Debug, Default)]
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

/// The RTT information of an ACK, before the recovery state machine (Linux `pkts_acked`).
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveredSample {
    /// When the ACK arrived.
    pub now: Time,
    /// Packets newly acknowledged cumulatively.
    pub acked: u32,
    /// RTT of the newest packet that the ACK covers and that was never retransmitted.
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
    /// Packets delivered when this ACK's newest packet left; zero if it delivers none.
    pub prior_delivered: u64,
    /// PRR's window while it is in force instead of the control's.
    pub prr_cwnd: Option<u32>,
}

/// A packet, or its retransmission, was marked lost; called before its episode or ACK.
#[derive(Clone, Copy, Debug, Default)]
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

/// The flow starts to send with nothing in flight (`CA_EVENT_TX_START`).
#[derive(Clone, Copy, Debug, Default)]
pub struct StartEvent {
    /// When the packet leaves.
    pub now: Time,
    /// When the packet before it left; none for the first packet of the flow.
    pub last_sent: Option<Time>,
    /// True if the flow had too little to send (`tp->app_limited != 0`).
    pub app_limited: bool,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
}
