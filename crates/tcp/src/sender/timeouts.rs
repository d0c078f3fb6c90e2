//! Start and expiry of the sender's timers (tcp_timer.c).

use narrows_base::Time;

use super::connection::Connection;
use super::host_queue::HostQueue;
use super::timers::Pending;

impl Connection {
    #[inline(never)] // so that asking for a packet stays small
    pub(super) fn fire_timers(&mut self, now: Time) {
        if self.timers.take_paced(now) && self.goes_on(now) {
            // `tcp_tsq_write`: lost packets first, then new ones.
            if self.board.lost_out() > self.board.retrans_out() {
                self.retransmit_lost(now);
            }
            self.write(now);
        }
        match self.timers.due(now) {
            None => {}
            Some(Pending::Reordering) => self.on_reordering_timeout(now),
            Some(Pending::LossProbe) => self.send_loss_probe(now),
            Some(Pending::WindowProbe) => {
                self.timers.disarm();
                self.probe_window(now);
            }
            Some(Pending::Retransmission) => {
                self.timers.disarm();
                self.on_retransmission_timeout(now);
            }
        }
    }

    /// Returns whether TCP waited for this timer; what is in the host's queue leaves.
    #[inline]
    fn goes_on(&mut self, now: Time) -> bool {
        self.output.host_queue().is_none() || self.release(now)
    }

    /// Lets bursts leave the host's queue; returns whether TCP waited for that, or for its own
    /// timer.
    #[inline(never)] // most hosts have no such queue
    fn release(&mut self, now: Time) -> bool {
        let is_paced = self.output.host_queue_mut().is_some_and(|queue| queue.take_paced(now));
        self.output.release(now);
        self.await_departure();
        is_paced | self.output.host_queue_mut().is_some_and(HostQueue::take_throttled)
    }

    /// Starts the timer after progress: a probe if one is due first, else the RTO
    /// (`tcp_set_xmit_timer`).
    #[inline]
    pub(super) fn set_timer(&mut self, now: Time) {
        if !self.schedule_loss_probe(true, now) {
            self.rearm_rto(now);
        }
    }

    /// Time until the head's RTO expires, in us (`tcp_rto_delta_us`).
    pub(super) fn rto_delta_us(&self, now: Time) -> u64 {
        let head_us = self.board.get(self.board.una()).sent_us;
        (head_us + self.rtt.rto_us()).saturating_sub(now.as_micros())
    }

    /// Starts the RTO (`tcp_rearm_rto`).
    pub(super) fn rearm_rto(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.timers.disarm();
            return;
        }
        let wait_us = match self.timers.pending() {
            Some(Pending::Reordering | Pending::LossProbe) => self.rto_delta_us(now).max(1),
            _ => self.rtt.rto_us(),
        };
        self.arm_rto(wait_us, now);
    }

    /// Restarts the whole RTO from now, after the head was retransmitted.
    pub(super) fn restart_rto(&mut self, now: Time) {
        let since = self.undo.first_retransmission();
        self.arm_rto(self.user_timeout.clamp_us(self.rtt.rto_us(), since, now), now);
    }

    fn arm_rto(&mut self, wait_us: u64, now: Time) {
        self.timers.arm(Pending::Retransmission, wait_us, self.pacer.delay(now), now);
    }

    /// The RTO expired (`tcp_retransmit_timer`).
    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            return;
        }
        if self.user_timeout.is_over(self.undo.first_retransmission(), now) {
            return self.give_up();
        }
        self.counters.timeouts += 1;
        self.enter_loss(now);
        self.episode.count_timeout();
        let head = self.board.una();
        if !self.is_refused(now) && !self.is_in_host_queue(head) {
            self.retransmit_burst(head, 1, now);
        }
        self.rtt.back_off();
        self.restart_rto(now);
    }
}
