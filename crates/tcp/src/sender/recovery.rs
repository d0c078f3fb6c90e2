//! Congestion episodes: Linux's state machine (tcp_input.c).

use narrows_base::Time;
use narrows_cc::{Congestion, CongestionEvent, RecoveryState, UndoEvent};

use super::connection::Connection;
use super::findings::{Findings, Resend};
use super::prr::Reduction;
use crate::profile::LossDetection;
use crate::scoreboard::Marks;

impl Connection {
    /// Runs the state machine on a suspicious ACK (`tcp_fastretrans_alert`).
    pub(super) fn alert(&mut self, found: &mut Findings, duplicate: bool) -> Resend {
        if found.ece {
            self.undo.set_restorable(false);
        }
        self.leave_finished_episode(found);
        match self.episode.state() {
            RecoveryState::Recovery => {
                if !self.continue_recovery(found) {
                    return Resend::Nothing;
                }
            }
            RecoveryState::Loss => {
                let resend = self.process_loss(found, duplicate);
                self.identify_losses(found, duplicate);
                if self.episode.state() != RecoveryState::Open && !found.retransmission_lost {
                    return resend;
                }
                if !self.maybe_start_recovery(found, duplicate) {
                    return resend;
                }
            }
            _ => {
                if !self.maybe_start_recovery(found, duplicate) {
                    return Resend::Nothing;
                }
            }
        }
        Resend::Lost
    }

    /// Ends CWR or Recovery when everything from before it is acknowledged.
    fn leave_finished_episode(&mut self, found: &Findings) {
        let una = self.board.una();
        if self.episode.state() == RecoveryState::Open {
            self.undo.forget_stamp();
            return;
        }
        if self.episode.covers(una) {
            return;
        }
        match self.episode.state() {
            // CWR lasts until something above the mark is acknowledged.
            RecoveryState::Cwr if self.episode.is_behind(una) => {
                self.end_reduction();
                self.episode.enter(RecoveryState::Open);
            }
            RecoveryState::Recovery => {
                let reduced = !self.try_undo_recovery(found);
                if reduced && self.undo.is_open() {
                    self.end_reduction();
                }
            }
            _ => {}
        }
    }

