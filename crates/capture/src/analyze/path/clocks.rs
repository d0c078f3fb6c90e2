//! The clock offset of two captures, and the hosts that each is nearer to.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::drift::{Passage, drift};
use crate::analyze::input::Segments;
use crate::decode::{CapturedSegment, Endpoint};

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
    /// The second clock's gain on the first, in parts of the time, from `since` on.
    pub(crate) drift: f64,
    pub(crate) since: u64,
    /// True if both directions are compatible with synchronised clocks.
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

    /// Returns true if the first capture is nearer to an address.
    pub(crate) fn nearer(&self, address: u128) -> bool {
        self.first_side.contains(&address)
    }

    /// An address nearer to the first capture; if none is known, one nearer to the second.
    pub(crate) fn of_first(&self) -> Option<u128> {
        self.first_side.iter().chain(&self.second_side).next().copied()
    }
}

/// The first time of each of a capture's segments.
pub(crate) type FirstSeen = BTreeMap<SegmentKey, u64>;

/// How far the second capture is ahead, by source and destination.
type Spans = BTreeMap<(u128, u128), Span>;

/// The segments that both captures have, by source and destination.
type Passages = BTreeMap<(u128, u128), Vec<Passage>>;

/// The relation of two captures; none if they have no segments in common.
pub(crate) fn clocks(first: &FirstSeen, second: &FirstSeen) -> Option<Clocks> {
    let mut passages = Passages::new();
    let mut common = 0;
    for (segment_key, &there) in second {
        if let Some(&here) = first.get(segment_key) {
            common += 1;
            let ahead = there.cast_signed() - here.cast_signed();
            let ends = (segment_key.0.address, segment_key.1.address);
            passages.entry(ends).or_default().push(Passage { time: here, ahead });
        }
    }
    let since = passages.values().flatten().map(|passage| passage.time).min()?;
    let raw = relate(&spans(&passages, 0.0, since));
    let drift = common_drift(&passages, &raw);
    // Clocks that run apart seem set apart, too.
    let related = if drift == 0.0 { raw } else { relate(&spans(&passages, drift, since)) };
    (common >= FEWEST).then_some(Clocks { drift, since, ..related })
}

/// How far the second capture is ahead once its drift is removed.
fn spans(passages: &Passages, drift: f64, since: u64) -> Spans {
    let mut spans = Spans::new();
    for (&ends, all) in passages {
        let span = spans.entry(ends).or_default();
        for passage in all {
            let gained = gain(drift, passage.time.cast_signed() - since.cast_signed());
            span.add(passage.ahead.saturating_sub(gained));
        }
    }
    spans
}

/// The gain of a clock with a drift in a time.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a small part")]
pub(super) fn gain(drift: f64, ns: i64) -> i64 {
    (drift * ns as f64) as i64
}

/// The drift that the two addresses with the most segments show.
fn common_drift(passages: &Passages, clocks: &Clocks) -> f64 {
    let both = passages.iter().filter_map(|(&(source, destination), there)| {
        let back = passages.get(&(destination, source))?;
        let forward = clocks.upstream(source, destination) == 0;
        (forward && source != destination).then_some((there, back))
    });
    let most = both.max_by_key(|(there, back)| there.len().min(back.len()));
    most.map_or(0.0, |(there, back)| drift(there, back))
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

fn segment_key(segment: &CapturedSegment) -> SegmentKey {
    let flags = segment.flags.0 & 7;
    let ends = (segment.source, segment.destination);
    (ends.0, ends.1, segment.seq, segment.ack, flags, segment.timestamps)
}

/// How far the second capture's times are ahead, for segments from one address to another.
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

    /// Twice its middle.
    fn centre(&self) -> i128 {
        i128::from(self.least) + i128::from(self.most)
    }
}

