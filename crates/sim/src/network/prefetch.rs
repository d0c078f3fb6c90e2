//! Hosts that packets reach soon are loaded into the processor's caches meanwhile.
//!
//! The state of thousands of flows doesn't fit there, so that nearly every packet would wait for
//! dozens of cache lines, most of them one after the other.

use narrows_base::{FlowId, Packet, prefetch_start};
use narrows_tcp::{Kind, Segment};

use super::Network;
use super::node::Node;

/// With fewer flows their state fits the caches.
const MANY_FLOWS: usize = 2_000;

/// How many packets ahead of a packet that leaves a line are those for which the engine loads
/// what the connection points to, the connection, and the node. Each says where the one before is.
const AHEAD: [usize; 3] = [2, 5, 8];

impl Network {
    /// Returns `true` if hosts should be loaded into the caches ahead.
    pub(crate) fn is_large(&self) -> bool {
        self.senders.len() >= MANY_FLOWS
    }

    /// Begins to load the hosts of packets that come soon out of a line, which ends at `end`. Returns
    /// the last of them, and its flow.
    pub(crate) fn load_ahead(&self, line: usize, end: usize) -> Option<(FlowId, usize)> {
        let [further, connection, node] = match &self.nodes[line] {
            Node::Pipe(pipe) => {
                pipe.prefetch();
                pipe.packets_ahead(AHEAD)
            }
            Node::Line(line) => {
                line.prefetch();
                line.packets_ahead(AHEAD)
            }
            _ => return None,
        };
        let host = |packet: &Packet<Segment>| self.next_hop(end, packet.flow);
        if let Some(packet) = further {
            self.load_further(host(packet), Some(&packet.body.kind));
        }
        if let Some(packet) = connection {
            self.load_connection(host(packet));
        }
        let last = node?;
        let id = host(last);
        self.load_node(id);
        Some((last.flow, id))
    }

    /// Begins to load hosts whose turns come soon: of the first what its connection points to, of the
    /// second its connection, and the node of the third.
    pub(crate) fn load_due(&self, [further, connection, node]: [usize; 3]) {
        self.load_node(node);
        self.load_connection(connection);
        self.load_further(further, None);
    }

    fn load_node(&self, id: usize) {
        prefetch_start(self.nodes.as_ptr().wrapping_add(id));
        prefetch_start(self.hops.as_ptr().wrapping_add(id));
    }

    fn load_connection(&self, id: usize) {
        match self.nodes.get(id) {
            Some(Node::Sender(host)) => host.prefetch(),
            Some(Node::Receiver(host)) => host.prefetch(),
            _ => {}
        }
    }

    fn load_further(&self, id: usize, next: Option<&Kind>) {
        match self.nodes.get(id) {
            Some(Node::Sender(host)) => host.prefetch_further(next),
            Some(Node::Receiver(host)) => host.prefetch_further(),
            _ => {}
        }
    }
}
