//! Hosts that packets reach soon are loaded into the processor's caches meanwhile.
//!
//! The state of thousands of flows doesn't fit there, so that nearly every packet would wait for
//! dozens of cache lines, most of them one after the other.

use narrows_base::{Packet, prefetch_start};
use narrows_tcp::Segment;

use super::Network;
use super::node::Node;

/// With fewer flows their state fits the caches.
const MANY_FLOWS: usize = 2_000;

/// How many packets ahead a packet's node is loaded, then its connection, then whatever the
/// connection points to. Each says where the next is.
const NODE: usize = 5;
const CONNECTION: usize = 3;
const FURTHER: usize = 1;

impl Network {
    /// Returns `true` if hosts should be loaded into the caches ahead.
    pub(crate) fn is_large(&self) -> bool {
        self.senders.len() >= MANY_FLOWS
    }

    /// Begins to load the hosts of packets that come soon out of a line, which ends at `end`.
    #[inline(never)]
    pub(crate) fn load_ahead(&self, line: usize, end: usize) {
        let host = |others| {
            let packet = self.packet_ahead(line, others)?;
            self.nodes.get(self.next_hop(end, packet.flow))
        };
        if let Some(node) = host(NODE) {
            prefetch_start(node);
        }
        match host(CONNECTION) {
            Some(Node::Sender(host)) => host.prefetch(),
            Some(Node::Receiver(host)) => host.prefetch(),
            _ => {}
        }
        match host(FURTHER) {
            Some(Node::Sender(host)) => host.prefetch_further(),
            Some(Node::Receiver(host)) => host.prefetch_further(),
            _ => {}
        }
    }

    /// Begins to load a sender whose turn has come.
    #[inline(never)]
    pub(crate) fn load(&self, id: usize) {
        if let Node::Sender(host) = &self.nodes[id] {
            host.prefetch();
            host.prefetch_further();
        }
    }

    fn packet_ahead(&self, line: usize, others: usize) -> Option<&Packet<Segment>> {
        match &self.nodes[line] {
            Node::Pipe(pipe) => pipe.nth_to_leave(others),
            Node::Line(line) => line.nth_to_leave(others),
            _ => None,
        }
    }
}
