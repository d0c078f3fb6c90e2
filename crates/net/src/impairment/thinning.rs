//! Acknowledgements held and merged on the path.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Duration, FlowId, Packet, Time};

use crate::departures::Departures;
use crate::element::{Departure, DropReason, DroppedPacket, Element};

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "ack_thinning",
    title: "ACK thinning",
    family: "acks",
    summary: "holds TCP's acknowledgements and merges those of a flow into one; a QUIC stack's, which no path can read, pass",
    source: "RFC 3449 section 5.2 (decimation, ACK filtering)",
    role: Role::Impairment,
    parameters: &[
        Parameter::packets(
            "max",
            ParameterDefault::Required,
            "acknowledgements merged into one; up to 200 were seen",
        )
        .positive()
        .at_most(100_000),
        Parameter::duration(
            "hold",
            ParameterDefault::Required,
            "how long one is held for others to arrive",
        ),
    ],
};

/// The parameters of thinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinningParams {
    /// The most packets that become one: 1 lets all pass; up to 200 have been seen.
    pub max: u32,
    /// How long a packet is held for others to arrive.
    pub hold: Duration,
}

/// Adds to the newer packet (second) what it lacks of the held one (first), and returns true if it
/// then has all of that information, so that the held one can be dropped.
pub type Merge<B> = Box<dyn FnMut(&Packet<B>, &mut Packet<B>) -> bool + Send>;

struct HeldAck<B> {
    packet: Packet<B>,
    count: u32,
    due: Time,
}

/// Holds a packet of each flow and replaces it with newer ones that contain the same information
/// and more, as cable modems and wireless drivers do with acknowledgements (decimation, ACK
/// filters).
///
/// Replaced packets are returned as dropped.
pub struct Thinning<B> {
    params: ThinningParams,
    merge: Merge<B>,
    /// Which packets are held; others pass at once.
    concerns: fn(&Packet<B>) -> bool,
    held_acks: BTreeMap<FlowId, HeldAck<B>>,
    deadlines: BTreeSet<(Time, FlowId)>,
    departures: Departures<B>,
    dropped: VecDeque<DroppedPacket<B>>,
    reached: Time,
}

impl<B> Thinning<B> {
    /// Holds nothing yet. `merge` decides which packets may be merged; any other releases the held
    /// one and is held in its place.
    ///
    /// # Panics
    /// If `max` is zero.
    #[must_use]
    pub fn new(params: &ThinningParams, merge: Merge<B>) -> Self {
        assert!(params.max > 0, "at least one packet must pass");
        Self {
            params: *params,
            merge,
            concerns: |_| true,
            held_acks: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            departures: Departures::new(),
            dropped: VecDeque::new(),
            reached: Time::ZERO,
        }
    }

    /// Holds only these packets; others pass immediately.
    #[must_use]
    pub fn only(mut self, concerns: fn(&Packet<B>) -> bool) -> Self {
        self.concerns = concerns;
        self
    }

    /// Releases packets whose time is over.
    fn catch_up(&mut self, now: Time) {
        self.reached = self.reached.max(now);
        while let Some(&(due, flow)) = self.deadlines.first().filter(|first| first.0 <= now) {
            if let Some(held) = self.take(flow) {
                self.departures.push(due, held.packet);
            }
        }
    }

    fn take(&mut self, flow: FlowId) -> Option<HeldAck<B>> {
        let held = self.held_acks.remove(&flow)?;
        self.deadlines.remove(&(held.due, flow));
        Some(held)
    }

    fn keep(&mut self, held: HeldAck<B>, now: Time) {
        if held.count >= self.params.max {
            return self.departures.push(now, held.packet);
        }
        self.deadlines.insert((held.due, held.packet.flow));
        self.held_acks.insert(held.packet.flow, held);
    }

    /// The packet to hold instead of `old` and `packet`, which may combine both.
    fn combine(&mut self, old: HeldAck<B>, mut packet: Packet<B>, now: Time) -> HeldAck<B> {
        if (self.merge)(&old.packet, &mut packet) {
            let dropped = DroppedPacket { packet: old.packet, at: now, reason: DropReason::Merged };
            self.dropped.push_back(dropped);
            return HeldAck { packet, count: old.count + 1, due: old.due };
        }
        self.departures.push(now, old.packet);
        HeldAck { packet, count: 1, due: now + self.params.hold }
    }
}

impl<B> Element<B> for Thinning<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        assert!(now >= self.reached, "a packet arrived out of order: at {now:?}");
        self.catch_up(now);
        if !(self.concerns)(&packet) {
            return self.departures.push(now, packet);
        }
        let held = match self.take(packet.flow) {
            Some(old) => self.combine(old, packet, now),
            None => HeldAck { packet, count: 1, due: now + self.params.hold },
        };
        self.keep(held, now);
    }

    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.catch_up(now);
        self.departures.pop_due(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.departures.next_deadline().or_else(|| self.deadlines.first().map(|first| first.0))
    }

    fn packet_count(&self) -> usize {
        self.held_acks.len() + self.departures.len()
    }

    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        self.dropped.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Ecn;

    use super::*;

    /// Flow, number and ns of what comes out. Numbers that are multiples of 10
    /// can't be merged into.
    fn departures(max: u32, arrivals: &[(u32, u32, u64)]) -> Vec<(u32, u32, u64)> {
        let params = ThinningParams { max, hold: Duration::from_nanos(100) };
        let merge = |_: &Packet<u32>, newer: &mut Packet<u32>| !newer.body.is_multiple_of(10);
        let mut thinning = Thinning::new(&params, Box::new(merge));
        for &(flow, body, at) in arrivals {
            let packet = Packet { flow: FlowId(flow), size: 52, ecn: Ecn::NotEct, body };
            thinning.receive(packet, Time::from_nanos(at));
        }
        let left: Vec<_> = std::iter::from_fn(|| thinning.poll(Time::MAX)).collect();
        let merged = std::iter::from_fn(|| thinning.take_dropped()).count();
        assert_eq!(left.len() + merged, arrivals.len());
        left.iter().map(|d| (d.packet.flow.0, d.packet.body, d.at.as_nanos())).collect()
    }

    #[test]
    fn three_become_one_and_the_rest_leaves_when_its_time_is_over() {
        let arrivals: Vec<_> = (1..=5).map(|n| (0, n, u64::from(n))).collect();
        assert_eq!(departures(3, &arrivals), [(0, 3, 3), (0, 5, 104)]);
        assert_eq!(departures(1, &arrivals).len(), 5);
    }

    #[test]
    fn a_packet_that_may_not_be_merged_lets_the_held_one_go() {
        let found = departures(200, &[(0, 1, 0), (0, 2, 1), (0, 10, 2), (0, 11, 3)]);
        assert_eq!(found, [(0, 2, 2), (0, 11, 102)]);
    }

    #[test]
    fn flows_are_held_apart() {
        let found = departures(2, &[(0, 1, 0), (1, 1, 1), (0, 2, 2), (1, 2, 150)]);
        assert_eq!(found, [(0, 2, 2), (1, 1, 101), (1, 2, 250)]);
    }
}
