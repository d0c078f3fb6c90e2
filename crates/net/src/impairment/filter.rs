//! Elements that pass packets on or drop them by a rule.

use std::collections::VecDeque;

use narrows_base::{Packet, Time};

use crate::departures::Departures;
use crate::element::{Departure, DropReason, DroppedPacket, Element};

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It leaves at that time, which is never before the arrival.
    Passes(Time),
    /// It is dropped on arrival.
    Dropped(DropReason),
}

/// Decides the fate of each packet.
pub trait Rule<B> {
    /// The fate of a packet that arrives at `now`. Fates are asked for in the order of the
    /// arrivals, and packets that pass leave in that order.
    fn fate(&mut self, packet: &Packet<B>, now: Time) -> Fate;
}

/// An element that passes packets on or drops them by a [`Rule`].
#[derive(Clone, Debug)]
pub struct Filter<B, R> {
    rule: R,
    departures: Departures<B>,
    dropped: VecDeque<DroppedPacket<B>>,
}

impl<B, R: Rule<B>> Filter<B, R> {
    /// An empty filter.
    #[must_use]
    pub const fn new(rule: R) -> Self {
        Self { rule, departures: Departures::new(), dropped: VecDeque::new() }
    }
}

impl<B, R: Rule<B>> Element<B> for Filter<B, R> {
    #[inline]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        match self.rule.fate(&packet, now) {
            Fate::Passes(at) => self.departures.push(at, packet),
            Fate::Dropped(reason) => {
                self.dropped.push_back(DroppedPacket { packet, at: now, reason });
            }
        }
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    fn packet_count(&self) -> usize {
        self.departures.len()
    }

    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        self.dropped.pop_front()
    }
}
