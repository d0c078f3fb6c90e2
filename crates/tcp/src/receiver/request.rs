//! The handshake, as the listening end sees it (`struct request_sock`).

use narrows_base::{Duration, Jiffies, Time};

use crate::timer::{echoed_rtt, handshake_timeout};

/// How often a SYN-ACK is repeated by the timer (`tcp_synack_retries`).
const MAX_TIMEOUTS: u32 = 5;

/// A connection request that was answered, and whose handshake isn't complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// When the first answer left.
    answered_at: Time,
    /// The number of further ones.
    repeated: u32,
    timeouts: u32,
    /// When the next one leaves, or [`Time::MAX`].
    deadline: Time,
}

impl Request {
    /// A request that is answered at `now`.
    pub(super) fn new(clock: Jiffies, now: Time) -> Self {
        let mut request = Self { answered_at: now, repeated: 0, timeouts: 0, deadline: Time::MAX };
        request.start_timer(clock, now);
        request
    }

    /// The number of answers that the timer repeated, and of all answers but the first.
    pub(super) fn repetitions(&self) -> (u32, u32) {
        (self.timeouts, self.repeated)
    }

    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Answers another SYN (`tcp_check_req`).
    pub(super) fn repeat(&mut self, clock: Jiffies, now: Time) {
        self.repeated += 1;
        self.start_timer(clock, now);
    }

    /// Returns `true` if an answer is due because none of the client's packets arrived
    /// (`reqsk_timer_handler`).
    pub(super) fn fire_timer(&mut self, clock: Jiffies, now: Time) -> bool {
        if self.deadline > now {
            return false;
        }
        self.deadline = Time::MAX;
        if self.timeouts == MAX_TIMEOUTS {
            return false;
        }
        self.timeouts += 1;
        self.repeat(clock, now);
        true
    }

    /// The round trip, which only the echoed timestamp shows after a repeated answer
    /// (`tcp_synack_rtt_meas`, `tcp_ack_update_rtt`).
    pub(super) fn rtt(&self, ts_echo: u32, now: Time) -> Duration {
        if self.repeated > 0 {
            echoed_rtt(ts_echo, now)
        } else {
            now.saturating_since(self.answered_at)
        }
    }

    /// The timeout doubles each time (`reqsk_timeout`).
    fn start_timer(&mut self, clock: Jiffies, now: Time) {
        self.deadline = handshake_timeout(clock, now, self.timeouts);
    }
}
