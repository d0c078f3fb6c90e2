//! Loss detection by counting, as kernels before 4.18 did it beside RACK:
//! RFC 6675, and FACK until 4.14.

use super::Connection;
use crate::profile::LossDetection;
use crate::scoreboard::Marks;

impl Connection {
    /// Packets that testify to a loss (`tcp_dupack_heuristics`).
    pub(super) fn exceeds_dupthresh(&self) -> bool {
        let evidence = match self.profile.loss_detection {
            LossDetection::Fack if !self.rack.reordering_seen => {
                self.board.highest_sacked() - self.board.una
            }
            _ => self.board.sacked_out + 1,
        };
        evidence > self.rack.reordering
    }

    /// Marks what the count holds for lost (`tcp_update_scoreboard`).
    pub(super) fn mark_by_dupthresh(&mut self, entering: bool) {
        let reordering = self.rack.reordering;
        if self.profile.loss_detection == LossDetection::Fack && !self.rack.reordering_seen {
            let reach = self.board.highest_sacked().saturating_sub(reordering.max(1));
            let floor = self.board.una + u32::from(entering);
            self.mark_head(reach.max(floor).min(self.board.next));
            return;
        }
        match self.board.sacked_out.checked_sub(reordering) {
            Some(above) => self.mark_head_below(above),
            None if entering => self.mark_head(self.board.una + 1),
            None => {}
        }
    }

    fn mark_head(&mut self, end: u32) {
        for seq in self.board.una..end {
            self.mark_if_original(seq);
        }
    }

    /// Marks packets from the head on until more than `limit` SACKed ones were passed
    /// (`tcp_mark_head_lost`).
    fn mark_head_below(&mut self, limit: u32) {
        let mut passed = 0;
        for seq in self.board.una..self.board.highest_sacked() {
            if self.board.get(seq).marks.has(Marks::SACKED) {
                passed += 1;
                if passed > limit {
                    break;
                }
            } else {
                self.mark_if_original(seq);
            }
        }
    }

    /// Counting says nothing about retransmissions.
    fn mark_if_original(&mut self, seq: u32) {
        if !self.board.get(seq).marks.has(Marks::LOST) {
            self.board.mark_lost(seq);
        }
    }
}
