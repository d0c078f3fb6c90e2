//! The data of one direction.

use super::half_connection::{DataKind, HalfConnection, USUAL_PAYLOAD};
use super::outstanding::{Outstanding, SentRange};
use super::stalls::InFlight;
use super::timing::{RESPONSE_NS, SILENCE_NS, after};
use crate::decode::{CapturedSegment, Flags};

const USUAL_PACKET: u32 = 1500;
/// Without an RTT, older arrivals count as retransmitted instead of out of order, as in Wireshark.
const LATE_NS: u64 = 3_000_000;
/// No sender has more bytes in flight than this.
const FURTHEST_HOLE: u64 = 1 << 28;

impl HalfConnection {
    /// Takes a segment of this direction; returns what it was if it carried data.
    pub(crate) fn on_segment(&mut self, segment: &CapturedSegment) -> Option<(DataKind, u64, u64)> {
        let time = segment.time;
        self.pass(time);
        if let Some((stamp, _)) = segment.timestamps {
            self.echoes.note_stamp(stamp, time);
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

    /// Counts the number of a SYN or FIN.
    fn control(&mut self, at: u64, segment: &CapturedSegment) {
        let high = self.high.unwrap_or(at);
        if at < high {
            let found = self.outstanding.within(at, at + 1);
            found.for_each(|index| self.outstanding.repeat(index, segment.id));
            return;
        }
        self.extend(at, at + 1, segment, true);
    }

    /// Adds new numbers up to `end`, with a hole in between.
    fn extend(&mut self, begin: u64, end: u64, segment: &CapturedSegment, control: bool) {
        let high = self.high.unwrap_or(begin);
        let stamp = segment.timestamps.map(|(stamp, _)| stamp);
        let sent = SentRange {
            begin,
            end,
            time: segment.time,
            stamp,
            id: segment.id,
            ..SentRange::default()
        };
        if begin - high > FURTHEST_HOLE {
            // Another connection between the same ports, whose beginning is missing.
            self.outstanding = Outstanding::default();
            self.sacked.clear();
            self.una = None;
        } else if begin > high {
            self.outstanding.push(SentRange { begin: high, end: begin, unseen: true, ..sent });
        }
        self.outstanding.push(SentRange { control, ..sent });
        self.high = Some(end);
    }

    fn on_data(&mut self, begin: u64, end: u64, segment: &CapturedSegment) -> Option<DataKind> {
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
            DataKind::New
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

    fn count(&mut self, segment: &CapturedSegment) {
        let packets = self.packets(u64::from(segment.payload));
        if self.counts.frames == 0 {
            self.overhead = u64::from(segment.headers);
            self.counts.first = u64::from(segment.payload);
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

    /// The size of full packets, from the handshake or else from the packets seen.
    fn learn_mss(&mut self, segment: &CapturedSegment) {
        let seen = u64::from(segment.payload);
        if self.mss_announced || self.mss.is_some_and(|known| known >= seen) {
            return;
        }
        self.mss = if segment.size <= USUAL_PACKET {
            Some(seen)
        } else {
            Some(u64::from(USUAL_PACKET).saturating_sub(u64::from(segment.headers)).max(1))
        };
    }

    /// The MSS that the receiver announced in its SYN, including options.
    pub(crate) fn announce_mss(&mut self, mss: u16, timestamps: bool) {
        let options = if timestamps { 12 } else { 0 };
        self.mss = Some(u64::from(mss.max(100)) - options);
        self.mss_announced = true;
    }

    fn note_idle(&mut self, time: u64, settled: bool) {
        let since = self.last_data.max(self.last_ack);
        if settled && self.last_data > 0 {
            let span = time.saturating_sub(since);
            if span > self.srtt.unwrap_or(SILENCE_NS).min(SILENCE_NS) {
                self.idle.add(span);
            }
            // A sender with more data would have sent them when the last flight was acknowledged.
            if span > RESPONSE_NS.max(self.srtt.unwrap_or(0) / 16) {
                self.timeline.note_starved(self.last_data, self.last_ack);
                self.counts.pauses += 1;
            }
        }
    }

    /// Data below the highest number: retransmitted, late, or captured twice.
    fn old_data(&mut self, begin: u64, end: u64, segment: &CapturedSegment) -> DataKind {
        let packets = self.packets(end - begin);
        let unseen = self.unseen.take(begin, end, segment.time, self.late_ns());
        if unseen > 0 {
            self.counts.missing -= unseen;
            return DataKind::New;
        }
        if self.una.is_some_and(|una| end <= una) {
            self.counts.needless += packets;
            return self.sent_again(packets, end - begin);
        }
        let silent = segment.time.saturating_sub(self.last_data) >= SILENCE_NS;
        let first = self.outstanding.front().is_some_and(|first| first.begin >= begin);
        if silent && first {
            let repeated = self.outstanding.any_repeated();
            self.answers.on_timeout(segment.time, repeated, begin, self.high.unwrap_or(end));
        }
        let found = self.outstanding.within(begin, end);
        let (mut again, mut hole, mut duplicate) = (0, None, false);
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
                duplicate = true;
            } else {
                self.note_lost(&sent, index == 0);
                self.outstanding.repeat(index, segment.id);
                again += sent.end.min(end) - sent.begin.max(begin);
            }
        }
        match hole {
            Some((sent, late)) if again == 0 => self.fill_hole(&sent, late, packets, segment),
            _ if duplicate && again == 0 => {
                self.counts.duplicates += packets;
                DataKind::Again
            }
            _ => {
                self.counts.timeouts += u64::from(silent && first);
                self.sent_again(packets, again.max(1))
            }
        }
    }

    /// Notes that a packet is retransmitted, the `first` of those in flight or another.
    fn note_lost(&mut self, sent: &SentRange, first: bool) {
        if !sent.again {
            self.timeline.note_loss(sent.time, self.packets(sent.length()), false);
        }
        if first {
            let packets = self.packets(self.outstanding.span());
            let sacked = self.packets(self.outstanding.sacked);
            self.stalled.on_retransmission(InFlight { again: sent.again, packets, sacked });
        }
    }

    fn sent_again(&mut self, packets: u64, bytes: u64) -> DataKind {
        self.counts.again += packets;
        self.counts.again_bytes += bytes;
        DataKind::Again
    }

    fn fill_hole(
        &mut self,
        hole: &SentRange,
        late: bool,
        packets: u64,
        segment: &CapturedSegment,
    ) -> DataKind {
        if late {
            self.counts.repaired += packets;
            self.timeline.note_loss(hole.time, packets, true);
            return DataKind::Again;
        }
        self.counts.reordered += packets;
        self.timeline.note_delivery(0, u32::try_from(packets).unwrap_or(u32::MAX));
        let distance = self.high.unwrap_or(hole.end).saturating_sub(hole.begin);
        let wait = segment.time.saturating_sub(hole.time);
        self.counts.reordered_bytes = self.counts.reordered_bytes.max(distance);
        self.counts.reordered_ns = self.counts.reordered_ns.max(wait);
        DataKind::OutOfOrder
    }

    /// Returns true if the data that fill a hole were sent after those that follow it.
    ///
    /// Timestamps show that. If they are equal, a retransmission can't arrive before the sender has
    /// heard about the hole.
    fn sent_late(&self, hole: &SentRange, segment: &CapturedSegment) -> bool {
        if let (Some(beyond), Some((stamp, _))) = (hole.stamp, segment.timestamps)
            && stamp != beyond
        {
            return after(stamp, beyond);
        }
        segment.time.saturating_sub(hole.time) > self.late_ns()
    }

    /// No retransmission can arrive sooner than this.
    fn late_ns(&self) -> u64 {
        LATE_NS.max(self.rtts.least().unwrap_or(0) / 2)
    }

    fn after_data(&mut self, bytes: u64, segment: &CapturedSegment, mark: DataKind) {
        let in_flight = self.outstanding.in_flight();
        let packets = self.packets(bytes);
        let spacing = self.srtt.map(|srtt| srtt / self.packets(in_flight).max(1));
        self.bursts.note_departure(segment.time, self.packets(u64::from(segment.payload)), spacing);
        self.note_far_silence(segment.time, bytes, mark == DataKind::Again);
        let again = if mark == DataKind::Again { packets } else { 0 };
        let fresh = if mark == DataKind::Again { 0 } else { bytes };
        let clocked = segment.time.saturating_sub(self.last_ack) <= RESPONSE_NS;
        self.timeline.note_departure(packets, fresh, clocked, in_flight);
        self.answers.on_data(segment.time, fresh > 0, segment.flags.has(Flags::PSH));
        self.stalled.on_new_data();
        self.rounds.note_departure(
            segment.time,
            bytes,
            u32::try_from(again).unwrap_or(u32::MAX),
            in_flight,
        );
        self.most_in_flight = self.most_in_flight.max(in_flight);
        self.last_data = segment.time;
        self.note_loss();
    }

    /// The lost packets are those retransmitted minus those that weren't lost after all.
    pub(super) fn note_loss(&mut self) {
        let again = (self.counts.again + self.counts.repaired).saturating_sub(self.counts.spurious);
        self.counts.lost = self.counts.lost.max(again);
    }

    /// Notes whether the receiver's window limits the sender now.
    pub(super) fn note_limit(&mut self) {
        let room = self.window.map(|window| {
            let used = self.high.unwrap_or(0).saturating_sub(self.una.unwrap_or(0));
            window.saturating_sub(used)
        });
        let mss = self.mss.unwrap_or(USUAL_PAYLOAD);
        self.held_back = self.una.is_some() && room.is_some_and(|room| room < mss);
        if self.held_back {
            self.rounds.mark_limited();
        }
    }
}
