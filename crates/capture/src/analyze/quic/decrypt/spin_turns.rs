//! The packets that an endpoint's spin bit shows to have reached it.
//!
//! The server returns the bit that it received last, and the client inverts it (RFC 9000, section
//! 17.4). So an endpoint that turns its bit has received the packet with which the other turned its
//! own: an echo once a round trip, whatever is acknowledged when.

/// Turns from which on their order tells whether the bit is random.
const FEWEST: u64 = 4;

/// The turns of both ends' spin bits, the client's first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpinTurns {
    bits: [Option<bool>; 2],
    /// The packet with which each end last turned its bit.
    turned: [u64; 2],
    /// The end that turned last.
    last: Option<usize>,
    turns: u64,
    in_order: u64,
}

impl SpinTurns {
    /// Takes the bit of an end's packet; returns the other's packet that a turn shows to have arrived.
    pub(super) fn on(&mut self, end: usize, number: u64, bit: bool) -> Option<u64> {
        let before = self.bits[end];
        // Packets that arrive late don't turn it back.
        if before == Some(bit) || number < self.turned[end] {
            return None;
        }
        (self.bits[end], self.turned[end]) = (Some(bit), number);
        before?;
        self.turns += 1;
        let cause = if end == 0 { !bit } else { bit };
        let follows = self.last.replace(end) != Some(end) && self.bits[1 - end] == Some(cause);
        self.in_order += u64::from(follows);
        follows.then_some(self.turned[1 - end])
    }

    /// Returns whether turns don't follow one another, as when endpoints set the bit at random.
    pub(super) const fn is_random(&self) -> bool {
        self.turns >= FEWEST && 2 * self.in_order < self.turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_shows_that_the_others_turn_arrived() {
        let mut spin = SpinTurns::default();
        assert_eq!((spin.on(0, 1, false), spin.on(1, 10, false)), (None, None));
        assert_eq!(spin.on(0, 2, true), Some(10));
        assert_eq!(spin.on(1, 11, true), Some(2));
        assert_eq!((spin.on(0, 3, true), spin.on(0, 5, false)), (None, Some(11)));
        assert_eq!(spin.on(0, 4, true), None, "late");
        assert_eq!(spin.on(1, 12, false), Some(5));
        assert!(!spin.is_random());
    }

    #[test]
    fn a_random_bit_is_recognised() {
        let (mut spin, mut random) = (SpinTurns::default(), narrows_base::Stream::new(1, "spin"));
        for number in 0..1000 {
            spin.on(usize::from(random.below(3) > 0), number, random.below(2) == 0);
        }
        assert!(spin.is_random(), "{spin:?}");
    }
}
