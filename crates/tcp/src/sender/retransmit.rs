//! Retransmission (`tcp_xmit_retransmit_queue`).

use narrows_base::Time;

use super::connection::Connection;
use super::output::Burst;
use super::timers::Pending;
use crate::scoreboard::Marks;
use crate::segment::Seq;
use crate::timer::timestamp_ms;

impl Connection {
    /// Retransmits lost packets, lowest first.
    #[inline]
    pub(super) fn retransmit_lost(&mut self, now: Time) {
        if self.may_retransmit(now) {
            self.retransmit_bursts(now);
        }
    }

    /// Returns `true` if lost packets wait for retransmission, and not for pacing.
    #[inline]
    fn may_retransmit(&mut self, now: Time) -> bool {
        self.board.retrans_out() < self.board.lost_out() && !self.waits_for_pacing(now)
    }

    #[inline(never)] // most ACKs in recovery allow none
    fn retransmit_bursts(&mut self, now: Time) {
        let mut max_burst = None;
        let mut head_resent = false;
        loop {
            let room = self.cwnd.saturating_sub(self.board.pipe());
            if room == 0 {
                break;
            }
            let Some(seq) = self.board.next_lost() else { break };
            let max_burst = *max_burst.get_or_insert_with(|| self.max_burst());
            let burst = self.board.lost_burst(seq, room.min(max_burst));
            let payload = u64::from(burst) * u64::from(self.mss);
            if self.is_refused(now) || self.is_throttled(payload, 1) || self.is_in_host_queue(seq) {
                break;
            }
            self.retransmit_burst(seq, burst, now);
            if self.episode.state().is_reducing() {
                self.prr.on_sent(burst);
            }
            let reordering = self.timers.pending() == Some(Pending::Reordering);
            head_resent |= seq == self.board.una() && !reordering;
            if !self.may_retransmit(now) {
                break;
            }
        }
        if head_resent {
            self.restart_rto(now);
        }
    }

    /// Returns `true` if the host drops the packet that would leave (`__tcp_transmit_skb`).
    #[inline]
    pub(super) fn is_refused(&mut self, now: Time) -> bool {
        let refused = self.output.refuses();
        if refused {
            self.enter_cwr(now);
        }
        refused
    }

    /// Retransmits `packets` packets from `first` on (`tcp_retransmit_skb`).
    pub(super) fn retransmit_burst(&mut self, first: Seq, packets: u32, now: Time) {
        let stamp = timestamp_ms(self.pacer.departure(now));
        self.undo.count_retransmission(packets, stamp);
        self.resend_burst(first, packets, now);
        for seq in first..first + packets {
            self.board.mark_retransmitted(seq);
        }
    }

    /// Returns `true` if a packet is still in the host's queue (`skb_still_in_host_queue`).
    #[inline]
    pub(super) fn is_in_host_queue(&mut self, seq: Seq) -> bool {
        self.output.host_queue_mut().is_some_and(|queue| queue.holds(seq))
    }

    /// The same, but counted neither as in flight again nor for undo, for a loss probe
    /// (`__tcp_retransmit_skb`).
    pub(super) fn resend_burst(&mut self, first: Seq, packets: u32, now: Time) {
        self.notify_start(now);
        let mut payload = 0;
        let departure = self.pacer.departure(now);
        let out = self.board.packets_out();
        let pipe = self.board.pipe();
        for at in 0..packets {
            let seq = first + at;
            let sent = self.board.get_mut(seq);
            payload += u64::from(sent.len);
            sent.marks.set(Marks::EVER_RETRANS);
            self.rate.on_sent(sent, departure.as_micros(), out);
            self.board.sent_now(seq);
            if self.control.needs().packets {
                self.board.note_sent(seq, pipe + at + 1);
            }
        }
        self.counters.sent += u64::from(packets);
        self.counters.retransmitted += u64::from(packets);
        self.emit(
            Burst { first, packets, payload, departure, retransmitted: true, pushed: false },
            now,
        );
        self.board.start_burst(first);
        self.pacer.depart(payload, packets, self.counters.sent, now);
    }
}
