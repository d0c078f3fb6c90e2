//! The bitrates of an adaptive video, and the choice among them.

use narrows_base::Duration;

/// The bitrates of a video, of which the level of the player's buffer selects one (BBA-0 of Huang
/// et al., A Buffer-Based Approach to Rate Adaptation, SIGCOMM 2014, algorithm 1).
#[derive(Clone, Debug)]
pub struct Ladder {
    /// In bit/s, ascending.
    bitrates: Vec<u64>,
    /// The index of the current choice.
    current: usize,
    /// Up to this level the lowest bitrate is chosen.
    lower: Duration,
    /// From this level on the highest bitrate is chosen.
    upper: Duration,
}

/// The fractions of the buffer between which the rate map rises: 90 to 216 of 240 s in the paper.
const LOWER: (u64, u64) = (3, 8);
const UPPER: (u64, u64) = (9, 10);

impl Ladder {
    /// A ladder for a buffer with this capacity; it begins with the lowest bitrate.
    ///
    /// # Panics
    /// If there are no bitrates.
    #[must_use]
    pub fn new(mut bitrates: Vec<u64>, capacity: Duration) -> Self {
        assert!(!bitrates.is_empty(), "a video has a bitrate");
        bitrates.sort_unstable();
        let part = |(over, under)| Duration::from_nanos(capacity.as_nanos() / under * over);
        Self { bitrates, current: 0, lower: part(LOWER), upper: part(UPPER) }
    }

    /// The current bitrate in bit/s.
    #[must_use]
    pub fn bitrate(&self) -> u64 {
        self.bitrates[self.current]
    }

    /// Returns `true` if there is more than one bitrate.
    pub(crate) fn is_choice(&self) -> bool {
        self.bitrates.len() > 1
    }

    /// Chooses the bitrate of the next chunk.
    pub(crate) fn choose(&mut self, level: Duration) {
        let last = self.bitrates.len() - 1;
        self.current = if level <= self.lower {
            0
        } else if level >= self.upper {
            last
        } else {
            self.on_map(self.rate_at(level))
        };
    }

    /// Keeps the bitrate until the map reaches one of its neighbours.
    fn on_map(&self, mapped: u64) -> usize {
        let last = self.bitrates.len() - 1;
        let higher = self.bitrates[(self.current + 1).min(last)];
        let lower = self.bitrates[self.current.saturating_sub(1)];
        if mapped >= higher {
            self.bitrates.iter().rposition(|&rate| rate < mapped).unwrap_or(0)
        } else if mapped <= lower {
            self.bitrates.iter().position(|&rate| rate > mapped).unwrap_or(last)
        } else {
            self.current
        }
    }

    /// The bitrate that the map has at a level: linear between the lowest and the highest.
    fn rate_at(&self, level: Duration) -> u64 {
        let (low, high) = (self.bitrates[0], self.bitrates[self.bitrates.len() - 1]);
        let part = u128::from((level - self.lower).as_nanos());
        let whole = u128::from((self.upper - self.lower).as_nanos()).max(1);
        let rise = u128::from(high - low) * part / whole;
        low + u64::try_from(rise).expect("less than the range")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder() -> Ladder {
        Ladder::new(vec![4_000_000, 1_000_000, 2_000_000, 8_000_000], Duration::from_secs(40))
    }

    fn choose(ladder: &mut Ladder, level_s: u64) -> u64 {
        ladder.choose(Duration::from_secs(level_s));
        ladder.bitrate() / 1_000_000
    }

    #[test]
    fn the_ends_of_the_buffer_have_the_lowest_and_the_highest_bitrate() {
        let mut ladder = ladder();
        assert_eq!([0, 15, 36, 40, 15].map(|level| choose(&mut ladder, level)), [1, 1, 8, 8, 1]);
    }

    #[test]
    fn bitrate_is_kept_until_the_map_reaches_a_neighbour() {
        // The map rises from 1 Mbit/s at 15 s by a third of a Mbit/s each second to 8 at 36 s.
        let mut ladder = ladder();
        let levels = [17, 18, 19, 23, 25, 24, 23, 21, 20, 18, 17];
        let chosen = levels.map(|level| choose(&mut ladder, level));
        assert_eq!(chosen, [1, 1, 2, 2, 4, 4, 4, 4, 4, 4, 2]);
    }

    #[test]
    fn a_single_bitrate_is_always_chosen() {
        let mut ladder = Ladder::new(vec![3_000_000], Duration::from_secs(10));
        assert_eq!([0, 5, 10].map(|level| choose(&mut ladder, level)), [3, 3, 3]);
    }
}
