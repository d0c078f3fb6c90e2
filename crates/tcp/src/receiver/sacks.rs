//! The receiver's SACK blocks (RFC 2018, RFC 2883), kept as Linux does: the four
//! last changed, newest first.

use crate::segment::{SackBlocks, Seq};

/// Blocks that are remembered (`TCP_NUM_SACKS`).
const REMEMBERED: usize = 4;
/// Blocks that fit an ACK even beside other options (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

#[derive(Debug, Default)]
pub(super) struct SackList {
    blocks: Vec<(Seq, Seq)>,
    duplicate: Option<(Seq, Seq)>,
}

impl SackList {
    /// The first block that touches `start..end`.
    fn find(&self, start: Seq, end: Seq) -> Option<usize> {
        self.blocks.iter().position(|&(from, to)| start <= to && from <= end)
    }

    /// Whether a packet changes a block beyond those sure to fit.
    pub(super) fn is_far(&self, start: Seq, end: Seq) -> bool {
        self.find(start, end).unwrap_or(self.blocks.len()) >= EXPECTED
    }

    /// Adds an out-of-order packet (`tcp_sack_new_ofo_skb`).
    pub(super) fn add(&mut self, start: Seq, end: Seq) {
        let Some(at) = self.find(start, end) else {
            self.blocks.truncate(REMEMBERED - 1);
            self.blocks.insert(0, (start, end));
            return;
        };
        let (from, to) = self.blocks[at];
        let grown = (from.min(start), to.max(end));
        if at == 0 {
            self.blocks[0] = grown; // usual: nothing moves
        } else {
            self.blocks.remove(at);
            self.blocks.insert(0, grown);
        }
        self.coalesce();
    }

    /// Merges blocks that now touch the first (`tcp_sack_maybe_coalesce`).
    fn coalesce(&mut self) {
        let (mut from, mut to) = self.blocks[0];
        let mut at = 1;
        while at < self.blocks.len() {
            let (start, end) = self.blocks[at];
            if start <= to && from <= end {
                (from, to) = (from.min(start), to.max(end));
                self.blocks.remove(at);
            } else {
                at += 1;
            }
        }
        self.blocks[0] = (from, to);
    }

    /// Drops blocks that are acknowledged now (`tcp_sack_remove`).
    pub(super) fn remove_below(&mut self, next: Seq, all: bool) {
        if all {
            self.blocks.clear();
        } else {
            self.blocks.retain(|&(start, _)| start > next);
        }
    }

    /// Notes a duplicate for the next ACK.
    pub(super) fn set_duplicate(&mut self, start: Seq, end: Seq) {
        self.duplicate = Some((start, end));
    }

    /// A new segment: an unreported duplicate is forgotten.
    pub(super) fn clear_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// The blocks for an ACK; the duplicate, if any, comes first and is told once.
    pub(super) fn take_blocks(&mut self) -> SackBlocks {
        if self.blocks.is_empty() && self.duplicate.is_none() {
            return SackBlocks::default();
        }
        let duplicate = self.duplicate.take();
        let mut blocks: SackBlocks =
            duplicate.into_iter().chain(self.blocks.iter().copied()).collect();
        blocks.dsack = duplicate.is_some();
        blocks
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
    fn duplicates_are_told_once() {
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
