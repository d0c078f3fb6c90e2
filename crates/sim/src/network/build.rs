//! From a scenario to elements and the ways through them.

use narrows_base::{Duration, Packet, Rate, Stream, Time};
use narrows_net::config::{self, Acks, LinkChoice};
use narrows_net::{Jitter, Line, RandomLoss};
use narrows_spec::scenario::{Direction, FIRST_LINK, Flow, Place, Scenario};
use narrows_tcp::{Kind, Segment};

use super::{Hop, Network, Node};
use crate::host::{ReceivingHost, SendingHost};

/// The hop of a flow that never comes by.
pub(super) const NOWHERE: usize = usize::MAX;

/// What stands on the way of one direction, besides lines and hosts.
#[derive(Default)]
struct Way {
    before: Vec<usize>,
    links: Vec<usize>,
    behind: Vec<usize>,
}

impl Network {
    /// Connects `hosts`, one pair for each flow of the scenario.
    pub(crate) fn new(scenario: &Scenario, hosts: Vec<(SendingHost, ReceivingHost)>) -> Self {
        let mut network = Self {
            nodes: Vec::new(),
            hops: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            links: Vec::new(),
            last_link: Vec::new(),
            backward: Vec::new(),
            reversed: scenario.flows.iter().map(|flow| flow.reverse).collect(),
            lossy: scenario.path.loss > 0.0,
            loss: RandomLoss::new(scenario.path.loss, Stream::new(scenario.seed, "path/loss")),
        };
        let (mut forward, mut backward) = (Way::default(), Way::default());
        network.add_links(scenario, &mut forward, &mut backward);
        network.add_impairments(scenario, &mut forward, &mut backward);
        let rtts = round_trips(scenario);
        let ahead = network.add_lines(rtts.iter().map(|&rtt| rtt / 2), false);
        let back = network.add_lines(rtts.iter().map(|&rtt| rtt - rtt / 2), true);
        network.add_hosts(hosts);
        let jitters = network.add_jitters(scenario);
        for (index, flow) in scenario.flows.iter().enumerate() {
            let ahead = chain(scenario, flow, &forward, ahead[index]);
            let back = chain(scenario, flow, &backward, back[index]);
            let (data, acks) = if flow.reverse { (back, ahead) } else { (ahead, back) };
            network.route(index, jitters.get(index).copied(), &data, &acks);
        }
        network
    }

    fn add(&mut self, node: Node, backward: bool) -> usize {
        self.nodes.push(node);
        self.hops.push(Hop::ByFlow(Vec::new()));
        self.backward.push(backward);
        self.nodes.len() - 1
    }

    fn add_links(&mut self, scenario: &Scenario, forward: &mut Way, backward: &mut Way) {
        let path = &scenario.path;
        let first = LinkChoice {
            rate: Rate::from_bps(path.rate_bps),
            service: &path.service,
            queue: &path.queue,
            limit: path.buffer.into(),
        };
        let link = config::link(first, scenario.seed, "path");
        forward.links.push(self.add(Node::from(link), false));
        let behind = path.links.iter().map(|link| (link, false));
        for (link, back) in behind.chain(path.reverse.iter().map(|link| (link, true))) {
            let parts = LinkChoice {
                rate: Rate::from_bps(link.rate_bps),
                service: &link.service,
                queue: &link.queue,
                limit: link.buffer.into(),
            };
            let built = config::link(parts, scenario.seed, &format!("link/{}", link.name));
            let id = self.add(Node::from(built), back);
            if back { backward.links.push(id) } else { forward.links.push(id) }
        }
        self.links = forward.links.iter().chain(&backward.links).copied().collect();
    }

