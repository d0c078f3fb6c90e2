//! The sending end: a handshake, then a connection that carries the payload.

mod ack;
mod connection;
mod dupthresh;
mod probe;
mod rack;
mod recovery;
mod supply;
mod timers;
mod transmit;

use narrows_base::{Duration, FlowId, Packet, Rate, Time};
use narrows_cc::{CongestionControl, RecoveryState};

use crate::Seq;
use crate::ecn::EcnMode;
use crate::metrics::Metrics;
use crate::outbox::Envelope;
use crate::profile::{BufferLimits, TcpProfile};
use crate::receiver::window::window_scale;
use crate::segment::{Kind, Segment};
use crate::timer::timestamp_ms;
use connection::Answer;
pub(crate) use connection::Connection;

/// First retransmission timeout of a SYN (RFC 6298 section 2.1).
const SYN_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// Whether the host's egress queue is `fq`, which enforces pacing for all.
    pub fq: bool,
    /// How late the host's pacing timers fire.
    pub timer_lateness: Duration,
    /// Limit of the send buffer.
    pub limits: BufferLimits,
    /// Payload bytes to send; endless if none.
    pub size: Option<u64>,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Whether the connection ends with its size: the last packet carries the FIN, as
    /// when an application writes and closes. It changes nothing else.
    pub closes: bool,
    /// Whether a burst passes the network as one packet, as generic segmentation offload
    /// hands it to software queues.
    pub gso: bool,
    /// Number of this connection in its flow's chain.
    pub instance: u32,
    /// Whether [`Sender::take_lost`] will be asked.
    pub note_lost: bool,
    /// What the host knows of the destination; nothing if it keeps no such metrics
    /// (`tcp_no_metrics_save`).
    pub metrics: Option<Metrics>,
}

/// Counters of a sender, in packets since it connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Data packets delivered (`tp->delivered` less the SYN).
    pub delivered: u64,
    /// Of these, delivered with marks (`tp->delivered_ce`).
    pub delivered_ce: u64,
    /// Packets marked lost.
    pub lost: u64,
    /// Retransmissions (`total_retrans`).
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// What can be seen of a sender at an instant (`struct tcp_info`).
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

/// A sending TCP, from connect to the last acknowledgement.
pub struct Sender {
    config: SenderConfig,
    envelope: Envelope,
    phase: Phase,
}

enum Phase {
    Closed,
    Connecting(Handshake),
    Established(Box<Connection>),
}

struct Handshake {
    /// The sender's own receive window, and its scale.
    window: u32,
    scale: u8,
    make: MakeControl,
    started: Time,
    deadline: Time,
    tries: u32,
    /// Timeouts before the timeout starts to double.
    linear: u32,
    to_send: bool,
    ecn: EcnMode,
}

impl Sender {
    /// A sender that connects at `now`.
    #[must_use]
    pub fn connect(config: SenderConfig, make: MakeControl, now: Time) -> Self {
        let buffer = config.limits.receive(config.profile);
        let handshake = Handshake {
            window: config.profile.receive.initial_window,
            scale: window_scale(u64::from(buffer)),
            make,
            started: now,
            deadline: now + SYN_TIMEOUT,
            tries: 0,
            linear: config.profile.linear_syn_timeouts,
            to_send: true,
            ecn: config.ecn,
        };
        let envelope = Envelope::new(config.flow, config.instance, config.ecn);
        Self { config, envelope, phase: Phase::Connecting(handshake) }
    }

    /// Takes in a segment from the receiver.
    pub fn receive(&mut self, segment: &Segment, now: Time) {
        if segment.instance != self.config.instance {
            return;
        }
        match (&mut self.phase, &segment.kind) {
            (Phase::Connecting(_), Kind::SynAck { window, ts, ts_echo, ecn, .. }) => {
                if !ecn {
                    self.config.ecn = EcnMode::Off;
                }
                self.establish(Answer { window: *window, ts: *ts }, *ts_echo, now);
            }
            (Phase::Established(connection), Kind::Ack(ack)) => connection.on_ack(ack, now),
            _ => {}
        }
    }

    fn establish(&mut self, answer: Answer, ts_echo: u32, now: Time) {
        let Phase::Connecting(handshake) = std::mem::replace(&mut self.phase, Phase::Closed) else {
            unreachable!("only a connecting sender is established");
        };
        let rtt = handshake.rtt(ts_echo, now);
        let cwnd = handshake.first_window(ts_echo, self.config.initial_cwnd);
        let control = (handshake.make)(now, rtt, cwnd);
        let connection = Connection::new(&self.config, self.envelope, control, rtt, answer, now);
        self.phase = Phase::Established(Box::new(connection));
    }

