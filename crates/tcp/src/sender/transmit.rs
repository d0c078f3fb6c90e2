//! Sending: new data, retransmissions, and how full the window is (tcp_output.c).

use narrows_base::{Duration, Time};
use narrows_cc::{RecoveryState, StartEvent, Unused};

use super::Connection;
use crate::Seq;
use crate::scoreboard::Marks;
use crate::segment::{Ack, Data, Kind};
use crate::timer::timestamp_ms;

/// `tcp_tso_win_divisor`: a burst waits only below this fraction of the window.
const DEFER_DIVISOR: u64 = 3;
const MILLISECOND: Duration = Duration::from_millis(1);
/// Bytes of memory per 256 bytes of payload in the send buffer (skb overhead).
const TRUESIZE_PER_256: u64 = 266;

/// Why the write loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// As much as the windows allow.
    All,
    /// One burst, even beyond the window (`push_one == 2`).
    Probe,
}

/// The windows in bytes, and how much of cwnd is used.
#[derive(Debug)]
pub(super) struct WindowUse {
    /// Payload acknowledged, and payload sent, in bytes.
    acked_bytes: u64,
    sent_bytes: u64,
    /// First byte beyond the receive window.
    end: u64,
    receive_window: u32,
    send_buffer: u64,
    is_cwnd_limited: bool,
    max_packets_out: u32,
    usage_seq: Seq,
    /// `snd_cwnd_stamp` and `snd_cwnd_used`.
    stamp_ticks: u64,
    used: u32,
    last_sent: Option<Time>,
}

impl WindowUse {
    pub(super) fn new(receive_window: u32, send_buffer: u32, ticks: u64) -> Self {
        Self {
            acked_bytes: 0,
            sent_bytes: 0,
            end: u64::from(receive_window),
            receive_window,
            send_buffer: u64::from(send_buffer),
            is_cwnd_limited: false,
            max_packets_out: 0,
            usage_seq: 0,
            stamp_ticks: ticks,
            used: 0,
            last_sent: None,
        }
    }

    /// Takes the window of an ACK; returns whether it counts as an update
    /// (`tcp_may_update_window`).
    pub(super) fn update(&mut self, ack: &Ack, una_advanced: bool) -> bool {
        let update = una_advanced || ack.window > self.receive_window || ack.window == 0;
        if update {
            self.receive_window = ack.window;
            self.acknowledge(0);
        }
        update
    }

    /// `bytes` were acknowledged: the window moves on.
    pub(super) fn acknowledge(&mut self, bytes: u64) {
        self.acked_bytes += bytes;
        self.end = self.end.max(self.acked_bytes + u64::from(self.receive_window));
    }

    pub(super) fn stamp(&mut self, ticks: u64) {
        self.stamp_ticks = ticks;
    }

    /// Payload that the receive window still takes, in bytes.
    fn receive_room(&self) -> u64 {
        self.end.saturating_sub(self.sent_bytes)
    }

    /// Full packets that the receive window still takes, at most `most`.
    fn room_for(&self, most: u32, mss: u32) -> u32 {
        let (room, mss) = (self.receive_room(), u64::from(mss));
        if room >= u64::from(most) * mss {
            return most; // it hardly ever is short: no division
        }
        u32::try_from(room / mss).expect("less than `most`")
    }

    /// Whether the send buffer has room for another packet.
    fn buffer_has_room(&self, mss: u32) -> bool {
        let queued = self.sent_bytes - self.acked_bytes + u64::from(mss);
        queued * TRUESIZE_PER_256 / 256 <= self.send_buffer
    }
}

impl Connection {
    /// Sends what the windows allow (`tcp_write_xmit`).
    pub(super) fn write(&mut self, now: Time) {
        self.write_some(Push::All, now);
    }