/// Bounds of the offset, and the addresses on each side.
#[derive(Debug, Default)]
struct Sides {
    first: BTreeSet<u128>,
    second: BTreeSet<u128>,
    /// The least lead of packets that pass the first capture first; the offset isn't above it.
    forward: Option<i64>,
    /// The greatest lead of packets that pass the second capture first; the offset isn't below it.
    back: Option<i64>,
}

impl Sides {
    fn add_forward(&mut self, span: &Span) {
        self.forward = Some(self.forward.map_or(span.least, |least| least.min(span.least)));
    }

    fn add_back(&mut self, span: &Span) {
        self.back = Some(self.back.map_or(span.most, |most| most.max(span.most)));
    }

    fn place(&mut self, near_first: u128, near_second: u128) {
        self.first.insert(near_first);
        self.second.insert(near_second);
    }

    /// Adds both directions between two addresses. Packets that pass the first capture first reach
    /// the second later than the offset by their delay, those of the other direction earlier. So the
    /// later direction is the one that passes the first capture first, whatever other flows show.
    fn add_both(&mut self, ends: (u128, u128), there: &Span, back: &Span) {
        let (upper, lower, ends) = match there.centre().cmp(&back.centre()) {
            Ordering::Greater => (there, back, Some(ends)),
            Ordering::Less => (back, there, Some((ends.1, ends.0))),
            // No time passes between the captures, so either may come first.
            Ordering::Equal => (there, back, None),
        };
        self.add_forward(upper);
        self.add_back(lower);
        if let Some((near_first, near_second)) = ends {
            self.place(near_first, near_second);
        }
    }

    /// Adds a direction without its opposite. Addresses on known sides count more than its times.
    fn add_one(&mut self, ends: (u128, u128), span: &Span, middle: Option<i128>) {
        let onward = self.first.contains(&ends.0) || self.second.contains(&ends.1);
        let backward = self.second.contains(&ends.0) || self.first.contains(&ends.1);
        let later = || middle.is_none_or(|middle| span.centre() > 2 * middle);
        if (onward && !backward) || (onward == backward && later()) {
            self.add_forward(span);
            self.place(ends.0, ends.1);
        } else {
            self.add_back(span);
            self.place(ends.1, ends.0);
        }
    }
}

/// Packets in one direction reach the second capture later, the others earlier. The offset lies in
/// between, and is taken as the middle if zero isn't possible (as in NTP).
fn relate(spans: &Spans) -> Clocks {
    let mut sides = Sides::default();
    let (mut both, mut alone) = (Vec::new(), Vec::new());
    for (&(source, destination), span) in spans {
        match spans.get(&(destination, source)) {
            Some(other) if source < destination => both.push(((source, destination), span, other)),
            Some(_) => {}
            None => alone.push(((source, destination), span)),
        }
    }
    for (ends, there, back) in both {
        sides.add_both(ends, there, back);
    }
    let middle = match (sides.forward, sides.back) {
        (Some(least), Some(most)) => Some((i128::from(least) + i128::from(most)).div_euclid(2)),
        _ => between(alone.iter().map(|&(_, span)| span)),
    };
    for (ends, span) in alone {
        sides.add_one(ends, span, middle);
    }
    let agree = sides.forward.zip(sides.back).is_some_and(|(least, most)| most <= 0 && 0 <= least);
    let (least, most) = (sides.forward.or(sides.back), sides.back.or(sides.forward));
    let half = i128::from(least.unwrap_or(0)) + i128::from(most.unwrap_or(0));
    Clocks {
        offset: if agree { 0 } else { i64::try_from(half.div_euclid(2)).unwrap_or(0) },
        drift: 0.0,
        since: 0,
        agree,
        first_side: sides.first,
        second_side: sides.second,
    }
}

