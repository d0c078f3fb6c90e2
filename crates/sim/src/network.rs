//! The elements of a run and how they hang together.

use narrows_base::{Duration, FlowId, Packet, Rate, Stream, Time};
use narrows_net::{
    Counters, Dropped, Element as _, Jitter, Line, Link, RandomLoss, RateProcess, config,
};
use narrows_tcp::Segment;

use crate::host::{ReceivingHost, SendingHost};
use crate::scenario::{self, Scenario};

/// One element of the network.
#[allow(clippy::large_enum_variant)] // the link is the busiest: no pointer to it
pub(crate) enum Node {
    Link(Link<Segment>),
    Line(Line<Segment>),
    Jitter(Jitter<Segment>),
    Sender(SendingHost),
    Receiver(ReceivingHost),
}

/// What the event loop needs to know of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Link,
    Sender,
    Receiver,
    /// It only delays.
    Passage,
}

impl Node {
    #[inline]
    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Link(_) => Role::Link,
            Self::Sender(_) => Role::Sender,
            Self::Receiver(_) => Role::Receiver,
            Self::Line(_) | Self::Jitter(_) => Role::Passage,
        }
    }

    #[inline]
    pub(crate) fn receive(&mut self, packet: Packet<Segment>, now: Time) {
        match self {
            Self::Link(link) => link.receive(packet, now),
            Self::Line(line) => line.receive(packet, now),
            Self::Jitter(jitter) => jitter.receive(packet, now),
            Self::Sender(host) => host.receive(&packet, now),
            Self::Receiver(host) => host.receive(&packet, now),
        }
    }

    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<(Packet<Segment>, Time)> {
        let departure = match self {
            Self::Link(link) => link.poll(now),
            Self::Line(line) => line.poll(now),
            Self::Jitter(jitter) => jitter.poll(now),
            Self::Sender(host) => return host.poll(now).map(|packet| (packet, now)),
            Self::Receiver(host) => return host.poll(now).map(|packet| (packet, now)),
        }?;
        Some((departure.packet, departure.at))
    }

    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        match self {
            Self::Link(link) => link.next_deadline(),
            Self::Line(line) => line.next_deadline(),
            Self::Jitter(jitter) => jitter.next_deadline(),
            Self::Sender(host) => host.next_deadline(),
            Self::Receiver(host) => host.next_deadline(),
        }
    }

    /// Packets inside.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Link(link) => link.held(),
            Self::Line(line) => line.held(),
            Self::Jitter(jitter) => jitter.held(),
            Self::Sender(_) | Self::Receiver(_) => 0,
        }
    }
}

/// Where an element's packets go next.
pub(crate) enum Hop {
    /// All to the same element.
    To(usize),
    /// By the packet's flow.
    ByFlow(Vec<usize>),
}

/// A dumbbell: every flow crosses the one bottleneck, and its ACKs return
/// without queueing.
///
/// Elements are numbered link, lines, then senders, receivers and jitters of all
/// flows. The link has no length: half of a flow's round trip lies on a line behind
/// it, the other half on the way back. Flows of equal delay share their lines.
pub(crate) struct Network {
    pub(crate) nodes: Vec<Node>,
    pub(crate) hops: Vec<Hop>,
    pub(crate) senders: Vec<usize>,
    pub(crate) receivers: Vec<usize>,
    /// Loss behind the link, of data only.
    pub(crate) loss: RandomLoss<Segment>,
}

/// The bottleneck's number.
pub(crate) const BOTTLENECK: usize = 0;

impl Network {
    /// Connects `hosts`, one pair for each flow of the scenario.
    pub(crate) fn dumbbell(scenario: &Scenario, hosts: Vec<(SendingHost, ReceivingHost)>) -> Self {
        let rtts = round_trips(scenario);
        let mut network = Self {
            nodes: vec![Node::Link(bottleneck(scenario))],
            hops: vec![Hop::ByFlow(Vec::new())],
            senders: Vec::new(),
            receivers: Vec::new(),
            loss: RandomLoss::new(scenario.path.loss, Stream::new(scenario.seed, "path/loss")),
        };
        let forward = network.add_lines(rtts.iter().map(|&rtt| rtt / 2));
        let backward = network.add_lines(rtts.iter().map(|&rtt| rtt - rtt / 2));
        network.add_hosts(hosts, &backward);
        network.add_jitter(scenario);
        network.route(&forward, &backward);
        network
    }

    fn add(&mut self, node: Node, hop: Hop) -> usize {
        self.nodes.push(node);
        self.hops.push(hop);
        self.nodes.len() - 1
    }

