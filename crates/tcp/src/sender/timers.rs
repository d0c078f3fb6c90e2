//! The sender's timers: one slot for RTO, loss probe and reordering, as in Linux,
//! and one for pacing.

use narrows_base::Time;

use super::Connection;
use crate::timer::fires_at;

/// What the retransmission timer waits for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Retransmission,
    LossProbe,
    Reordering,
}

/// All timers of a connection.
#[derive(Debug, Default)]
pub(super) struct Timers {
    pub(super) retransmit: Option<(Pending, Time)>,
    pub(super) pacing: Option<Time>,
}

impl Timers {
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        let retransmit = self.retransmit.map(|(_, at)| at);
        Time::earlier(retransmit, self.pacing)
    }

    #[inline]
    pub(super) fn are_due(&self, now: Time) -> bool {
        self.next().is_some_and(|at| at <= now)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Connection {
    #[inline(never)] // so that asking for a packet stays small
    pub(super) fn fire_timers(&mut self, now: Time) {
        if self.timers.pacing.is_some_and(|at| at <= now) {
            self.timers.pacing = None;
            // `tcp_tsq_handler`: lost packets first, then new ones.
            if self.board.lost_out > self.board.retrans_out {
                self.retransmit_lost(now);
            }
            self.write(now);
        }
        let Some((pending, at)) = self.timers.retransmit else { return };
        if at > now {
            return;
        }
        match pending {
            Pending::Reordering => {
                self.on_reordering_timeout(now);
            }
            Pending::LossProbe => self.send_loss_probe(now),
            Pending::Retransmission => {
                self.timers.retransmit = None;
                self.on_retransmission_timeout(now);
            }
        }
    }

    pub(super) fn arm(&mut self, pending: Pending, ticks: u64, now: Time) {
        // Packets that wait for pacing haven't left yet (`tcp_reset_xmit_timer`).
        let ticks = ticks + self.jiffies.floor_micros(self.pacer.delay(now).as_micros());
        self.timers.retransmit = Some((pending, fires_at(self.jiffies, now, ticks.max(1))));
    }

    pub(super) fn arm_reordering_timer(&mut self, now: Time, ticks: u64) {
        self.timers.retransmit =
            Some((Pending::Reordering, fires_at(self.jiffies, now, ticks.max(1))));
    }

    pub(super) fn rto_is_pending(&self) -> bool {
        matches!(self.timers.retransmit, Some((Pending::Retransmission, _)))
    }

    pub(super) fn reordering_is_pending(&self) -> bool {
        matches!(self.timers.retransmit, Some((Pending::Reordering, _)))
    }

    pub(super) fn probe_is_pending(&self) -> bool {
        matches!(self.timers.retransmit, Some((Pending::LossProbe, _)))
    }

    /// Starts the timer after progress: a probe if one is due first, else the RTO
    /// (`tcp_set_xmit_timer`).
    pub(super) fn set_timer(&mut self, now: Time) {
        if !self.schedule_loss_probe(true, now) {
            self.rearm_rto(now);
        }
    }

    /// Time until the head's RTO runs out, in us (`tcp_rto_delta_us`).
    pub(super) fn rto_delta_us(&self, now: Time) -> u64 {
        let head_us = self.board.get(self.board.una).sent_us;
        (head_us + self.rtt.rto_us()).saturating_sub(now.as_micros())
    }

    /// Starts the RTO (`tcp_rearm_rto`).
    pub(super) fn rearm_rto(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.timers.retransmit = None;
            return;
        }
        let ticks = match self.timers.retransmit {
            Some((Pending::Reordering | Pending::LossProbe, _)) => {
                self.jiffies.ceil_micros(self.rto_delta_us(now).max(1))
            }
            _ => self.rtt.rto_ticks(),
        };
        self.arm(Pending::Retransmission, ticks, now);
    }

    /// Restarts the whole RTO from now, after the head was retransmitted.
    pub(super) fn restart_rto(&mut self, now: Time) {
        self.arm(Pending::Retransmission, self.rtt.rto_ticks(), now);
    }

    /// The RTO ran out (`tcp_retransmit_timer`).
    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            return;
        }
        self.counters.timeouts += 1;
        self.enter_loss(now);
        self.episode.retransmits += 1;
        self.retransmit_burst(self.board.una, 1, now);
        self.rtt.back_off();
        self.arm(Pending::Retransmission, self.rtt.rto_ticks(), now);
    }
}
