//! The use of the congestion window.

use narrows_base::Time;

use crate::scoreboard::Scoreboard;
use crate::segment::Seq;

/// The recent use of the window.
#[derive(Debug)]
pub(super) struct CwndUse {
    is_limited: bool,
    max_packets_out: u32,
    /// The measurement ends when this packet is acknowledged (`cwnd_usage_seq`).
    usage_seq: Seq,
    /// When the window was full last, or was set (`snd_cwnd_stamp`).
    stamp: Time,
    /// The most packets out since then (`snd_cwnd_used`).
    used: u32,
    last_sent: Option<Time>,
}

impl CwndUse {
    pub(super) fn new(now: Time) -> Self {
        Self {
            is_limited: false,
            max_packets_out: 0,
            usage_seq: 0,
            stamp: now,
            used: 0,
            last_sent: None,
        }
    }

    /// Returns `true` if the window limits the flow (`tcp_is_cwnd_limited`).
    pub(super) fn is_limited(&self, cwnd: u32, ssthresh: u32) -> bool {
        self.is_limited
            || (cwnd < ssthresh && u64::from(cwnd) < 2 * u64::from(self.max_packets_out))
    }

    /// Notes how many packets are out, and whether the window prevented more.
    pub(super) fn note_flight(&mut self, board: &Scoreboard, limited: bool) {
        let out = board.packets_out();
        if board.una() >= self.usage_seq
            || limited
            || (!self.is_limited && out > self.max_packets_out)
        {
            self.is_limited = limited;
            self.max_packets_out = out;
            self.usage_seq = board.next();
        }
    }

    /// The window is full.
    pub(super) fn note_full(&mut self, now: Time) {
        self.used = 0;
        self.stamp = now;
    }

    /// The window isn't full; returns when it was.
    pub(super) fn note_unused(&mut self, out: u32) -> Time {
        self.used = self.used.max(out);
        self.stamp
    }

    /// The most packets out since the window was full.
    pub(super) fn most_packets_out(&self) -> u32 {
        self.used
    }

    /// Resets the use, after the window has followed it.
    pub(super) fn forget_used(&mut self) {
        self.used = 0;
    }

    /// The window was set.
    pub(super) fn stamp(&mut self, now: Time) {
        self.stamp = now;
    }

    /// Notes a transmission; returns the time of the previous one.
    pub(super) fn note_sent(&mut self, now: Time) -> Option<Time> {
        self.last_sent.replace(now)
    }

    /// The time of the last transmission.
    pub(super) fn last_sent(&self) -> Option<Time> {
        self.last_sent
    }
}
