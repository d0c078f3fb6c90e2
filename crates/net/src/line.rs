//! Pure delay.

use narrows_base::{Duration, Packet, Time};

use crate::departures::Departures;
use crate::element::{Departure, Element};
use crate::ring::Ring;

/// A line that delays every packet equally, like a cable.
#[derive(Clone, Debug)]
pub struct Line<B> {
    delay: Duration,
    departures: Departures<B>,
}

impl<B> Line<B> {
    /// A line that is `delay` long.
    #[must_use]
    pub const fn new(delay: Duration) -> Self {
        Self { delay, departures: Departures::new() }
    }
}

impl<B> Element<B> for Line<B> {
    #[inline]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        self.departures.push(now + self.delay, packet);
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    #[inline]
    fn packet_count(&self) -> usize {
        self.departures.len()
    }
}

/// A line for packets that are copied, which costs less.
#[derive(Clone, Debug)]
pub struct CopyLine<B> {
    delay: Duration,
    exits: Ring<Departure<B>>,
    last_exit: Time,
}

impl<B: Copy> CopyLine<B> {
    /// A line that is `delay` long.
    #[must_use]
    pub const fn new(delay: Duration) -> Self {
        Self { delay, exits: Ring::new(), last_exit: Time::ZERO }
    }

    /// The delay of a packet.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// The packets that leave after these numbers of other packets.
    #[inline]
    #[must_use]
    pub fn packets_ahead<const N: usize>(&self, others: [usize; N]) -> [Option<&Packet<B>>; N] {
        others.map(|others| self.exits.get(others).map(|exit| &exit.packet))
    }

    /// Begins to load the packets that leave soon, and room for others.
    pub fn prefetch(&self) {
        [0, self.exits.len()].into_iter().for_each(|place| self.exits.prefetch_after(place));
    }

    /// Appends a packet on its way.
    #[inline] // so that the packet is copied only once
    pub(crate) fn push(&mut self, exit: Departure<B>) {
        assert!(exit.at >= self.last_exit, "a packet arrived out of order: due {:?}", exit.at);
        self.last_exit = exit.at;
        self.exits.push(exit);
    }
}

impl<B: Copy> From<Line<B>> for CopyLine<B> {
    fn from(mut line: Line<B>) -> Self {
        let mut same = Self::new(line.delay);
        while let Some(exit) = line.departures.pop_due(Time::MAX) {
            same.push(exit);
        }
        same
    }
}

impl<B: Copy> Element<B> for CopyLine<B> {
    #[inline] // so that the packet is copied only once
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        self.push(Departure { at: now + self.delay, packet });
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.exits.pop_due(now)
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.exits.next_deadline()
    }

    #[inline]
    fn packet_count(&self) -> usize {
        self.exits.len()
    }
}

/// A line whose delay changes. A packet keeps the delay that it set out with, and waits for those
/// before it.
#[derive(Clone, Debug)]
pub struct ChangingLine<B> {
    delay: Duration,
    departures: Departures<B>,
}

impl<B> ChangingLine<B> {
    /// Sets the delay of packets that set out from now on.
    pub const fn change(&mut self, delay: Duration) {
        self.delay = delay;
    }
}

impl<B: Copy> From<CopyLine<B>> for ChangingLine<B> {
    fn from(mut line: CopyLine<B>) -> Self {
        let mut departures = Departures::new();
        while let Some(Departure { at, packet }) = line.exits.pop() {
            departures.push(at, packet);
        }
        Self { delay: line.delay, departures }
    }
}

impl<B> Element<B> for ChangingLine<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        let due = (now + self.delay).max(self.departures.last_due());
        self.departures.push(due, packet);
    }

    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    fn packet_count(&self) -> usize {
        self.departures.len()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    fn packet(body: u32) -> Packet<u32> {
        Packet { flow: FlowId(0), size: 1500, ecn: Ecn::NotEct, body }
    }

    #[test]
    fn a_packet_leaves_a_delay_later_and_not_before() {
        let mut line = Line::new(Duration::from_nanos(10));
        line.receive(packet(1), Time::from_nanos(5));
        assert_eq!(line.next_deadline(), Some(Time::from_nanos(15)));
        assert_eq!(line.poll(Time::from_nanos(14)), None);
        let departure = line.poll(Time::from_nanos(99)).unwrap();
        assert_eq!((departure.at, departure.packet.body), (Time::from_nanos(15), 1));
        assert_eq!((line.poll(Time::from_nanos(99)), line.packet_count()), (None, 0));
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn an_arrival_from_the_past_panics() {
        let mut line = Line::new(Duration::from_nanos(10));
        line.receive(packet(1), Time::from_nanos(5));
        line.receive(packet(2), Time::from_nanos(4));
    }

    #[test]
    fn packets_keep_the_delay_that_they_set_out_with_and_their_order() {
        let mut line = Line::new(Duration::from_nanos(100));
        line.receive(packet(0), Time::from_nanos(0));
        let mut line = ChangingLine::from(CopyLine::from(line));
        line.change(Duration::from_nanos(10));
        line.receive(packet(1), Time::from_nanos(50));
        line.receive(packet(2), Time::from_nanos(95));
        let left = std::iter::from_fn(|| line.poll(Time::MAX));
        let left: Vec<_> = left.map(|d| (d.packet.body, d.at.as_nanos())).collect();
        assert_eq!(left, [(0, 100), (1, 100), (2, 105)]);
    }
}
