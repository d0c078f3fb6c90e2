//! Congestion episodes: Linux's state machine, PRR and undo (tcp_input.c).

use narrows_base::Time;
use narrows_cc::{Congestion, CongestionEvent, LostPacket, RecoveryState, UndoEvent};

use super::Connection;
use super::ack::Findings;
use super::probe::Probe;
use crate::Seq;
use crate::profile::LossDetection;
use crate::scoreboard::Marks;

/// What an ACK lets the sender send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resend {
    /// Nothing (`REXMIT_NONE`).
    Nothing,
    /// Lost packets (`REXMIT_LOST`).
    Lost,
    /// New data first, to see whether a timeout was spurious (`REXMIT_NEW`).
    New,
}

/// The current or last congestion episode.
#[derive(Debug, Default)]
pub(super) struct Episode {
    /// It ends when this packet number is acknowledged.
    pub(super) high_seq: Seq,
    /// `snd_una` when it began, while it may still be undone.
    pub(super) undo_marker: Option<Seq>,
    /// Retransmissions not yet reported as duplicates; -1: none was sent.
    undo_retrans: i64,
    /// Whether the control can restore what it had (`prior_ssthresh != 0`).
    undoable: bool,
    /// Timestamp of the first retransmission in ms, 0 if none.
    pub(super) retrans_stamp: u32,
    prior_cwnd: u32,
    prr_delivered: u64,
    pub(super) prr_out: u64,
    /// Timeouts since `snd_una` advanced.
    pub(super) retransmits: u32,
    /// Whether F-RTO still looks if the timeout was spurious (RFC 5682).
    frto: bool,
    pub(super) probe: Option<Probe>,
}

impl Episode {
    /// Duplicates of packets below `end` were reported.
    pub(super) fn count_duplicates(&mut self, end: Seq, packets: u32) {
        if self.undo_retrans > 0 && self.undo_marker.is_some_and(|marker| end > marker) {
            self.undo_retrans = (self.undo_retrans - i64::from(packets)).max(0);
        }
    }

    /// `packets` were retransmitted at `stamp_ms`.
    pub(super) fn count_retransmission(&mut self, packets: u32, stamp_ms: u32) {
        if self.retrans_stamp == 0 {
            self.retrans_stamp = stamp_ms;
        }
        self.undo_retrans = self.undo_retrans.max(0) + i64::from(packets);
    }

    fn start_undo(&mut self, una: Seq, retrans_out: u32) {
        self.undo_marker = Some(una);
        let probes = u32::from(self.probe.is_some_and(|probe| probe.retransmission));
        let outstanding = i64::from(retrans_out + probes);
        self.undo_retrans = if outstanding == 0 { -1 } else { outstanding };
    }

    /// An ACK echoes a timestamp from before the first retransmission
    /// (`tcp_packet_delayed`, Eifel).
    fn packet_was_delayed(&self, echo: u32) -> bool {
        self.retrans_stamp == 0 || (echo > 0 && echo < self.retrans_stamp)
    }

    fn may_undo(&self, echo: u32) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == 0 || self.packet_was_delayed(echo))
    }
}

