//! RACK: a packet is lost if one sent later has arrived and enough time has
//! passed (Linux tcp_recovery.c, RFC 8985).

use crate::profile::{LossDetection, TcpProfile};
use crate::scoreboard::{Marks, Scoreboard, SentPacket};
use crate::segment::Seq;

/// `TCP_RACK_RECOVERY_THRESH`: recoveries for which a widened window persists.
const PERSIST: u32 = 16;
/// `tcp_reordering`: the duplicate threshold.
const DUPTHRESH: u32 = 3;
/// `tcp_max_reordering`.
const MAX_REORDERING: u32 = 300;

/// RACK's state and the measured reordering.
#[derive(Debug)]
pub(super) struct Rack {
    /// Send time of the most recently sent packet known to have arrived, in us.
    sent_us: u64,
    seq: Seq,
    rtt_us: u64,
    /// True if something arrived since the last detection.
    advanced: bool,
    reo_steps: u64,
    persist: u32,
    dsack_seen: bool,
    last_delivered: u64,
    /// How often reordering was seen (`tp->reord_seen`).
    reordering_seen: u32,
    /// `tp->reordering`: largest reordering seen, in packets.
    reordering: u32,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_us: 0,
            seq: 0,
            rtt_us: 0,
            advanced: false,
            reo_steps: 1,
            persist: 0,
            dsack_seen: false,
            last_delivered: 0,
            reordering_seen: 0,
            reordering: DUPTHRESH,
        }
    }
}

impl Rack {
    /// Starts with the reordering of an earlier connection, which also disables FACK
    /// (`tcp_init_metrics`, until 4.15).
    pub(super) fn recall(&mut self, reordering: Option<u32>, profile: &TcpProfile) {
        if let Some(packets) = reordering {
            self.reordering = packets;
            self.reordering_seen += u32::from(profile.loss_detection == LossDetection::Fack);
        }
    }

    /// The reordering for later connections, if it isn't the default.
    pub(super) fn unusual_reordering(&self) -> Option<u32> {
        (self.reordering != DUPTHRESH).then_some(self.reordering)
    }

    /// A packet arrived (`tcp_rack_advance`).
    pub(super) fn advance(&mut self, seq: Seq, sent: &SentPacket, now_us: u64, min_rtt_us: u64) {
        let rtt_us = now_us.saturating_sub(sent.sent_us);
        if rtt_us < min_rtt_us && sent.marks.has(Marks::EVER_RETRANS) {
            // It is ambiguous whether the original or the retransmission arrived.
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        if (sent.sent_us, seq) > (self.sent_us, self.seq) {
            self.sent_us = sent.sent_us;
            self.seq = seq;
        }
    }

    /// Time that `sent` may still take before it is lost, in us; negative if none.
    fn remaining_us(&self, sent: &SentPacket, reo_window_us: u64, now_us: u64) -> i64 {
        let elapsed = now_us.saturating_sub(sent.sent_us);
        (self.rtt_us + reo_window_us).cast_signed() - elapsed.cast_signed()
    }

    /// Widens the window after a DSACK, once a round trip (`tcp_rack_update_reo_wnd`).
    pub(super) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered == 0 {
            return;
        }
        if prior_delivered < self.last_delivered {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.reo_steps = (self.reo_steps + 1).min(255);
            self.dsack_seen = false;
            self.last_delivered = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.reo_steps = 1;
        }
    }

    /// A recovery ended without an undo.
    pub(super) fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by DSACKs.
    pub(super) fn undone_by_dsack(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// A lower packet arrived after a higher one (`tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, low: Seq, highest_sacked: Seq) {
        if low >= highest_sacked {
            return;
        }
        self.reordering = self.reordering.max((highest_sacked - low).min(MAX_REORDERING));
        self.reordering_seen += 1;
    }

    /// A duplicate was reported, which with reordering widens the window.
    pub(super) fn note_dsack(&mut self) {
        self.dsack_seen |= self.reordering_seen > 0;
    }

    /// Returns `true` once reordering was seen.
    pub(super) fn reordering_seen(&self) -> bool {
        self.reordering_seen > 0
    }

    /// How often it was.
    pub(super) fn reorderings(&self) -> u32 {
        self.reordering_seen
    }

    /// The largest reordering seen, in packets; initially the default threshold.
    pub(super) fn reordering(&self) -> u32 {
        self.reordering
    }

    /// Returns `true` once reordering exceeded the default threshold.
    pub(super) fn is_reordering_large(&self) -> bool {
        self.reordering > DUPTHRESH
    }

    /// A timeout occurred despite enough SACKed packets, so the threshold was too large
    /// (`tcp_enter_loss`).
    pub(super) fn note_timeout(&mut self, sacked_out: u32) {
        if sacked_out >= DUPTHRESH {
            self.reordering = self.reordering.min(DUPTHRESH);
        }
    }

    /// Returns `true` if something arrived since the last call.
    pub(super) fn take_advanced(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Lets the next ACK detect losses, after an episode was undone.
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// The reordering window from the lowest RTT and the steps added by DSACKs, in us.
    pub(super) fn settling_us(&self, min_rtt_us: u64) -> u64 {
        (min_rtt_us >> 2).saturating_mul(self.reo_steps)
    }

    /// Returns `true` if a walk in the order of transmission goes beyond the packet that left
    /// first. If that packet didn't leave before the last one that arrived, nothing can be lost.
    #[inline]
    pub(super) fn may_detect_loss(&self, board: &Scoreboard) -> bool {
        board.oldest_sent().is_some_and(|seq| {
            let sent = board.get(seq);
            sent.marks.waits_for_retransmission() || self.is_later(seq, sent)
        })
    }

    /// Returns `true` if a packet that left after this one arrived.
    #[inline]
    fn is_later(&self, seq: Seq, sent: &SentPacket) -> bool {
        (self.sent_us, self.seq) > (sent.sent_us, seq)
    }

    /// Marks lost packets; returns the longest remaining time of the others in us
    /// (`tcp_rack_detect_loss`).
    pub(super) fn detect_loss(&self, board: &mut Scoreboard, window_us: u64, now_us: u64) -> u64 {
        let mut longest = 0;
        let mut cursor = board.oldest_sent();
        while let Some(seq) = cursor {
            cursor = board.sent_after(seq);
            let sent = *board.get(seq);
            if sent.marks.waits_for_retransmission() {
                continue;
            }
            if !self.is_later(seq, &sent) {
                break;
            }
            let remaining = self.remaining_us(&sent, window_us, now_us);
            if remaining <= 0 {
                board.mark_lost(seq);
                board.leave_order(seq);
            } else {
                longest = longest.max(remaining.unsigned_abs());
            }
        }
        longest
    }

    /// Returns `true` if a packet sent this long ago counts as lost when the RTO fires
    /// (`tcp_timeout_mark_lost`: recent ones are spared).
    pub(super) fn timed_out(&self, sent: &SentPacket, now_us: u64) -> bool {
        self.remaining_us(sent, 0, now_us) <= 0
    }
}
