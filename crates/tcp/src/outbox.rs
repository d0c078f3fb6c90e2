//! The packets of one end of a connection, in the form in which they cross the network.

use narrows_base::{Ecn, FlowId, Packet, prefetch_start};

use crate::ecn::EcnMode;
use crate::segment::{Kind, Segment};

/// The common properties of all packets of an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    flow: FlowId,
    instance: u32,
    /// Codepoint of everything except data.
    others: Ecn,
}

impl Envelope {
    /// For the handshake of connection number `instance` of a flow that uses `ecn`.
    pub(crate) fn new(flow: FlowId, instance: u32, ecn: EcnMode) -> Self {
        Self { flow, instance, others: ecn.of_handshake() }
    }

    /// Packets other than data have that codepoint from now on.
    pub(crate) fn mark_as(&mut self, others: Ecn) {
        self.others = others;
    }

    #[inline]
    pub(crate) fn seal(self, kind: Kind) -> Packet<Segment> {
        Segment { instance: self.instance, kind }.into_packet(self.flow, self.others)
    }
}

/// Packets that wait to be taken. They get their final form here and aren't changed later, since
/// every change of form would be a copy.
///
/// The room is used from its beginning each time, not in a circle: of the many flows of a run each
/// should touch as little memory as possible.
#[derive(Debug)]
pub(crate) struct Outbox {
    envelope: Envelope,
    packets: Vec<Packet<Segment>>,
}

impl Outbox {
    pub(crate) fn new(envelope: Envelope) -> Self {
        // Most ends send one packet at a time; a vector that grows would begin with room for four.
        Self { envelope, packets: Vec::with_capacity(1) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Begins to load the room for the first two packets.
    pub(crate) fn prefetch(&self) {
        let room = self.packets.as_ptr();
        prefetch_start(room);
        prefetch_start(room.wrapping_add(1));
    }

    #[inline]
    pub(crate) fn push(&mut self, kind: Kind) {
        self.packets.push(self.envelope.seal(kind));
    }

    /// Packets other than data have that codepoint from now on.
    pub(crate) fn mark_as(&mut self, others: Ecn) {
        self.envelope.mark_as(others);
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Takes back the packets from the `first` on.
    pub(crate) fn take_from(&mut self, first: usize) -> impl Iterator<Item = Packet<Segment>> + '_ {
        self.packets.drain(first..)
    }

    /// Adds packets in their final form.
    pub(crate) fn extend(&mut self, packets: impl Iterator<Item = Packet<Segment>>) {
        self.packets.extend(packets);
    }

    /// Moves all packets behind those in `out`. Nearly always there are none: then both only
    /// exchange their room.
    #[inline]
    pub(crate) fn move_to(&mut self, out: &mut Vec<Packet<Segment>>) {
        if out.is_empty() {
            std::mem::swap(&mut self.packets, out);
        } else {
            out.append(&mut self.packets);
        }
    }
}