/// Splits one-way flows at the largest gap between their leads, and returns its middle; `None` if
/// they overlap. Then all of them are taken to pass the first capture first.
fn between<'a>(spans: impl Iterator<Item = &'a Span> + Clone) -> Option<i128> {
    let top = spans.clone().map(|span| span.least).max()?;
    let bottom = spans.map(|span| span.most).min()?;
    (bottom < top).then(|| (i128::from(top) + i128::from(bottom)).div_euclid(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans by source and destination, each with its least and most.
    fn make_spans(of: &[(u128, u128, i64, i64)]) -> Spans {
        let span = |&(from, to, least, most): &_| ((from, to), Span { least, most });
        of.iter().map(span).collect()
    }

    /// Spans of the same packets with the two captures exchanged.
    fn swap_captures(of: &[(u128, u128, i64, i64)]) -> Spans {
        let turn = |&(from, to, least, most): &(u128, u128, i64, i64)| (from, to, -most, -least);
        make_spans(&of.iter().map(turn).collect::<Vec<_>>())
    }

    #[test]
    fn clocks_that_can_agree_do() {
        let clocks = relate(&make_spans(&[(1, 2, 20, 90), (2, 1, -25, -20)]));
        assert_eq!((clocks.offset, clocks.agree), (0, true));
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (0, 1));
    }

    #[test]
    fn clocks_apart_are_set_by_the_least_delays() {
        let clocks = relate(&make_spans(&[(1, 2, 1020, 1090), (2, 1, 975, 980)]));
        assert_eq!((clocks.offset, clocks.agree), (1000, false));
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (0, 1));
    }

    #[test]
    fn files_may_come_in_either_order() {
        let clocks = relate(&make_spans(&[(1, 2, -1090, -1020), (2, 1, -980, -975)]));
        assert_eq!(clocks.offset, -1000);
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (1, 0));
    }

    #[test]
    fn a_flow_that_always_met_a_queue_does_not_turn_the_others_around() {
        let ends = [
            (1, 11, 100, 502),
            (11, 1, -100, -100),
            (2, 12, 112, 508),
            (12, 2, -100, -100),
            (3, 13, 308, 503),
            (13, 3, -100, -100),
        ];
        for apart in [0, 5000] {
            let ends = ends.map(|(from, to, least, most)| (from, to, least + apart, most + apart));
            for (clocks, near) in
                [(relate(&make_spans(&ends)), 0), (relate(&swap_captures(&ends)), 1)]
            {
                assert_eq!((clocks.offset.abs(), clocks.agree), (apart, apart == 0), "{near}");
                for sender in 1..=3 {
                    assert_eq!(clocks.upstream(sender, sender + 10), near, "{apart} {sender}");
                    assert_eq!(clocks.upstream(sender + 10, sender), 1 - near, "{apart} {sender}");
                }
            }
        }
    }

    #[test]
    fn captures_with_no_time_between_them_agree() {
        let clocks = relate(&make_spans(&[(1, 2, 0, 0), (2, 1, 0, 0)]));
        assert_eq!((clocks.offset, clocks.agree), (0, true));
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(2, 1)), (0, 0));
    }

    #[test]
    fn a_direction_alone_passes_the_first_capture_first() {
        let clocks = relate(&make_spans(&[(1, 2, 20, 90), (3, 4, 30, 70)]));
        assert_eq!((clocks.offset, clocks.agree), (20, false));
        assert_eq!((clocks.upstream(1, 2), clocks.upstream(3, 4)), (0, 0));
    }

    #[test]
    fn a_direction_alone_is_placed_beside_flows_with_both() {
        let pair = [(1, 2, 20, 90), (2, 1, -20, -20)];
        let at = |from, to, least, most| {
            let clocks = relate(&make_spans(&[&pair[..], &[(from, to, least, most)]].concat()));
            assert_eq!((clocks.offset, clocks.agree), (0, true));
            clocks.upstream(from, to)
        };
        assert_eq!((at(3, 4, 60, 80), at(4, 3, -80, -60)), (0, 1), "by its times");
        assert_eq!((at(3, 2, 0, 0), at(2, 3, 0, 0)), (0, 1), "by an address");
    }
}
