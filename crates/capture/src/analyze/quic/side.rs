//! The data that one endpoint of QUIC sends, numbered as one stream.

use std::collections::{BTreeMap, BTreeSet};

use crate::read::{QuicFrame, QuicPacket};

/// The longest frame; a packet holds no more.
const LONGEST_FRAME: u64 = 1 << 16;

/// A range of numbered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// The changes that an acknowledgement brings.
#[derive(Debug, Default)]
pub(super) struct News {
    /// True if it says anything new.
    pub(super) any: bool,
    /// Newly covered ranges beyond the cumulative number.
    pub(super) blocks: Vec<Range>,
    /// A range that arrived twice, and the acknowledged one that it lies in.
    pub(super) spurious: Option<(Range, Range)>,
}

/// A stream's bytes by their offset: how many, and the number of the first.
type Pieces = BTreeMap<u64, (u64, u64)>;

/// The data of one endpoint.
#[derive(Debug)]
pub(super) struct Side {
    /// The number of the next new byte.
    pub(super) next: u64,
    /// The most bytes of streams in a packet.
    pub(super) longest: u64,
    /// With a single stream its offsets are the numbers.
    single: bool,
    streams: BTreeMap<u64, Pieces>,
    /// Packets that aren't acknowledged yet.
    waiting: BTreeMap<u64, Vec<Range>>,
    /// Acknowledged ranges by their begin, disjoint.
    arrived: BTreeMap<u64, u64>,
    /// Limits of flow control: of all streams together, of single streams, of a new stream.
    most: Option<u64>,
    most_of: BTreeMap<u64, u64>,
    most_at_first: Option<u64>,
    /// The highest byte sent of each stream, and the stream of the last packet.
    high_of: BTreeMap<u64, u64>,
    last: Option<u64>,
}

fn streams(packet: &QuicPacket) -> impl Iterator<Item = (u64, u64, u64)> {
    packet.frames.iter().filter_map(|frame| match *frame {
        QuicFrame::Stream { id, offset, length } if (1..=LONGEST_FRAME).contains(&length) => {
            offset.checked_add(length).map(|end| (id, offset, end))
        }
        _ => None,
    })
}

impl Side {
    /// A side that will send these packets.
    pub(super) fn new<'a>(packets: impl Iterator<Item = &'a QuicPacket>) -> Self {
        let mut ids = BTreeSet::new();
        let mut longest = 0;
        for packet in packets {
            ids.extend(streams(packet).map(|(id, ..)| id));
            let sum = streams(packet).map(|(_, begin, end)| end - begin).sum();
            longest = u64::max(longest, sum);
        }
        Self {
            next: 1,
            longest,
            single: ids.len() <= 1,
            streams: BTreeMap::new(),
            waiting: BTreeMap::new(),
            arrived: BTreeMap::new(),
            most: None,
            most_of: BTreeMap::new(),
            most_at_first: None,
            high_of: BTreeMap::new(),
            last: None,
        }
    }

    /// Sends a packet; returns the numbers of its bytes, neighbours joined.
    pub(super) fn send(&mut self, packet: &QuicPacket) -> Vec<Range> {
        let mut found: Vec<Range> = Vec::new();
        for (id, begin, end) in streams(packet) {
            self.last = Some(id);
            let high = self.high_of.entry(id).or_insert(0);
            *high = (*high).max(end);
            let mut add = |range: Range| match found.last_mut() {
                Some(last) if last.end == range.begin => last.end = range.end,
                _ => found.push(range),
            };
            if self.single {
                // Hostile offsets would leave the range of numbers.
                if end < 1 << 62 {
                    add(Range { begin: begin + 1, end: end + 1 });
                    self.next = self.next.max(end + 1);
                }
            } else {
                number(self.streams.entry(id).or_default(), &mut self.next, (begin, end), add);
            }
        }
        if !found.is_empty() {
            self.waiting.insert(packet.number, found.clone());
        }
        found
    }

    /// Takes the numbers of packets that arrived.
    pub(super) fn acknowledge(&mut self, numbers: &[(u64, u64)]) -> News {
        let mut news = News::default();
        let mut covered = Vec::new();
        for &(first, last) in numbers {
            let inside: Vec<u64> = self.waiting.range(first..=last).map(|(&n, _)| n).collect();
            for number in inside {
                covered.extend(self.waiting.remove(&number).into_iter().flatten());
            }
        }
        let una = self.una();
        for range in covered {
            news.any = true;
            match self.range_containing(range) {
                Some(within) => news.spurious = Some((range, within)),
                None => {
                    self.arrive(range);
                    news.blocks.push(range);
                }
            }
        }
        let reached = self.una();
        news.any |= reached > una;
        news.blocks.retain(|range| range.begin > reached);
        news.blocks.sort_by_key(|range| range.begin);
        news.blocks.dedup_by(|next, last| {
            let touch = next.begin <= last.end;
            last.end = if touch { last.end.max(next.end) } else { last.end };
            touch
        });
        news
    }

    /// The acknowledged range that contains all of `range`.
    fn range_containing(&self, range: Range) -> Option<Range> {
        let (&begin, &end) = self.arrived.range(..=range.begin).next_back()?;
        (end >= range.end).then_some(Range { begin, end })
    }

    fn arrive(&mut self, mut range: Range) {
        let touching: Vec<(u64, u64)> = self
            .arrived
            .range(..=range.end)
            .rev()
            .take_while(|&(_, &end)| end >= range.begin)
            .map(|(&begin, &end)| (begin, end))
            .collect();
        for (begin, end) in touching {
            self.arrived.remove(&begin);
            range = Range { begin: range.begin.min(begin), end: range.end.max(end) };
        }
        self.arrived.insert(range.begin, range.end);
    }

    /// The first number that isn't acknowledged.
    pub(super) fn una(&self) -> u64 {
        self.arrived.first_key_value().filter(|&(&begin, _)| begin <= 1).map_or(1, |(_, &end)| end)
    }

    /// Raises the limits; returns whether one rose.
    pub(super) fn allow(&mut self, all: Option<u64>, each: Option<u64>) -> bool {
        let rises = all > self.most || each > self.most_at_first;
        (self.most, self.most_at_first) = (self.most.max(all), self.most_at_first.max(each));
        rises
    }

    pub(super) fn allow_stream(&mut self, id: u64, most: u64) -> bool {
        let known = self.most_of.entry(id).or_insert(0);
        let rises = most > *known;
        *known = (*known).max(most);
        rises
    }

    /// The receiver's window: what flow control lets the endpoint send, from what isn't
    /// acknowledged on.
    pub(super) fn window(&self) -> Option<u64> {
        let sent: u64 = self.high_of.values().fold(0, |sum, &high| sum.saturating_add(high));
        let all = self.most.map(|most| most.saturating_sub(sent));
        let of_stream = self.last.and_then(|id| {
            let most = self.most_of.get(&id).copied().max(self.most_at_first)?;
            Some(most.saturating_sub(self.high_of[&id]))
        });
        let room = match (all, of_stream) {
            (Some(all), Some(one)) => Some(all.min(one)),
            (all, one) => all.or(one),
        };
        room.map(|room| room.saturating_add(self.next.saturating_sub(self.una())))
    }
}