    /// One line for each distinct delay; returns each flow's.
    fn add_lines(&mut self, delays: impl Iterator<Item = Duration>) -> Vec<usize> {
        let mut lines: Vec<(Duration, usize)> = Vec::new();
        let mut line_of = |delay| {
            let known = lines.iter().find(|(length, _)| *length == delay).map(|&(_, id)| id);
            known.unwrap_or_else(|| {
                let id = self.add(Node::Line(Line::new(delay)), Hop::ByFlow(Vec::new()));
                lines.push((delay, id));
                id
            })
        };
        delays.map(&mut line_of).collect()
    }

    fn add_hosts(&mut self, hosts: Vec<(SendingHost, ReceivingHost)>, backward: &[usize]) {
        let (senders, receivers): (Vec<_>, Vec<_>) = hosts.into_iter().unzip();
        for sender in senders {
            let id = self.add(Node::Sender(sender), Hop::To(BOTTLENECK));
            self.senders.push(id);
        }
        for (receiver, &line) in receivers.into_iter().zip(backward) {
            let id = self.add(Node::Receiver(receiver), Hop::To(line));
            self.receivers.push(id);
        }
    }

    /// Puts the sender's processing noise between it and the link.
    fn add_jitter(&mut self, scenario: &Scenario) {
        let max = Duration::from_nanos(scenario.host.jitter_ns);
        if max.is_zero() {
            return;
        }
        for (flow, spec) in scenario.flows.iter().enumerate() {
            let random = Stream::new(scenario.seed, &format!("host/{}/jitter", spec.name));
            let id = self.add(Node::Jitter(Jitter::new(max, random)), Hop::To(BOTTLENECK));
            self.hops[self.senders[flow]] = Hop::To(id);
        }
    }

    fn route(&mut self, forward: &[usize], backward: &[usize]) {
        self.hops[BOTTLENECK] = Hop::ByFlow(forward.to_vec());
        for (lines, ends) in [(forward, &self.receivers), (backward, &self.senders)] {
            for &line in lines {
                self.hops[line] = Hop::ByFlow(ends.clone());
            }
        }
    }

    #[inline]
    pub(crate) fn next_hop(&self, from: usize, flow: FlowId) -> usize {
        match &self.hops[from] {
            Hop::To(id) => *id,
            Hop::ByFlow(ids) => ids[flow.index()],
        }
    }

    pub(crate) fn sender(&self, flow: usize) -> &SendingHost {
        match &self.nodes[self.senders[flow]] {
            Node::Sender(host) => host,
            _ => unreachable!("a sender's number names a sender"),
        }
    }

    pub(crate) fn sender_mut(&mut self, flow: usize) -> &mut SendingHost {
        match &mut self.nodes[self.senders[flow]] {
            Node::Sender(host) => host,
            _ => unreachable!("a sender's number names a sender"),
        }
    }

    pub(crate) fn receiver(&self, flow: usize) -> &ReceivingHost {
        match &self.nodes[self.receivers[flow]] {
            Node::Receiver(host) => host,
            _ => unreachable!("a receiver's number names a receiver"),
        }
    }

    pub(crate) fn link(&self) -> &Link<Segment> {
        match &self.nodes[BOTTLENECK] {
            Node::Link(link) => link,
            _ => unreachable!("the bottleneck is a link"),
        }
    }

    pub(crate) fn link_mut(&mut self) -> &mut Link<Segment> {
        match &mut self.nodes[BOTTLENECK] {
            Node::Link(link) => link,
            _ => unreachable!("the bottleneck is a link"),
        }
    }

    /// What has passed the bottleneck.
    pub(crate) fn counters(&self) -> Counters {
        self.link().counters()
    }

    /// What the bottleneck dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> Option<Dropped<Segment>> {
        self.link_mut().take_dropped()
    }

    /// Packets inside all elements.
    pub(crate) fn held(&self) -> u64 {
        self.nodes.iter().map(|node| node.held() as u64).sum()
    }
}

fn round_trips(scenario: &Scenario) -> Vec<Duration> {
    let own = |flow: &scenario::Flow| flow.rtt_ns.unwrap_or(scenario.path.rtt_ns);
    scenario.flows.iter().map(|flow| Duration::from_nanos(own(flow))).collect()
}

fn bottleneck(scenario: &Scenario) -> Link<Segment> {
    let path = &scenario.path;
    let random = Stream::new(scenario.seed, "path/queue");
    let queue = config::queue(&path.queue, path.buffer.into(), random);
    Link::new(queue, RateProcess::constant(Rate::from_bps(path.rate_bps)), Duration::ZERO)
}
