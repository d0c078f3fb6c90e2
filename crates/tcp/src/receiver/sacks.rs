//! The receiver's SACK blocks (RFC 2018, RFC 2883), kept as in Linux: the four changed last, newest
//! first.

use crate::segment::{SackBlocks, Seq};

/// Blocks that are remembered (`TCP_NUM_SACKS`).
const REMEMBERED: usize = 4;
/// Blocks that fit an ACK even beside other options (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

/// The blocks are in an array, newest first, and zero beyond the last; an ACK copies them.
#[derive(Debug, Default)]
pub(super) struct SackList {
    blocks: [(Seq, Seq); REMEMBERED],
    len: usize,
    duplicate: Option<(Seq, Seq)>,
}

impl SackList {
    /// The first block that touches `start..end`.
    fn find(&self, start: Seq, end: Seq) -> Option<usize> {
        self.blocks[..self.len].iter().position(|&(from, to)| start <= to && from <= end)
    }

    /// Returns `true` if a packet changes a block beyond those that certainly fit.
    pub(super) fn is_far(&self, start: Seq, end: Seq) -> bool {
        self.find(start, end).unwrap_or(self.len) >= EXPECTED
    }

    /// Adds a packet that touches nothing above it, if it continues the newest block; returns whether
    /// it does. Blocks never touch each other, so there is none to merge then.
    #[inline]
    pub(super) fn extend_newest(&mut self, start: Seq, end: Seq) -> bool {
        let newest = &mut self.blocks[0];
        let continues = self.len > 0 && newest.1 == start;
        if continues {
            newest.1 = end;
        }
        continues
    }

    /// Adds an out-of-order packet (`tcp_sack_new_ofo_skb`).
    pub(super) fn add(&mut self, start: Seq, end: Seq) {
        let Some(at) = self.find(start, end) else {
            self.blocks.copy_within(..REMEMBERED - 1, 1);
            self.blocks[0] = (start, end);
            self.len = REMEMBERED.min(self.len + 1);
            return;
        };
        let (from, to) = self.blocks[at];
        if at > 0 {
            self.blocks.copy_within(..at, 1);
        }
        let (from, to) = (from.min(start), to.max(end));
        self.blocks[0] = (from, to);
        if self.blocks[1..self.len].iter().any(|&(start, end)| start <= to && from <= end) {
            self.coalesce();
        }
    }

    /// Merges blocks that now touch the first (`tcp_sack_maybe_coalesce`).
    #[cold]
    fn coalesce(&mut self) {
        let (mut from, mut to) = self.blocks[0];
        self.retain_from(1, |(start, end)| {
            let touches = start <= to && from <= end;
            if touches {
                (from, to) = (from.min(start), to.max(end));
            }
            !touches
        });
        self.blocks[0] = (from, to);
    }

    /// Keeps the blocks before `first`, and those of the others that `keeps` selects.
    fn retain_from(&mut self, first: usize, mut keeps: impl FnMut((Seq, Seq)) -> bool) {
        let mut kept = first;
        for at in first..self.len {
            let block = std::mem::take(&mut self.blocks[at]);
            if keeps(block) {
                self.blocks[kept] = block;
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Drops acknowledged blocks (`tcp_sack_remove`).
    pub(super) fn remove_below(&mut self, next: Seq, all: bool) {
        self.retain_from(0, |(start, _)| !all && start > next);
    }

    /// Notes a duplicate for the next ACK.
    pub(super) fn set_duplicate(&mut self, start: Seq, end: Seq) {
        self.duplicate = Some((start, end));
    }

    /// Adds to the duplicate of the next ACK what continues it; the first range is the duplicate
    /// (`tcp_dsack_extend`).
    pub(super) fn extend_duplicate(&mut self, start: Seq, end: Seq) {
        self.duplicate = Some(match self.duplicate {
            None => (start, end),
            Some((from, to)) if start <= to && from <= end => (from.min(start), to.max(end)),
            Some(other) => other,
        });
    }

    /// Forgets an unreported duplicate at a new segment.
    pub(super) fn clear_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// The blocks for an ACK; the duplicate, if any, comes first and is reported once.
    pub(super) fn take_blocks(&mut self) -> SackBlocks {
        match self.duplicate.take() {
            None => SackBlocks::newest(self.blocks, self.len),
            Some(duplicate) => {
                let blocks = self.blocks[..self.len].iter().copied();
                let mut reported: SackBlocks = std::iter::once(duplicate).chain(blocks).collect();
                reported.dsack = true;
                reported
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(list: &mut SackList) -> Vec<(Seq, Seq)> {
        list.take_blocks().as_slice().to_vec()
    }

    #[test]
    fn newest_block_comes_first_and_three_fit() {
        let mut list = SackList::default();
        for seq in [2, 4, 6, 8, 10] {
            list.add(seq, seq + 1);
        }
        assert_eq!(blocks(&mut list), [(10, 11), (8, 9), (6, 7)]);
        list.add(5, 6);
        assert_eq!(blocks(&mut list), [(4, 7), (10, 11), (8, 9)]);
    }

    #[test]
    fn a_packet_that_continues_the_newest_block_is_added_alike() {
        for (start, end) in [(6, 7), (6, 9), (5, 6), (8, 9)] {
            let [mut plain, mut short] = [(), ()].map(|()| {
                let mut list = SackList::default();
                list.add(2, 3);
                list.add(5, 6);
                list
            });
            assert_eq!(short.extend_newest(start, end), start == 6);
            if start == 6 {
                plain.add(start, end);
            }
            assert_eq!(blocks(&mut short), blocks(&mut plain));
        }
        assert!(!SackList::default().extend_newest(0, 1), "there is none");
    }

    #[test]
    fn duplicates_are_reported_once() {
        let mut list = SackList::default();
        list.add(5, 6);
        list.set_duplicate(1, 2);
        assert_eq!(blocks(&mut list), [(1, 2), (5, 6)]);
        assert_eq!(blocks(&mut list), [(5, 6)]);
    }

    #[test]
    fn a_change_far_back_is_reported() {
        let mut list = SackList::default();
        list.add(2, 3);
        assert!(!list.is_far(4, 5));
        list.add(4, 5);
        assert!(list.is_far(6, 7));
        list.add(6, 7);
        assert!(!list.is_far(7, 8));
        assert!(list.is_far(1, 2), "the oldest of three blocks");
    }
}