/// The numbers of a stream's bytes; those that are new get the next ones.
fn number(
    pieces: &mut Pieces,
    next: &mut u64,
    (mut at, end): (u64, u64),
    mut add: impl FnMut(Range),
) {
    while at < end {
        let before = pieces.range(..=at).next_back().map(|(&offset, &piece)| (offset, piece));
        if let Some((offset, (length, first))) = before
            && at < offset + length
        {
            let until = end.min(offset + length);
            add(Range { begin: first + (at - offset), end: first + (until - offset) });
            at = until;
            continue;
        }
        let until = pieces.range(at..end).next().map_or(end, |(&offset, _)| offset);
        pieces.insert(at, (until - at, *next));
        add(Range { begin: *next, end: *next + (until - at) });
        *next += until - at;
        at = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u64, streams: &[(u64, u64, u64)]) -> QuicPacket {
        let frame = |&(id, offset, length): &_| QuicFrame::Stream { id, offset, length };
        let frames = streams.iter().map(frame).collect();
        QuicPacket { time: 0, sent: true, number, size: 1200, frames, heard: None }
    }

    fn range(begin: u64, end: u64) -> Range {
        Range { begin, end }
    }

    #[test]
    fn bytes_of_two_streams_keep_their_numbers() {
        let packets = [packet(0, &[(0, 0, 100), (4, 0, 50)]), packet(1, &[(0, 100, 100)])];
        let mut side = Side::new(packets.iter());
        assert_eq!(side.send(&packets[0]), [range(1, 151)]);
        assert_eq!(side.send(&packets[1]), [range(151, 251)]);
        let again = packet(2, &[(0, 50, 100)]);
        assert_eq!(side.send(&again), [range(51, 101), range(151, 201)]);
    }

    #[test]
    fn packets_beyond_a_hole_are_acknowledged_selectively() {
        let packets: Vec<QuicPacket> = (0..4).map(|n| packet(n, &[(0, n * 100, 100)])).collect();
        let mut side = Side::new(packets.iter());
        packets.iter().for_each(|packet| drop(side.send(packet)));
        assert_eq!(side.acknowledge(&[(0, 0), (2, 2)]).blocks, [range(201, 301)]);
        assert_eq!(side.una(), 101);
        let last = side.acknowledge(&[(0, 3)]);
        assert_eq!((side.una(), last.blocks.len(), last.any), (401, 0, true));
        assert!(!side.acknowledge(&[(0, 3)]).any);
    }

    #[test]
    fn a_copy_that_arrives_late_is_spurious() {
        let packets = [packet(0, &[(0, 0, 100)]), packet(1, &[(0, 0, 100)])];
        let mut side = Side::new(packets.iter());
        packets.iter().for_each(|packet| drop(side.send(packet)));
        assert_eq!(side.acknowledge(&[(1, 1)]).spurious, None);
        let late = side.acknowledge(&[(0, 1)]).spurious;
        assert_eq!(late, Some((range(1, 101), range(1, 101))));
    }

    #[test]
    fn the_tighter_limit_is_the_window() {
        let first = packet(0, &[(0, 0, 100)]);
        let mut side = Side::new([&first].into_iter());
        assert_eq!(side.window(), None);
        assert!(side.allow(Some(1000), Some(400)));
        side.send(&first);
        assert_eq!(side.window(), Some(400), "300 left on the stream and 100 on their way");
        assert!(side.allow_stream(0, 5000));
        assert_eq!(side.window(), Some(1000));
    }
}
