//! Shared by the tests of several disciplines.

use narrows_base::{Ecn, FlowId, Packet, Time};

use super::discipline::QueueDiscipline;
use super::verdicts::Verdicts;

/// A packet of `size` IP bytes that can't be marked.
pub(super) fn packet(flow: u32, size: u32, body: u32) -> Packet<u32> {
    Packet { flow: FlowId(flow), size, ecn: Ecn::NotEct, body }
}

/// The flows and bodies of the packets that a queue still holds, in the order in which they leave.
pub(super) fn leaving(queue: &mut impl QueueDiscipline<u32>) -> (Vec<u32>, Vec<u32>) {
    let mut verdicts = Verdicts::new();
    let next = || queue.dequeue(Time::ZERO, &mut verdicts);
    std::iter::from_fn(next).map(|packet| (packet.flow.0, packet.body)).unzip()
}

/// The bodies of the packets that were dropped.
pub(super) fn dropped_bodies(verdicts: &mut Verdicts<u32>) -> Vec<u32> {
    std::iter::from_fn(|| verdicts.take_dropped()).map(|drop| drop.packet.body).collect()
}

/// Three full packets of flow 1, and four of flow 2 of which two make a quantum.
pub(super) fn seven_packets(queue: &mut impl QueueDiscipline<u32>) {
    let mut verdicts = Verdicts::new();
    for (flow, size, bodies) in [(1, 1_500, 0..3), (2, 743, 0..4)] {
        for body in bodies {
            queue.enqueue(packet(flow, size, body), Time::ZERO, &mut verdicts);
        }
    }
}