impl Connection {
    /// Runs the state machine on a suspicious ACK (`tcp_fastretrans_alert`).
    pub(super) fn alert(&mut self, found: &mut Findings, duplicate: bool) -> Resend {
        if found.ece {
            self.episode.undoable = false;
        }
        self.leave_finished_episode(found);
        match self.state {
            RecoveryState::Recovery => {
                if !self.continue_recovery(found) {
                    return Resend::Nothing;
                }
            }
            RecoveryState::Loss => {
                let resend = self.process_loss(found, duplicate);
                self.identify_losses(found, duplicate);
                if self.state != RecoveryState::Open && !found.retransmission_lost {
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
        if self.state == RecoveryState::Open {
            self.episode.retrans_stamp = 0;
            return;
        }
        if self.board.una < self.episode.high_seq {
            return;
        }
        match self.state {
            // CWR is held until something above the mark is acknowledged.
            RecoveryState::Cwr if self.board.una != self.episode.high_seq => {
                self.end_reduction();
                self.state = RecoveryState::Open;
            }
            RecoveryState::Recovery => {
                let reduced = !self.try_undo_recovery(found);
                if reduced && self.episode.undo_marker.is_some() {
                    self.end_reduction();
                }
            }
            _ => {}
        }
    }

    /// Sets the window to where the reduction leads (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self) {
        if !self.cc_owns_recovery {
            self.cwnd = self.control.cwnd;
        }
    }

    /// An ACK in Recovery; false: nothing may be resent on it.
    fn continue_recovery(&mut self, found: &mut Findings) -> bool {
        if found.una_advanced && self.try_undo_partial(found) {
            return false;
        }
        if self.try_undo_dsack(found) {
            self.try_to_open(found);
        }
        self.identify_losses(found, found.data_sacked);
        if self.state != RecoveryState::Recovery {
            if !self.is_time_to_recover() {
                return false;
            }
            self.enter_recovery(found.ece, found.now);
        }
        true
    }

    /// Looks for losses outside Recovery, and starts it if there are any.
    fn maybe_start_recovery(&mut self, found: &mut Findings, duplicate: bool) -> bool {
        if self.state <= RecoveryState::Disorder {
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

    fn identify_losses(&mut self, found: &mut Findings, suspicious: bool) {
        if self.board.packets_out() == 0 {
            return;
        }
        let retrans_out = self.board.retrans_out;
        if self.rack_mark_lost(found.now) {
            found.keep_timer();
        }
        found.retransmission_lost |= retrans_out > self.board.retrans_out;
        let recovering = self.state == RecoveryState::Recovery;
        if self.profile.loss_detection != LossDetection::Rack && recovering && suspicious {
            self.mark_by_dupthresh(false);
        }
    }

    fn is_time_to_recover(&self) -> bool {
        self.board.lost_out > 0
            || (self.profile.loss_detection != LossDetection::Rack && self.exceeds_dupthresh())
    }

    /// Begins Recovery (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, ece: bool, now: Time) {
        if !self.any_retransmission() {
            self.episode.retrans_stamp = 0;
        }
        self.episode.undoable = false;
        self.episode.start_undo(self.board.una, self.board.retrans_out);
        if !self.state.is_reducing() {
            self.episode.undoable = !ece;
            self.start_reduction(Congestion::Loss, now);
        }
        self.state = RecoveryState::Recovery;
    }

    /// Begins a reduction (`tcp_init_cwnd_reduction`).
    pub(super) fn start_reduction(&mut self, kind: Congestion, now: Time) {
        self.episode.high_seq = self.board.next;
        self.episode.probe = None;
        self.episode.prior_cwnd = self.cwnd;
        self.episode.prr_delivered = 0;
        self.episode.prr_out = 0;
        self.ecn.owe_cwr();
        self.tell_congestion(kind, now);
    }

    pub(super) fn tell_congestion(&mut self, kind: Congestion, now: Time) {
        self.tell_losses(now);
        let event = CongestionEvent {
            now,
            kind,
            state: self.state,
            cwnd: self.cwnd,
            in_flight: self.board.pipe(),
            mss: self.mss,
            delivered: self.rate.delivered,
            lost_total: self.board.lost_total,
            progress: self.board.progress(),
        };
        self.cc.on_congestion(&event);
        self.refresh_control();
    }

    /// Tells a control that watches packets which were marked lost.
    pub(super) fn tell_losses(&mut self, now: Time) {
        let Some(watch) = &mut self.board.watch else { return };
        for loss in watch.take_losses() {
            self.cc.on_lost(&LostPacket {
                now,
                at_send: loss.at_send,
                app_limited: loss.app_limited,
                lost_total: loss.lost_total,
                delivered: self.rate.delivered,
            });
        }
    }

    /// Whether PRR's window is in force instead of the control's.
    pub(super) fn is_reducing(&self) -> bool {
        self.state.is_reducing() && !self.cc_owns_recovery
    }

    /// Proportional rate reduction (`tcp_cwnd_reduction`, RFC 6937, RFC 9937).
    pub(super) fn reduce_cwnd(&mut self, delivered: u32, slow_start: bool) {
        if delivered == 0 || self.cc_owns_recovery {
            return;
        }
        let ssthresh = i64::from(self.control.ssthresh);
        let pipe = i64::from(self.board.pipe());
        self.episode.prr_delivered += u64::from(delivered);
        let sent = self.episode.prr_out.cast_signed();
        let arrived = self.episode.prr_delivered.cast_signed();
        let delta = ssthresh - pipe;
        let mut send = if delta < 0 {
            let prior = i64::from(self.episode.prior_cwnd.max(1));
            (ssthresh * arrived + prior - 1) / prior - sent
        } else if self.profile.prr_on_una {
            delta.min((arrived - sent).max(i64::from(delivered)) + i64::from(slow_start))
        } else if slow_start {
            delta.min((arrived - sent).max(i64::from(delivered)) + 1)
        } else {
            delta.min(i64::from(delivered))
        };
        send = send.max(i64::from(sent == 0));
        self.cwnd = u32::try_from(pipe + send).unwrap_or(0);
    }

    /// Whether PRR may grow by one packet more than was delivered.
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
            self.episode.retrans_stamp = 0;
        }
        if found.ece {
            self.enter_cwr(found.now);
        }
        if self.state != RecoveryState::Cwr {
            self.try_keep_open();
        }
    }

    fn enter_cwr(&mut self, now: Time) {
        self.episode.undoable = false;
        if self.state < RecoveryState::Cwr {
            self.episode.undo_marker = None;
            self.start_reduction(Congestion::Ecn, now);
            self.state = RecoveryState::Cwr;
        }
    }

    pub(super) fn try_keep_open(&mut self) {
        let quiet = self.board.left_out() == 0 && !self.any_retransmission();
        let state = if quiet { RecoveryState::Open } else { RecoveryState::Disorder };
        if self.state != state {
            self.state = state;
            self.episode.high_seq = self.board.next;
        }
    }

    /// Whether a retransmission is out or the head was retransmitted.
    fn any_retransmission(&self) -> bool {
        self.board.retrans_out > 0
            || (self.board.packets_out() > 0
                && self.board.get(self.board.una).marks.has(Marks::EVER_RETRANS))
    }

    /// Takes the reduction back (`tcp_undo_cwnd_reduction`).
    fn undo(&mut self, unmark_loss: bool, found: &Findings) {
        if unmark_loss {
            self.board.unmark_lost();
        }
        if self.episode.undoable {
            let event = UndoEvent {
                now: found.now,
                cwnd: self.cwnd,
                delivered: self.rate.delivered,
                lost_total: self.board.lost_total,
            };
            self.cc.on_undo(&event);
            self.refresh_control();
            self.cwnd = self.control.cwnd;
            self.ecn.withdraw_cwr();
        }
        self.window.stamp(self.jiffies.at(found.now));
        self.episode.undo_marker = None;
        self.rack.advanced = true;
    }

    /// Ends Recovery or Loss, undone if it was spurious; returns whether it was.
    fn try_undo_recovery(&mut self, found: &Findings) -> bool {
        let spurious = self.episode.may_undo(found.echo);
        if spurious {
            self.undo(false, found);
        } else {
            self.rack.recovered();
        }
        self.state = RecoveryState::Open;
        spurious
    }

    fn try_undo_dsack(&mut self, found: &Findings) -> bool {
        let spurious = self.episode.undo_marker.is_some() && self.episode.undo_retrans == 0;
        if spurious {
            self.rack.undone_by_dsack();
            self.undo(false, found);
        }
        spurious
    }

    /// A partial ACK of data that was merely late; true: wait for more.
    fn try_undo_partial(&mut self, found: &Findings) -> bool {
        if self.episode.undo_marker.is_none() || !self.episode.packet_was_delayed(found.echo) {
            return false;
        }
        self.rack.note_reordering(found.prior_una, self.board.highest_sacked());
        if self.board.retrans_out > 0 {
            return true;
        }
        if !self.any_retransmission() {
            self.episode.retrans_stamp = 0;
        }
        self.undo(true, found);
        self.try_keep_open();
        false
    }

    fn try_undo_loss(&mut self, by_frto: bool, found: &Findings) -> bool {
        if !by_frto && !self.episode.may_undo(found.echo) {
            return false;
        }
        self.undo(true, found);
        self.episode.retransmits = 0;
        self.state = RecoveryState::Open;
        true
    }

    /// An ACK after a timeout (`tcp_process_loss`), with F-RTO's test whether the
    /// timeout was spurious (RFC 5682 section 3.1).
    fn process_loss(&mut self, found: &Findings, duplicate: bool) -> Resend {
        let recovered = self.board.una >= self.episode.high_seq;
        if found.una_advanced && self.try_undo_loss(false, found) {
            return Resend::Nothing;
        }
        if self.episode.frto {
            if found.original_arrived && self.try_undo_loss(true, found) {
                return Resend::Nothing;
            }
            if self.board.next > self.episode.high_seq {
                if found.data_sacked || duplicate {
                    self.episode.frto = false;
                }
            } else if found.una_advanced && !recovered {
                self.episode.high_seq = self.board.next;
                if self.has_sendable_data() {
                    return Resend::New;
                }
                self.episode.frto = false;
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
        let new_recovery = self.state < RecoveryState::Recovery;
        self.mark_timed_out(now.as_micros());
        let reduce = self.state <= RecoveryState::Disorder
            || self.board.una >= self.episode.high_seq
            || (self.state == RecoveryState::Loss && self.episode.retransmits == 0);
        if reduce {
            self.episode.undoable = true;
            self.episode.prior_cwnd = self.cwnd;
            self.episode.start_undo(self.board.una, self.board.retrans_out);
        }
        self.tell_congestion(Congestion::Timeout { reduce }, now);
        self.cwnd = self.control.cwnd;
        self.window.stamp(self.jiffies.at(now));
        if self.state <= RecoveryState::Disorder && self.board.sacked_out >= super::rack::DUPTHRESH
        {
            self.rack.reordering = self.rack.reordering.min(super::rack::DUPTHRESH);
        }
        self.state = RecoveryState::Loss;
        self.episode.high_seq = self.board.next;
        self.episode.probe = None;
        self.ecn.owe_cwr();
        self.episode.frto = new_recovery || self.episode.retransmits > 0;
    }

    fn mark_timed_out(&mut self, now_us: u64) {
        let spare_recent = self.profile.timeout_keeps_pipe;
        for seq in self.board.una..self.board.next {
            if !spare_recent || seq == self.board.una || self.timed_out(seq, now_us) {
                self.board.mark_lost(seq);
            }
        }
    }

    /// Sends again what an ACK allows (`tcp_xmit_recovery`).
    pub(super) fn resend(&mut self, resend: Resend, now: Time) {
        match resend {
            Resend::Nothing => return,
            Resend::Lost => {}
            Resend::New => {
                self.write(now);
                if self.board.next > self.episode.high_seq {
                    return;
                }
                self.episode.frto = false; // the new data showed nothing
            }
        }
        self.retransmit_lost(now);
    }
}
