//! The packets of the simulator's sender, and the bytes that they carry.

use narrows_packetdrill::SackBlock;
use narrows_tcp::{SackBlocks, Seq};

/// Where each packet sent ends, in bytes from the first one.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    ends: Vec<u32>,
}

impl Departures {
    /// The bytes of a packet, which is noted if it is new.
    pub(crate) fn note(&mut self, seq: Seq, len: u32) -> (u32, u32) {
        let at = seq as usize;
        if at == self.ends.len() {
            self.ends.push(self.next_byte() + len);
        }
        (self.start(seq), self.ends[at])
    }

    /// The first byte of a packet.
    pub(crate) fn start(&self, seq: Seq) -> u32 {
        if seq == 0 { 0 } else { self.ends[seq as usize - 1] }
    }

    /// Behind the last byte sent.
    pub(crate) fn next_byte(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The packets that are wholly below a byte.
    pub(crate) fn below(&self, byte: u32) -> Seq {
        narrow(self.ends.partition_point(|&end| end <= byte))
    }

    /// The first packet that begins at a byte or behind it.
    fn from(&self, byte: u32) -> Seq {
        // The packet behind each that ends below the byte begins below it, too.
        if byte == 0 { 0 } else { 1 + narrow(self.ends.partition_point(|&end| end < byte)) }
    }

    /// The packets that blocks cover; a packet that is covered in part doesn't count
    /// (`tcp_match_skb_to_sack`). `first` is the number of the first byte, `ack` the first
    /// byte that the same packet doesn't acknowledge.
    pub(crate) fn sacked_packets(&self, blocks: &[SackBlock], first: u32, ack: u32) -> SackBlocks {
        let byte = |number: u32| number.wrapping_sub(first);
        let dsack = blocks.first().is_some_and(|block| {
            let (left, right) = (byte(block.left), byte(block.right));
            let within = |outer: &SackBlock| byte(outer.left) <= left && right <= byte(outer.right);
            left < ack || blocks.get(1).is_some_and(within)
        });
        let mut packets = SackBlocks::default();
        for (place, block) in blocks.iter().enumerate() {
            let (start, end) = (self.from(byte(block.left)), self.below(byte(block.right)));
            if start < end {
                packets.push(start, end);
                packets.dsack |= dsack && place == 0;
            }
        }
        packets
    }
}

fn narrow(count: usize) -> Seq {
    Seq::try_from(count).expect("a script of fewer than 2^32 packets")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_in_part_are_neither_acknowledged_nor_sacked() {
        let mut departures = Departures::default();
        for (seq, len) in [(0, 1_000), (1, 1_000), (2, 300)] {
            departures.note(seq, len);
        }
        assert_eq!(departures.note(1, 1_000), (1_000, 2_000), "it is known");
        assert_eq!(
            [0, 999, 1_000, 2_299, 2_300].map(|byte| departures.below(byte)),
            [0, 0, 1, 2, 3]
        );
        assert_eq!([0, 1, 1_000, 1_001, 2_000].map(|byte| departures.from(byte)), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_first_block_below_the_ack_or_in_the_second_reports_a_duplicate() {
        let mut departures = Departures::default();
        (0..10).for_each(|seq| _ = departures.note(seq, 100));
        let sacked = |blocks: &[(u32, u32)], ack| {
            let blocks: Vec<_> = blocks
                .iter()
                .map(|&(left, right)| SackBlock { left: left + 1, right: right + 1 })
                .collect();
            let found = departures.sacked_packets(&blocks, 1, ack);
            (found.as_slice().to_vec(), found.dsack)
        };
        assert_eq!(sacked(&[(200, 400)], 100), (vec![(2, 4)], false));
        assert_eq!(sacked(&[(0, 100), (200, 400)], 100), (vec![(0, 1), (2, 4)], true));
        assert_eq!(sacked(&[(300, 400), (200, 500)], 100), (vec![(3, 4), (2, 5)], true));
        assert_eq!(sacked(&[(350, 500)], 100), (vec![(4, 5)], false));
        assert_eq!(sacked(&[(310, 390)], 100), (vec![], false));
    }
}
