//! The samples in a fixed layout; `narrows_cc` has the sender's own.
//!
//! `make reference` makes this file from crates/control/samples.toml.

use crate::samples::{AtSend, Congestion, Maybe, RateSample, RecoveryState};

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
    /// Packets delivered since the flow began (`tp->delivered`); the handshake counts as one.
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
    /// True if the RTT sample may contain a receiver's delay (`is_ack_delayed`).
    pub ack_delayed: bool,
    /// True if a round trip has passed since the last ACK for which this was true.
    pub round_start: bool,
    /// The recovery state after this ACK.
    pub state: RecoveryState,
    /// True if a loss-based control may grow now: not reducing, and `tcp_may_raise_cwnd`.
    pub may_grow: bool,
    /// True if the window limits the flow (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// The departure clock (`tcp_wstamp_ns`): when the last paced packet leaves.
    pub departure_ns: u64,
}

/// The start of a congestion episode; the window must shrink.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When the congestion was noticed.
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
    /// When that was noticed.
    pub now_ns: u64,
    /// The window in force just before.
    pub cwnd: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
    /// Packets marked lost since the flow began.
    pub lost_total: u64,
}

/// The RTT information of an ACK, before the recovery state machine (Linux `pkts_acked`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeliveredSample {
    /// When the ACK arrived.
    pub now_ns: u64,
    /// Packets newly acknowledged cumulatively.
    pub acked: u32,
    /// RTT of the newest packet that the ACK covers and that was never retransmitted.
    pub rtt_ns: Maybe<u64>,
    /// Packets in flight after the ACK was processed.
    pub in_flight: u32,
    /// Packets SACKed and not yet acknowledged cumulatively (`tp->sacked_out`).
    pub sacked: u32,
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
    pub prr_cwnd: Maybe<u32>,
}

/// A packet, or its retransmission, was marked lost; called before its episode or ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// When the loss was noticed.
    pub now_ns: u64,
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
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StartEvent {
    /// When the packet leaves.
    pub now_ns: u64,
    /// When the packet before it left; none for the first packet of the flow.
    pub last_sent_ns: Maybe<u64>,
    /// True if the flow had too little to send (`tp->app_limited != 0`).
    pub app_limited: bool,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Packets delivered since the flow began.
    pub delivered: u64,
}
