//! A queue in which packets wait until they are due.

use std::collections::VecDeque;

use narrows_base::{Packet, Time};

use crate::element::Departure;

/// Packets with the instants at which they leave, in order.
#[derive(Clone, Debug)]
pub(crate) struct Departures<B> {
    line: VecDeque<Departure<B>>,
    /// When the head is due, or [`Time::MAX`]: read far more often than it changes.
    next_due: Time,
    last_due: Time,
}

impl<B> Departures<B> {
    pub(crate) const fn new() -> Self {
        Self { line: VecDeque::new(), next_due: Time::MAX, last_due: Time::ZERO }
    }

    /// Appends a packet that leaves at `at`.
    ///
    /// # Panics
    /// If the packet before it leaves later.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, packet: Packet<B>) {
        assert!(at >= self.last_due, "a packet arrived out of order: due {at:?}");
        self.last_due = at;
        self.next_due = self.next_due.min(at);
        self.line.push_back(Departure { at, packet });
    }

    /// Moves the departure of the last packet to `at`.
    ///
    /// # Panics
    /// If there is no packet, or the one before it leaves later.
    pub(crate) fn move_last(&mut self, at: Time) {
        let mut last = self.line.pop_back().expect("a packet that leaves");
        let before = self.line.back().map_or(Time::ZERO, |packet| packet.at);
        assert!(at >= before, "a packet would leave out of order: due {at:?}");
        last.at = at;
        self.line.push_back(last);
        self.last_due = at;
        self.next_due = self.line[0].at;
    }

    /// The head, if it is due at `now`.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Departure<B>> {
        if self.next_due > now {
            return None;
        }
        // The head is read last, since it is large and is thus copied only once.
        self.next_due = self.line.get(1).map_or(Time::MAX, |next| next.at);
        self.line.pop_front()
    }

    /// When the head is due.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        (self.next_due < Time::MAX).then_some(self.next_due)
    }

    /// When the latest packet so far was or is due.
    #[inline]
    pub(crate) const fn last_due(&self) -> Time {
        self.last_due
    }

    /// How many packets wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.line.len()
    }
}
