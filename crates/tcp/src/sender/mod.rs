//! The sending end: a handshake, then a connection that carries the payload.

mod ack;
mod clean;
mod config;
mod connection;
mod control;
mod counters;
mod cwnd_use;
mod ecn;
mod episode;
mod findings;
mod handshake;
mod host_queue;
mod info;
mod losses;
mod output;
mod probe;
mod prr;
mod rack;
mod recovery;
mod retransmit;
mod sacks;
mod send_buffer;
mod send_window;
mod sendmsg;
mod tail_probe;
mod timeouts;
mod timers;
mod transmit;
mod undo;
mod unsent;
mod user_timeout;
mod window_probe;

use narrows_base::{Duration, Ecn, Packet, Time, prefetch};
use narrows_cc::{Setting, set_fixed};

use crate::accecn::AccurateEnd;
use crate::metrics::Metrics;
use crate::outbox::Envelope;
use crate::segment::{Kind, Segment, Seq};
pub use config::{MakeControl, SenderConfig, SenderStats, SenderView};
use connection::{Connection, HandshakeResult};
use handshake::Handshake;
pub use info::SenderInfo;

/// A sending TCP, from connect to the last acknowledgement.
///
/// It is small, so that of many flows few cache lines are touched that hold nothing but pointers.
pub struct Sender {
    phase: Phase,
    instance: u32,
}

enum Phase {
    Closed,
    Connecting(Box<Connecting>),
    Established(Box<Connection>),
}

/// A sender that isn't connected yet.
struct Connecting {
    handshake: Handshake,
    config: SenderConfig,
    envelope: Envelope,
}

impl Sender {
    /// A sender that connects at `now`.
    #[must_use]
    pub fn connect(config: SenderConfig, make: MakeControl, now: Time) -> Self {
        let handshake = Handshake::new(&config, make, now);
        let envelope = Envelope::new(config.flow, config.instance, config.ecn);
        let connecting = Connecting { handshake, config, envelope };
        Self { instance: config.instance, phase: Phase::Connecting(Box::new(connecting)) }
    }

    /// Processes a segment from the receiver, whose packet arrived with the codepoint `ecn`.
    pub fn receive(&mut self, segment: &Segment, ecn: Ecn, now: Time) {
        if segment.instance != self.instance {
            return;
        }
        if let Phase::Established(connection) = &mut self.phase {
            if ecn == Ecn::Ce {
                connection.output.ecn.count_marked_ack();
            }
            match &segment.kind {
                Kind::Ack(ack) => connection.on_ack(ack, now),
                Kind::SynAck { option, .. } => connection.on_repeated_answer(*option, ecn, now),
                _ => {}
            }
        } else {
            self.receive_unconnected(&segment.kind, ecn, now);
        }
    }

    #[cold]
    fn receive_unconnected(&mut self, kind: &Kind, ecn: Ecn, now: Time) {
        let &Kind::SynAck { window, ts, ts_echo, ace, option, .. } = kind else { return };
        let Phase::Connecting(connecting) = std::mem::replace(&mut self.phase, Phase::Closed)
        else {
            return;
        };
        let Connecting { handshake, mut config, mut envelope } = *connecting;
        let asked = config.ecn;
        config.ecn = ace.agree(asked);
        let settings = config.sysctls.accurate_ecn;
        let accurate = config
            .ecn
            .counts()
            .then(|| Box::new(AccurateEnd::from_answer(config.ecn, settings, (ace, option), ecn)));
        if asked.counts() {
            envelope.mark_as(accurate.as_ref().map_or(Ecn::NotEct, |end| end.codepoint()));
        }
        let rtt = handshake.rtt(ts_echo, now);
        let cwnd = handshake.first_window(ts_echo, config.initial_cwnd);
        let mut control = (handshake.make)(now, rtt, cwnd);
        set_fixed(&mut *control, handshake.setting);
        let established = HandshakeResult { envelope, control, rtt, window, ts, accurate };
        let connection = Connection::new(&config, established, now);
        self.phase = Phase::Established(Box::new(connection));
    }

    /// The end's state of accurate ECN, if both ends use it. After a change of it
    /// [`heed_checks`](Self::heed_checks) must follow.
    pub fn accurate_ecn(&mut self) -> Option<&mut AccurateEnd> {
        match &mut self.phase {
            Phase::Established(connection) => connection.output.ecn.accurate(),
            _ => None,
        }
    }

    /// Acts on the findings of the checks of accurate ECN: packets mustn't be marked any more, or
    /// the handshake was marked.
    pub fn heed_checks(&mut self) {
        if let Phase::Established(connection) = &mut self.phase {
            connection.heed_checks();
        }
    }

    /// Handles due timers and moves everything to send at `now` behind what is in `out`. Returns an
    /// instant before which nothing happens by itself, or [`Time::MAX`]: not after the next
    /// deadline, and perhaps before it, since the ticks of timers take divisions.
    #[inline] // it is called after every ACK
    pub fn advance(&mut self, now: Time, out: &mut Vec<Packet<Segment>>) -> Time {
        match &mut self.phase {
            Phase::Established(connection) => connection.advance(now, out),
            _ => self.advance_unconnected(now, out),
        }
    }

    #[cold]
    fn advance_unconnected(&mut self, now: Time, out: &mut Vec<Packet<Segment>>) -> Time {
        let Phase::Connecting(connecting) = &mut self.phase else { return Time::MAX };
        out.extend(connecting.handshake.poll(now).map(|kind| connecting.envelope.seal(kind)));
        connecting.handshake.next_deadline()
    }