    fn add_impairments(&mut self, scenario: &Scenario, forward: &mut Way, backward: &mut Way) {
        let end = Time::from_nanos(scenario.run.duration_ns);
        for (index, impairment) in scenario.path.impairments.iter().enumerate() {
            let random = Stream::new(scenario.seed, &format!("path/impairment/{index}"));
            let element = config::impairment(&impairment.element, random, end, acks());
            let back = impairment.direction == Direction::Backward;
            let id = self.add(Node::Impairment(element), back);
            let way = if back { &mut *backward } else { &mut *forward };
            match impairment.at {
                Place::Before => way.before.push(id),
                Place::Behind => way.behind.push(id),
            }
        }
    }

    /// One line for each distinct delay; returns each flow's.
    fn add_lines(&mut self, delays: impl Iterator<Item = Duration>, backward: bool) -> Vec<usize> {
        let mut lines: Vec<(Duration, usize)> = Vec::new();
        let mut line_of = |delay| {
            let known = lines.iter().find(|(length, _)| *length == delay).map(|&(_, id)| id);
            known.unwrap_or_else(|| {
                let id = self.add(Node::Line(Line::new(delay)), backward);
                lines.push((delay, id));
                id
            })
        };
        delays.map(&mut line_of).collect()
    }

    fn add_hosts(&mut self, hosts: Vec<(SendingHost, ReceivingHost)>) {
        let (senders, receivers): (Vec<_>, Vec<_>) = hosts.into_iter().unzip();
        self.senders = senders.into_iter().map(|h| self.add(Node::Sender(h), false)).collect();
        self.receivers =
            receivers.into_iter().map(|h| self.add(Node::Receiver(h), false)).collect();
    }

    /// The sender's processing noise, for each flow; none if there is no noise.
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

    /// Leads a flow's data over one row of elements and its ACKs over another.
    fn route(&mut self, flow: usize, jitter: Option<usize>, data: &[usize], acks: &[usize]) {
        let (sender, receiver) = (self.senders[flow], self.receivers[flow]);
        let there = [sender].into_iter().chain(jitter).chain(data.iter().copied());
        let back = [receiver].into_iter().chain(acks.iter().copied());
        let last = |id: &&usize| self.links.contains(id);
        let last = data.iter().rev().find(last).copied().unwrap_or(NOWHERE);
        self.last_link.push(last);
        let way: Vec<usize> = there.chain(back).chain([sender]).collect();
        for pair in way.windows(2) {
            self.connect(pair[0], flow, pair[1]);
        }
    }

    fn connect(&mut self, from: usize, flow: usize, to: usize) {
        if matches!(self.nodes[from], Node::Sender(_) | Node::Receiver(_) | Node::Jitter(_)) {
            self.hops[from] = Hop::To(to);
        } else if let Hop::ByFlow(next) = &mut self.hops[from] {
            next.resize(self.reversed.len(), NOWHERE);
            next[flow] = to;
        }
    }
}

/// The elements that a flow meets in one direction: all but the links that it doesn't
/// name.
fn chain(scenario: &Scenario, flow: &Flow, way: &Way, line: usize) -> Vec<usize> {
    let links = &scenario.path.links;
    let name = |index: usize| if index == 0 { FIRST_LINK } else { links[index - 1].name.as_str() };
    let crosses = |id: &&usize| match &flow.links {
        // Forward links are the first elements, in the order of the path.
        Some(names) if **id <= links.len() => names.iter().any(|other| other == name(**id)),
        _ => true,
    };
    let links = way.links.iter().filter(crosses);
    way.before.iter().chain(links).chain(&way.behind).chain([&line]).copied().collect()
}

fn round_trips(scenario: &Scenario) -> Vec<Duration> {
    let own = |flow: &Flow| flow.rtt_ns.unwrap_or(scenario.path.rtt_ns);
    scenario.flows.iter().map(|flow| Duration::from_nanos(own(flow))).collect()
}

/// How acknowledgements of this TCP are merged.
fn acks() -> Acks<Segment> {
    Acks { is_ack: |packet| matches!(packet.body.kind, Kind::Ack(_)), merge }
}

/// Whether the newer acknowledgement says all that the older one says: it acknowledges
/// no less, and covers every SACK block. A duplicate's report (RFC 2883) always passes.
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
