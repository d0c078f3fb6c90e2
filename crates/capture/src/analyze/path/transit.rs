//! Data in flight from one capture to the other, byte by byte.
//!
//! Offload splits and joins packets, so ranges of bytes are matched, not packets. The timestamp
//! shows which copy of a range arrived. If it doesn't, the oldest is taken, which doesn't affect
//! the number of losses.

use std::collections::{BTreeMap, VecDeque};

use super::early::EarlyArrivals;
use super::report::EndsReport;
use super::reverse_path::ReversePath;
use crate::analyze::sequence_numbers::unwrap_near;
use crate::analyze::times::{TimeSamples, Times};
use crate::analyze::units::{float, millis};
use crate::decode::{CapturedSegment, Endpoint, Flags};

/// Data that haven't arrived within this time never will, in ns.
const GIVEN_UP: u64 = 10_000_000_000;
/// The most ranges in flight of one flow; beyond that, the oldest count as lost.
const MOST_UNDER_WAY: usize = 1 << 16;
/// The most ranges examined for one that arrives.
const MOST_COPIES: usize = 512;
/// The most flows that are followed.
const MOST_FLOWS: usize = 4096;
/// The most losses of a flow whose times are kept.
const MOST_TIMES: usize = 200_000;
const USUAL_PACKET: u32 = 1500;

type Key = (Endpoint, Endpoint);

/// A range of bytes that passed the first capture.
#[derive(Clone, Copy, Debug)]
struct SentRange {
    end: u64,
    time: u64,
    stamp: Option<u32>,
}

/// The first byte, the end and the timestamp that tell one packet from the next.
type Content = (u64, u64, Option<u32>);

/// One direction of a connection between the captures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transit {
    /// The addresses of source and destination.
    pub(crate) ends: (u128, u128),
    near: Option<u64>,
    /// By first byte and the order of sending.
    under_way: BTreeMap<(u64, u64), SentRange>,
    in_order: VecDeque<(u64, u64)>,
    early: EarlyArrivals<Content>,
    next: u64,
    longest: u64,
    /// The MSS that the receiver announced in its SYN, including options.
    announced: Option<u16>,
    /// Payload of a full packet.
    full: u64,
    sent: u64,
    lost: u64,
    lost_bytes: u64,
    appeared: u64,
    latest: Option<u64>,
    overtaken: u64,
    delays: TimeSamples,
    last_arrival: u64,
    /// When lost packets left, and their number.
    pub(crate) times: Vec<(u64, u64)>,
}

/// All flows between the captures.
#[derive(Debug, Default)]
pub(crate) struct Transits {
    flows: BTreeMap<Key, Transit>,
    /// Acknowledgements without data, by who sent them to whom.
    reverse_paths: BTreeMap<Key, ReversePath>,
    /// The MSS announced by the receiver of a flow.
    announced: BTreeMap<Key, u16>,
    /// Flows that weren't followed.
    pub(crate) left_out: u64,
}

impl Transits {
    /// Takes a segment with data that passed the first capture or the second.
    pub(crate) fn on(&mut self, segment: &CapturedSegment, first: bool) {
        self.note_mss(segment);
        let key = (segment.source, segment.destination);
        if segment.payload == 0 {
            self.on_acknowledgement(key, segment, first);
            return;
        }
        if !self.flows.contains_key(&key) && self.flows.len() >= MOST_FLOWS {
            self.left_out += 1;
            return;
        }
        let transit = self.flows.entry(key).or_insert_with(|| Transit {
            ends: (segment.source.address, segment.destination.address),
            announced: self.announced.get(&key).copied(),
            ..Transit::default()
        });
        if first { transit.leave(segment) } else { transit.arrive(segment) }
    }

    /// Takes a segment without data, of the other direction of a flow that is followed.
    fn on_acknowledgement(&mut self, key: Key, segment: &CapturedSegment, first: bool) {
        let others = Flags::SYN.with(Flags::FIN).with(Flags::RST);
        let plain = segment.flags.has(Flags::ACK) && !segment.flags.has(others);
        if plain && self.flows.contains_key(&(key.1, key.0)) {
            let reverse_path = self.reverse_paths.entry(key).or_default();
            if first { reverse_path.leave(segment) } else { reverse_path.arrive(segment) }
        }
    }

    /// Takes the MSS from a SYN.
    fn note_mss(&mut self, segment: &CapturedSegment) {
        let Some(mss) = segment.mss.filter(|_| segment.flags.has(Flags::SYN)) else { return };
        if self.announced.len() < MOST_FLOWS {
            self.announced.insert((segment.destination, segment.source), mss);
        }
    }

