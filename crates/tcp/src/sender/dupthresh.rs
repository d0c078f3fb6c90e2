//! Loss detection by counting, as kernels before 4.18 did it beside RACK:
//! RFC 6675, and FACK until 4.14.

use super::Connection;
use crate::Seq;
use crate::profile::LossDetection;

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
        if let Some(end) = self.lost_below(entering) {
            self.board.mark_lost_below(end);
        }
    }

    /// What is below it is lost, as the count says (`tcp_mark_head_lost`): by FACK what is far
    /// enough from the highest SACKed packet, else what has enough SACKed ones above it.
    fn lost_below(&self, entering: bool) -> Option<Seq> {
        let reordering = self.rack.reordering.max(1);
        if self.profile.loss_detection == LossDetection::Fack && !self.rack.reordering_seen {
            let reach = self.board.highest_sacked().saturating_sub(reordering);
            let floor = self.board.una + u32::from(entering);
            return Some(reach.max(floor).min(self.board.next));
        }
        let witness = self.board.nth_highest_sacked(reordering);
        witness.or_else(|| entering.then_some(self.board.una + 1))
    }
}
