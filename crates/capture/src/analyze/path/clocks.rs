//! The clock offset of two captures, and which is nearer to whom.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::input::Segments;
use crate::decode::{Endpoint, Segment};

/// The segments examined in each file.
const LOOKED_AT: usize = 100_000;
/// Fewer common segments are taken for chance.
const FEWEST: usize = 2;

/// Identifies a segment in other captures; offload only changes its end.
pub(crate) type SegmentKey = (Endpoint, Endpoint, u32, u32, u8, Option<(u32, u32)>);

/// The relation of two captures.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// The second clock minus the first, in ns.
    pub(crate) offset: i64,
    /// Whether both directions are compatible with synchronised clocks.
    pub(crate) agree: bool,
    /// Addresses whose hosts are nearer to the first capture.
    first_side: BTreeSet<u128>,
    second_side: BTreeSet<u128>,
}

impl Clocks {
    /// The capture, 0 or 1, that packets of a sender pass first.
    pub(crate) fn upstream(&self, source: u128, destination: u128) -> usize {
        let first = self.first_side.contains(&source) || self.second_side.contains(&destination);
        let second = self.second_side.contains(&source) || self.first_side.contains(&destination);
        usize::from(second && !first)
    }

    /// Whether the first capture is nearer to an address.
    pub(crate) fn nearer(&self, address: u128) -> bool {
        self.first_side.contains(&address)
    }

    /// An address nearer to the first capture, or else one that isn't.
    pub(crate) fn of_first(&self) -> Option<u128> {
        self.first_side.iter().chain(&self.second_side).next().copied()
    }
}

/// The first time of each of a capture's segments.
pub(crate) type FirstSeen = BTreeMap<SegmentKey, u64>;

/// The relation of two captures; none if they have no segments in common.
pub(crate) fn clocks(first: &FirstSeen, second: &FirstSeen) -> Option<Clocks> {
    let mut spans: BTreeMap<u128, Span> = BTreeMap::new();
    let mut common = 0;
    for (segment_key, &there) in second {
        if let Some(&here) = first.get(segment_key) {
            common += 1;
            let ahead = there.cast_signed() - here.cast_signed();
            spans.entry(segment_key.0.address).or_default().add(ahead);
        }
    }
    (common >= FEWEST).then(|| relate(&spans))
}

/// The first times of segments at the beginning of a capture.
pub(crate) fn first_seen(segments: &mut Segments) -> FirstSeen {
    let mut found = BTreeMap::new();
    for _ in 0..LOOKED_AT {
        let Some(segment) = segments.next_segment() else { break };
        found.entry(segment_key(&segment)).or_insert(segment.time);
    }
    found
}

fn segment_key(segment: &Segment) -> SegmentKey {
    let flags = segment.flags.0 & 7;
    let ends = (segment.source, segment.destination);
    (ends.0, ends.1, segment.seq, segment.ack, flags, segment.timestamps)
}

/// How far the second capture's times are ahead, for segments of one address.
#[derive(Clone, Copy, Debug)]
struct Span {
    least: i64,
    most: i64,
}

impl Default for Span {
    fn default() -> Self {
        Self { least: i64::MAX, most: i64::MIN }
    }
}

impl Span {
    fn add(&mut self, ahead: i64) {
        self.least = self.least.min(ahead);
        self.most = self.most.max(ahead);
    }
}

/// Packets in one direction reach the second capture later, the others earlier. The offset lies in
/// between, and is taken as the middle if zero isn't possible (as in NTP).
fn relate(spans: &BTreeMap<u128, Span>) -> Clocks {
    let top = spans.values().map(|span| span.least).max().unwrap_or(0);
    let bottom = spans.values().map(|span| span.most).min().unwrap_or(0);
    let middle = (i128::from(top) + i128::from(bottom)).div_euclid(2);
    let middle = i64::try_from(middle).unwrap_or(0);
    let away = |span: &Span| span.least > middle;
    let forward = spans.values().filter(|span| away(span)).map(|span| span.least).min();
    let back = spans.values().filter(|span| !away(span)).map(|span| span.most).max();
    // With one direction only, its packets pass the first capture first.
    let (least, most) = (forward.unwrap_or(middle), back.unwrap_or(forward.unwrap_or(middle)));
    let agree = forward.is_some() && back.is_some() && most <= 0 && 0 <= least;
    let half = (i128::from(least) + i128::from(most)).div_euclid(2);
    let side = |first: bool| {
        let there = spans.iter().filter(|(_, span)| (away(span) || back.is_none()) == first);
        there.map(|(&address, _)| address).collect()
    };
    Clocks {
        offset: if agree { 0 } else { i64::try_from(half).unwrap_or(0) },
        agree,
        first_side: side(true),
        second_side: side(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(of: &[(u128, i64, i64)]) -> BTreeMap<u128, Span> {
        of.iter().map(|&(address, least, most)| (address, Span { least, most })).collect()
    }

    #[test]
    fn clocks_that_can_agree_do() {
        let clocks = relate(&spans(&[(1, 20, 90), (2, -25, -20)]));
        assert_eq!((clocks.offset, clocks.agree), (0, true));
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (0, 1));
    }

    #[test]
    fn clocks_apart_are_set_by_the_least_delays() {
        let clocks = relate(&spans(&[(1, 1020, 1090), (2, 975, 980)]));
        assert_eq!((clocks.offset, clocks.agree), (1000, false));
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (0, 1));
    }

    #[test]
    fn files_may_come_in_either_order() {
        let clocks = relate(&spans(&[(1, -1090, -1020), (2, -980, -975)]));
        assert_eq!(clocks.offset, -1000);
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (1, 0));
    }
}
