//! The sender's timers: one slot for RTO, loss probe and reordering, as in Linux,
//! and one for pacing.

use narrows_base::{Duration, Jiffies, Time};

use crate::timer::fires_at;

/// What the retransmission timer waits for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Retransmission,
    LossProbe,
    Reordering,
}

/// All timers of a connection.
#[derive(Debug)]
pub(super) struct Timers {
    jiffies: Jiffies,
    retransmit: Option<(Pending, Time)>,
    pacing: Option<Time>,
}

impl Timers {
    pub(super) fn new(jiffies: Jiffies) -> Self {
        Self { jiffies, retransmit: None, pacing: None }
    }

    /// The clock that they run by.
    pub(super) fn clock(&self) -> Jiffies {
        self.jiffies
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        let retransmit = self.retransmit.map(|(_, at)| at);
        Time::earlier(retransmit, self.pacing)
    }

    #[inline]
    pub(super) fn are_due(&self, now: Time) -> bool {
        self.next().is_some_and(|at| at <= now)
    }

    /// Sets the retransmission timer. Packets that wait for pacing haven't left yet: the
    /// time that they wait is added (`tcp_reset_xmit_timer`).
    pub(super) fn arm(&mut self, pending: Pending, ticks: u64, paced: Duration, now: Time) {
        let waits = if paced.is_zero() { 0 } else { self.jiffies.floor_nanos(paced.as_nanos()) };
        let ticks = ticks + waits;
        self.retransmit = Some((pending, fires_at(self.jiffies, now, ticks.max(1))));
    }

    /// What the retransmission timer waits for, if it runs.
    pub(super) fn pending(&self) -> Option<Pending> {
        self.retransmit.map(|(pending, _)| pending)
    }

    /// What the retransmission timer waited for, if it is due.
    pub(super) fn due(&self, now: Time) -> Option<Pending> {
        self.retransmit.filter(|&(_, at)| at <= now).map(|(pending, _)| pending)
    }

    /// Stops the retransmission timer.
    pub(super) fn disarm(&mut self) {
        self.retransmit = None;
    }

    /// The next burst leaves then.
    pub(super) fn pace(&mut self, at: Time) {
        self.pacing = Some(at);
    }

    /// Whether a burst waited for this instant; once.
    pub(super) fn take_paced(&mut self, now: Time) -> bool {
        self.pacing.take_if(|at| *at <= now).is_some()
    }

    pub(super) fn clear(&mut self) {
        (self.retransmit, self.pacing) = (None, None);
    }
}