    pub(super) fn write_some(&mut self, push: Push, now: Time) {
        if self.supply.is_empty() {
            return;
        }
        self.restart_after_idle(now);
        let max_burst = self.max_burst();
        let mut sent = 0;
        let mut cwnd_limited = false;
        while !self.supply.is_empty() {
            if let Some(wait) = self.pacer.wait_until(now) {
                self.timers.pacing = Some(wait);
                break;
            }
            let quota = match self.cwnd_quota() {
                0 if push == Push::Probe => 1,
                0 => break,
                quota => quota,
            };
            let Some(burst) = self.size_burst(quota.min(max_burst)) else { break };
            if push == Push::All && self.should_defer(burst, max_burst, now) {
                cwnd_limited = true;
                break;
            }
            self.send_burst(burst, now);
            sent += burst;
            if push == Push::Probe {
                break;
            }
        }
        self.after_writing(sent, cwnd_limited, push, now);
    }

    fn after_writing(&mut self, sent: u32, deferred: bool, push: Push, now: Time) {
        let limited = deferred || self.board.pipe() >= self.cwnd;
        if sent > 0 || limited {
            self.validate_cwnd(limited, now);
        }
        if sent > 0 {
            if self.state.is_reducing() {
                self.episode.prr_out += u64::from(sent);
            }
            if push != Push::Probe {
                self.schedule_loss_probe(false, now);
            }
        }
    }

    /// Packets in a burst now (`tcp_tso_segs`).
    fn max_burst(&self) -> u32 {
        let rate = self.pacer.rate.unwrap_or_default();
        let least = self.cc.min_tso_segs(rate);
        if self.cc_bounds_bursts {
            return self.cc.max_tso_segs().unwrap_or(least).max(least);
        }
        self.pacer.burst_packets(self.mss, self.rtt.min_us(), least)
    }

    /// Packets that cwnd allows in one burst: half of it, so that two bursts are
    /// always under way (`tcp_cwnd_test`).
    fn cwnd_quota(&self) -> u32 {
        let room = self.cwnd.saturating_sub(self.board.pipe());
        room.min((self.cwnd / 2).max(1))
    }

    /// Packets that application, receive window and send buffer have for a burst.
    fn size_burst(&self, quota: u32) -> Option<u32> {
        if !self.window.buffer_has_room(self.mss) {
            return None;
        }
        let available = self.supply.packets(quota);
        // With nothing out no ACK would ever open a window below one packet.
        let least = available.min(u32::from(self.board.packets_out() == 0));
        let burst = self.window.room_for(available, self.mss).max(least);
        (burst > 0).then_some(burst)
    }

    /// Whether there is data that the receive window takes.
    pub(super) fn has_sendable_data(&self) -> bool {
        !self.supply.is_empty() && self.size_burst(1).is_some()
    }

    /// Whether a short burst waits for the next ACK (`tcp_tso_should_defer`).
    fn should_defer(&self, burst: u32, max_burst: u32, now: Time) -> bool {
        if self.state >= RecoveryState::Recovery || max_burst <= 1 {
            return false;
        }
        if self.supply.packets(max_burst) < max_burst {
            return false; // the rest of the data: nothing will be added
        }
        if now > self.pacer.clock() + MILLISECOND {
            return false;
        }
        let limit = self.window.room_for(self.cwnd - self.board.pipe(), self.mss);
        if limit >= max_burst || burst > limit || self.board.packets_out() == 0 {
            return false;
        }
        let bytes = |packets: u32| u64::from(packets) * u64::from(self.mss);
        let chunk = bytes(self.cwnd).min(u64::from(self.window.receive_window));
        if bytes(limit) >= chunk / DEFER_DIVISOR {
            return false;
        }
        let head_us = self.board.get(self.board.una).sent_us;
        let expected_us = head_us + self.rtt.srtt_us();
        let threshold_us = (self.rtt.srtt_us() / 2).min(1000);
        expected_us <= now.as_micros() + threshold_us
    }

