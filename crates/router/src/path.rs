//! The path as elements of `narrows_net`; knows no clock and no device.

use narrows_base::{Duration, Ecn, Packet, Rate, Stream, Time};
use narrows_net::{Departure, Element, Line, Link, RandomLoss, RateProcess, config};

use crate::config::PathConfig;
use crate::frame::{has_data, mark};

/// A host of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The sending host.
    Sender,
    /// The receiving host.
    Receiver,
}

/// What happened to a packet on its way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It arrived at the link.
    Arrived,
    /// The queue dropped it.
    Dropped,
    /// Its transmission ended.
    Forwarded,
    /// Chance lost it behind the link.
    Lost,
}

/// Told at `at` (the model's time) about a packet.
pub type Witness<'a> = &'a mut dyn FnMut(Time, Passage, &Packet<Vec<u8>>);

/// Lines of all delays that flows have, in one direction.
struct Lines {
    lines: Vec<Line<Vec<u8>>>,
    of_flow: Vec<usize>,
}

/// The bottleneck, the loss behind it and the lines of both directions.
///
/// As in the simulator: the link has no length, half of a flow's round trip lies
/// behind it, the other half on the way back, and losses spare packets without
/// data.
pub struct Path {
    link: Link<Vec<u8>>,
    loss: RandomLoss<Vec<u8>>,
    forward: Lines,
    backward: Lines,
    shortest: Duration,
}

impl Lines {
    fn new(delays: &[Duration]) -> Self {
        let mut distinct = delays.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |delay| distinct.partition_point(|d| d < delay);
        let of_flow = delays.iter().map(place).collect();
        Self { lines: distinct.into_iter().map(Line::new).collect(), of_flow }
    }

    fn receive(&mut self, packet: Packet<Vec<u8>>, now: Time) {
        self.lines[self.of_flow[packet.flow.index()]].receive(packet, now);
    }

    fn poll(&mut self, now: Time) -> Option<Departure<Vec<u8>>> {
        self.lines.iter_mut().find_map(|line| line.poll(now))
    }

    fn next_deadline(&self) -> Option<Time> {
        self.lines.iter().filter_map(Line::next_deadline).min()
    }
}

impl Path {
    /// An empty path.
    ///
    /// # Panics
    /// If the rate is zero, there is no flow, the loss is no probability, or the queue wasn't checked.
    #[must_use]
    pub fn new(config: &PathConfig) -> Self {
        let one_way = |rtt: &u64| Duration::from_nanos(rtt / 2);
        let forward: Vec<_> = config.rtts_ns.iter().map(one_way).collect();
        let backward: Vec<_> =
            config.rtts_ns.iter().map(|rtt| Duration::from_nanos(rtt - rtt / 2)).collect();
        let shortest = *forward.iter().min().expect("a path carries at least one flow");
        Self {
            link: link(config),
            loss: RandomLoss::new(config.loss, Stream::new(config.seed, "path/loss")),
            forward: Lines::new(&forward),
            backward: Lines::new(&backward),
            shortest,
        }
    }

    /// The bottleneck.
    #[must_use]
    pub fn link(&self) -> &Link<Vec<u8>> {
        &self.link
    }

    /// Takes a packet of the sender.
    pub fn send(&mut self, packet: Packet<Vec<u8>>, now: Time, witness: Witness<'_>) {
        self.catch_up(now, witness);
        witness(now, Passage::Arrived, &packet);
        self.link.receive(packet, now);
        self.tell_drops(witness);
    }

    /// Takes a packet of the receiver.
    pub fn reply(&mut self, packet: Packet<Vec<u8>>, now: Time) {
        self.backward.receive(packet, now);
    }

    /// Settles what the link does until `now`.
    pub fn catch_up(&mut self, now: Time, witness: Witness<'_>) {
        while let Some(Departure { at, mut packet }) = self.link.poll(now) {
            if packet.ecn == Ecn::Ce {
                mark(&mut packet.body);
            }
            witness(at, Passage::Forwarded, &packet);
            if has_data(&packet.body) && self.loss.strikes() {
                witness(at, Passage::Lost, &packet);
            } else {
                self.forward.receive(packet, at);
            }
        }
        self.tell_drops(witness);
    }

    fn tell_drops(&mut self, witness: Witness<'_>) {
        while let Some(dropped) = self.link.take_dropped() {
            witness(dropped.at, Passage::Dropped, &dropped.packet);
        }
    }

    /// The next packet that was due at or before `now`, and the host that it is for.
    pub fn poll(&mut self, now: Time, witness: Witness<'_>) -> Option<(Side, Departure<Vec<u8>>)> {
        self.catch_up(now, witness);
        let forward = self.forward.poll(now).map(|departure| (Side::Receiver, departure));
        forward.or_else(|| self.backward.poll(now).map(|departure| (Side::Sender, departure)))
    }

    /// No packet reaches a host before this.
    ///
    /// The link itself may be polled late: what leaves it is still on the line.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let link = self.link.next_deadline().map(|at| at + self.shortest);
        let deadlines = [link, self.forward.next_deadline(), self.backward.next_deadline()];
        deadlines.into_iter().flatten().min()
    }
}

fn link(config: &PathConfig) -> Link<Vec<u8>> {
    let random = Stream::new(config.seed, "path/queue");
    let queue = config::queue(&config.queue, config.limit(), random);
    Link::new(queue, RateProcess::constant(Rate::from_bps(config.rate_bps)), Duration::ZERO)
}