    /// Sets the window to the reduction's target (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self) {
        if !self.control.needs().own_recovery {
            self.cwnd = self.control.cwnd();
        }
    }

    /// Handles an ACK in Recovery; false if nothing may be retransmitted on it.
    fn continue_recovery(&mut self, found: &mut Findings) -> bool {
        if found.una_advanced && self.try_undo_partial(found) {
            return false;
        }
        if self.try_undo_dsack(found) {
            self.try_to_open(found);
        }
        self.identify_losses(found, found.data_sacked);
        if self.episode.state() != RecoveryState::Recovery {
            if !self.is_time_to_recover() {
                return false;
            }
            self.enter_recovery(found.ece, found.now);
        }
        true
    }

    /// Detects losses outside Recovery, and starts it if there are any.
    fn maybe_start_recovery(&mut self, found: &mut Findings, duplicate: bool) -> bool {
        if self.episode.state() <= RecoveryState::Disorder {
            self.try_undo_dsack(found);
        }
        self.identify_losses(found, duplicate);
        if !self.is_time_to_recover() {
            self.try_to_open(found);
            return false;
        }
        self.enter_recovery(found.ece, found.now);
        if self.profile.loss_detection != LossDetection::Rack {
            self.mark_by_dupthresh(true);
        }
        true
    }

    /// Begins Recovery (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, ece: bool, now: Time) {
        if !self.any_retransmission() {
            self.undo.forget_stamp();
        }
        self.undo.set_restorable(false);
        self.begin_undo();
        if !self.episode.state().is_reducing() {
            self.undo.set_restorable(!ece);
            self.start_reduction(Congestion::Loss, now);
        }
        self.episode.enter(RecoveryState::Recovery);
    }

    fn begin_undo(&mut self) {
        let probes = u32::from(self.probe.is_retransmission());
        self.undo.begin(self.board.una(), self.board.retrans_out() + probes);
    }

    /// Begins a reduction (`tcp_init_cwnd_reduction`).
    pub(super) fn start_reduction(&mut self, kind: Congestion, now: Time) {
        self.episode.ends_with(self.board.next());
        self.probe.forget();
        self.prr.begin(self.cwnd);
        self.output.ecn.owe_cwr();
        self.notify_congestion(kind, now);
    }

    fn notify_congestion(&mut self, kind: Congestion, now: Time) {
        self.notify_losses(now);
        self.control.on_congestion(&CongestionEvent {
            now,
            kind,
            state: self.episode.state(),
            cwnd: self.cwnd,
            in_flight: self.board.pipe(),
            mss: self.mss,
            delivered: self.rate.delivered(),
            lost_total: self.board.lost_total(),
            progress: self.board.progress(),
        });
    }

    /// Returns `true` if PRR's window is in force instead of the control's.
    pub(super) fn is_reducing(&self) -> bool {
        self.episode.state().is_reducing() && !self.control.needs().own_recovery
    }

    /// Updates the window by proportional rate reduction, if the control leaves it to PRR.
    pub(super) fn reduce_cwnd(&mut self, delivered: u32, slow_start: bool) {
        if delivered == 0 || self.control.needs().own_recovery {
            return;
        }
        self.cwnd = self.prr.reduce(Reduction {
            ssthresh: self.control.ssthresh(),
            pipe: self.board.pipe(),
            delivered,
            slow_start,
            makes_up: self.profile.prr_on_una,
        });
    }

    /// Returns `true` if PRR may grow by one packet more than the number delivered.
    pub(super) fn prr_may_grow(&self, fresh_loss: bool, found: &Findings) -> bool {
        if self.profile.prr_on_una {
            found.una_advanced && !fresh_loss
        } else {
            found.retransmission_acked && !found.retransmission_lost
        }
    }

    /// Settles on Open, Disorder or CWR (`tcp_try_to_open`).
    fn try_to_open(&mut self, found: &Findings) {
        if !self.any_retransmission() {
            self.undo.forget_stamp();
        }
        if found.ece {
            self.enter_cwr(found.now);
        }
        if self.episode.state() != RecoveryState::Cwr {
            self.try_keep_open();
        }
    }

    /// Begins CWR, unless a graver state is in force (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, now: Time) {
        self.undo.set_restorable(false);
        if self.episode.state() < RecoveryState::Cwr {
            self.undo.end();
            self.start_reduction(Congestion::Ecn, now);
            self.episode.enter(RecoveryState::Cwr);
        }
    }

    pub(super) fn try_keep_open(&mut self) {
        let quiet = self.board.left_out() == 0 && !self.any_retransmission();
        let state = if quiet { RecoveryState::Open } else { RecoveryState::Disorder };
        if self.episode.state() != state {
            self.episode.enter(state);
            self.episode.ends_with(self.board.next());
        }
    }

    /// Returns `true` if a retransmission is out or the head was retransmitted.
    fn any_retransmission(&self) -> bool {
        self.board.retrans_out() > 0
            || (self.board.packets_out() > 0
                && self.board.get(self.board.una()).marks.has(Marks::EVER_RETRANS))
    }

    /// Undoes the reduction (`tcp_undo_cwnd_reduction`).
    fn undo_reduction(&mut self, unmark_loss: bool, found: &Findings) {
        if unmark_loss {
            self.board.unmark_lost();
        }
        if self.undo.is_restorable() {
            self.control.on_undo(&UndoEvent {
                now: found.now,
                cwnd: self.cwnd,
                delivered: self.rate.delivered(),
                lost_total: self.board.lost_total(),
            });
            self.cwnd = self.control.cwnd();
            self.output.ecn.withdraw_cwr();
        }
        self.usage.stamp(found.now);
        self.undo.end();
        self.rack.look_again();
    }

    /// Ends Recovery or Loss, undone if it was spurious; returns whether it was.
    fn try_undo_recovery(&mut self, found: &Findings) -> bool {
        let spurious = self.undo.was_spurious(found.echo);
        if spurious {
            self.undo_reduction(false, found);
        } else {
            self.rack.on_recovery_end();
        }
        self.episode.enter(RecoveryState::Open);
        spurious
    }

    fn try_undo_dsack(&mut self, found: &Findings) -> bool {
        let spurious = self.undo.all_were_duplicates();
        if spurious {
            self.rack.undone_by_dsack();
            self.undo_reduction(false, found);
        }
        spurious
    }

    /// Handles a partial ACK of data that were merely late; true if the undo needs further ACKs.
    fn try_undo_partial(&mut self, found: &Findings) -> bool {
        if !self.undo.is_open() || !self.undo.packet_was_delayed(found.echo) {
            return false;
        }
        self.rack.note_reordering(found.before.una, self.board.highest_sacked());
        if self.board.retrans_out() > 0 {
            return true;
        }
        if !self.any_retransmission() {
            self.undo.forget_stamp();
        }
        self.undo_reduction(true, found);
        self.try_keep_open();
        false
    }

    fn try_undo_loss(&mut self, by_frto: bool, found: &Findings) -> bool {
        if !by_frto && !self.undo.was_spurious(found.echo) {
            return false;
        }
        self.undo_reduction(true, found);
        self.episode.forget_timeouts();
        self.episode.enter(RecoveryState::Open);
        true
    }

    /// Handles an ACK after a timeout (`tcp_process_loss`), with F-RTO's test whether the timeout
    /// was spurious (RFC 5682 section 3.1).
    fn process_loss(&mut self, found: &Findings, duplicate: bool) -> Resend {
        let recovered = !self.episode.covers(self.board.una());
        if found.una_advanced && self.try_undo_loss(false, found) {
            return Resend::Nothing;
        }
        if self.episode.tries_frto() {
            if found.original_arrived && self.try_undo_loss(true, found) {
                return Resend::Nothing;
            }
            let next = self.board.next();
            if self.episode.is_behind(next) {
                if found.data_sacked || duplicate {
                    self.episode.try_frto(false);
                }
            } else if found.una_advanced && !recovered {
                self.episode.ends_with(next);
                if self.has_sendable_data() {
                    return Resend::New;
                }
                self.episode.try_frto(false);
            }
        }
        if recovered {
            self.try_undo_recovery(found);
            return Resend::Nothing;
        }
        Resend::Lost
    }

    /// Begins Loss after a timeout (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Time) {
        let state = self.episode.state();
        let new_recovery = state < RecoveryState::Recovery;
        self.mark_timed_out(now.as_micros());
        let reduce = state <= RecoveryState::Disorder
            || !self.episode.covers(self.board.una())
            || (state == RecoveryState::Loss && self.episode.timeouts() == 0);
        if reduce {
            self.undo.set_restorable(true);
            self.prr.note_timeout(self.cwnd);
            self.begin_undo();
        }
        self.notify_congestion(Congestion::Timeout { reduce }, now);
        self.cwnd = self.control.cwnd();
        self.usage.stamp(now);
        if state <= RecoveryState::Disorder {
            self.rack.note_timeout(self.board.sacked_out());
        }
        self.episode.enter(RecoveryState::Loss);
        self.episode.ends_with(self.board.next());
        self.probe.forget();
        self.output.ecn.owe_cwr();
        self.episode.try_frto(new_recovery || self.episode.timeouts() > 0);
    }

    /// Retransmits what an ACK allows (`tcp_xmit_recovery`).
    pub(super) fn resend(&mut self, resend: Resend, now: Time) {
        match resend {
            Resend::Nothing => return,
            Resend::Lost => {}
            Resend::New => {
                self.write(now);
                if self.episode.is_behind(self.board.next()) {
                    return;
                }
                self.episode.try_frto(false); // there were no new data to test with
            }
        }
        self.retransmit_lost(now);
    }
}
