//! Tail loss probes: if nothing comes back for two round trips, one packet elicits an answer (RFC
//! 8985 section 7).

use narrows_base::Time;
use narrows_cc::{Congestion, RecoveryState};

use super::connection::Connection;
use super::findings::Findings;
use super::tail_probe::ProbeEnd;
use super::timers::Pending;
use super::transmit::Push;
use crate::rtt::{RTO_MIN_US, TIMEOUT_MIN_US};
use crate::segment::Seq;

impl Connection {
    /// Arms the loss probe, if one may be sent (`tcp_schedule_loss_probe`, RFC 8985
    /// section 7).
    #[inline(always)] // it has two callers, and runs for every ACK
    pub(super) fn schedule_loss_probe(&mut self, advancing_rto: bool, now: Time) -> bool {
        if !self.may_probe() {
            return false;
        }
        let timeout_us = self.probe_timeout_us();
        let rto_us = if advancing_rto { self.rtt.rto_us() } else { self.rto_delta_us(now) };
        let sooner_us = if rto_us > 0 { timeout_us.min(rto_us) } else { timeout_us };
        self.timers.arm(Pending::LossProbe, sooner_us, self.pacer.delay(now), now);
        true
    }

    /// Returns `true` if a loss probe may be scheduled, that is, no repair is in progress.
    pub(super) fn may_probe(&self) -> bool {
        let calm = matches!(self.episode.state(), RecoveryState::Open | RecoveryState::Cwr);
        calm && self.sysctls.loss_probes && self.board.packets_out() > 0
    }

    fn probe_timeout_us(&self) -> u64 {
        let two_rtt = self.rtt.srtt8() >> 2;
        let single = self.board.packets_out() == 1;
        match (self.profile.tlp_two_rtt, single) {
            (true, true) => two_rtt + RTO_MIN_US,
            (true, false) => two_rtt + TIMEOUT_MIN_US,
            (false, true) => (self.rtt.srtt_us() * 3 / 2 + RTO_MIN_US).max(10_000),
            (false, false) => two_rtt.max(10_000),
        }
    }

    /// Sends new data, or the last packet again (`tcp_send_loss_probe`).
    pub(super) fn send_loss_probe(&mut self, now: Time) {
        if !self.probe.is_out() && self.board.packets_out() > 0 {
            let out = self.board.packets_out();
            if self.has_sendable_data() {
                self.write_some(Push::Probe, now);
                if self.board.packets_out() > out {
                    self.note_probe(false);
                }
            } else if !self.is_refused(now) && !self.is_in_host_queue(self.board.next() - 1) {
                self.resend_burst(self.board.next() - 1, 1, now);
                self.note_probe(true);
            }
        }
        self.rearm_rto(now);
    }

    fn note_probe(&mut self, retransmission: bool) {
        self.probe.send(self.board.next(), retransmission);
        // So that the RTO starts from now.
        self.timers.disarm();
    }

    /// Ends a tail loss probe (`tcp_process_tlp_ack`).
    #[inline]
    pub(super) fn finish_probe(&mut self, ack: Seq, found: &Findings) {
        if self.probe.is_out() {
            self.judge_probe(ack, found);
        }
    }

    #[inline(never)] // hardly ever is one out
    fn judge_probe(&mut self, ack: Seq, found: &Findings) {
        let duplicate = !(found.una_advanced || found.is_not_dup() || found.data_sacked);
        match self.probe.judge(ack, found.dsack_of_probe, duplicate) {
            ProbeEnd::Open => {}
            ProbeEnd::NoLoss => self.probe.forget(),
            ProbeEnd::Repaired => {
                self.start_reduction(Congestion::TailLoss, found.now);
                self.end_reduction();
                self.episode.enter(RecoveryState::Cwr);
                self.try_keep_open();
            }
        }
    }
}
