//! Drives the elements of a path, independent of clock and devices.

use std::collections::BTreeSet;

use narrows_base::{Duration, Ecn, Packet, Time};
use narrows_net::config::AckHooks;
use narrows_net::path::{self, Conditions, Direction, PathElement};
use narrows_net::{Departure, Element as _, QueueState};

use crate::config::Crossing;
use crate::frame::{ForwardedPacket, has_data, is_ack, mark, supersedes, tcp_ports};

/// The element that is the first link.
const FIRST_LINK: usize = 0;

/// A host of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The sending host.
    Sender,
    /// The receiving host.
    Receiver,
}

/// An event of a packet on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// It arrived at the first link.
    Arrived,
    /// A queue on the way of its flow's data dropped it.
    Dropped,
    /// Its transmission by the first link ended.
    Forwarded,
    /// It left the last link on the way of its flow's data.
    Crossed,
    /// An impairment, or random loss behind the last link, lost it on the way of its flow's data.
    Lost,
}

/// Notified at `at` (the model's time) about a packet.
pub type PathObserver<'a> = &'a mut dyn FnMut(Time, PathEvent, &Packet<ForwardedPacket>);

/// A path with packets in flight.
///
/// Every element may be polled late, and a packet that leaves one enters the next at the instant
/// that it was due. Hence the path as a whole may be polled late, too. The path's own losses spare
/// packets without data.
pub struct RouterPath {
    path: path::Path<ForwardedPacket>,
    /// The elements that packets of a direction may pass, in their order, and each flow's own
    /// route.
    ahead: Routes,
    back: Routes,
    /// All lines, and the hosts at their ends.
    lines: Vec<(Side, usize)>,
    /// The shortest of all lines.
    shortest: Duration,
    /// The direction of each flow's data.
    data_directions: Vec<Direction>,
    /// The sender's port of each flow's data, if packets of other ports aren't data of the flow.
    data_ports: Vec<Option<u16>>,
}

/// The routes of a direction, as numbers of elements.
struct Routes {
    row: Vec<usize>,
    /// The elements of each flow's route, with its line at the end.
    flows: Vec<Vec<usize>>,
    /// Each flow's last link, if it crosses any.
    last_links: Vec<Option<usize>>,
}

impl Routes {
    fn new(path: &path::Path<ForwardedPacket>, way: Direction, crossing: &Crossing) -> Self {
        let only = |flow: usize| crossing.links.get(flow).and_then(|links| links.as_deref());
        let flows: Vec<_> =
            (0..crossing.rtts_ns.len()).map(|flow| path.route(way, flow, only(flow))).collect();
        let is_link = |&&id: &&usize| path.elements[id].is_link();
        let last = |own: &Vec<usize>| own.iter().rfind(is_link).copied();
        Self { row: path.row(way), last_links: flows.iter().map(last).collect(), flows }
    }

    /// The element after a given one on a flow's route, or the first element if none is given.
    fn behind(&self, flow: usize, element: Option<usize>) -> usize {
        let way = &self.flows[flow];
        let at = element
            .map_or(0, |id| way.iter().position(|&other| other == id).map_or(0, |at| at + 1));
        way[at]
    }
}

