//! Processing of SACK blocks (`tcp_sacktag_write_queue`).

use narrows_cc::RecoveryState;

use super::connection::Connection;
use super::findings::Findings;
use crate::scoreboard::Marks;
use crate::segment::{Ack, SackBlocks, Seq};

impl Connection {
    /// Marks packets by the SACK blocks.
    pub(super) fn tag_sacks(&mut self, ack: &Ack, found: &mut Findings) {
        if let Some(&(start, end)) = ack.sack.as_slice().first().filter(|_| ack.sack.dsack) {
            self.tag_duplicate(start, end, found);
        }
        // Blocks that are repeated tell nothing new (`recv_sack_cache`). Mostly these are all but the
        // first, and are where they were.
        let sack = ack.sack.without_option();
        match sack.only_first_changed(&self.last_sack_blocks) {
            Some((block, before)) if block != before => self.tag_block(block, found),
            Some(_) => {}
            None => self.tag_blocks(sack.received_blocks(), found),
        }
        self.last_sack_blocks = sack;
        self.rate.count(found.sack_delivered);
        if let Some(low) = found.reordered
            && (self.episode.state() != RecoveryState::Loss || self.undo.is_open())
        {
            self.rack.note_reordering(low, self.board.highest_sacked());
        }
    }

    /// Marks packets by the blocks that aren't repeated.
    fn tag_blocks(&mut self, received: &[(Seq, Seq)], found: &mut Findings) {
        let mut blocks = [(0, 0); SackBlocks::MAX];
        let mut count = 0;
        for &block in received {
            if self.last_sack_blocks.received_blocks().contains(&block) {
                continue;
            }
            blocks[count] = block;
            // Ascending, so that a block never looks reordered against its own ACK. They are so
            // few that an insertion sort is enough.
            for place in (1..=count).rev() {
                if blocks[place] < blocks[place - 1] {
                    blocks.swap(place, place - 1);
                }
            }
            count += 1;
        }
        for &block in &blocks[..count] {
            self.tag_block(block, found);
        }
    }

    fn tag_block(&mut self, (start, end): (Seq, Seq), found: &mut Findings) {
        let Self { board, rack, rate, rtt, episode, .. } = self;
        let min_rtt_us = rtt.min_us();
        board.sack(start, end, |board, seq| {
            let sent = board.mark_sacked(seq);
            rack.advance(seq, &sent, found.now_us, min_rtt_us);
            if !sent.marks.has(Marks::RETRANS) && !sent.marks.has(Marks::EVER_RETRANS) {
                if seq < found.before.highest_sacked {
                    found.note_reordered(seq);
                }
                if episode.covers(seq) {
                    found.original_arrived = true;
                }
                found.first_sacked_us.get_or_insert(sent.sent_us);
                found.last_sacked_us = Some(sent.sent_us);
            }
            rate.delivered_packet(&mut found.draft, seq, &sent);
            found.data_sacked = true;
            found.sack_delivered += 1;
        });
    }

    /// The receiver got `start..end` twice (`tcp_check_dsack`, `tcp_dsack_seen`).
    fn tag_duplicate(&mut self, start: Seq, end: Seq, found: &mut Findings) {
        let duplicates = end - start;
        found.dsack_of_probe |= duplicates == 1 && self.probe.ends_at(end);
        self.counters.duplicates += u64::from(duplicates);
        if self.counters.duplicates > self.counters.retransmitted {
            return; // not of our making: the network duplicates
        }
        if !found.dsack_of_probe {
            self.rack.note_dsack();
        }
        found.dsack = true;
        found.sack_delivered += duplicates;
        if end <= found.before.una {
            self.undo.count_duplicates(end, duplicates);
        }
        for seq in start.max(self.board.una())..end.min(self.board.next()) {
            self.tag_duplicate_packet(seq, found);
        }
    }

    fn tag_duplicate_packet(&mut self, seq: Seq, found: &mut Findings) {
        let marks = self.board.get(seq).marks;
        if marks.has(Marks::EVER_RETRANS) {
            self.undo.count_duplicates(seq + 1, 1);
            if marks.has(Marks::SACKED) {
                found.note_reordered(seq);
            }
        }
        self.board.clear_retrans(seq);
    }
}
