//! One direction of a connection: its data, and their acknowledgements.
//!
//! Sequence numbers are unwrap_near to 64 bits; the first one seen lies near 2^32,
//! so that older ones don't fall below zero.

use narrows_base::RangeSet;

use super::counts::{Counts, UnseenBytes};
use super::far_side::FarSide;
use super::frto::TimeoutAnswers;
use super::outstanding::Outstanding;
use super::rounds::Rounds;
use super::stalls::Stalls;
use super::timeline::{Activity, Timeline};
use super::timing::{Bursts, Echoes, SILENCE_NS, Spans};
use crate::analyze::sequence_numbers::unwrap_near;
use crate::analyze::times::TimeSamples;
use crate::analyze::units::float;

/// Default payload of a full packet: Ethernet, IPv4, timestamps.
pub(super) const USUAL_PAYLOAD: u64 = 1448;
/// More ranges than a receiver can selectively acknowledge; further ones are left out.
const MOST_HOLES: usize = 4096;

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct HalfConnection {
    /// Its number among the flows, once it carries data.
    pub(crate) id: Option<u32>,
    pub(crate) counts: Counts,
    /// One past the highest number sent.
    pub(crate) high: Option<u64>,
    /// One past the highest acknowledged.
    pub(crate) una: Option<u64>,
    /// The first number, for counting from zero.
    pub(crate) base: u64,
    pub(crate) outstanding: Outstanding,
    pub(super) sacked: RangeSet<u64, MOST_HOLES>,
    pub(super) unseen: UnseenBytes,
    /// Below this, numbers not selectively acknowledged count as lost.
    pub(super) lost_edge: u64,
    pub(super) delivered: u64,
    /// SYN and FIN among the acknowledged numbers.
    pub(super) controls: u64,
    pub(crate) mss: Option<u64>,
    /// Bytes of headers in a packet with data.
    pub(crate) overhead: u64,
    pub(super) mss_announced: bool,
    /// Scale of the windows that limit this direction; none if the handshake is missing.
    pub(crate) scale: Option<u8>,
    pub(crate) window: Option<u64>,
    pub(super) window_field: u16,
    pub(super) zero_since: Option<u64>,
    pub(crate) zero: Spans,
    pub(crate) least_window: Option<u64>,
    pub(crate) most_window: Option<u64>,
    pub(crate) first_data: Option<u64>,
    pub(crate) last_data: u64,
    pub(super) last_event: u64,
    /// A packet of this direction was seen.
    begun: bool,
    pub(super) last_ack: u64,
    /// When the highest acknowledged number last advanced.
    pub(crate) advanced: u64,
    /// When its next row is due.
    pub(crate) due: Option<u64>,
    pub(super) held_back: bool,
    pub(crate) rtts: TimeSamples,
    /// The latest RTT sample, and the smoothed ones (RFC 6298), in ns.
    pub(crate) rtt: Option<u64>,
    pub(crate) srtt: Option<u64>,
    pub(crate) echoes: Echoes,
    pub(crate) echo_rtts: TimeSamples,
    /// The RTT that the last segment's echo showed.
    pub(super) echoed: Option<u64>,
    pub(super) far: FarSide,
    pub(crate) bursts: Bursts,
    pub(crate) idle: Spans,
    pub(crate) stalls: Spans,
    pub(crate) rounds: Rounds,
    pub(crate) timeline: Timeline,
    pub(crate) stalled: Stalls,
    pub(crate) answers: TimeoutAnswers,
    pub(crate) most_in_flight: u64,
    /// Sum of bytes in flight times ns, for the mean.
    pub(super) flight_time: u128,
    pub(super) flight_span: u64,
}

/// The kind of data in a segment, for figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataKind {
    New,
    Again,
    OutOfOrder,
}

impl HalfConnection {
    /// A number of this direction, unwrap_near.
    pub(crate) fn unwrap(&mut self, seq: u32) -> u64 {
        let near = *self.high.get_or_insert_with(|| {
            self.base = (1 << 32) + u64::from(seq);
            self.base
        });
        unwrap_near(seq, near)
    }

    /// The number of packets that these bytes fill.
    pub(crate) fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mss.unwrap_or(USUAL_PAYLOAD).max(1))
    }

    /// Payload known to have reached the receiver, each byte once.
    pub(crate) fn payload_received(&self) -> u64 {
        self.delivered
    }

    /// Bytes in flight at the capture; none before the first acknowledgement.
    pub(crate) fn in_flight(&self) -> Option<u64> {
        self.una.map(|_| self.outstanding.in_flight())
    }

    pub(crate) fn mean_in_flight(&self) -> Option<f64> {
        (self.flight_span > 0).then(|| float(self.flight_time) / float(self.flight_span))
    }

    /// Lets time pass in the current state.
    pub(super) fn pass(&mut self, time: u64) {
        let span = time.saturating_sub(self.last_event);
        if self.last_event > 0 && !self.outstanding.is_empty() {
            self.flight_time += u128::from(self.outstanding.in_flight()) * u128::from(span);
            self.flight_span += span;
            self.counts.limited_ns += if self.held_back { span } else { 0 };
        }
        if self.begun && span > 0 {
            self.account(self.last_event, time);
        }
        self.begun = true;
        self.last_event = self.last_event.max(time);
    }

    /// Accounts for the time between two events.
    fn account(&mut self, from: u64, to: u64) {
        let silent = to - from >= SILENCE_NS.max(2 * self.srtt.unwrap_or(0));
        let settled = self.outstanding.is_empty();
        if silent && !settled {
            self.stalls.add(to - from);
        }
        let activity = match self.outstanding.front() {
            _ if self.held_back || self.zero_since.is_some() => Activity::Window,
            None => Activity::Idle,
            Some(_) if silent => Activity::Stall,
            Some(first) if first.again || first.lost => Activity::Repair,
            Some(_) => Activity::Open,
        };
        if activity == Activity::Stall {
            self.stalled.end(from, to, self.last_ack);
        }
        self.timeline.pass(from, to, activity, self.outstanding.in_flight());
    }
}
