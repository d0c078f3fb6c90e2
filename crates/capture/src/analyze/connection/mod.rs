//! Both directions of a connection.

mod acknowledgements;
mod counts;
mod data;
mod far_side;
mod frto;
mod half_connection;
mod outstanding;
mod receiver_view;
mod rounds;
mod sender_clock;
mod stalls;
mod timeline;
mod timing;

pub(crate) use half_connection::{DataKind, HalfConnection};
pub use rounds::Round;
pub(crate) use sender_clock::TICK_NS;
pub(crate) use stalls::Stall;
pub use stalls::StallReason;
pub(crate) use timeline::{ACTIVITIES, Activity, Slice};
pub(crate) use timing::Spans;

use crate::analyze::sequence_numbers::wrap;
use crate::decode::{CapturedSegment, Endpoint, Flags};

/// A connection; end 0 is the sender of the first segment seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    pub(crate) ends: [Endpoint; 2],
    /// The data sent by each end.
    pub(crate) halves: [HalfConnection; 2],
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// When each end sent its SYN.
    pub(crate) syn: [Option<u64>; 2],
    pub(crate) fin: [bool; 2],
    pub(crate) reset: bool,
    scale: [Option<u8>; 2],
    stamps: [bool; 2],
    sack: [bool; 2],
    mss: [Option<u16>; 2],
}

/// The meaning of a segment, for rows and graphs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The end that sent it.
    pub(crate) from: usize,
    /// Its data: kind, begin and end.
    pub(crate) data: Option<(DataKind, u64, u64)>,
    /// For the other direction: the number acknowledged, and the window.
    pub(crate) ack: Option<(u64, Option<u64>)>,
}

impl Connection {
    pub(crate) fn new(segment: &CapturedSegment) -> Self {
        Self { ends: [segment.source, segment.destination], first: segment.time, ..Self::default() }
    }

    /// Returns true if a segment opens another connection between the same ports.
    pub(crate) fn is_succeeded_by(&self, segment: &CapturedSegment) -> bool {
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let from = self.from(segment);
        opens && self.halves[from].high.is_some() && !self.repeats_syn(from, segment)
    }

    fn repeats_syn(&self, from: usize, segment: &CapturedSegment) -> bool {
        self.syn[from].is_some() && wrap(self.halves[from].base) == segment.seq
    }

    pub(crate) fn from(&self, segment: &CapturedSegment) -> usize {
        usize::from(segment.source != self.ends[0])
    }

    /// Takes a segment.
    pub(crate) fn on(&mut self, segment: &CapturedSegment) -> Step {
        let from = self.from(segment);
        self.last = self.last.max(segment.time);
        if segment.flags.has(Flags::SYN) {
            self.on_syn(from, segment);
        }
        self.fin[from] |= segment.flags.has(Flags::FIN);
        self.reset |= segment.flags.has(Flags::RST);
        let before = self.halves[from].last_data;
        let round_trip = self.halves[1 - from].rtts.least();
        self.halves[from].expect_far_rtt(round_trip);
        let data = self.halves[from].on_segment(segment);
        let ack = if segment.flags.has(Flags::ACK) {
            self.halves[1 - from].on_ack(segment)
        } else {
            None
        };
        self.look_from_receiver(from, segment, data.is_some(), before);
        Step { from, data, ack }
    }

    /// Notes what data show at their receiver about their sender.
    fn look_from_receiver(
        &mut self,
        from: usize,
        segment: &CapturedSegment,
        data: bool,
        before: u64,
    ) {
        let [one, other] = &mut self.halves;
        let (half, acks) = if from == 0 { (one, other) } else { (other, one) };
        // An echo is old if its sender had nothing to send before.
        let silence = segment.time.saturating_sub(before);
        if let Some(rtt) = acks.echoed.take().filter(|rtt| data && silence <= rtt / 4) {
            half.on_far_rtt(rtt);
        }
        if data {
            half.note_one_way_delay(segment);
            half.check_far_limit(segment);
        } else if segment.flags.has(Flags::ACK) {
            acks.advertise(segment);
        }
    }

    fn on_syn(&mut self, from: usize, segment: &CapturedSegment) {
        self.syn[from].get_or_insert(segment.time);
        self.scale[from] = segment.scale;
        self.stamps[from] = segment.timestamps.is_some();
        self.sack[from] = segment.sack_permitted;
        self.mss[from] = segment.mss;
        if self.syn[1 - from].is_none() {
            return;
        }
        let scaled = self.scale[0].is_some() && self.scale[1].is_some();
        let stamps = self.stamps[0] && self.stamps[1];
        for end in [0, 1] {
            // The windows announced by one end limit the other.
            self.halves[1 - end].scale = Some(self.scale[end].filter(|_| scaled).unwrap_or(0));
        }
        for end in [0, 1] {
            if let Some(mss) = self.mss[end] {
                self.halves[1 - end].announce_mss(mss, stamps);
            }
        }
    }

    /// Returns true if the capture has the SYN of both ends.
    pub(crate) fn handshake_seen(&self) -> bool {
        self.syn[0].is_some() && self.syn[1].is_some()
    }

    /// Returns true if both ends allow SACK; `None` without the handshake.
    pub(crate) fn sack(&self) -> Option<bool> {
        self.handshake_seen().then_some(self.sack[0] && self.sack[1])
    }

    /// Returns true if the connection is over.
    pub(crate) fn is_over(&self) -> bool {
        let settled = self.halves.iter().all(|half| half.outstanding.is_empty());
        self.reset || (self.fin[0] && self.fin[1] && settled)
    }

    pub(crate) fn finish(&mut self) {
        let last = self.last;
        self.halves.iter_mut().for_each(|half| half.finish(last));
    }

    /// Minimum time from the capture to the other end and back, for data from end `from`.
    pub(crate) fn beyond(&self, from: usize) -> Option<u64> {
        let half = &self.halves[from];
        match (half.rtts.least(), half.echo_rtts.least()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}