    /// An instant before which nothing happens by itself, or [`Time::MAX`]; [`Time::ZERO`] if packets
    /// wait to leave. Unlike the deadline it takes no divisions.
    #[inline]
    #[must_use]
    pub fn lower_bound(&self) -> Time {
        match &self.phase {
            Phase::Closed => Time::MAX,
            Phase::Connecting(connecting) => connecting.handshake.next_deadline(),
            Phase::Established(connection) => connection.lower_bound(),
        }
    }

    /// Begins to load the state of the connection into the processor's caches.
    pub fn prefetch(&self) {
        if let Phase::Established(connection) = &self.phase {
            prefetch(&**connection);
        }
    }

    /// Begins to load what the state points to, for the next segment, or a timer.
    pub fn prefetch_further(&self, next: Option<&Kind>) {
        if let Phase::Established(connection) = &self.phase {
            connection.prefetch_further(next);
        }
    }

    /// When it must be advanced next.
    #[inline]
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Closed => None,
            Phase::Connecting(connecting) => Some(connecting.handshake.next_deadline()),
            Phase::Established(connection) => connection.next_deadline(),
        }
    }

    /// The application writes `bytes` more, or without end if none are given.
    pub fn write(&mut self, bytes: Option<u64>, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.append(bytes, now),
            Phase::Connecting(connecting) => {
                let size = &mut connecting.config.size;
                *size = size.zip(bytes).map(|(left, more)| left + more);
            }
            Phase::Closed => {}
        }
    }

    /// The application has nothing more for now; lost data are still repaired.
    pub fn pause(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.stop(now),
            Phase::Connecting(connecting) => connecting.config.size = Some(0),
            Phase::Closed => {}
        }
    }

    /// The application stops writing; lost data are still repaired.
    pub fn stop(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.stop(now),
            phase => *phase = Phase::Closed,
        }
    }

    /// Data may stay unacknowledged for `limit_ms` (`TCP_USER_TIMEOUT`), or for ever if `None`.
    pub fn limit_waiting(&mut self, limit_ms: Option<u32>) {
        if let Phase::Established(connection) = &mut self.phase {
            connection.user_timeout.limit(limit_ms);
        }
    }

    /// Unsent payload from which on the application writes no more (`TCP_NOTSENT_LOWAT`).
    pub fn set_notsent_lowat(&mut self, bytes: Option<u64>) {
        if let Phase::Established(connection) = &mut self.phase {
            connection.send_buffer.set_lowat(bytes);
        }
    }

    /// Returns `true` once data remained unacknowledged for longer than the user timeout; nothing
    /// more leaves then.
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.connection().is_some_and(|connection| connection.user_timeout.has_expired())
    }

    /// New packets have at most that much payload (`tcp_sync_mss`).
    pub fn set_mss(&mut self, mss: u32) {
        if let Phase::Established(connection) = &mut self.phase {
            connection.set_mss(mss);
        }
    }

    /// From now on the host's egress queue drops every packet, or none.
    pub fn refuse_packets(&mut self, refuses: bool) {
        if let Phase::Established(connection) = &mut self.phase {
            connection.output.refuse(refuses);
        }
    }

    /// Gives the control a window or a rate from outside.
    pub fn set(&mut self, setting: Setting, now: Time) {
        match &mut self.phase {
            Phase::Closed => {}
            Phase::Connecting(connecting) => connecting.handshake.set(setting),
            Phase::Established(connection) => connection.set(setting, now),
        }
    }

    /// When the last written byte was acknowledged, if it was.
    #[must_use]
    pub fn completed_at(&self) -> Option<Time> {
        self.connection().and_then(Connection::completed_at)
    }

    /// Payload acknowledged cumulatively.
    #[must_use]
    pub fn acked_bytes(&self) -> u64 {
        self.connection().map_or(0, Connection::acked_bytes)
    }

    /// Returns `true` if all data are acknowledged, or the connection was stopped before it was
    /// established.
    #[inline]
    #[must_use]
    pub fn is_done(&self) -> bool {
        match &self.phase {
            Phase::Established(connection) => connection.completed_at().is_some(),
            Phase::Connecting(_) => false,
            Phase::Closed => true,
        }
    }

    /// Takes the RTT sample of the last segment, if it gave one.
    pub fn take_rtt(&mut self) -> Option<Duration> {
        match &mut self.phase {
            Phase::Established(connection) => connection.take_rtt(),
            _ => None,
        }
    }

    /// Takes the packets marked lost since the last call, in that order.
    pub fn take_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        let connection = match &mut self.phase {
            Phase::Established(connection) => Some(connection),
            _ => None,
        };
        connection.into_iter().flat_map(|connection| connection.take_lost())
    }

    /// Saves the metrics for the next connection to the same destination, as at the end of a
    /// connection (`tcp_update_metrics`).
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

    /// The current visible state.
    #[must_use]
    pub fn view(&self) -> Option<SenderView> {
        self.connection().map(Connection::view)
    }

    /// Counts of packets and timers, as `struct tcp_info` has them.
    #[must_use]
    pub fn info(&self) -> Option<SenderInfo> {
        self.connection().map(Connection::info)
    }

    /// Shows the control's named internals.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(connection) = self.connection() {
            connection.inspect(visit);
        }
    }

    fn connection(&self) -> Option<&Connection> {
        match &self.phase {
            Phase::Established(connection) => Some(connection),
            _ => None,
        }
    }
}