impl RouterPath {
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
            acks: AckHooks { is_ack, merge: supersedes },
            dscps: path::dscps(
                crossing.dscps.iter().copied().zip(crossing.reverse.iter().copied()),
            ),
        };
        let path = path::Path::new(&crossing.path, &around);
        let [ahead, back] =
            [Direction::Forward, Direction::Backward].map(|way| Routes::new(&path, way, crossing));
        let lines = lines(&path, crossing.rtts_ns.len());
        let data_ports = crossing.data_ports.clone();
        let way = |&reverse: &bool| if reverse { Direction::Backward } else { Direction::Forward };
        let data_directions = crossing.reverse.iter().map(way).collect();
        Self { path, ahead, back, lines, shortest, data_directions, data_ports }
    }

    /// The bottleneck's queue.
    #[must_use]
    pub fn queue(&self) -> QueueState {
        self.path.elements[0].queue().unwrap_or_default()
    }

    /// The queues of all links: the first, further ones in their order, and the reverse link.
    pub fn queues(&self) -> impl Iterator<Item = QueueState> {
        self.path.elements.iter().map_while(PathElement::queue)
    }

    /// Takes a packet of the sender.
    pub fn send(&mut self, packet: Packet<ForwardedPacket>, now: Time, witness: PathObserver<'_>) {
        self.enter(Direction::Forward, packet, now, witness);
    }

    /// Takes a packet of the receiver.
    pub fn reply(&mut self, packet: Packet<ForwardedPacket>, now: Time, witness: PathObserver<'_>) {
        self.enter(Direction::Backward, packet, now, witness);
    }

    fn enter(
        &mut self,
        way: Direction,
        mut packet: Packet<ForwardedPacket>,
        now: Time,
        witness: PathObserver<'_>,
    ) {
        packet.body.sent = now;
        self.catch_up(now, witness);
        self.put(way, None, Departure { at: now, packet }, witness);
    }

    /// Settles everything until `now`, in the order of time: several links may lead into one.
    pub fn catch_up(&mut self, now: Time, witness: PathObserver<'_>) {
        for way in [Direction::Forward, Direction::Backward] {
            while let Some((at, id)) = self.next_due(way, now) {
                if let Some(departure) = self.path.elements[id].poll(at) {
                    self.leave(way, id, departure, witness);
                }
                self.tell_drops(way, id, witness);
            }
        }
    }

    /// When an element of a direction is due at or before `now`, and which; the first in their
    /// order if several are.
    fn next_due(&self, way: Direction, now: Time) -> Option<(Time, usize)> {
        let due = |&id: &usize| Some((self.path.elements[id].next_deadline()?, id));
        let all = self.routes(way).row.iter().filter_map(due);
        all.filter(|&(at, _)| at <= now).min_by_key(|&(at, _)| at)
    }

    /// The next packet due at or before `now`, and its host.
    pub fn poll(
        &mut self,
        now: Time,
        witness: PathObserver<'_>,
    ) -> Option<(Side, Departure<ForwardedPacket>)> {
        self.catch_up(now, witness);
        self.arrive(now)
    }

    /// The next packet that reaches a host until `last`, among those past all other elements.
    pub fn arrive(&mut self, last: Time) -> Option<(Side, Departure<ForwardedPacket>)> {
        let Self { path, lines, .. } = self;
        lines.iter().find_map(|&(side, id)| Some((side, path.elements[id].poll(last)?)))
    }

    /// The shortest time from one host to the other, queues left out.
    #[must_use]
    pub const fn shortest(&self) -> Duration {
        self.shortest
    }

    /// The instant before which no packet reaches a host.
    ///
    /// The elements themselves may be polled late, since their packets are then still on the line.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let deadline = |element: &PathElement<_>| {
            let at = element.next_deadline()?;
            Some(if element.is_line() { at } else { at + self.shortest })
        };
        self.path.elements.iter().filter_map(deadline).min()
    }

    const fn routes(&self, way: Direction) -> &Routes {
        match way {
            Direction::Forward => &self.ahead,
            Direction::Backward => &self.back,
        }
    }

    /// Puts a packet into the element after a given one of its route, or into the first.
    fn put(
        &mut self,
        way: Direction,
        behind: Option<usize>,
        departure: Departure<ForwardedPacket>,
        witness: PathObserver<'_>,
    ) {
        let Departure { at, packet } = departure;
        let id = self.routes(way).behind(packet.flow.index(), behind);
        let element = &self.path.elements[id];
        let is_impairment = !element.is_link() && !element.is_line();
        if is_impairment && self.is_conversation(way, &packet) {
            return self.put(way, Some(id), Departure { at, packet }, witness);
        }
        if id == FIRST_LINK {
            witness(at, PathEvent::Arrived, &packet);
        }
        self.path.elements[id].receive(packet, at);
        self.tell_drops(way, id, witness);
    }

    /// Passes a packet that leaves an element to the next one of its route.
    fn leave(
        &mut self,
        way: Direction,
        id: usize,
        mut departure: Departure<ForwardedPacket>,
        witness: PathObserver<'_>,
    ) {
        let (at, packet) = (departure.at, &mut departure.packet);
        if self.path.elements[id].is_link() && packet.ecn == Ecn::Ce {
            mark(&mut packet.body);
        }
        if id == FIRST_LINK {
            witness(at, PathEvent::Forwarded, packet);
        }
        let last = self.routes(way).last_links[packet.flow.index()] == Some(id);
        if last && way == self.data_direction(packet) {
            witness(at, PathEvent::Crossed, packet);
        }
        if last && way == Direction::Forward {
            let spared = !has_data(&packet.body) || self.is_conversation(way, packet);
            if !spared && self.path.loss.loses_next() {
                return witness(at, PathEvent::Lost, packet);
            }
        }
        self.put(way, Some(id), departure, witness);
    }

    /// Returns `true` if the packet that reaches a host is data of its flow.
    pub(crate) fn is_data(&self, host: Side, packet: &Packet<ForwardedPacket>) -> bool {
        let way = self.data_direction(packet);
        let right = (host == Side::Receiver) == (way == Direction::Forward);
        right && has_data(&packet.body) && !self.is_conversation(way, packet)
    }

    fn data_direction(&self, packet: &Packet<ForwardedPacket>) -> Direction {
        self.data_directions.get(packet.flow.index()).copied().unwrap_or(Direction::Forward)
    }

    /// Returns `true` if the packet belongs to the programs' control connection.
    fn is_conversation(&self, way: Direction, packet: &Packet<ForwardedPacket>) -> bool {
        let Some(&Some(data)) = self.data_ports.get(packet.flow.index()) else { return false };
        let to_receiver = way == self.data_direction(packet);
        let sender = tcp_ports(&packet.body)
            .map(|(source, destination)| if to_receiver { source } else { destination });
        sender.is_some_and(|port| port != data)
    }

    fn tell_drops(&mut self, way: Direction, id: usize, witness: PathObserver<'_>) {
        let element = &mut self.path.elements[id];
        let event = if element.is_link() { PathEvent::Dropped } else { PathEvent::Lost };
        while let Some(dropped) = element.take_dropped() {
            let data_direction = self.data_directions.get(dropped.packet.flow.index());
            if data_direction.is_none_or(|&data| data == way) {
                witness(dropped.at, event, &dropped.packet);
            }
        }
    }
}

/// All lines of flows, those to the receiver first.
fn lines(path: &path::Path<ForwardedPacket>, flows: usize) -> Vec<(Side, usize)> {
    let ways = [(Direction::Forward, Side::Receiver), (Direction::Backward, Side::Sender)];
    let all = ways.into_iter().flat_map(|(way, side)| {
        let ids: BTreeSet<_> = (0..flows).map(|flow| path.line(way, flow)).collect();
        ids.into_iter().map(move |id| (side, id))
    });
    all.collect()
}
