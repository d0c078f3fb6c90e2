//! The sending end: a handshake, then a connection that carries the payload.

mod ack;
mod clean;
mod config;
mod connection;
mod control;
mod counters;
mod cwnd_use;
mod episode;
mod findings;
mod handshake;
mod host_queue;
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

use narrows_base::{Duration, Packet, Time};
use narrows_cc::{Setting, set_fixed};

use crate::ecn::EcnMode;
use crate::metrics::Metrics;
use crate::outbox::Envelope;
use crate::segment::{Kind, Segment, Seq};
pub use config::{MakeControl, SenderConfig, SenderStats, SenderView};
use connection::{Connection, Established};
use handshake::Handshake;

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

impl Sender {
    /// A sender that connects at `now`.
    #[must_use]
    pub fn connect(config: SenderConfig, make: MakeControl, now: Time) -> Self {
        let handshake = Handshake::new(&config, make, now);
        let envelope = Envelope::new(config.flow, config.instance, config.ecn);
        Self { config, envelope, phase: Phase::Connecting(handshake) }
    }

    /// Processes a segment from the receiver.
    pub fn receive(&mut self, segment: &Segment, now: Time) {
        if segment.instance != self.config.instance {
            return;
        }
        if let Phase::Established(connection) = &mut self.phase {
            match &segment.kind {
                Kind::Ack(ack) => connection.on_ack(ack, now),
                Kind::SynAck { .. } => connection.on_repeated_answer(now),
                _ => {}
            }
        } else {
            self.receive_unconnected(&segment.kind, now);
        }
    }

    #[cold]
    fn receive_unconnected(&mut self, kind: &Kind, now: Time) {
        if let (Phase::Connecting(_), Kind::SynAck { window, ts, ts_echo, ecn, .. }) =
            (&self.phase, kind)
        {
            if !ecn {
                self.config.ecn = EcnMode::Off;
            }
            self.establish((*window, *ts), *ts_echo, now);
        }
    }

    fn establish(&mut self, (window, ts): (u32, u32), ts_echo: u32, now: Time) {
        let Phase::Connecting(handshake) = std::mem::replace(&mut self.phase, Phase::Closed) else {
            unreachable!("only a connecting sender is established");
        };
        let rtt = handshake.rtt(ts_echo, now);
        let cwnd = handshake.first_window(ts_echo, self.config.initial_cwnd);
        let mut control = (handshake.make)(now, rtt, cwnd);
        set_fixed(&mut *control, handshake.setting);
        let established = Established { envelope: self.envelope, control, rtt, window, ts };
        let connection = Connection::new(&self.config, established, now);
        self.phase = Phase::Established(Box::new(connection));
    }

    /// Handles due timers and moves everything to send at `now` behind what is in `out`. Returns an
    /// instant before which nothing happens by itself, or [`Time::MAX`]: not after the next
    /// deadline, and perhaps before it, since the ticks of timers take divisions.
    #[inline(always)] // it is called after every ACK
    pub fn advance(&mut self, now: Time, out: &mut Vec<Packet<Segment>>) -> Time {
        match &mut self.phase {
            Phase::Established(connection) => connection.advance(now, out),
            _ => self.advance_unconnected(now, out),
        }
    }

    #[cold]
    fn advance_unconnected(&mut self, now: Time, out: &mut Vec<Packet<Segment>>) -> Time {
        let Phase::Connecting(handshake) = &mut self.phase else { return Time::MAX };
        out.extend(handshake.poll(now).map(|kind| self.envelope.seal(kind)));
        handshake.next_deadline()
    }

    /// When it must be advanced next.
    #[inline]
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Closed => None,
            Phase::Connecting(handshake) => Some(handshake.next_deadline()),
            Phase::Established(connection) => connection.next_deadline(),
        }
    }

    /// The application writes `bytes` more, or without end if none are given.
    pub fn write(&mut self, bytes: Option<u64>, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.append(bytes, now),
            _ => self.config.size = self.config.size.zip(bytes).map(|(left, more)| left + more),
        }
    }

    /// The application has nothing more for now; lost data are still repaired.
    pub fn pause(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.stop(now),
            _ => self.config.size = Some(0),
        }
    }

    /// The application stops writing; lost data are still repaired.
    pub fn stop(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Established(connection) => connection.stop(now),
            phase => *phase = Phase::Closed,
        }
    }

    /// Gives the control a window or a rate from outside.
    pub fn set(&mut self, setting: Setting, now: Time) {
        match &mut self.phase {
            Phase::Closed => {}
            Phase::Connecting(handshake) => handshake.set(setting),
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

    /// Whether all data are acknowledged, or it was stopped before it connected.
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
