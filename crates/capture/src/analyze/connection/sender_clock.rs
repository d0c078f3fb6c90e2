//! The sender's clock, as the timestamps of its segments show it (RFC 7323).
//!
//! A stamp says when its segment left, so its arrival shows how much longer than others it was
//! under way. Unlike a round trip this doesn't include how long the sender waited after an
//! acknowledgement, which for paced flows can exceed the delay of a queue.

/// A tick in ns: that of Linux, FreeBSD, macOS and Windows.
pub(crate) const TICK_NS: u64 = 1_000_000;
/// Fewer ticks don't show how long one is.
const FEWEST_TICKS: i64 = 500;
/// The delay of the first segment, from which others differ, in ns.
const ORIGIN_NS: u64 = 1 << 37;

/// The clock of a sender, compared with that of the capture.
#[derive(Clone, Debug, Default)]
pub(super) struct SenderClock {
    first: Option<(u32, u64)>,
    last: (u32, u64),
}

impl SenderClock {
    /// The one-way delay of a segment above an unknown constant, in ns, if a tick is [`TICK_NS`].
    pub(super) fn delay(&mut self, stamp: u32, time: u64) -> u64 {
        let (_, begin) = *self.first.get_or_insert((stamp, time));
        self.last = (stamp, time);
        let left = begin.saturating_add_signed(self.ticks() * TICK_NS.cast_signed());
        time.saturating_add(ORIGIN_NS).saturating_sub(left).min(2 * ORIGIN_NS)
    }

    /// Returns whether a tick is [`TICK_NS`]: the next ones in use are 4 and 0.001 ms.
    pub(super) fn is_usual(&self) -> bool {
        let Some((_, begin)) = self.first else { return false };
        let (ticks, elapsed) = (self.ticks(), self.last.1.saturating_sub(begin) / TICK_NS);
        let elapsed = i64::try_from(elapsed).unwrap_or(i64::MAX);
        ticks >= FEWEST_TICKS && 2 * ticks < elapsed.saturating_mul(3) && elapsed < 2 * ticks
    }

    /// Ticks from the first stamp to the last.
    fn ticks(&self) -> i64 {
        let first = self.first.map_or(self.last.0, |(stamp, _)| stamp);
        i64::from(self.last.0.wrapping_sub(first).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delays of segments that leave every 10 ms, with stamps of a clock of `tick` ns.
    fn delays(tick: u64, queue: impl Fn(u64) -> u64) -> (SenderClock, Vec<u64>) {
        let mut clock = SenderClock::default();
        let mut delay = |number: u64| {
            let left = number * 10_000_000;
            let stamp = u32::MAX.wrapping_add(u32::try_from(left / tick).expect("few"));
            clock.delay(stamp, left + 20_000_000 + queue(number))
        };
        let found = (0..200).map(&mut delay).collect();
        (clock, found)
    }

    #[test]
    fn a_queue_shows_in_the_delay() {
        let (clock, found) = delays(TICK_NS, |number| number % 5 * 3_000_000);
        assert!(clock.is_usual());
        let least = *found.iter().min().expect("some");
        assert_eq!(
            found[..6].iter().map(|delay| (delay - least) / TICK_NS).collect::<Vec<_>>(),
            [0, 3, 6, 9, 12, 0]
        );
    }

    #[test]
    fn other_ticks_are_refused() {
        for tick in [1_000, 4_000_000, 10_000_000] {
            assert!(!delays(tick, |_| 0).0.is_usual());
        }
    }

    #[test]
    fn no_stamp_overflows() {
        let mut clock = SenderClock::default();
        for (stamp, time) in [(0, u64::MAX), (1 << 31, 0), (u32::MAX >> 1, u64::MAX), (1, 1)] {
            assert!(clock.delay(stamp, time) <= 2 * ORIGIN_NS);
            clock.is_usual();
        }
    }
}
