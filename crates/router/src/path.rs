//! Drives the elements of a path; knows no clock and no device.

use std::collections::BTreeSet;

use narrows_base::{Duration, Ecn, Packet, Time};
use narrows_net::config::Acks;
use narrows_net::path::{self, Conditions, Direction, PathElement};
use narrows_net::{Departure, Element as _, QueueState};

use crate::config::Crossing;
use crate::frame::{Frame, has_data, is_ack, mark, says_all};

/// A host of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The sending host.
    Sender,
    /// The receiving host.
    Receiver,
}

/// What happened to a packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// It arrived at the link.
    Arrived,
    /// The queue dropped it.
    Dropped,
    /// Its transmission ended.
    Forwarded,
    /// An impairment, or chance behind the link, lost it.
    Lost,
}

/// Told at `at` (the model's time) about a packet.
pub type Witness<'a> = &'a mut dyn FnMut(Time, PathEvent, &Packet<Frame>);

/// A path with packets under way.
///
/// Every element may be polled late, and what leaves one goes into the next at the instant
/// that it was due. Hence the path as a whole may be polled late, too. The path's own losses
/// spare packets without data.
pub struct Path {
    path: path::Path<Frame>,
    /// The elements that all packets of a direction meet, in their order.
    ahead: Vec<usize>,
    back: Vec<usize>,
    /// All lines, and the hosts at their ends.
    lines: Vec<(Side, usize)>,
    /// Where the path's own losses strike.
    last_link: Option<usize>,
    /// The shortest of all lines.
    shortest: Duration,
}

impl Path {
    /// An empty path.
    ///
    /// # Panics
    /// If there is no flow, or the path wasn't checked.
    #[must_use]
    pub fn new(crossing: &Crossing) -> Self {
        let rtts = crossing.rtts_ns.iter().map(|&rtt| Duration::from_nanos(rtt));
        let round_trips: Vec<_> = rtts.collect();
        let shortest = *round_trips.iter().min().expect("a path carries at least one flow") / 2;
        let around = Conditions {
            seed: crossing.seed,
            end: Time::from_nanos(crossing.end_ns),
            round_trips: &round_trips,
            acks: Acks { is_ack, merge: says_all },
        };
        let path = path::Path::new(&crossing.path, &around);
        let [ahead, back] = [Direction::Forward, Direction::Backward].map(|way| path.row(way));
        let lines = lines(&path, crossing.rtts_ns.len());
        let last_link = path.links(Direction::Forward).last().copied();
        Self { path, ahead, back, lines, last_link, shortest }
    }

    /// The bottleneck's queue.
    #[must_use]
    pub fn queue(&self) -> QueueState {
        self.path.elements[0].queue().unwrap_or_default()
    }

    /// Takes a packet of the sender.
    pub fn send(&mut self, packet: Packet<Frame>, now: Time, witness: Witness<'_>) {
        self.enter(Direction::Forward, packet, now, witness);
    }

    /// Takes a packet of the receiver.
    pub fn reply(&mut self, packet: Packet<Frame>, now: Time, witness: Witness<'_>) {
        self.enter(Direction::Backward, packet, now, witness);
    }

    fn enter(&mut self, way: Direction, packet: Packet<Frame>, now: Time, witness: Witness<'_>) {
        self.catch_up(now, witness);
        self.put(way, 0, Departure { at: now, packet }, witness);
    }

    /// Settles what happens until `now`.
    pub fn catch_up(&mut self, now: Time, witness: Witness<'_>) {
        for way in [Direction::Forward, Direction::Backward] {
            for place in 0..self.row(way).len() {
                let id = self.row(way)[place];
                while let Some(departure) = self.path.elements[id].poll(now) {
                    self.leave(way, place, departure, witness);
                }
                self.tell_drops(id, witness);
            }
        }
    }

    /// The next packet that was due at or before `now`, and the host that it is for.
    pub fn poll(&mut self, now: Time, witness: Witness<'_>) -> Option<(Side, Departure<Frame>)> {
        self.catch_up(now, witness);
        let Self { path, lines, .. } = self;
        lines.iter().find_map(|&(side, id)| Some((side, path.elements[id].poll(now)?)))
    }

    /// No packet reaches a host before this.
    ///
    /// The elements themselves may be polled late: what leaves them is still on the line.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let deadline = |element: &PathElement<_>| {
            let at = element.next_deadline()?;
            Some(if element.is_line() { at } else { at + self.shortest })
        };
        self.path.elements.iter().filter_map(deadline).min()
    }

    fn row(&self, way: Direction) -> &[usize] {
        match way {
            Direction::Forward => &self.ahead,
            Direction::Backward => &self.back,
        }
    }

    /// Puts a packet into the element at a place of its row, or on the line behind the last.
    fn put(
        &mut self,
        way: Direction,
        place: usize,
        departure: Departure<Frame>,
        witness: Witness<'_>,
    ) {
        let Departure { at, packet } = departure;
        let line = || self.path.line(way, packet.flow.index());
        let id = self.row(way).get(place).copied().unwrap_or_else(line);
        if self.path.elements[id].is_link() {
            witness(at, PathEvent::Arrived, &packet);
        }
        self.path.elements[id].receive(packet, at);
        self.tell_drops(id, witness);
    }

    /// Hands a packet that leaves the element at a place of its row to the next one.
    fn leave(
        &mut self,
        way: Direction,
        place: usize,
        mut departure: Departure<Frame>,
        witness: Witness<'_>,
    ) {
        let id = self.row(way)[place];
        if self.path.elements[id].is_link() {
            let packet = &mut departure.packet;
            if packet.ecn == Ecn::Ce {
                mark(&mut packet.body);
            }
            witness(departure.at, PathEvent::Forwarded, packet);
            let last = self.last_link == Some(id);
            if last && has_data(&packet.body) && self.path.loss.strikes() {
                return witness(departure.at, PathEvent::Lost, packet);
            }
        }
        self.put(way, place + 1, departure, witness);
    }

    fn tell_drops(&mut self, id: usize, witness: Witness<'_>) {
        let element = &mut self.path.elements[id];
        let event = if element.is_link() { PathEvent::Dropped } else { PathEvent::Lost };
        while let Some(dropped) = element.take_dropped() {
            witness(dropped.at, event, &dropped.packet);
        }
    }
}

/// All lines that flows have, those to the receiver first.
fn lines(path: &path::Path<Frame>, flows: usize) -> Vec<(Side, usize)> {
    let ways = [(Direction::Forward, Side::Receiver), (Direction::Backward, Side::Sender)];
    let all = ways.into_iter().flat_map(|(way, side)| {
        let ids: BTreeSet<_> = (0..flows).map(|flow| path.line(way, flow)).collect();
        ids.into_iter().map(move |id| (side, id))
    });
    all.collect()
}
