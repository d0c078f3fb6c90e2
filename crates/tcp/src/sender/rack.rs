//! RACK: a packet is lost if one sent later has arrived and enough time has
//! passed (Linux tcp_recovery.c, RFC 8985).

use narrows_base::Time;
use narrows_cc::RecoveryState;

use super::Connection;
use crate::Seq;
use crate::profile::{LossDetection, TcpProfile};
use crate::scoreboard::{Marks, Sent};

/// `TCP_RACK_RECOVERY_THRESH`: recoveries for which a widened window persists.
const PERSIST: u32 = 16;
/// `tcp_reordering`: the duplicate threshold.
pub(super) const DUPTHRESH: u32 = 3;
/// `tcp_max_reordering`.
const MAX_REORDERING: u32 = 300;
/// `TCP_TIMEOUT_MIN_US`: slack of the coarse timers.
pub(super) const TIMEOUT_MIN_US: u64 = 2_000;

/// RACK's state and what is known of reordering.
#[derive(Debug)]
pub(super) struct Rack {
    /// Send time of the most recently sent packet known to have arrived, in us.
    sent_us: u64,
    seq: Seq,
    rtt_us: u64,
    /// Something arrived since the last search for losses.
    pub(super) advanced: bool,
    reo_steps: u64,
    persist: u32,
    pub(super) dsack_seen: bool,
    last_delivered: u64,
    pub(super) reordering_seen: bool,
    /// `tp->reordering`: largest reordering seen, in packets.
    pub(super) reordering: u32,
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
            reordering_seen: false,
            reordering: DUPTHRESH,
        }
    }
}

impl Rack {
    /// Starts with the reordering that an earlier connection saw; it also ends FACK
    /// (`tcp_init_metrics`, until 4.15).
    pub(super) fn recall(&mut self, reordering: Option<u32>, profile: &TcpProfile) {
        if let Some(packets) = reordering {
            self.reordering = packets;
            self.reordering_seen |= profile.loss_detection == LossDetection::Fack;
        }
    }

    /// What later connections should know of reordering, if it isn't the usual.
    pub(super) fn unusual_reordering(&self) -> Option<u32> {
        (self.reordering != DUPTHRESH).then_some(self.reordering)
    }

    /// A packet arrived (`tcp_rack_advance`).
    pub(super) fn advance(&mut self, seq: Seq, sent: &Sent, now_us: u64, min_rtt_us: u64) {
        let rtt_us = now_us.saturating_sub(sent.sent_us);
        if rtt_us < min_rtt_us && sent.marks.has(Marks::EVER_RETRANS) {
            // It can't be told whether the original or the retransmission arrived.
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
    fn remaining_us(&self, sent: &Sent, reo_window_us: u64, now_us: u64) -> i64 {
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

    /// A recovery ended that wasn't undone.
    pub(super) fn recovered(&mut self) {
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
        self.reordering_seen = true;
    }
}

impl Connection {
    /// The settling time that reordering is granted, in us (`tcp_rack_reo_wnd`).
    fn reo_window_us(&self) -> u64 {
        let floor = self.profile.rack_floor_us;
        if !self.rack.reordering_seen {
            if self.state >= RecoveryState::Recovery {
                return floor;
            }
            let rack_only = self.profile.loss_detection == LossDetection::Rack;
            if rack_only && self.board.sacked_out >= self.rack.reordering {
                return 0;
            }
        }
        let settle = (self.rtt.min_us() >> 2).saturating_mul(self.rack.reo_steps);
        settle.max(floor).min(self.rtt.srtt_us())
    }

    /// Marks what RACK holds for lost; returns the longest wait of the others in us
    /// (`tcp_rack_detect_loss`).
    fn rack_detect_loss(&mut self, now_us: u64) -> u64 {
        let reo_window_us = self.reo_window_us();
        let mut longest = 0;
        let mut cursor = self.board.oldest_sent();
        while let Some(seq) = cursor {
            cursor = self.board.sent_after(seq);
            let sent = *self.board.get(seq);
            if sent.marks.has(Marks::LOST) && !sent.marks.has(Marks::RETRANS) {
                continue;
            }
            if (sent.sent_us, seq) >= (self.rack.sent_us, self.rack.seq) {
                break;
            }
            let remaining = self.rack.remaining_us(&sent, reo_window_us, now_us);
            if remaining <= 0 {
                self.board.mark_lost(seq);
                self.board.leave_order(seq);
            } else {
                longest = longest.max(remaining.unsigned_abs());
            }
        }
        longest
    }

    /// Looks for losses on an ACK; returns whether the reordering timer was set
    /// (`tcp_rack_mark_lost`).
    pub(super) fn rack_mark_lost(&mut self, now: Time) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait_us = self.rack_detect_loss(now.as_micros());
        if wait_us == 0 || !self.profile.rack_timer {
            return false;
        }
        let ticks = self.jiffies.ceil_micros(wait_us + TIMEOUT_MIN_US);
        self.arm_reordering_timer(now, ticks);
        true
    }

    /// The reordering timer fired (`tcp_rack_reo_timeout`).
    pub(super) fn on_reordering_timeout(&mut self, now: Time) {
        let pipe = self.board.pipe();
        self.rack_detect_loss(now.as_micros());
        self.tell_losses(now);
        if self.board.pipe() != pipe {
            if self.state != RecoveryState::Recovery {
                self.enter_recovery(false, now);
                self.reduce_cwnd(1, false);
            }
            self.retransmit_lost(now);
        }
        if !self.rto_is_pending() {
            self.rearm_rto(now);
        }
    }

    /// Whether a packet sent that long ago is lost when the RTO fires
    /// (`tcp_timeout_mark_lost`: recent ones are spared).
    pub(super) fn timed_out(&self, seq: Seq, now_us: u64) -> bool {
        self.rack.remaining_us(self.board.get(seq), 0, now_us) <= 0
    }
}
