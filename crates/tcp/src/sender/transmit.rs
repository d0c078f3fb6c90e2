//! Transmission of new data, and the use of the window (tcp_output.c).

use narrows_base::{Duration, Time};
use narrows_cc::{RecoveryState, StartEvent, Unused};

use super::connection::Connection;
use super::output::Burst;
use super::timers::Pending;
use crate::scoreboard::SentPacket;

const MILLISECOND: Duration = Duration::from_millis(1);

/// Why the write loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// As much as the windows allow.
    All,
    /// One burst (`push_one == 1`).
    One,
    /// One burst, even beyond the window (`push_one == 2`).
    Probe,
}

impl Connection {
    /// Sends as much as the windows allow. Then an application that waited for space in the buffer
    /// writes more, which is sent as well (`__tcp_push_pending_frames`).
    pub(super) fn write(&mut self, now: Time) {
        if !self.write_some(Push::All, now) {
            self.check_space(now);
        }
        while self.may_fill() {
            self.fill(now);
        }
        self.check_window_probe(now);
    }

    /// `tcp_write_xmit`; returns whether the space in the send buffer was checked and hasn't
    /// changed since then.
    #[inline(always)] // runs for every ACK, and most go no further
    pub(super) fn write_some(&mut self, push: Push, now: Time) -> bool {
        if self.unsent.is_empty() {
            return false;
        }
        if self.board.packets_out() == 0 {
            self.restart_after_idle(now);
        }
        if self.waits_for_pacing(now) {
            self.after_writing(0, false, push, now);
            return false;
        }
        self.write_bursts(push, now)
    }

    /// The loop of `tcp_write_xmit`, for data that needn't wait for pacing. Returns the same as
    /// [`Connection::write_some`].
    #[inline(never)] // doesn't run for most ACKs of a paced flow
    fn write_bursts(&mut self, push: Push, now: Time) -> bool {
        // Once, as in Linux, but only for a burst, since most ACKs leave no room for one.
        let mut max_burst = None;
        let mut sent = 0;
        let mut is_checked = false;
        let mut cwnd_limited = false;
        loop {
            let quota = match self.cwnd_quota() {
                0 if push == Push::Probe => 1,
                0 => break,
                quota => quota,
            };
            let max_burst = *max_burst.get_or_insert_with(|| self.max_burst());
            let quota = quota.min(max_burst);
            if self.profile.bursts_cross_buffers && self.unsent.grow(quota) {
                is_checked = false;
            }
            let Some(burst) = self.size_burst(quota) else { break };
            if push == Push::All && self.should_defer(max_burst, now) {
                cwnd_limited = self.window_limits_head();
                break;
            }
            if self.is_throttled(self.unsent.payload(burst), 0) {
                break;
            }
            if self.is_refused(now) {
                break;
            }
            self.send_burst(burst, push, now);
            self.check_space(now);
            is_checked = true;
            sent += burst;
            if push != Push::All || self.unsent.is_empty() || self.waits_for_pacing(now) {
                break;
            }
        }
        self.after_writing(sent, cwnd_limited, push, now);
        is_checked
    }

    /// Sets the timer if the next burst must wait for pacing; returns whether it must.
    pub(super) fn waits_for_pacing(&mut self, now: Time) -> bool {
        let wait = self.pacer.wait_until(now);
        if let Some(wait) = wait {
            self.timers.pace(wait);
            if self.output.host_queue().is_some() {
                self.pace_beside_card(wait);
            }
        }
        wait.is_some()
    }

    /// TCP paces although packets wait for the card: one timer serves both.
    #[inline(never)] // most hosts have no such card
    fn pace_beside_card(&mut self, wait: Time) {
        let Some(queue) = self.output.host_queue_mut() else { return };
        queue.pace(wait);
        self.timers.pace(queue.next_on_time());
    }

    #[inline]
    fn after_writing(&mut self, sent: u32, deferred: bool, push: Push, now: Time) {
        let limited = deferred || self.board.pipe() >= self.cwnd;
        if sent > 0 || limited {
            self.validate_cwnd(limited, now);
        }
        if sent > 0 {
            if self.episode.state().is_reducing() {
                self.prr.on_sent(sent);
            }
            if push != Push::Probe {
                self.schedule_loss_probe(false, now);
            }
        }
    }

