//! One direction of a connection: data one way, its acknowledgements the other.
//!
//! Sequence numbers are unwrapped to 64 bits; the first one seen lies near 2^32,
//! so that older ones don't fall below zero.

use super::buckets::Buckets;
use super::outstanding::{Outstanding, Sent};
use super::ranges::Ranges;
use super::rounds::Rounds;
use super::timing::{Bursts, Echoes, SILENCE_NS, Spans, after};
use crate::decode::{Flags, Segment};

/// Payload of a full packet where nothing tells: Ethernet, IPv4, timestamps.
const USUAL_PAYLOAD: u64 = 1448;
const USUAL_PACKET: u32 = 1500;
/// Older arrivals aren't out of order but sent again, where no RTT tells; as in Wireshark.
const LATE_NS: u64 = 3_000_000;

/// No sender has more under way than this many bytes.
const FURTHEST_HOLE: u64 = 1 << 28;

/// What only grows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Frames with data.
    pub(crate) frames: u64,
    /// Packets with data: an offloaded frame counts as those that the card makes of it.
    pub(crate) packets: u64,
    pub(crate) payload: u64,
    /// IP bytes of those packets.
    pub(crate) wire: u64,
    pub(crate) offloaded: u64,
    /// Packets that were seen more than once.
    pub(crate) again: u64,
    pub(crate) again_bytes: u64,
    /// Packets that fill a hole and were sent again, so lost before the capture.
    pub(crate) repaired: u64,
    pub(crate) reordered: u64,
    pub(crate) reordered_bytes: u64,
    pub(crate) reordered_ns: u64,
    /// The very same packet, seen twice at once.
    pub(crate) twins: u64,
    /// Packets sent again after they were acknowledged.
    pub(crate) needless: u64,
    /// Packets that DSACK says arrived twice.
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    pub(crate) acks: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) keepalives: u64,
    /// Acknowledged bytes that the capture lacks.
    pub(crate) missing: u64,
    pub(crate) marked: u64,
    pub(crate) echoes: u64,
    pub(crate) stretched: u64,
    pub(crate) fragments: u64,
    pub(crate) limited_ns: u64,
    /// Packets lost, as far as one capture tells.
    pub(crate) lost: u64,
}

/// Bytes that were acknowledged before the capture saw them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unseen {
    begin: u64,
    end: u64,
    since: u64,
}

impl Unseen {
    /// At `time` everything up to `ack` is acknowledged; nothing from `high` on was seen.
    pub(super) fn add(&mut self, high: u64, ack: u64, time: u64) {
        if ack > high {
            let begin = if self.end == high { self.begin } else { high };
            *self = Self { begin, end: ack, since: time };
        }
    }

    /// How many of these bytes a packet has that begins with the first of them, no later than
    /// `late` ns after their acknowledgement: hosts with several processors capture an
    /// acknowledgement before what it acknowledges.
    fn take(&mut self, begin: u64, end: u64, time: u64, late: u64) -> u64 {
        if self.begin >= self.end || begin != self.begin || time > self.since.saturating_add(late) {
            return 0;
        }
        self.begin = end.min(self.end);
        self.begin - begin
    }
}

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    /// Its number among the flows, once it carries data.
    pub(crate) id: Option<u32>,
    pub(crate) counts: Counts,
    /// One past the highest number sent.
    pub(crate) high: Option<u64>,
    /// One past the highest acknowledged.
    pub(crate) una: Option<u64>,
    /// The first number, for those who count from zero.
    pub(crate) base: u64,
    pub(crate) outstanding: Outstanding,
    pub(super) sacked: Ranges,
    pub(super) unseen: Unseen,
    /// Up to where what wasn't selectively acknowledged counts as lost.
    pub(super) lost_edge: u64,
    pub(super) delivered: u64,
    /// SYN and FIN among the acknowledged numbers.
    pub(super) controls: u64,
    pub(crate) mss: Option<u64>,
    /// Bytes of headers in a packet with data.
    pub(crate) overhead: u64,
    pub(super) mss_told: bool,
    /// Shift of the windows that limit this direction; none if the handshake is missing.
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
    pub(super) last_ack: u64,
    /// When the highest acknowledged number last grew.
    pub(crate) advanced: u64,
    /// When its next row is due.
    pub(crate) due: Option<u64>,
    pub(super) held_back: bool,
    pub(crate) rtts: Buckets,
    pub(crate) lowest: Option<u64>,
    /// The latest RTT sample, and the smoothed ones (RFC 6298), in ns.
    pub(crate) rtt: Option<u64>,
    pub(crate) srtt: Option<u64>,
    pub(crate) echoes: Echoes,
    pub(crate) echo_rtts: Buckets,
    pub(crate) lowest_echo: Option<u64>,
    pub(crate) bursts: Bursts,
    pub(crate) idle: Spans,
    pub(crate) stalls: Spans,
    pub(crate) rounds: Rounds,
    pub(crate) most_in_flight: u64,
    /// Sum of bytes in flight times ns, for the mean.
    pub(super) flight_time: u128,
    pub(super) flight_span: u64,
}

