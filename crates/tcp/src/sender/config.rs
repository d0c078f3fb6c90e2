//! The configuration and the visible state of a sender.

use std::ops::Add;

use narrows_base::{Duration, FlowId, Rate, Time};
use narrows_cc::{CongestionControl, RecoveryState};

use crate::ecn::EcnMode;
use crate::metrics::Metrics;
use crate::profile::{BufferLimits, TcpProfile};
use crate::sysctls::Sysctls;

/// Makes the congestion control when the handshake ends, from its RTT and the first
/// window in packets.
pub type MakeControl = Box<dyn FnOnce(Time, Duration, u32) -> Box<dyn CongestionControl> + Send>;

/// Settings of a sender.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// The flow that it belongs to.
    pub flow: FlowId,
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in packets (RFC 6928: 10).
    pub initial_cwnd: u32,
    /// Kernel version.
    pub profile: &'static TcpProfile,
    /// The kernel's settings.
    pub sysctls: Sysctls,
    /// True if the host's egress queue is `fq`, which enforces pacing for all.
    pub fq: bool,
    /// The line rate of the host's card, which cuts bursts into packets; none if it sends at once.
    pub line_rate: Option<Rate>,
    /// How late the host's pacing timers fire.
    pub timer_lateness: Duration,
    /// Limit of the send buffer.
    pub limits: BufferLimits,
    /// Unsent payload from which on the application writes no more, in bytes
    /// (`TCP_NOTSENT_LOWAT`); none if only the send buffer limits it.
    pub notsent_lowat: Option<u64>,
    /// Payload bytes to send; endless if none.
    pub size: Option<u64>,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// True if the connection ends with its size: the last packet carries the FIN, as
    /// when an application writes and closes. It has no other effect.
    pub closes: bool,
    /// True if a burst passes the network as one packet, as generic segmentation offload
    /// hands it to software queues.
    pub gso: bool,
    /// Number of this connection in its flow's chain.
    pub instance: u32,
    /// True if [`Sender::take_lost`](crate::Sender::take_lost) will be called.
    pub note_lost: bool,
    /// The host's metrics of the destination, if it keeps any (`tcp_no_metrics_save`).
    pub metrics: Option<Metrics>,
}

/// Counters of a sender, in packets since it connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent, including retransmissions.
    pub sent: u64,
    /// Data packets delivered (`tp->delivered` minus the SYN).
    pub delivered: u64,
    /// The number delivered with marks (`tp->delivered_ce`).
    pub delivered_ce: u64,
    /// Packets marked lost.
    pub lost: u64,
    /// Retransmissions (`total_retrans`).
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// The counters of two connections together.
impl Add for SenderStats {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self {
            sent: self.sent + rhs.sent,
            delivered: self.delivered + rhs.delivered,
            delivered_ce: self.delivered_ce + rhs.delivered_ce,
            lost: self.lost + rhs.lost,
            retransmitted: self.retransmitted + rhs.retransmitted,
            timeouts: self.timeouts + rhs.timeouts,
        }
    }
}

/// The visible state of a sender at an instant (`struct tcp_info`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderView {
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets.
    pub ssthresh: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Latest RTT sample.
    pub rtt: Option<Duration>,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Lowest RTT.
    pub min_rtt: Option<Duration>,
    /// Pacing rate in payload bits.
    pub pacing_rate: Option<Rate>,
    /// Latest delivery rate that wasn't application-limited, in payload bits.
    pub delivery_rate: Option<Rate>,
    /// Recovery state.
    pub state: RecoveryState,
    /// State of the congestion control.
    pub cca_state: &'static str,
}
