//! Probes of a receive window that is closed (`tcp_send_probe0`, RFC 9293 section 3.8.6.1).

use narrows_base::{Duration, Time};

use super::connection::Connection;
use super::timers::Pending;

/// Time between probes that the host itself drops (`TCP_RESOURCE_PROBE_INTERVAL`), in us.
const LOCAL_INTERVAL_US: u64 = 500_000;

impl Connection {
    /// Starts the timer of probes if the receive window or the host's queue is why nothing is out, and
    /// no other timer runs (`tcp_check_probe_timer`).
    #[inline]
    pub(super) fn check_window_probe(&mut self, now: Time) {
        if self.board.packets_out() == 0 && !self.unsent.is_empty() {
            self.start_window_probe(now);
        }
    }

    #[cold]
    fn start_window_probe(&mut self, now: Time) {
        let waits = !self.window.is_open() || self.output.refuses();
        if self.timers.pending().is_none() && waits {
            self.arm_window_probe(self.rtt.rto_us(), now);
        }
    }

    fn arm_window_probe(&mut self, wait_us: u64, now: Time) {
        self.timers.arm(Pending::WindowProbe, wait_us, Duration::ZERO, now);
    }

    /// The timer fired: data leave if the window is open now, otherwise a probe (`tcp_probe_timer`).
    pub(super) fn probe_window(&mut self, now: Time) {
        let since = self.user_timeout.probing_since(now);
        if self.user_timeout.is_over(since, now) {
            return self.give_up();
        }
        if self.window.is_open() {
            self.write(now);
        } else {
            self.output.probe_window(self.board.next(), now);
        }
        if self.board.packets_out() > 0 || self.unsent.is_empty() {
            return self.forget_window_probes();
        }
        self.counters.window_probes += 1;
        let wait_us = if self.output.refuses() {
            LOCAL_INTERVAL_US
        } else {
            self.rtt.back_off();
            self.rtt.rto_us()
        };
        self.arm_window_probe(self.user_timeout.clamp_us(wait_us, since, now), now);
    }

    /// Handles an ACK that arrived while nothing was in flight (`tcp_ack_probe`).
    pub(super) fn take_window_probe_answer(&mut self, now: Time) {
        self.counters.window_probes = 0;
        self.user_timeout.stop_probing();
        if self.unsent.is_empty() {
            return;
        }
        if self.window.is_open() {
            self.rtt.forget_backoff();
            if self.timers.pending() == Some(Pending::WindowProbe) {
                self.timers.disarm();
            }
        } else {
            self.arm_window_probe(self.rtt.rto_us(), now);
        }
    }

    fn forget_window_probes(&mut self) {
        self.counters.window_probes = 0;
        self.user_timeout.stop_probing();
        self.rtt.forget_backoff();
    }
}
