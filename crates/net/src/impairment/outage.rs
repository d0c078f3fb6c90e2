//! Times in which nothing gets through.

use std::collections::VecDeque;

use narrows_base::{Duration, Packet, Time};

use crate::departures::Departures;
use crate::{Departure, DropReason, Dropped, Element};

/// What becomes of packets that arrive during an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutageMode {
    /// They are lost.
    #[default]
    Drop,
    /// They leave together when it ends, as when a base station forwards them
    /// at a handover.
    Hold,
}

/// Passes packets on at once, except during outages.
#[derive(Clone, Debug)]
pub struct Outage<B> {
    /// Beginnings and ends, in order; an outage ends before its end.
    outages: Vec<(Time, Time)>,
    next: usize,
    mode: OutageMode,
    departures: Departures<B>,
    dropped: VecDeque<Dropped<B>>,
}

impl<B> Outage<B> {
    /// Outages that begin at these times and last so long.
    ///
    /// # Panics
    /// If they overlap or don't ascend.
    #[must_use]
    pub fn new(outages: &[(Time, Duration)], mode: OutageMode) -> Self {
        let outages: Vec<_> = outages.iter().map(|&(at, span)| (at, at + span)).collect();
        assert!(
            outages.windows(2).all(|w| w[0].1 <= w[1].0),
            "outages must ascend and not overlap"
        );
        let (departures, dropped) = (Departures::new(), VecDeque::new());
        Self { outages, next: 0, mode, departures, dropped }
    }

    /// The end of the outage that `now` lies in.
    fn ends(&mut self, now: Time) -> Option<Time> {
        while self.outages.get(self.next).is_some_and(|outage| outage.1 <= now) {
            self.next += 1;
        }
        self.outages.get(self.next).filter(|outage| outage.0 <= now).map(|outage| outage.1)
    }
}

impl<B> Element<B> for Outage<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        match (self.ends(now), self.mode) {
            (None, _) => self.departures.push(now, packet),
            (Some(end), OutageMode::Hold) => self.departures.push(end, packet),
            (Some(_), OutageMode::Drop) => {
                self.dropped.push_back(Dropped { packet, at: now, reason: DropReason::Outage });
            }
        }
    }

    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    fn held(&self) -> usize {
        self.departures.len()
    }

    fn take_dropped(&mut self) -> Option<Dropped<B>> {
        self.dropped.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    /// Outages from 10 to 20 and from 20 to 25 ns.
    fn left(mode: OutageMode) -> (Vec<(u64, u64)>, usize) {
        let outages =
            [(10, 10), (20, 5)].map(|(at, d)| (Time::from_nanos(at), Duration::from_nanos(d)));
        let mut outage = Outage::new(&outages, mode);
        for body in [9, 10, 19, 20, 24, 25] {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
            outage.receive(packet, Time::from_nanos(body));
        }
        let dropped = std::iter::from_fn(|| outage.take_dropped()).count();
        let left = std::iter::from_fn(|| outage.poll(Time::MAX));
        (left.map(|d| (d.packet.body, d.at.as_nanos())).collect(), dropped)
    }

    #[test]
    fn packets_of_an_outage_are_lost() {
        assert_eq!(left(OutageMode::Drop), (vec![(9, 9), (25, 25)], 4));
    }

    #[test]
    fn or_leave_at_its_end() {
        let expected = vec![(9, 9), (10, 20), (19, 20), (20, 25), (24, 25), (25, 25)];
        assert_eq!(left(OutageMode::Hold), (expected, 0));
    }
}