    /// The next packet to send at `now`, after handling what timers are due.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Packet<Segment>> {
        match &mut self.phase {
            Phase::Closed => None,
            Phase::Connecting(handshake) => {
                handshake.poll(now).map(|kind| self.envelope.seal(kind))
            }
            Phase::Established(connection) => connection.poll(now),
        }
    }

    /// When it must be polled next.
    #[inline]
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Closed => None,
            Phase::Connecting(handshake) if handshake.to_send => Some(handshake.started),
            Phase::Connecting(handshake) => Some(handshake.deadline),
            Phase::Established(connection) => connection.next_deadline(),
        }
    }

    /// The application writes `bytes` more, or has no end of data if none are given.
    pub fn write(&mut self, bytes: Option<u64>, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.append(bytes, now),
            _ => self.config.size = sum(self.config.size, bytes),
        }
    }

    /// The application has nothing more for now; what was sent is still repaired.
    pub fn pause(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.stop(now),
            _ => self.config.size = Some(0),
        }
    }

    /// The application stops writing; what was sent is still repaired.
    pub fn stop(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.stop(now),
            phase => *phase = Phase::Closed,
        }
    }

    /// When the last byte that was written was acknowledged, once it was.
    #[must_use]
    pub fn completed_at(&self) -> Option<Time> {
        self.connection().and_then(Connection::completed_at)
    }

    /// Whether everything that was to be sent is acknowledged, or it was stopped
    /// before it connected.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Closed) || self.completed_at().is_some()
    }

    /// Takes the RTT sample of the last segment, if it gave one.
    pub fn take_rtt(&mut self) -> Option<Duration> {
        match &mut self.phase {
            Phase::Established(connection) => connection.take_rtt(),
            _ => None,
        }
    }

    /// Takes the packets that were marked lost since the last call, in that order.
    pub fn take_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        let connection = match &mut self.phase {
            Phase::Established(connection) => Some(connection),
            _ => None,
        };
        connection.into_iter().flat_map(|connection| connection.take_lost())
    }

    /// Leaves what the next connection to the same destination starts with, as at the end of
    /// a connection (`tcp_update_metrics`).
    pub fn remember(&self, metrics: &mut Metrics) {
        if let Some(connection) = self.connection() {
            connection.remember(metrics);
        }
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> SenderStats {
        self.connection().map(Connection::stats).unwrap_or_default()
    }

    /// What can be seen now.
    #[must_use]
    pub fn view(&self) -> Option<SenderView> {
        self.connection().map(Connection::view)
    }

    /// Shows the control's named internals.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(connection) = self.connection() {
            connection.control_ref().inspect(visit);
        }
    }

    fn connection(&self) -> Option<&Connection> {
        match &self.phase {
            Phase::Established(connection) => Some(connection),
            _ => None,
        }
    }
}

/// Bytes to send and more of them; none: without end.
fn sum(left: Option<u64>, more: Option<u64>) -> Option<u64> {
    left.zip(more).map(|(left, more)| left + more)
}

impl Handshake {
    /// After a repeated SYN only its timestamp tells which one was answered, in ms
    /// (`tcp_ack_update_rtt`, `tcp_rtt_tsopt_us`).
    fn rtt(&self, ts_echo: u32, now: Time) -> Duration {
        if self.tries == 0 {
            return now - self.started;
        }
        Duration::from_millis(u64::from(timestamp_ms(now).saturating_sub(ts_echo).max(1)))
    }

    /// A window of one packet after two SYNs were lost, unless the answer is to the
    /// first of them (`tcp_init_transfer`, `tcp_try_undo_spurious_syn`).
    fn first_window(&self, ts_echo: u32, initial: u32) -> u32 {
        let first_was_answered = ts_echo == timestamp_ms(self.started);
        if self.tries > 1 && !first_was_answered { 1 } else { initial }
    }

    #[cold]
    fn poll(&mut self, now: Time) -> Option<Kind> {
        if now >= self.deadline {
            self.tries += 1;
            let doublings = self.tries.saturating_sub(self.linear).min(6);
            self.deadline += SYN_TIMEOUT * (1 << doublings);
            self.to_send = true;
        }
        // A repeated SYN offers no ECN, in case that was why the first was lost
        // (`tcp_ecn_clear_syn`, RFC 3168 section 6.1.1.1); L4S insists on it.
        let ecn = self.ecn != EcnMode::Off && (self.tries == 0 || self.ecn == EcnMode::L4s);
        std::mem::take(&mut self.to_send).then(|| Kind::Syn {
            window: self.window,
            scale: self.scale,
            ts: timestamp_ms(now),
            ecn,
        })
    }
}
