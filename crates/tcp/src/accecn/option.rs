//! The option with counters of bytes (RFC 9768 section 3.2.3).

use narrows_base::Ecn;

/// Bytes of options in a header.
const ROOM: usize = 40;
/// Kind and length, and a counter.
const BASE: usize = 2;
const FIELD: usize = 3;
/// A SACK block, and what comes before the first, with padding.
const BLOCK: usize = 8;
const SACK_BASE: usize = 4;
/// Counters in a full option.
pub(super) const FIELDS: u8 = 3;
const MASK: u32 = 0xff_ffff;

/// The options that have arrived; each state replaces those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SeenOption {
    /// None.
    #[default]
    None,
    /// Options without a counter.
    Empty,
    /// Counters.
    Counters,
    /// Counters that were zeroed on the way.
    Zeroed,
}

/// The order of the counters, which the option's kind tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOrder {
    /// ECT(0), CE, ECT(1): kind 172.
    Ect0First,
    /// ECT(1), CE, ECT(0): kind 174, which Linux sends.
    Ect1First,
}

/// An option: up to three counters of 24 bits, as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// The order of its counters.
    pub order: OptionOrder,
    counters: [u32; FIELDS as usize],
    fields: u8,
}

impl AccEcnOption {
    /// The first three of these counters at most.
    #[must_use]
    pub fn new(order: OptionOrder, counters: &[u32]) -> Self {
        let mut option = Self { order, counters: [0; FIELDS as usize], fields: 0 };
        for (place, counter) in option.counters.iter_mut().zip(counters) {
            *place = counter & MASK;
            option.fields += 1;
        }
        option
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> &[u32] {
        &self.counters[..usize::from(self.fields)]
    }

    /// Bytes of the option in a header, with what aligns it beside `blocks` SACK blocks, whose
    /// padding it may use.
    #[must_use]
    pub fn len(fields: u8, blocks: usize) -> usize {
        let len = BASE + FIELD * usize::from(fields);
        let spare = if blocks > 0 { 2 } else { 0 };
        if len % 4 > spare { len.next_multiple_of(4) } else { len - len % 4 }
    }

    /// Its counters with the codepoint of each.
    pub(super) fn by_codepoint(&self) -> impl Iterator<Item = (Ecn, u32)> + '_ {
        let codepoints = match self.order {
            OptionOrder::Ect0First => [Ecn::Ect0, Ecn::Ce, Ecn::Ect1],
            OptionOrder::Ect1First => [Ecn::Ect1, Ecn::Ce, Ecn::Ect0],
        };
        codepoints.into_iter().zip(self.counters().iter().copied())
    }

    /// Its counters as the first option shows them. The first and the third counter begin at 1.
    pub(super) fn first_look(&self) -> SeenOption {
        match self.counters() {
            [] => SeenOption::Empty,
            [0, ..] | [_, _, 0] => SeenOption::Zeroed,
            _ => SeenOption::Counters,
        }
    }
}

/// The room that an option finds beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) fields: u8,
    pub(super) blocks: usize,
}

impl Fit {
    /// The most counters that fit beside `others` bytes and the SACK blocks, of which those above two
    /// leave if at least `needed` counters don't fit otherwise (`tcp_options_fit_accecn`).
    pub(super) fn find(needed: u8, others: usize, blocks: usize) -> Option<Self> {
        let fits = |blocks: usize| {
            let sacks = if blocks > 0 { SACK_BASE + BLOCK * blocks } else { 0 };
            let room = ROOM.saturating_sub(others + sacks);
            let fields = (needed..=FIELDS).rev().find(|&n| AccEcnOption::len(n, blocks) <= room);
            fields.map(|fields| Self { fields, blocks })
        };
        let least = if needed > 0 { blocks.min(2) } else { blocks };
        (least..=blocks).rev().find_map(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of aligned timestamps.
    const STAMPS: usize = 12;

    fn fit(needed: u8, others: usize, blocks: usize) -> Option<(u8, usize)> {
        Fit::find(needed, others, blocks).map(|fit| (fit.fields, fit.blocks))
    }

    #[test]
    fn an_option_is_as_long_as_the_room_beside_sack_blocks() {
        assert_eq!(fit(0, STAMPS, 0), Some((3, 0)));
        assert_eq!(fit(0, STAMPS, 1), Some((3, 1)));
        assert_eq!(fit(0, STAMPS, 2), Some((2, 2)));
        assert_eq!(fit(0, 0, 3), Some((3, 3)));
    }

    #[test]
    fn a_counter_that_is_needed_takes_the_third_blocks_place() {
        assert_eq!(fit(0, STAMPS, 3), Some((0, 3)), "in the padding");
        assert_eq!(fit(2, STAMPS, 3), Some((2, 2)));
        assert_eq!(fit(3, STAMPS, 3), None, "not even without that block");
    }

    #[test]
    fn an_option_uses_the_padding_of_sack_blocks() {
        assert_eq!([0, 1, 2, 3].map(|fields| AccEcnOption::len(fields, 0)), [4, 8, 8, 12]);
        assert_eq!([0, 1, 2, 3].map(|fields| AccEcnOption::len(fields, 1)), [0, 4, 8, 12]);
    }

    #[test]
    fn zeroed_counters_are_recognised() {
        let look =
            |counters: &[u32]| AccEcnOption::new(OptionOrder::Ect1First, counters).first_look();
        assert_eq!(look(&[]), SeenOption::Empty);
        assert_eq!(look(&[1]), SeenOption::Counters);
        assert_eq!(look(&[1, 0, 1]), SeenOption::Counters);
        assert_eq!(look(&[0]), SeenOption::Zeroed);
        assert_eq!(look(&[1, 0, 0]), SeenOption::Zeroed);
    }
}
