//! Packets that leave in the order of their times, in whatever order they arrived.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use narrows_base::{Packet, Time};

use crate::element::Departure;

/// Packets with the instants at which they leave; those of one instant leave in the order of
/// insertion.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<B> {
    entries: BinaryHeap<ScheduledPacket<B>>,
    next_number: u64,
    /// The latest arrival.
    reached: Time,
}

#[derive(Clone, Debug)]
struct ScheduledPacket<B> {
    number: u64,
    departure: Departure<B>,
}

impl<B> ScheduledPacket<B> {
    const fn key(&self) -> (Time, u64) {
        (self.departure.at, self.number)
    }
}

/// The order for the heap, in which the earliest is the greatest.
impl<B> Ord for ScheduledPacket<B> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<B> PartialOrd for ScheduledPacket<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B> PartialEq for ScheduledPacket<B> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<B> Eq for ScheduledPacket<B> {}

impl<B> Schedule<B> {
    pub(crate) const fn new() -> Self {
        Self { entries: BinaryHeap::new(), next_number: 0, reached: Time::ZERO }
    }

    /// Puts in a packet that arrived at `now` and leaves at `at`.
    ///
    /// # Panics
    /// If packets are inserted out of order, since their random numbers would be swapped.
    pub(crate) fn push(&mut self, now: Time, at: Time, packet: Packet<B>) {
        assert!(now >= self.reached, "a packet arrived out of order: at {now:?}");
        self.reached = now;
        self.next_number += 1;
        self.entries.push(ScheduledPacket {
            number: self.next_number,
            departure: Departure { at, packet },
        });
    }

    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Departure<B>> {
        if self.next_deadline()? > now {
            return None;
        }
        self.entries.pop().map(|entry| entry.departure)
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.entries.peek().map(|entry| entry.departure.at)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