    /// The current limit of packets in a burst (`tcp_tso_segs`).
    #[inline]
    pub(super) fn max_burst(&self) -> u32 {
        let least = match self.sysctls.min_tso_segs {
            Some(packets) => packets,
            None => self.control.least_burst(self.pacer.rate().unwrap_or_default()),
        };
        match self.control.most_burst() {
            Some(most) => most.max(least),
            None => self.pacer.burst_packets(self.mss, self.rtt.min_us(), least),
        }
    }

    /// Packets that cwnd allows in one burst: half of it, so that two bursts are always in flight
    /// (`tcp_cwnd_test`).
    fn cwnd_quota(&self) -> u32 {
        let room = self.cwnd.saturating_sub(self.board.pipe());
        room.min((self.cwnd / 2).max(1))
    }

    /// Packets that the first socket buffer and the receive window allow in a burst
    /// (`tcp_mss_split_point`).
    #[inline(always)] // the functions that it calls are small
    fn size_burst(&self, quota: u32) -> Option<u32> {
        let available = self.unsent.packets().min(quota);
        // With nothing in flight, no ACK opens a window below one packet; a closed one is probed.
        let forced = self.board.packets_out() == 0 && self.window.is_open();
        let least = available.min(u32::from(forced));
        let burst = self.window.available_packets(available).max(least);
        (burst > 0).then_some(burst)
    }

    /// Returns `true` if data wait that fit the receive window.
    pub(super) fn has_sendable_data(&self) -> bool {
        !self.unsent.is_empty() && self.size_burst(1).is_some()
    }

    /// Returns `true` if a short burst waits for the next ACK (`tcp_tso_should_defer`).
    fn should_defer(&self, max_burst: u32, now: Time) -> bool {
        let packets = self.unsent.packets();
        if packets <= 1 || self.episode.state() >= RecoveryState::Recovery {
            return false;
        }
        if now > self.pacer.clock() + MILLISECOND {
            return false;
        }
        let limit = self.window.available_packets(self.cwnd - self.board.pipe());
        if limit >= max_burst || self.board.packets_out() == 0 {
            return false;
        }
        if limit >= packets && !self.unsent.is_tail() {
            return false; // nothing will be added to this buffer
        }
        let bytes = |packets: u32| u64::from(packets) * u64::from(self.mss);
        let chunk = bytes(self.cwnd).min(u64::from(self.window.advertised_window()));
        if bytes(limit) >= chunk / u64::from(self.sysctls.tso_win_divisor) {
            return false;
        }
        let head_us = self.board.get(self.board.una()).sent_us;
        let expected_us = head_us + self.rtt.srtt_us();
        let threshold_us = (self.rtt.srtt_us() / 2).min(1000);
        let is_near = expected_us <= now.as_micros() + threshold_us;
        is_near && (limit <= packets || !self.unsent.closes_at_head())
    }

    /// Returns `true` if the first socket buffer waits because of cwnd.
    fn window_limits_head(&self) -> bool {
        let room = u64::from(self.cwnd - self.board.pipe()) * u64::from(self.mss);
        room < self.window.available() && room <= u64::from(self.unsent.head_bytes())
    }

    fn send_burst(&mut self, packets: u32, push: Push, now: Time) {
        self.notify_start(now);
        let was_empty = self.board.packets_out() == 0;
        let first = self.board.next();
        let departure = self.pacer.departure(now);
        let pushed = self.unsent.is_pushed(packets);
        let payload = self.register(packets, departure.as_micros());
        self.counters.sent += u64::from(packets);
        self.emit(Burst { first, packets, payload, departure, retransmitted: false, pushed }, now);
        self.pacer.depart(payload, packets, self.counters.sent, now);
        self.window.send(payload);
        // A loss probe scheduled after the last burst replaces this timer.
        let starts_rto = was_empty || self.timers.pending() == Some(Pending::LossProbe);
        if starts_rto && !(push == Push::All && self.may_probe()) {
            self.rearm_rto(now);
        }
    }

    /// Sends a burst, and sets the timer for its departure if it waits in the host's queue.
    #[inline] // runs for every burst
    pub(super) fn emit(&mut self, burst: Burst, now: Time) {
        self.output.send(&burst, &self.board, &self.unsent, now);
        self.await_departure();
    }

    /// Sets the timer for what leaves the host's queue next.
    #[inline]
    pub(super) fn await_departure(&mut self) {
        if self.output.host_queue().is_some() {
            self.await_queue();
        }
    }