    fn send_burst(&mut self, packets: u32, now: Time) {
        self.tell_start(now);
        let was_empty = self.board.packets_out() == 0;
        let first = self.board.next;
        let mut payload = 0;
        let departure_us = self.pacer.departure(now).as_micros();
        for at in 0..packets {
            let len = self.supply.take();
            payload += u64::from(len);
            self.counters.data_packets_sent += 1;
            let seq = self.register(len, departure_us);
            if !self.gso {
                self.emit(seq, packets > 1 && at + 1 == packets, false, now);
            }
        }
        if self.gso {
            self.emit_super(first, packets, false, now);
        }
        self.board.get_mut(first).marks.set(Marks::BURST_HEAD);
        self.pacer.depart(payload, packets, self.counters.data_packets_sent, now);
        self.window.sent_bytes += payload;
        if was_empty || self.probe_is_pending() {
            self.rearm_rto(now);
        }
    }

    /// Puts a new packet on the scoreboard with its snapshot.
    fn register(&mut self, len: u16, departure_us: u64) -> Seq {
        let out = self.board.packets_out();
        let seq = self.board.push(len);
        self.rate.sent(self.board.get_mut(seq), departure_us, out);
        self.board.sent_now(seq);
        if self.cc_watches_packets {
            self.board.note_sent(seq, self.board.pipe());
        }
        seq
    }

    #[inline]
    fn emit(&mut self, seq: Seq, psh: bool, retransmission: bool, now: Time) {
        let data = self.data(seq, psh, retransmission, now);
        self.out.push(Kind::Data(data));
    }

    #[inline]
    fn data(&mut self, seq: Seq, psh: bool, retransmission: bool, now: Time) -> Data {
        let len = self.board.get(seq).len;
        let (ecn, cwr) = self.ecn.stamp(retransmission);
        let last = self.supply.is_empty() && seq + 1 == self.board.next;
        Data {
            seq,
            count: 1,
            len,
            psh: psh || last,
            fin: last && self.closes,
            retransmission,
            ts: timestamp_ms(now),
            ts_echo: self.ts_recent,
            cwr,
            ecn,
        }
    }

    /// A burst as super-packets: up to 64 KiB, and none beyond a packet that isn't full.
    fn emit_super(&mut self, first: Seq, packets: u32, retransmission: bool, now: Time) {
        let mut seq = first;
        while seq < first + packets {
            let mut data = self.data(seq, false, retransmission, now);
            let mut len = data.len;
            seq += 1;
            while seq < first + packets
                && u32::from(len) == self.mss
                && data.count < Data::MAX_PACKETS
            {
                len = self.board.get(seq).len;
                data.len += len;
                data.count += 1;
                seq += 1;
            }
            let ends = self.supply.is_empty() && seq == self.board.next;
            data.fin = ends && self.closes;
            data.psh = ends || (packets > 1 && seq == first + packets);
            self.out.push(Kind::Data(data));
        }
    }

    /// Tells the control that sending begins anew (`tcp_event_data_sent`).
    fn tell_start(&mut self, now: Time) {
        if self.board.pipe() == 0 {
            let event = StartEvent {
                now,
                last_sent: self.window.last_sent,
                app_limited: self.rate.is_app_limited(),
                mss: self.mss,
                delivered: self.rate.delivered,
            };
            self.cc.on_start(&event);
            self.refresh_control();
            if self.control.pacing_rate.is_some() {
                self.pacer.rate = self.control.pacing_rate;
            }
        }
        self.window.last_sent = Some(now);
    }

