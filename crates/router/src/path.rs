//! The path as elements of `narrows_net`; knows no clock and no device.

use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};
use narrows_net::config::{self, Acks, LinkChoice};
use narrows_net::{Counters, Departure, Element, Line, RandomLoss};

use crate::chain::Chain;
use crate::config::{Direction, PathConfig, Place};
use crate::frame::{Frame, is_ack, says_all};

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
    /// An impairment, or chance behind the link, lost it.
    Lost,
}

/// Told at `at` (the model's time) about a packet.
pub type Witness<'a> = &'a mut dyn FnMut(Time, Passage, &Packet<Frame>);

/// Lines of all delays that flows have, in one direction.
struct Lines {
    lines: Vec<Line<Frame>>,
    of_flow: Vec<usize>,
}

/// The bottleneck, the impairments and the lines of both directions.
///
/// As in the simulator: the link has no length, half of a flow's round trip lies
/// behind it, the other half on the way back, and the path's own losses spare
/// packets without data.
pub struct Path {
    ahead: Chain,
    back: Chain,
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

    fn receive(&mut self, packet: Packet<Frame>, now: Time) {
        self.lines[self.of_flow[packet.flow.index()]].receive(packet, now);
    }

    fn poll(&mut self, now: Time) -> Option<Departure<Frame>> {
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
    /// If the rate is zero, there is no flow, the loss is no probability, or an element wasn't checked.
    #[must_use]
    pub fn new(config: &PathConfig) -> Self {
        let one_way = |rtt: &u64| Duration::from_nanos(rtt / 2);
        let forward: Vec<_> = config.rtts_ns.iter().map(one_way).collect();
        let backward: Vec<_> =
            config.rtts_ns.iter().map(|rtt| Duration::from_nanos(rtt - rtt / 2)).collect();
        let shortest = *forward.iter().min().expect("a path carries at least one flow");
        let (mut ahead, mut back) = (Chain::default(), Chain::default());
        add_impairments(config, Place::Before, &mut ahead, &mut back);
        let loss = RandomLoss::new(config.loss, Stream::new(config.seed, "path/loss"));
        ahead.add_link(config::link(link(config), config.seed, "path"), loss);
        add_impairments(config, Place::Behind, &mut ahead, &mut back);
        let (forward, backward) = (Lines::new(&forward), Lines::new(&backward));
        Self { ahead, back, forward, backward, shortest }
    }

    /// The bottleneck's counters, and what waits there in bytes and packets.
    #[must_use]
    pub fn queue(&self) -> (Counters, Bytes, usize) {
        self.ahead.queue()
    }

    /// Takes a packet of the sender.
    pub fn send(&mut self, packet: Packet<Frame>, now: Time, witness: Witness<'_>) {
        self.catch_up(now, witness);
        let lines = &mut self.forward;
        self.ahead.receive(packet, now, witness, &mut |d| lines.receive(d.packet, d.at));
    }

    /// Takes a packet of the receiver.
    pub fn reply(&mut self, packet: Packet<Frame>, now: Time, witness: Witness<'_>) {
        self.catch_up(now, witness);
        let lines = &mut self.backward;
        self.back.receive(packet, now, witness, &mut |d| lines.receive(d.packet, d.at));
    }

    /// Settles what happens until `now`.
    pub fn catch_up(&mut self, now: Time, witness: Witness<'_>) {
        let lines = &mut self.forward;
        self.ahead.catch_up(now, witness, &mut |d| lines.receive(d.packet, d.at));
        let lines = &mut self.backward;
        self.back.catch_up(now, witness, &mut |d| lines.receive(d.packet, d.at));
    }

    /// The next packet that was due at or before `now`, and the host that it is for.
    pub fn poll(&mut self, now: Time, witness: Witness<'_>) -> Option<(Side, Departure<Frame>)> {
        self.catch_up(now, witness);
        let forward = self.forward.poll(now).map(|departure| (Side::Receiver, departure));
        forward.or_else(|| self.backward.poll(now).map(|departure| (Side::Sender, departure)))
    }

    /// No packet reaches a host before this.
    ///
    /// The elements themselves may be polled late: what leaves them is still on the line.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        let chains = [self.ahead.next_deadline(), self.back.next_deadline()];
        let chains = chains.map(|at| at.map(|at| at + self.shortest));
        let lines = [self.forward.next_deadline(), self.backward.next_deadline()];
        chains.into_iter().chain(lines).flatten().min()
    }
}

fn link(config: &PathConfig) -> LinkChoice<'_> {
    LinkChoice {
        rate: Rate::from_bps(config.rate_bps),
        service: &config.service,
        queue: &config.queue,
        limit: config.limit(),
    }
}

fn add_impairments(config: &PathConfig, at: Place, ahead: &mut Chain, back: &mut Chain) {
    let end = Time::from_nanos(config.end_ns);
    for (index, impairment) in config.impairments.iter().enumerate() {
        if impairment.at != at {
            continue;
        }
        let random = Stream::new(config.seed, &format!("path/impairment/{index}"));
        let acks = Acks { is_ack, merge: says_all };
        let element = config::impairment(&impairment.element, random, end, acks);
        match impairment.direction {
            Direction::Forward => ahead.add(element),
            Direction::Backward => back.add(element),
        }
    }
}
