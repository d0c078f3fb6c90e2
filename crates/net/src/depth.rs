//! The backlog of a queue over time.

use narrows_base::{Histogram, Time};

/// The bytes and packets that wait in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) bytes: u64,
    pub(crate) packets: usize,
}

/// Integrates a queue's backlog over time. Every change is an instant of the model, so the
/// distribution is exact and doesn't depend on when it is read.
///
/// Nearly always all packets in a queue have the same size. Then their number tells the backlog,
/// and its time is added up in a table, which goes into the histogram when that is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Depth {
    /// Until when the backlog has been counted.
    since: Time,
    /// The usual size of a packet in bytes; 0 before the first that waited.
    packet: u64,
    /// The ns at each number of packets of that size.
    by_packets: Vec<u64>,
    /// The backlog in bytes, weighted by ns, without the table.
    histogram: Histogram,
}

impl Depth {
    /// Counts a backlog that lasted until `at`. An instant before the last one, as of a timer that is
    /// served late, counts nothing.
    #[inline]
    pub(crate) fn count(&mut self, at: Time, backlog: Backlog) {
        self.count_next(at.max(self.since), backlog);
    }

    /// Counts a backlog that lasted until `at`, where instants come in order.
    ///
    /// # Panics
    /// If they don't.
    #[inline]
    pub(crate) fn count_next(&mut self, at: Time, backlog: Backlog) {
        let span = (at - self.since).as_nanos();
        self.since = at;
        // The table is right for any number whose product is the backlog, so it may wrap.
        let is_usual = (backlog.packets as u64).wrapping_mul(self.packet) == backlog.bytes;
        match self.by_packets.get_mut(backlog.packets) {
            Some(nanos) if is_usual => *nanos += span,
            _ => self.count_unusual(backlog, span),
        }
    }

    /// Counts a backlog of more packets than ever before, or of different sizes.
    #[cold]
    fn count_unusual(&mut self, backlog: Backlog, span: u64) {
        let Backlog { bytes, packets } = backlog;
        if packets == 1 && bytes > self.packet {
            self.empty_table();
            self.packet = bytes;
        }
        if packets as u64 * self.packet == bytes {
            self.by_packets.resize(self.by_packets.len().max(packets + 1), 0);
            self.by_packets[packets] += span;
        } else if span > 0 {
            self.histogram.add(bytes, span);
        }
    }

    /// Moves the table's contents into the histogram.
    fn empty_table(&mut self) {
        for (packets, nanos) in (0..).zip(std::mem::take(&mut self.by_packets)) {
            if nanos > 0 {
                self.histogram.add(packets * self.packet, nanos);
            }
        }
    }

    /// Discards everything before `at`.
    pub(crate) fn restart(&mut self, at: Time) {
        *self = Self { since: at, packet: self.packet, ..Self::default() };
    }

    /// The counted backlog in bytes, weighted by ns.
    pub(crate) fn histogram(&mut self) -> &Histogram {
        self.empty_table();
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Stream;

    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn buckets(depth: &mut Depth) -> Vec<(f64, u64)> {
        depth.histogram().buckets().collect()
    }

    #[test]
    fn every_span_counts_once() {
        let mut depth = Depth::default();
        depth.count(at(10), Backlog::default());
        depth.count(at(10), Backlog { bytes: 100, packets: 2 }); // it waited for no time
        depth.count(at(30), Backlog { bytes: 50, packets: 1 });
        depth.count(at(100), Backlog::default());
        assert_eq!(buckets(&mut depth), [(0.0, 80), (50.0, 20)]);
        assert_eq!(depth.histogram().extremes(), Some((0, 50)));
        depth.restart(at(100));
        depth.count(at(105), Backlog::default());
        depth.count(at(106), Backlog { bytes: 7, packets: 1 });
        assert_eq!(buckets(&mut depth), [(0.0, 5), (7.0, 1)]);
    }

    #[test]
    fn an_earlier_instant_counts_nothing() {
        let mut depth = Depth::default();
        depth.count(at(10), Backlog::default());
        depth.count(at(4), Backlog { bytes: 100, packets: 1 });
        depth.count(at(20), Backlog { bytes: 50, packets: 1 });
        assert_eq!(buckets(&mut depth), [(0.0, 10), (50.0, 10)]);
    }

    #[test]
    fn the_table_changes_nothing() {
        let mut random = Stream::new(1, "depth");
        let (mut depth, mut expected) = (Depth::default(), Histogram::default());
        let mut now = 0;
        for _ in 0..10_000 {
            // Mostly, but not always, all packets have the same size.
            let packets = random.below(5);
            let size = if random.below(4) > 0 { 1_500 } else { 500 * (1 + random.below(4)) };
            let odd = if packets > 0 && random.below(8) == 0 { 7 } else { 0 };
            let backlog = Backlog {
                bytes: packets * size + odd,
                packets: usize::try_from(packets).expect("few"),
            };
            let span = random.below(5);
            now += span;
            depth.count(at(now), backlog);
            if span > 0 {
                expected.add(backlog.bytes, span);
            }
        }
        assert_eq!(depth.histogram(), &expected);
    }
}