/// What happened, for whoever draws it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    New,
    Again,
    OutOfOrder,
}

impl Half {
    /// A number of this direction, unwrapped.
    pub(crate) fn unwrap(&mut self, seq: u32) -> u64 {
        let near = *self.high.get_or_insert_with(|| {
            self.base = (1 << 32) + u64::from(seq);
            self.base
        });
        #[allow(clippy::cast_possible_truncation)] // the distance is what counts
        let ahead = seq.wrapping_sub(near as u32).cast_signed();
        near.saturating_add_signed(i64::from(ahead))
    }

    /// Packets that so many bytes fill.
    pub(crate) fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mss.unwrap_or(USUAL_PAYLOAD).max(1))
    }

    /// Payload that is known to have reached the receiver, each byte once.
    pub(crate) fn received(&self) -> u64 {
        self.delivered
    }

    /// Bytes in flight at the capture; none as long as nothing is acknowledged.
    pub(crate) fn in_flight(&self) -> Option<u64> {
        self.una.map(|_| self.outstanding.in_flight())
    }

    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn mean_in_flight(&self) -> Option<f64> {
        (self.flight_span > 0).then(|| self.flight_time as f64 / self.flight_span as f64)
    }

    /// Lets time pass in the present state.
    pub(super) fn pass(&mut self, time: u64) {
        let span = time.saturating_sub(self.last_event);
        if self.last_event > 0 && !self.outstanding.is_empty() {
            self.flight_time += u128::from(self.outstanding.in_flight()) * u128::from(span);
            self.flight_span += span;
            self.counts.limited_ns += if self.held_back { span } else { 0 };
            if span >= SILENCE_NS.max(2 * self.srtt.unwrap_or(0)) {
                self.stalls.add(span);
            }
        }
        self.last_event = self.last_event.max(time);
    }

    /// Takes a segment of this direction; says what it was if it carried data.
    pub(crate) fn on_segment(&mut self, segment: &Segment) -> Option<(Mark, u64, u64)> {
        let time = segment.time;
        self.pass(time);
        if let Some((stamp, _)) = segment.timestamps {
            self.echoes.sent(stamp, time);
        }
        let mut begin = self.unwrap(segment.seq);
        if segment.flags.has(Flags::SYN) {
            self.control(begin, segment);
            begin += 1;
        }
        let end = begin + u64::from(segment.payload);
        let mark = if segment.payload > 0 { self.on_data(begin, end, segment) } else { None };
        if segment.flags.has(Flags::FIN) {
            self.control(end, segment);
        }
        self.note_limit();
        mark.map(|mark| (mark, begin, end))
    }

    /// A SYN or FIN takes a number.
    fn control(&mut self, at: u64, segment: &Segment) {
        let high = self.high.unwrap_or(at);
        if at < high {
            let found = self.outstanding.within(at, at + 1);
            found.for_each(|index| self.outstanding.repeat(index, segment.id));
            return;
        }
        self.extend(at, at + 1, segment, true);
    }

    /// New numbers up to `end`; what lies between is a hole.
    fn extend(&mut self, begin: u64, end: u64, segment: &Segment, control: bool) {
        let high = self.high.unwrap_or(begin);
        let stamp = segment.timestamps.map(|(stamp, _)| stamp);
        let sent =
            Sent { begin, end, time: segment.time, stamp, id: segment.id, ..Sent::default() };
        if begin - high > FURTHEST_HOLE {
            // Another connection between the same ports, whose beginning isn't there.
            self.outstanding = Outstanding::default();
            self.sacked.clear();
            self.una = None;
        } else if begin > high {
            self.outstanding.push(Sent { begin: high, end: begin, unseen: true, ..sent });
        }
        self.outstanding.push(Sent { control, ..sent });
        self.high = Some(end);
    }

    fn on_data(&mut self, begin: u64, end: u64, segment: &Segment) -> Option<Mark> {
        let high = self.high.unwrap_or(begin);
        let settled = self.outstanding.is_empty();
        if end - begin <= 1 && end == high && settled {
            self.counts.keepalives += 1;
            return None;
        }
        self.learn_mss(segment);
        self.count(segment);
        self.note_idle(segment.time, settled);
        let mark = if begin >= high {
            self.extend(begin, end, segment, false);
            Mark::New
        } else {
            let mark = self.old_data(begin, end.min(high), segment);
            if end > high {
                self.extend(high, end, segment, false);
            }
            mark
        };
        self.after_data(end - begin, segment, mark);
        Some(mark)
    }

    fn count(&mut self, segment: &Segment) {
        let packets = self.packets(u64::from(segment.payload));
        if self.counts.frames == 0 {
            self.overhead = u64::from(segment.headers);
        }
        self.counts.frames += 1;
        self.counts.packets += packets;
        self.counts.payload += u64::from(segment.payload);
        self.counts.wire += u64::from(segment.payload) + packets * u64::from(segment.headers);
        self.counts.offloaded += u64::from(packets > 1);
        self.counts.marked += u64::from(segment.ecn == 3) * packets;
        self.counts.fragments += u64::from(segment.fragmented);
        self.first_data.get_or_insert(segment.time);
    }

    /// The size of full packets: from the handshake, else from what is seen.
    fn learn_mss(&mut self, segment: &Segment) {
        let seen = u64::from(segment.payload);
        if self.mss_told || self.mss.is_some_and(|known| known >= seen) {
            return;
        }
        self.mss = if segment.size <= USUAL_PACKET {
            Some(seen)
        } else {
            Some(u64::from(USUAL_PACKET).saturating_sub(u64::from(segment.headers)).max(1))
        };
    }

    /// What the receiver said in its SYN that it takes, options included.
    pub(crate) fn told_mss(&mut self, mss: u16, timestamps: bool) {
        let options = if timestamps { 12 } else { 0 };
        self.mss = Some(u64::from(mss.max(100)) - options);
        self.mss_told = true;
    }

    fn note_idle(&mut self, time: u64, settled: bool) {
        let since = self.last_data.max(self.last_ack);
        if settled && self.last_data > 0 {
            let span = time.saturating_sub(since);
            if span > self.srtt.unwrap_or(SILENCE_NS).min(SILENCE_NS) {
                self.idle.add(span);
            }
        }
    }

    /// Data below the highest number: again, late, or twice in the capture.
    fn old_data(&mut self, begin: u64, end: u64, segment: &Segment) -> Mark {
        let packets = self.packets(end - begin);
        let unseen = self.unseen.take(begin, end, segment.time, self.late_ns());
        if unseen > 0 {
            self.counts.missing -= unseen;
            return Mark::New;
        }
        if self.una.is_some_and(|una| end <= una) {
            self.counts.needless += packets;
            return self.sent_again(packets, end - begin);
        }
        let silent = segment.time.saturating_sub(self.last_data) >= SILENCE_NS;
        let first = self.outstanding.front().is_some_and(|first| first.begin >= begin);
        let found = self.outstanding.within(begin, end);
        let (mut again, mut hole, mut twin) = (0, None, false);
        for index in found {
            let sent = *self.outstanding.get(index);
            if sent.unseen {
                let late = self.sent_late(&sent, segment);
                self.outstanding.fill(index, segment.time, late);
                hole = Some((sent, late));
            } else if segment.id != 0
                && sent.id == segment.id
                && sent.end - sent.begin == end - begin
            {
                twin = true;
            } else {
                self.outstanding.repeat(index, segment.id);
                again += sent.end.min(end) - sent.begin.max(begin);
            }
        }
        match hole {
            Some((sent, late)) if again == 0 => self.filled(&sent, late, packets, segment),
            _ if twin && again == 0 => {
                self.counts.twins += packets;
                Mark::Again
            }
            _ => {
                self.counts.timeouts += u64::from(silent && first);
                self.sent_again(packets, again.max(1))
            }
        }
    }

    fn sent_again(&mut self, packets: u64, bytes: u64) -> Mark {
        self.counts.again += packets;
        self.counts.again_bytes += bytes;
        Mark::Again
    }

    fn filled(&mut self, hole: &Sent, late: bool, packets: u64, segment: &Segment) -> Mark {
        if late {
            self.counts.repaired += packets;
            return Mark::Again;
        }
        self.counts.reordered += packets;
        let distance = self.high.unwrap_or(hole.end).saturating_sub(hole.begin);
        let wait = segment.time.saturating_sub(hole.time);
        self.counts.reordered_bytes = self.counts.reordered_bytes.max(distance);
        self.counts.reordered_ns = self.counts.reordered_ns.max(wait);
        Mark::OutOfOrder
    }

    /// Whether what fills a hole was sent after what follows the hole.
    ///
    /// Timestamps tell; where they are equal, nothing that was sent again can be
    /// back before the news of the hole has been to the sender.
    fn sent_late(&self, hole: &Sent, segment: &Segment) -> bool {
        if let (Some(beyond), Some((stamp, _))) = (hole.stamp, segment.timestamps)
            && stamp != beyond
        {
            return after(stamp, beyond);
        }
        segment.time.saturating_sub(hole.time) > self.late_ns()
    }

    /// Sooner than this nothing that was sent again can be there.
    fn late_ns(&self) -> u64 {
        LATE_NS.max(self.lowest.unwrap_or(0) / 2)
    }

    fn after_data(&mut self, bytes: u64, segment: &Segment, mark: Mark) {
        let in_flight = self.outstanding.in_flight();
        let packets = self.packets(bytes);
        let spacing = self.srtt.map(|srtt| srtt / self.packets(in_flight).max(1));
        self.bursts.sent(segment.time, self.packets(u64::from(segment.payload)), spacing);
        let again = if mark == Mark::Again { packets } else { 0 };
        self.rounds.sent(segment.time, bytes, u32::try_from(again).unwrap_or(u32::MAX), in_flight);
        self.most_in_flight = self.most_in_flight.max(in_flight);
        self.last_data = segment.time;
        self.note_loss();
    }

    /// Lost are those sent again, without those that weren't lost after all.
    pub(super) fn note_loss(&mut self) {
        let again = (self.counts.again + self.counts.repaired).saturating_sub(self.counts.spurious);
        self.counts.lost = self.counts.lost.max(again);
    }

    /// Whether the receiver's window is what holds the sender back now.
    pub(super) fn note_limit(&mut self) {
        let room = self.window.map(|window| {
            let used = self.high.unwrap_or(0).saturating_sub(self.una.unwrap_or(0));
            window.saturating_sub(used)
        });
        let mss = self.mss.unwrap_or(USUAL_PAYLOAD);
        self.held_back = self.una.is_some() && room.is_some_and(|room| room < mss);
        if self.held_back {
            self.rounds.limited();
        }
    }
}