    #[inline(never)] // most hosts have no such queue
    fn await_queue(&mut self) {
        let Some(queue) = self.output.host_queue() else { return };
        let burst =
            queue.next_burst().map_or(Time::MAX, |departure| self.pacer.fires_at(departure));
        let next = burst.min(queue.next_on_time());
        if next < Time::MAX {
            self.timers.pace(next);
        }
    }

    /// Returns `true` if a burst with that payload waits until others leave the host's queue
    /// (`tcp_small_queue_check`).
    #[inline]
    pub(super) fn is_throttled(&mut self, payload: u64, factor: u32) -> bool {
        let rate = self.pacer.rate().unwrap_or_default();
        let bursts = self.board.bursts();
        let Some(queue) = self.output.host_queue_mut() else { return false };
        // With at most one burst in flight, the next is never throttled.
        bursts > 1 && queue.throttle(payload, rate, factor)
    }

    /// Puts the packets of a burst on the scoreboard with their snapshots; returns their payload.
    #[inline] // it has one caller, and runs for every burst
    fn register(&mut self, packets: u32, departure_us: u64) -> u64 {
        let payload = self.unsent.take(packets);
        let last_len = payload - (packets - 1) * self.mss;
        let (first, pipe) = (self.board.next(), self.board.pipe());
        let mut sent = SentPacket::new(fitting(self.mss));
        self.rate.on_sent(&mut sent, departure_us, self.board.packets_out());
        self.board.push(sent, packets, fitting(last_len));
        if self.control.needs().packets {
            for at in 0..packets {
                self.board.note_sent(first + at, pipe + at + 1);
            }
        }
        u64::from(payload)
    }

    /// Notifies the control that sending restarts (`tcp_event_data_sent`).
    pub(super) fn notify_start(&mut self, now: Time) {
        let last_sent = self.usage.note_sent(now);
        if self.board.pipe() == 0 {
            self.control.on_start(&StartEvent {
                now,
                last_sent,
                app_limited: self.rate.is_app_limited(),
                mss: self.mss,
                delivered: self.rate.delivered(),
            });
            if let Some(rate) = self.control.pacing_rate() {
                self.pacer.set_rate(rate);
            }
        }
    }

    /// Returns `true` if cwnd limits the flow (`tcp_is_cwnd_limited`).
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.usage.is_limited(self.cwnd, self.control.ssthresh())
    }

    /// Notes the use of cwnd (`tcp_cwnd_validate`).
    fn validate_cwnd(&mut self, limited: bool, now: Time) {
        self.usage.note_flight(&self.board, limited);
        if self.is_cwnd_limited() {
            self.usage.note_full(now);
            return;
        }
        let since = self.usage.note_unused(self.board.packets_out());
        if self.control.needs().own_recovery {
            return;
        }
        let clock = self.timers.clock();
        let waited = clock.at(now) - clock.at(since);
        if waited >= self.rtt.rto_ticks() {
            self.forget_unused_window(now);
        }
    }

    /// Gives up the window that wasn't used for an RTO (`tcp_cwnd_application_limited`).
    fn forget_unused_window(&mut self, now: Time) {
        // An application that waits for buffer space has data, so it doesn't limit the flow.
        if self.episode.state() == RecoveryState::Open && !self.send_buffer.waits() {
            let used = self.usage.most_packets_out().max(self.initial_cwnd);
            if used < self.cwnd {
                self.control.on_unused(Unused::Underused { used });
                self.cwnd = self.control.cwnd();
            }
            self.usage.forget_used();
        }
        self.usage.stamp(now);
    }

    /// Decays the window after an idle RTO (`tcp_slow_start_after_idle_check`). Nothing may be in
    /// flight.
    #[cold]
    fn restart_after_idle(&mut self, now: Time) {
        if self.control.needs().own_recovery || !self.sysctls.slow_start_after_idle {
            return;
        }
        let Some(last) = self.usage.last_sent() else { return };
        let clock = self.timers.clock();
        let idle = clock.at(now) - clock.at(last);
        let rto = self.rtt.rto_ticks();
        if idle > rto {
            let timeouts = u32::try_from((idle - 1) / rto).unwrap_or(u32::MAX);
            let restart_window = self.initial_cwnd;
            self.control.on_unused(Unused::Idle { timeouts, restart_window });
            self.cwnd = self.control.cwnd();
            self.usage.note_full(now);
        }
    }
}

/// The payload of a packet.
fn fitting(bytes: u32) -> u16 {
    u16::try_from(bytes).expect("a packet's payload fits 16 bits")
}
