//! What an end of a connection sends, packed as it crosses the network.

use std::collections::VecDeque;

use narrows_base::{Ecn, FlowId, Packet};

use crate::ecn::EcnMode;
use crate::segment::{Kind, Segment};

/// What all packets of an end have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    flow: FlowId,
    instance: u32,
    /// Codepoint of everything but data.
    others: Ecn,
}

impl Envelope {
    /// For connection number `instance` of a flow that asks for `ecn`.
    pub(crate) fn new(flow: FlowId, instance: u32, ecn: EcnMode) -> Self {
        Self { flow, instance, others: ecn.of_the_rest() }
    }

    #[inline]
    pub(crate) fn seal(self, kind: Kind) -> Packet<Segment> {
        Segment { instance: self.instance, kind }.into_packet(self.flow, self.others)
    }
}

/// Packets that wait to be taken. They are sealed when they are put in, and from there on
/// move as they are: every change of form would be a copy.
#[derive(Debug)]
pub(crate) struct Outbox {
    envelope: Envelope,
    packets: VecDeque<Packet<Segment>>,
}

impl Outbox {
    pub(crate) fn new(envelope: Envelope) -> Self {
        Self { envelope, packets: VecDeque::new() }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, kind: Kind) {
        self.packets.push_back(self.envelope.seal(kind));
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet<Segment>> {
        self.packets.pop_front()
    }
}
