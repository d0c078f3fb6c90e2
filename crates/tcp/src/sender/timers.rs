//! The sender's timers: one slot for RTO, loss probe and reordering, as in Linux,
//! and one for pacing.

use narrows_base::{Duration, Jiffies, Time};

use crate::timer::fires_at;

/// The purpose of the retransmission timer (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Retransmission,
    LossProbe,
    Reordering,
    /// The receive window is closed (`ICSK_TIME_PROBE0`).
    WindowProbe,
}

/// All timers of a connection.
#[derive(Debug)]
pub(super) struct Timers {
    jiffies: Jiffies,
    retransmit: Option<RunningTimer>,
    /// When the next burst leaves, or [`Time::MAX`] if none waits.
    pacing: Time,
    /// A time before which none of them fires; [`Time::MAX`] if none runs.
    bound: Time,
}

/// A running retransmission timer. Its tick takes divisions, and nearly every timer is reset long
/// before it would fire, so the tick is computed only when it matters.
#[derive(Clone, Copy, Debug)]
struct RunningTimer {
    pending: Pending,
    set_at: Time,
    wait_us: u64,
    /// How long its packets wait for pacing.
    paced: Duration,
}

impl RunningTimer {
    /// An instant before which it doesn't fire.
    #[inline]
    fn lower_bound(&self) -> Time {
        self.set_at + Duration::from_micros(self.wait_us)
    }

    /// The tick at which it fires. Packets that wait for pacing haven't left yet, so their waiting
    /// time is added (`tcp_reset_xmit_timer`).
    fn fires_at(&self, jiffies: Jiffies) -> Time {
        let paced = jiffies.floor_nanos(self.paced.as_nanos());
        let ticks = jiffies.ceil_micros(self.wait_us) + paced;
        fires_at(jiffies, self.set_at, ticks.max(1))
    }
}

impl Timers {
    pub(super) fn new(jiffies: Jiffies) -> Self {
        Self { jiffies, retransmit: None, pacing: Time::MAX, bound: Time::MAX }
    }

    /// The clock of the timers.
    pub(super) fn clock(&self) -> Jiffies {
        self.jiffies
    }

    /// When the first of them fires.
    pub(super) fn next(&self) -> Option<Time> {
        let next = match &self.retransmit {
            Some(timer) if timer.lower_bound() < self.pacing => {
                self.pacing.min(timer.fires_at(self.jiffies))
            }
            _ => self.pacing,
        };
        (next < Time::MAX).then_some(next)
    }

    /// An instant before which none of them fires, or [`Time::MAX`] if none runs.
    #[inline]
    pub(super) fn lower_bound(&self) -> Time {
        self.bound
    }

    /// An instant after `now` before which none of them fires, or [`Time::MAX`] if none runs; `None`
    /// if one may be due.
    #[inline]
    pub(super) fn rest(&self, now: Time) -> Option<Time> {
        (self.bound > now).then_some(self.bound)
    }

    fn set_bound(&mut self) {
        let retransmit = self.retransmit.as_ref().map_or(Time::MAX, RunningTimer::lower_bound);
        self.bound = self.pacing.min(retransmit);
    }

    #[inline]
    pub(super) fn are_due(&self, now: Time) -> bool {
        self.bound <= now && (self.is_paced(now) || self.next().is_some_and(|at| at <= now))
    }

    /// Returns `true` if a burst waited for this instant or an earlier one.
    #[inline]
    pub(super) fn is_paced(&self, now: Time) -> bool {
        self.pacing <= now
    }

    /// Sets the retransmission timer to `wait_us` microseconds, rounded up to ticks; `paced` is how
    /// long its packets wait for pacing.
    #[inline]
    pub(super) fn arm(&mut self, pending: Pending, wait_us: u64, paced: Duration, now: Time) {
        let timer = RunningTimer { pending, set_at: now, wait_us, paced };
        self.bound = self.pacing.min(timer.lower_bound());
        self.retransmit = Some(timer);
    }

    /// The purpose of the retransmission timer, if it runs.
    pub(super) fn pending(&self) -> Option<Pending> {
        self.retransmit.map(|timer| timer.pending)
    }

    /// The purpose of the retransmission timer, if it is due.
    pub(super) fn due(&self, now: Time) -> Option<Pending> {
        let timer = self.retransmit.filter(|timer| timer.lower_bound() <= now)?;
        (timer.fires_at(self.jiffies) <= now).then_some(timer.pending)
    }

    /// Stops the retransmission timer.
    pub(super) fn disarm(&mut self) {
        self.retransmit = None;
        self.set_bound();
    }

    /// Sets when the next burst leaves.
    pub(super) fn pace(&mut self, at: Time) {
        // ACKs meanwhile find the same instant.
        if self.pacing != at {
            self.pacing = at;
            self.set_bound();
        }
    }

    /// Returns `true` once if a burst waited for this instant.
    pub(super) fn take_paced(&mut self, now: Time) -> bool {
        let is_due = self.pacing <= now;
        if is_due {
            self.pacing = Time::MAX;
            self.set_bound();
        }
        is_due
    }

    pub(super) fn clear(&mut self) {
        (self.retransmit, self.pacing, self.bound) = (None, Time::MAX, Time::MAX);
    }
}
