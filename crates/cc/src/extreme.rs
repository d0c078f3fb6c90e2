//! The exact minimum or maximum of a sliding window.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};

/// Which extreme is kept: the lowest or the highest sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Lowest,
    Highest,
}

/// A sliding extreme of durations, which drops samples that a later one exceeds.
#[derive(Clone, Debug)]
pub(crate) struct SlidingExtreme {
    side: Extreme,
    samples: VecDeque<(Time, Duration)>,
}

impl SlidingExtreme {
    pub(crate) const fn new(side: Extreme) -> Self {
        Self { side, samples: VecDeque::new() }
    }

    /// Takes a sample and forgets those older than `window`; returns the extreme.
    pub(crate) fn update(&mut self, now: Time, window: Duration, value: Duration) -> Duration {
        let outdone = |old: Duration| match self.side {
            Extreme::Lowest => old >= value,
            Extreme::Highest => old <= value,
        };
        while self.samples.back().is_some_and(|&(_, old)| outdone(old)) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, value));
        while self.samples.len() > 1 && now.saturating_since(self.samples[0].0) > window {
            self.samples.pop_front();
        }
        self.samples[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_of_the_last_ten_milliseconds() {
        let ms = Duration::from_millis;
        let feed = |side| {
            let mut extreme = SlidingExtreme::new(side);
            let mut take = |(at, value)| {
                extreme.update(Time::ZERO + ms(at), ms(10), ms(value)).as_micros() / 1_000
            };
            [(0, 5), (2, 9), (4, 7), (11, 8), (13, 8), (30, 6)].map(&mut take)
        };
        assert_eq!(feed(Extreme::Lowest), [5, 5, 5, 7, 7, 6]);
        assert_eq!(feed(Extreme::Highest), [5, 9, 9, 9, 8, 6]);
    }
}
