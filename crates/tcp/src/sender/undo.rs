//! Detects that the last reduction was spurious: every retransmission turned out to be a
//! duplicate, or an ACK answers data sent before the first of them.

use crate::segment::Seq;

/// The retransmissions of an episode.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// `snd_una` when the episode began, while it may still be undone (`undo_marker`).
    marker: Option<Seq>,
    /// Retransmissions not yet reported as duplicates; -1: none was sent (`undo_retrans`).
    unreported: i64,
    /// True if the control can restore its state (`prior_ssthresh != 0`).
    restorable: bool,
    /// Timestamp of the first retransmission in ms, 0 if none (`retrans_stamp`).
    first_stamp: u32,
}

impl Undo {
    /// An episode begins at `una` with `outstanding` retransmissions in flight
    /// (`tcp_init_undo`).
    pub(super) fn begin(&mut self, una: Seq, outstanding: u32) {
        self.marker = Some(una);
        self.unreported = if outstanding == 0 { -1 } else { i64::from(outstanding) };
    }

    /// The episode can no longer be undone, or was undone.
    pub(super) fn end(&mut self) {
        self.marker = None;
    }

    /// Returns `true` if the episode may still turn out to be spurious.
    pub(super) fn is_open(&self) -> bool {
        self.marker.is_some()
    }

    /// Sets whether the control can undo the reduction.
    pub(super) fn set_restorable(&mut self, restorable: bool) {
        self.restorable = restorable;
    }

    pub(super) fn is_restorable(&self) -> bool {
        self.restorable
    }

    /// Packets were retransmitted at `stamp_ms`.
    pub(super) fn count_retransmission(&mut self, packets: u32, stamp_ms: u32) {
        if self.first_stamp == 0 {
            self.first_stamp = stamp_ms;
        }
        self.unreported = self.unreported.max(0) + i64::from(packets);
    }

    /// Duplicates of packets below `end` were reported.
    pub(super) fn count_duplicates(&mut self, end: Seq, packets: u32) {
        if self.unreported > 0 && self.marker.is_some_and(|marker| end > marker) {
            self.unreported = (self.unreported - i64::from(packets)).max(0);
        }
    }

    /// When the first retransmission left, by its timestamp in ms.
    pub(super) fn first_retransmission(&self) -> Option<u32> {
        (self.first_stamp > 0).then_some(self.first_stamp)
    }

    /// No retransmission is in flight.
    pub(super) fn forget_stamp(&mut self) {
        self.first_stamp = 0;
    }

    /// Returns `true` if every retransmission was a duplicate (`tcp_try_undo_dsack`).
    pub(super) fn all_were_duplicates(&self) -> bool {
        self.marker.is_some() && self.unreported == 0
    }

    /// Returns `true` if an ACK echoes a timestamp from before the first retransmission
    /// (`tcp_packet_delayed`, Eifel).
    pub(super) fn packet_was_delayed(&self, echo: u32) -> bool {
        self.first_stamp == 0 || (echo > 0 && echo < self.first_stamp)
    }

    /// Returns `true` if the episode was spurious (`tcp_may_undo`).
    pub(super) fn was_spurious(&self, echo: u32) -> bool {
        self.marker.is_some() && (self.unreported == 0 || self.packet_was_delayed(echo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_spurious_when_each_retransmission_was_a_duplicate() {
        let mut undo = Undo::default();
        undo.begin(10, 1);
        undo.count_retransmission(2, 500);
        undo.count_duplicates(9, 1); // of a packet from before the episode
        undo.count_duplicates(12, 2);
        assert!(!undo.all_were_duplicates(), "one of three isn't accounted for");
        undo.count_duplicates(13, 1);
        assert!(undo.all_were_duplicates());
        undo.end();
        assert!(!undo.all_were_duplicates(), "once");
    }

    #[test]
    fn an_old_timestamp_answers_the_original() {
        let mut undo = Undo::default();
        undo.begin(10, 0);
        assert!(!undo.all_were_duplicates(), "none was sent");
        undo.count_retransmission(1, 500);
        undo.count_retransmission(1, 600);
        assert_eq!([499, 500, 0].map(|echo| undo.was_spurious(echo)), [true, false, false]);
    }
}