    /// Sends lost packets again, lowest first (`tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            return;
        }
        let max_burst = self.max_burst();
        let mut head_resent = false;
        while self.board.retrans_out < self.board.lost_out {
            let Some(seq) = self.board.next_lost() else { break };
            if let Some(wait) = self.pacer.wait_until(now) {
                self.timers.pacing = Some(wait);
                break;
            }
            let room = self.cwnd.saturating_sub(self.board.pipe());
            if room == 0 {
                break;
            }
            let burst = self.board.lost_burst(seq, room.min(max_burst));
            self.retransmit_burst(seq, burst, now);
            if self.state.is_reducing() {
                self.episode.prr_out += u64::from(burst);
            }
            head_resent |= seq == self.board.una && !self.reordering_is_pending();
        }
        if head_resent {
            self.restart_rto(now);
        }
    }

    /// Sends `packets` packets from `first` on again (`tcp_retransmit_skb`).
    pub(super) fn retransmit_burst(&mut self, first: Seq, packets: u32, now: Time) {
        self.resend_burst(first, packets, now);
        for seq in first..first + packets {
            self.board.mark_retransmitted(seq);
        }
        self.episode.count_retransmission(packets, timestamp_ms(now));
    }

    /// The same, but not counted as in flight again nor for undo: a loss probe
    /// (`__tcp_retransmit_skb`).
    pub(super) fn resend_burst(&mut self, first: Seq, packets: u32, now: Time) {
        self.tell_start(now);
        let mut payload = 0;
        let departure_us = self.pacer.departure(now).as_micros();
        let out = self.board.packets_out();
        let pipe = self.board.pipe();
        for at in 0..packets {
            let seq = first + at;
            let sent = self.board.get_mut(seq);
            payload += u64::from(sent.len);
            sent.marks.set(Marks::EVER_RETRANS);
            self.rate.sent(sent, departure_us, out);
            self.board.sent_now(seq);
            if self.cc_watches_packets {
                self.board.note_sent(seq, pipe + at + 1);
            }
            self.counters.data_packets_sent += 1;
            if !self.gso {
                self.emit(seq, packets > 1 && at + 1 == packets, true, now);
            }
        }
        if self.gso {
            self.emit_super(first, packets, true, now);
        }
        self.board.get_mut(first).marks.set(Marks::BURST_HEAD);
        self.counters.retransmitted += u64::from(packets);
        self.pacer.depart(payload, packets, self.counters.data_packets_sent, now);
    }

    /// Whether cwnd limits the flow (`tcp_is_cwnd_limited`).
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.window.is_cwnd_limited
            || (self.cwnd < self.control.ssthresh && self.cwnd < 2 * self.window.max_packets_out)
    }

    /// Notes how much of cwnd is used (`tcp_cwnd_validate`).
    fn validate_cwnd(&mut self, limited: bool, now: Time) {
        let out = self.board.packets_out();
        let window = &mut self.window;
        if self.board.una >= window.usage_seq
            || limited
            || (!window.is_cwnd_limited && out > window.max_packets_out)
        {
            window.is_cwnd_limited = limited;
            window.max_packets_out = out;
            window.usage_seq = self.board.next;
        }
        let ticks = self.jiffies.at(now);
        if self.is_cwnd_limited() {
            self.window.used = 0;
            self.window.stamp_ticks = ticks;
            return;
        }
        self.window.used = self.window.used.max(out);
        let waited = ticks - self.window.stamp_ticks;
        if waited >= self.rtt.rto_ticks() && !self.cc_owns_recovery {
            self.forget_unused_window(ticks);
        }
    }

    /// For an RTO the window wasn't used (`tcp_cwnd_application_limited`).
    fn forget_unused_window(&mut self, ticks: u64) {
        // A writer that waits for buffer space has data: not its fault.
        if self.state == RecoveryState::Open && self.supply.is_empty() {
            let used = self.window.used.max(self.initial_cwnd);
            if used < self.cwnd {
                self.cc.on_unused(Unused::Underused { used });
                self.refresh_control();
                self.cwnd = self.control.cwnd;
            }
            self.window.used = 0;
        }
        self.window.stamp_ticks = ticks;
    }

    /// After an idle RTO the window decays (`tcp_slow_start_after_idle_check`).
    fn restart_after_idle(&mut self, now: Time) {
        if self.board.packets_out() > 0 || self.cc_owns_recovery {
            return;
        }
        let Some(last) = self.window.last_sent else { return };
        let idle = self.jiffies.at(now) - self.jiffies.at(last);
        let rto = self.rtt.rto_ticks();
        if idle > rto {
            let timeouts = u32::try_from((idle - 1) / rto).unwrap_or(u32::MAX);
            self.cc.on_unused(Unused::Idle { timeouts, restart_window: self.initial_cwnd });
            self.refresh_control();
            self.cwnd = self.control.cwnd;
            self.window.stamp_ticks = self.jiffies.at(now);
            self.window.used = 0;
        }
    }
}
