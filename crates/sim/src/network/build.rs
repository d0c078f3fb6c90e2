//! Builds the elements of a scenario and the routes through them.

use narrows_base::{Duration, Packet, Stream, Time};
use narrows_net::Jitter;
use narrows_net::config::AckHooks;
use narrows_net::path::{Conditions, Direction, Path, dscps};
use narrows_spec::scenario::{Flow, Scenario};
use narrows_tcp::{Kind, Segment};

use super::node::Node;
use super::{BOTTLENECK, Hop, Network};
use crate::host::{ReceivingHost, SendingHost};

/// The hop of an element that no packet passes.
const NOWHERE: usize = usize::MAX;

impl Network {
    /// Connects `hosts`, one pair for each flow of the scenario.
    pub(crate) fn new(scenario: &Scenario, hosts: Vec<(SendingHost, ReceivingHost)>) -> Self {
        let mut path = build_path(scenario);
        let mut network = Self {
            nodes: Vec::new(),
            hops: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            links: DIRECTIONS.iter().flat_map(|&way| path.links(way)).copied().collect(),
            last_link: Vec::new(),
            crosses_bottleneck: Vec::new(),
            poll_slack: Vec::new(),
            backward: Vec::new(),
            keeps_bytes: hosts.iter().any(|(sender, _)| !matches!(sender, SendingHost::Chain(_))),
            reversed: scenario.flows.iter().map(|flow| flow.reverse).collect(),
            lossy: scenario.path.loss > 0.0,
            loss: path.loss.clone(),
            common_lines: scenario
                .flows
                .iter()
                .position(|flow| flow.rtt_ns.is_none())
                .map(|flow| DIRECTIONS.map(|direction| path.line(direction, flow))),
        };
        for element in std::mem::take(&mut path.elements) {
            network.add(Node::from(element), false);
        }
        network.add_hosts(hosts);
        let jitters = network.add_jitters(scenario);
        for (index, flow) in scenario.flows.iter().enumerate() {
            let way = |direction| path.route(direction, index, flow.links.as_deref());
            let (ahead, back) = (way(Direction::Forward), way(Direction::Backward));
            back.iter().for_each(|&id| network.backward[id] = true);
            let (data, acks) = if flow.reverse { (back, ahead) } else { (ahead, back) };
            network.route(index, jitters.get(index).copied(), &data, &acks);
        }
        network.hops.iter_mut().for_each(Hop::simplify);
        network.poll_slack = vec![Duration::ZERO; network.nodes.len()];
        network
    }

    fn add(&mut self, node: Node, backward: bool) -> usize {
        self.nodes.push(node);
        self.hops.push(Hop::to(NOWHERE));
        self.backward.push(backward);
        self.nodes.len() - 1
    }

    fn add_hosts(&mut self, hosts: Vec<(SendingHost, ReceivingHost)>) {
        // By one push after another: a collected vector would keep the room of the hosts.
        self.nodes.reserve_exact(2 * hosts.len());
        let mut receivers = Vec::with_capacity(hosts.len());
        for (sender, receiver) in hosts {
            let id = self.add(Node::Sender(sender), false);
            self.senders.push(id);
            receivers.push(receiver);
        }
        for receiver in receivers {
            let id = self.add(Node::Receiver(receiver), false);
            self.receivers.push(id);
        }
    }

    /// Adds the sender's processing noise for each flow, if there is any.
    fn add_jitters(&mut self, scenario: &Scenario) -> Vec<usize> {
        let max = Duration::from_nanos(scenario.host.jitter_ns);
        if max.is_zero() {
            return Vec::new();
        }
        let flows = scenario.flows.iter();
        let jitter = |flow: &Flow| {
            let random = Stream::new(scenario.seed, &format!("host/{}/jitter", flow.name));
            self.add(Node::Jitter(Jitter::new(max, random)), flow.reverse)
        };
        flows.map(jitter).collect()
    }

    /// Routes a flow's data along one row of elements and its ACKs along another.
    fn route(&mut self, flow: usize, jitter: Option<usize>, data: &[usize], acks: &[usize]) {
        let (sender, receiver) = (self.senders[flow], self.receivers[flow]);
        let there = [sender].into_iter().chain(jitter).chain(data.iter().copied());
        let back = [receiver].into_iter().chain(acks.iter().copied());
        let last = |id: &&usize| self.links.contains(id);
        let last = data.iter().rev().find(last).copied().unwrap_or(NOWHERE);
        self.last_link.push(last);
        self.crosses_bottleneck.push(data.iter().chain(acks).any(|&id| id == BOTTLENECK));
        let way: Vec<usize> = there.chain(back).chain([sender]).collect();
        for pair in way.windows(2) {
            self.connect(pair[0], flow, pair[1]);
        }
    }

    fn connect(&mut self, from: usize, flow: usize, to: usize) {
        // A table has an entry for each flow, so there is one only where routes differ.
        match &mut self.hops[from] {
            Hop::Computed { first: all, .. } if *all == NOWHERE || *all == to => *all = to,
            Hop::Computed { first: all, .. } => {
                let mut next = vec![*all; self.reversed.len()];
                next[flow] = to;
                self.hops[from] = Hop::ByFlow(next);
            }
            Hop::ByFlow(next) => next[flow] = to,
        }
    }
}

impl Hop {
    /// Does without a table whose entries are in order: for each packet of many flows it would be read
    /// from memory.
    fn simplify(&mut self) {
        if let Self::ByFlow(next) = self
            && next.iter().enumerate().all(|(flow, &to)| to == next[0] + flow)
        {
            *self = Self::in_order(next[0]);
        }
    }
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];

fn build_path(scenario: &Scenario) -> Path<Segment> {
    let own = |flow: &Flow| flow.rtt_ns.unwrap_or(scenario.path.rtt_ns);
    let round_trips: Vec<_> =
        scenario.flows.iter().map(|flow| Duration::from_nanos(own(flow))).collect();
    let around = Conditions {
        seed: scenario.seed,
        end: Time::from_nanos(scenario.run.duration_ns),
        round_trips: &round_trips,
        acks: acks(),
        dscps: dscps(
            scenario.flows.iter().map(|flow| (flow.dscp.unwrap_or_default(), flow.reverse)),
        ),
    };
    Path::new(&scenario.path, &around)
}

/// How this TCP's acknowledgements are recognised and merged.
fn acks() -> AckHooks<Segment> {
    AckHooks { is_ack: |packet| matches!(packet.body.kind, Kind::Ack(_)), merge }
}

/// Returns `true` if the newer acknowledgement contains all the information of the older one: it
/// acknowledges no less, and covers every SACK block. A duplicate's report (RFC 2883) always
/// passes.
fn merge(older: &Packet<Segment>, newer: &mut Packet<Segment>) -> bool {
    let same_connection = older.body.instance == newer.body.instance;
    let (Kind::Ack(old), Kind::Ack(new)) = (&older.body.kind, &mut newer.body.kind) else {
        return false;
    };
    let covered = |block: (u32, u32)| {
        block.1 <= new.ack || new.sack.as_slice().iter().any(|b| b.0 <= block.0 && block.1 <= b.1)
    };
    let says_all = old.ack <= new.ack && old.sack.as_slice().iter().copied().all(covered);
    if !same_connection || old.sack.dsack || !says_all {
        return false;
    }
    new.ece |= old.ece;
    true
}
