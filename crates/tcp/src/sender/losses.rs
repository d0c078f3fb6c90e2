//! Loss detection: by RACK (Linux tcp_recovery.c, RFC 8985) and, in kernels before
//! 4.18, also by counting (RFC 6675, and FACK until 4.14).

use narrows_base::{Duration, Time};
use narrows_cc::{LostPacket, RecoveryState};

use super::connection::Connection;
use super::findings::Findings;
use super::timers::Pending;
use crate::profile::LossDetection;
use crate::rtt::TIMEOUT_MIN_US;
use crate::segment::Seq;

impl Connection {
    /// Detects losses on an ACK (`tcp_identify_packet_loss`).
    pub(super) fn identify_losses(&mut self, found: &mut Findings, suspicious: bool) {
        if self.board.packets_out() == 0 {
            return;
        }
        let retrans_out = self.board.retrans_out();
        if self.rack_mark_lost(found.now) {
            found.sets_timer = false; // RACK set its own
        }
        found.retransmission_lost |= retrans_out > self.board.retrans_out();
        let recovering = self.episode.state() == RecoveryState::Recovery;
        if self.profile.loss_detection != LossDetection::Rack && recovering && suspicious {
            self.mark_by_dupthresh(false);
        }
    }

    /// Returns `true` if the findings suffice to begin Recovery (`tcp_time_to_recover`).
    pub(super) fn is_time_to_recover(&self) -> bool {
        self.board.lost_out() > 0
            || (self.profile.loss_detection != LossDetection::Rack && self.exceeds_dupthresh())
    }

    /// Reports lost packets to a control that watches packets.
    pub(super) fn notify_losses(&mut self, now: Time) {
        for loss in self.board.take_losses() {
            self.control.on_lost(&LostPacket {
                now,
                at_send: loss.at_send,
                app_limited: loss.app_limited,
                lost_total: loss.lost_total,
                delivered: self.rate.delivered(),
            });
        }
    }

    /// Detects losses by RACK; returns whether the reordering timer was set
    /// (`tcp_rack_mark_lost`).
    fn rack_mark_lost(&mut self, now: Time) -> bool {
        if !self.rack.take_advanced() {
            return false;
        }
        let wait_us = self.rack_detect_loss(now);
        if wait_us == 0 || !self.profile.rack_timer {
            return false;
        }
        let wait_us = wait_us + TIMEOUT_MIN_US;
        self.timers.arm(Pending::Reordering, wait_us, Duration::ZERO, now);
        true
    }

    #[inline(always)] // runs for nearly every ACK in recovery
    fn rack_detect_loss(&mut self, now: Time) -> u64 {
        if !self.rack.may_detect_loss(&self.board) {
            return 0;
        }
        let window_us = self.reo_window_us();
        self.rack.detect_loss(&mut self.board, window_us, now.as_micros())
    }

    /// The reordering window, in us (`tcp_rack_reo_wnd`).
    fn reo_window_us(&self) -> u64 {
        let floor = self.profile.rack_floor_us;
        if !self.rack.reordering_seen() {
            if self.episode.state() >= RecoveryState::Recovery {
                return floor;
            }
            let rack_only = self.profile.loss_detection == LossDetection::Rack;
            if rack_only && self.board.sacked_out() >= self.rack.reordering() {
                return 0;
            }
        }
        self.rack.settling_us(self.rtt.min_us()).max(floor).min(self.rtt.srtt_us())
    }

    /// The reordering timer fired (`tcp_rack_reo_timeout`).
    pub(super) fn on_reordering_timeout(&mut self, now: Time) {
        let pipe = self.board.pipe();
        self.rack_detect_loss(now);
        self.notify_losses(now);
        if self.board.pipe() != pipe {
            if self.episode.state() != RecoveryState::Recovery {
                self.enter_recovery(false, now);
                self.reduce_cwnd(1, false);
            }
            self.retransmit_lost(now);
        }
        if self.timers.pending() != Some(Pending::Retransmission) {
            self.rearm_rto(now);
        }
    }

    /// Marks packets lost by a retransmission timeout.
    pub(super) fn mark_timed_out(&mut self, now_us: u64) {
        let spare_recent = self.profile.timeout_keeps_pipe;
        let una = self.board.una();
        for seq in una..self.board.next() {
            let timed_out = || self.rack.timed_out(self.board.get(seq), now_us);
            if !spare_recent || seq == una || timed_out() {
                self.board.mark_lost(seq);
            }
        }
    }

    /// Returns `true` if enough packets indicate a loss (`tcp_dupack_heuristics`).
    fn exceeds_dupthresh(&self) -> bool {
        let evidence = match self.profile.loss_detection {
            LossDetection::Fack if !self.rack.reordering_seen() => {
                self.board.highest_sacked() - self.board.una()
            }
            _ => self.board.sacked_out() + 1,
        };
        evidence > self.rack.reordering()
    }

    /// Marks packets lost by the count (`tcp_update_scoreboard`).
    pub(super) fn mark_by_dupthresh(&mut self, entering: bool) {
        if let Some(end) = self.lost_below(entering) {
            self.board.mark_lost_below(end);
        }
    }

    /// The packet below which all are lost by the count (`tcp_mark_head_lost`): with FACK those far
    /// enough from the highest SACKed packet, otherwise those with enough SACKed ones above.
    fn lost_below(&self, entering: bool) -> Option<Seq> {
        let reordering = self.rack.reordering().max(1);
        let una = self.board.una();
        if self.profile.loss_detection == LossDetection::Fack && !self.rack.reordering_seen() {
            let reach = self.board.highest_sacked().saturating_sub(reordering);
            let floor = una + u32::from(entering);
            return Some(reach.max(floor).min(self.board.next()));
        }
        let witness = self.board.nth_highest_sacked(reordering);
        witness.or_else(|| entering.then_some(una + 1))
    }
}
