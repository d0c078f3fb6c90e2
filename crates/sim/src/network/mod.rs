//! The elements of a run and their connections.

mod build;
mod change;
mod late;
mod node;
mod prefetch;

use narrows_base::{Duration, FlowId, Histogram, Packet, Time};
use narrows_net::{Counters, DroppedPacket, QueueState, RandomLoss};
use narrows_tcp::Segment;

use crate::host::{ReceivingHost, SendingHost};
pub(crate) use node::{Node, Role};

/// Where an element's packets go next.
#[repr(u8)] // as of `Node`
pub(crate) enum Hop {
    /// All to the same element, with a mask of 0; with one of ones, by the packet's flow, to elements
    /// that are numbered as the flows are. A mask takes no branch.
    Computed { first: usize, mask: usize },
    /// By the packet's flow.
    ByFlow(Vec<usize>),
}

impl Hop {
    const fn to(id: usize) -> Self {
        Self::Computed { first: id, mask: 0 }
    }

    const fn in_order(first: usize) -> Self {
        Self::Computed { first, mask: usize::MAX }
    }

    /// Where the packets of a flow go.
    #[inline]
    fn of(&self, flow: FlowId) -> usize {
        match self {
            Self::Computed { first, mask } => first.wrapping_add(flow.index() & mask),
            Self::ByFlow(ids) => ids[flow.index()],
        }
    }

    /// Where all packets go, if that is one element.
    pub(crate) const fn only(&self) -> Option<usize> {
        match self {
            Self::Computed { first, mask: 0 } => Some(*first),
            _ => None,
        }
    }
}

/// Links in a row, crossed by flows in both directions.
///
/// Elements are numbered in the order links, impairments, lines, then senders, receivers and
/// jitters of all flows; at equal times the lower number goes first. A link has no length: half of
/// a flow's round trip is a line behind the last element of a direction, the other half is on the
/// reverse path. Flows of equal delay share their lines.
pub(crate) struct Network {
    pub(crate) nodes: Vec<Node>,
    pub(crate) hops: Vec<Hop>,
    pub(crate) senders: Vec<usize>,
    pub(crate) receivers: Vec<usize>,
    /// The elements that are links, by their numbers in the tables; the first one is the
    /// bottleneck.
    pub(crate) links: Vec<usize>,
    /// The last link that each flow's data cross, where they count as forwarded.
    last_link: Vec<usize>,
    /// True for each flow whose packets cross the bottleneck, in either direction.
    crosses_bottleneck: Vec<bool>,
    /// How late each element may be polled without observable effect.
    poll_slack: Vec<Duration>,
    /// True for each element on the reverse path.
    backward: Vec<bool>,
    /// True for each flow that sends its data on the reverse path.
    reversed: Vec<bool>,
    /// True if any hosts keep the bytes of their packets.
    keeps_bytes: bool,
    /// Loss behind the links, only of data on the forward path.
    loss: RandomLoss,
    /// True if `loss` drops any packets.
    lossy: bool,
    /// The lines, there and back, of flows without their own delay.
    common_lines: Option<[usize; 2]>,
}

/// The bottleneck's number.
pub(crate) const BOTTLENECK: usize = 0;

impl Network {
    #[inline]
    pub(crate) fn next_hop(&self, from: usize, flow: FlowId) -> usize {
        self.hops[from].of(flow)
    }

    /// Where a host's packets go, which all belong to its flow.
    #[inline]
    pub(crate) fn next_hop_of_host(&self, host: usize) -> usize {
        match self.hops[host] {
            Hop::Computed { first, .. } => first,
            Hop::ByFlow(_) => unreachable!("a host has one flow"),
        }
    }

    /// How late an element may be polled without observable effect.
    #[inline]
    pub(crate) fn poll_slack(&self, id: usize) -> Duration {
        self.poll_slack[id]
    }

    /// Returns `true` if this element is the last link of the flow's data.
    #[inline]
    pub(crate) fn is_last_link(&self, id: usize, flow: FlowId) -> bool {
        self.last_link[flow.index()] == id
    }

    /// Returns `true` if the path loses a data packet that leaves this link, the last of its route.
    #[inline]
    pub(crate) fn loses(&mut self, link: usize) -> bool {
        self.lossy && !self.backward[link] && self.loss.loses_next()
    }

    /// Returns `true` if packets that reach this host return past the bottleneck: the host is on
    /// the near side of the path, and its flow crosses the bottleneck in the other direction.
    pub(crate) fn returns_past_bottleneck(&self, to: usize, flow: FlowId) -> bool {
        let flow = flow.index();
        let near = if self.reversed[flow] { &self.receivers } else { &self.senders };
        near[flow] == to && self.crosses_bottleneck[flow]
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

    /// Lets the hosts of a flow forget the bytes of a dropped packet, if they keep them.
    #[cold]
    pub(crate) fn forget(&self, packet: &Packet<Segment>) {
        if self.keeps_bytes {
            self.sender(packet.flow.index()).forget(&packet.body.kind);
        }
    }

    /// The bytes of a packet on its way, if its hosts keep them.
    pub(crate) fn payload(&self, packet: &Packet<Segment>) -> Option<Box<[u8]>> {
        self.sender(packet.flow.index()).payload(&packet.body.kind)
    }

    /// The queue of the link with this number in the tables.
    pub(crate) fn queue(&self, link: usize) -> QueueState {
        self.nodes[self.links[link]].queue()
    }

    /// Restarts the counts of all queues' depths at `now`, which all links have reached.
    pub(crate) fn restart_depths(&mut self, now: Time) {
        self.links.iter().for_each(|&id| self.nodes[id].restart_depth(now));
    }

    /// The backlog in bytes of the link with this number in the tables, weighted by ns, until the
    /// last instant that the link has reached.
    pub(crate) fn depth_histogram(&mut self, link: usize) -> &Histogram {
        self.nodes[self.links[link]].depth_histogram()
    }

    /// The counters of the bottleneck.
    pub(crate) fn counters(&self) -> Counters {
        self.nodes[BOTTLENECK].queue().counters
    }

    /// The next packet that an element dropped since the last call.
    pub(crate) fn take_dropped(&mut self, id: usize) -> Option<DroppedPacket<Segment>> {
        self.nodes[id].take_dropped()
    }

    /// The number of elements before the first host, which packets of many flows pass.
    pub(crate) fn elements(&self) -> usize {
        self.senders.first().copied().unwrap_or(self.nodes.len())
    }

    /// Packets inside all elements.
    pub(crate) fn packets_inside(&self) -> u64 {
        self.nodes.iter().map(|node| node.packets_inside() as u64).sum()
    }

    /// Packets that elements have made.
    pub(crate) fn packets_created(&self) -> u64 {
        self.nodes.iter().map(Node::packets_created).sum()
    }
}
