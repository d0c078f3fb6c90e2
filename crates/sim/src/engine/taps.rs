//! Calls of a tap with packets and senders.
//!
//! The bottleneck, the first forward link, has no length and is next to the hosts on the near side
//! of the path. Returning packets pass both of its sides at the instant when they reach their host.

use narrows_base::{FlowId, Heading, Packet, Point, Time};
use narrows_record::Observer;
use narrows_tcp::{Segment, Sender};

use super::Engine;
use crate::network::{BOTTLENECK, Node, Role};
use crate::sim_tap::SimTap;

impl<O: Observer, T: SimTap> Engine<O, T> {
    /// A packet leaves an element.
    #[inline]
    pub(super) fn tap_departure(&mut self, from: usize, packet: &Packet<Segment>, at: Time) {
        if !self.tap.wants_packets() {
            return;
        }
        let point = match self.network.nodes[from].role() {
            Role::Sender => {
                self.tap_lost(packet.flow, at);
                Point::Sender
            }
            Role::Receiver => Point::Receiver,
            Role::Link if from == BOTTLENECK => Point::AfterQueue,
            Role::Link | Role::Impairment | Role::Delay => return,
        };
        self.tap_packet(point, Heading::Out, at, packet);
    }

    /// A packet reaches an element, which hasn't handled it yet.
    #[inline]
    pub(super) fn tap_arrival(&mut self, to: usize, packet: &Packet<Segment>, at: Time) {
        if !self.tap.wants_packets() {
            return;
        }
        let point = match self.network.nodes[to].role() {
            Role::Sender => Point::Sender,
            Role::Receiver => Point::Receiver,
            Role::Link if to == BOTTLENECK => Point::BeforeQueue,
            Role::Link | Role::Impairment | Role::Delay => return,
        };
        if self.network.returns_past_bottleneck(to, packet.flow) {
            self.tap_packet(Point::AfterQueue, Heading::In, at, packet);
            self.tap_packet(Point::BeforeQueue, Heading::Out, at, packet);
        }
        self.tap_packet(point, Heading::In, at, packet);
    }

    fn tap_packet(&mut self, point: Point, heading: Heading, at: Time, packet: &Packet<Segment>) {
        match self.network.payload(packet) {
            Some(bytes) => self.tap.packet_of_bytes(point, heading, at, packet, &bytes),
            None => self.tap.packet(point, heading, at, packet),
        }
    }

    /// A sender has handled everything that was due.
    #[inline]
    pub(super) fn tap_sender(&mut self, id: usize, at: Time) {
        if !self.tap.wants_senders() {
            return;
        }
        let Node::Sender(host) = &self.network.nodes[id] else { return };
        let flow = host.flow();
        self.tap_lost(flow, at);
        // Parallel connections share no state.
        if let Some(view) = self.acting(flow).and_then(|sender| sender.view()) {
            self.tap.sender(flow, at, &view);
        }
        self.out.closed = None;
    }

    /// The connection of a sender that acts, even if it has just discarded it; none if there are
    /// several.
    fn acting(&mut self, flow: FlowId) -> Option<&mut Sender> {
        self.out.closed.as_mut().or_else(|| self.network.sender_mut(flow.index()).sender_mut())
    }

    fn tap_lost(&mut self, flow: FlowId, at: Time) {
        if !self.tap.wants_senders() {
            return;
        }
        let lost: Vec<_> = self.acting(flow).into_iter().flat_map(Sender::take_lost).collect();
        lost.into_iter().for_each(|seq| self.tap.packet_lost(flow, at, seq));
    }
}