    /// The flows when the captures are over.
    pub(crate) fn finish(
        mut self,
        agree: bool,
    ) -> BTreeMap<(String, String), (EndsReport, Transit)> {
        let named = |(key, transit): (Key, Transit)| {
            let reverse_path = self.reverse_paths.remove(&(key.1, key.0)).map(ReversePath::finish);
            let (report, transit) = transit.finish(agree);
            let report = EndsReport { reverse_path, ..report };
            ((key.0.to_string(), key.1.to_string()), (report, transit))
        };
        self.flows.into_iter().map(named).collect()
    }
}

impl Transit {
    fn unwrap(&mut self, seq: u32) -> u64 {
        let near = *self.near.get_or_insert((1 << 32) + u64::from(seq));
        let found = unwrap_near(seq, near);
        self.near = Some(near.max(found));
        found
    }

    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.full.max(1))
    }

    /// Learns the size of full packets from the handshake, or else from packets seen, where an
    /// offloaded packet stands for full ones.
    fn learn(&mut self, segment: &CapturedSegment) {
        if let Some(announced) = self.announced {
            let options = if segment.timestamps.is_some() { 12 } else { 0 };
            self.full = u64::from(announced.max(100)) - options;
            return;
        }
        let most = u64::from(USUAL_PACKET).saturating_sub(u64::from(segment.headers));
        let seen = u64::from(segment.payload);
        let seen = if segment.size <= USUAL_PACKET { seen } else { seen.min(most) };
        self.full = self.full.max(seen);
    }

    fn leave(&mut self, segment: &CapturedSegment) {
        self.learn(segment);
        let begin = self.unwrap(segment.seq);
        let length = u64::from(segment.payload);
        self.longest = self.longest.max(length);
        self.sent += self.packets(length);
        let sent = SentRange {
            end: begin + length,
            time: segment.time,
            stamp: segment.timestamps.map(|(stamp, _)| stamp),
        };
        if self.was_early(begin, &sent) {
            return;
        }
        self.under_way.insert((begin, self.next), sent);
        self.in_order.push_back((begin, self.next));
        self.next += 1;
        self.give_up(segment.time.saturating_sub(GIVEN_UP));
    }

    /// Returns true if this very packet has already arrived; then it took no time.
    fn was_early(&mut self, begin: u64, sent: &SentRange) -> bool {
        if !self.early.take(&(begin, sent.end, sent.stamp), sent.time) {
            return false;
        }
        self.appeared -= sent.end - begin;
        self.time(sent.time, (begin, self.next), sent);
        self.next += 1;
        true
    }

    /// Data that left before `time` and haven't arrived are lost.
    fn give_up(&mut self, time: u64) {
        while let Some(&key) = self.in_order.front() {
            let sent = self.under_way.get(&key).copied();
            let over = sent.is_none_or(|sent| sent.time < time);
            if !over && self.in_order.len() <= MOST_UNDER_WAY {
                return;
            }
            self.in_order.pop_front();
            if let Some(sent) = sent {
                self.under_way.remove(&key);
                self.lose(key.0, &sent);
            }
        }
    }

    fn lose(&mut self, begin: u64, sent: &SentRange) {
        let packets = self.packets(sent.end - begin);
        self.lost += packets;
        self.lost_bytes += sent.end - begin;
        if self.times.len() < MOST_TIMES {
            self.times.push((sent.time, packets));
        }
    }

    fn arrive(&mut self, segment: &CapturedSegment) {
        self.learn(segment);
        let begin = self.unwrap(segment.seq);
        let end = begin + u64::from(segment.payload);
        let stamp = segment.timestamps.map(|(stamp, _)| stamp);
        let before = self.appeared;
        self.last_arrival = self.last_arrival.max(segment.time);
        let mut at = begin;
        while at < end {
            let Some(key) = self.copy_of(at, stamp) else {
                let next = self.under_way.range((at + 1, 0)..(end, 0)).next();
                let known = next.map_or(end, |(key, _)| key.0);
                self.appeared += known - at;
                at = known;
                continue;
            };
            let sent = self.under_way[&key];
            if at == begin {
                self.time(segment.time, key, &sent);
            }
            at = self.take(key, &sent, at, end);
        }
        self.give_up(0);
        if self.appeared - before == end - begin {
            self.early.add((begin, end, stamp), segment.time);
        }
    }

    /// The copy of a byte that arrived: the one with the stamp, or else the oldest.
    fn copy_of(&self, at: u64, stamp: Option<u32>) -> Option<(u64, u64)> {
        let from = at.saturating_sub(self.longest);
        let copies = || {
            let near = self.under_way.range((from, 0)..(at + 1, 0)).rev().take(MOST_COPIES);
            near.filter(|(_, sent)| sent.end > at)
        };
        let stamped = copies().filter(|(_, sent)| sent.stamp == stamp).min_by_key(|(key, _)| key.1);
        let found = stamped.or_else(|| copies().min_by_key(|(key, _)| key.1));
        found.map(|(&key, _)| key)
    }

    fn time(&mut self, time: u64, key: (u64, u64), sent: &SentRange) {
        let delay = time.saturating_sub(sent.time);
        self.delays.add(delay);
        self.overtaken += u64::from(self.latest.is_some_and(|latest| key.1 < latest));
        self.latest = self.latest.max(Some(key.1));
    }

    /// Removes the part of a range that has arrived; returns its end.
    fn take(&mut self, key: (u64, u64), sent: &SentRange, at: u64, end: u64) -> u64 {
        let until = sent.end.min(end);
        self.under_way.remove(&key);
        if key.0 < at {
            self.under_way.insert(key, SentRange { end: at, ..*sent });
        }
        if until < sent.end {
            // The rest keeps its place, and is given up in turn.
            self.under_way.insert((until, key.1), *sent);
            self.in_order.push_front((until, key.1));
        }
        until
    }

    fn finish(mut self, agree: bool) -> (EndsReport, Self) {
        // Data that left so late that they might still have arrived aren't lost.
        let (_, most) = self.delays.histogram.extremes().unwrap_or_default();
        let certain = self.last_arrival.saturating_sub(most);
        self.in_order = self.under_way.keys().copied().collect();
        self.in_order.make_contiguous().sort_by_key(|key| key.1);
        self.give_up(certain);
        let rest: Vec<u64> = self.under_way.iter().map(|(key, sent)| sent.end - key.0).collect();
        let under_way = rest.iter().map(|&bytes| self.packets(bytes)).sum();
        self.times.sort_unstable();
        let report = EndsReport {
            sent: self.sent,
            lost: self.lost,
            lost_bytes: self.lost_bytes,
            loss_rate: (self.sent > 0).then(|| float(self.lost) / float(self.sent)),
            under_way,
            appeared_bytes: self.appeared,
            overtaken: self.overtaken,
            delay_variation_ms: Times::above_least(&self.delays),
            reverse_path: None,
            least_delay_ms: self.delays.least().filter(|_| agree).map(millis),
        };
        (report, self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::early::APART;
    use super::*;

    fn packet(seq: u32, time: u64) -> CapturedSegment {
        CapturedSegment {
            seq,
            payload: 1000,
            size: 1052,
            time,
            timestamps: Some((7, 0)),
            ..CapturedSegment::default()
        }
    }

    #[test]
    fn clocks_that_run_apart_a_little_lose_nothing() {
        let mut transit = Transit::default();
        for number in 0..10 {
            let (seq, time) = (number * 1000, u64::from(number) * 1_000_000);
            transit.arrive(&packet(seq, time));
            transit.leave(&packet(seq, time + 5_000));
        }
        transit.arrive(&packet(20_000, 20_000_000));
        transit.leave(&packet(20_000, 20_000_000 + APART + 1));
        let (report, _) = transit.finish(true);
        assert_eq!((report.sent, report.lost, report.under_way), (11, 0, 1));
        assert_eq!((report.appeared_bytes, report.least_delay_ms), (1000, Some(0.0)));
    }

    /// A flow whose first packet is short and whose second one the card splits into ten.
    fn short_then_offloaded(transits: &mut Transits) -> EndsReport {
        let (payload, headers) = (37, 52);
        let short = CapturedSegment { payload, headers, size: payload + 52, ..packet(0, 0) };
        let large = CapturedSegment { payload: 14_480, headers, size: 14_532, ..packet(37, 1_000) };
        for first in [true, false] {
            transits.on(&short, first);
            transits.on(&large, first);
        }
        let reports = std::mem::take(transits).finish(true);
        reports.into_values().next().expect("a flow").0
    }

    #[test]
    fn a_short_packet_is_not_the_measure_of_offloaded_ones() {
        assert_eq!(short_then_offloaded(&mut Transits::default()).sent, 11);
    }

    #[test]
    fn offloaded_frames_are_split_by_the_receivers_mss() {
        let mut transits = Transits::default();
        let syn =
            CapturedSegment { mss: Some(7_252), flags: Flags::SYN, payload: 0, ..packet(0, 0) };
        transits.on(&syn, true);
        assert_eq!(short_then_offloaded(&mut transits).sent, 3, "two jumbo frames of 7240 bytes");
    }
}
