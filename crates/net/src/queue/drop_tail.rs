//! First in, first out; packets that don't fit are dropped.

use std::collections::VecDeque;

use narrows_base::registry::{Info, LimitUnit, Role, Values};
use narrows_base::{Bytes, Packet, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::NamedDiscipline;
use super::limit::{Capacity, Limit};
use super::verdicts::Verdicts;
use crate::element::DropReason;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "droptail",
    title: "Drop-tail",
    family: "fifo",
    summary: "first in, first out; packets that don't fit are dropped",
    source: "Linux bfifo and pfifo (net/sched/sch_fifo.c)",
    role: Role::Queue(LimitUnit::Either),
    parameters: &[],
};

impl NamedDiscipline for DropTail<()> {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = DropTail<B>;

    fn build<B: Send + 'static>(_values: &Values, limit: Limit, _random: Stream) -> DropTail<B> {
        DropTail::new(limit)
    }
}

/// A drop-tail queue (Linux `sch_fifo.c`: `bfifo_enqueue`, `pfifo_enqueue`).
///
/// A packet that finds the link idle is transmitted whatever the limit: it
/// doesn't wait.
#[derive(Clone, Debug)]
pub struct DropTail<B> {
    packets: VecDeque<Packet<B>>,
    backlog: u64,
    capacity: Capacity,
}

impl<B> DropTail<B> {
    /// A queue that holds up to `limit`.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self { packets: VecDeque::new(), backlog: 0, capacity: Capacity::new(limit) }
    }

    /// How much may wait.
    pub(crate) const fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// A queue in which these packets were admitted.
    pub(crate) fn holding(packets: impl Iterator<Item = Packet<B>>, capacity: Capacity) -> Self {
        let packets: VecDeque<_> = packets.collect();
        let backlog = packets.iter().map(|packet| u64::from(packet.size)).sum();
        Self { packets, backlog, capacity }
    }
}

impl<B> QueueDiscipline<B> for DropTail<B> {
    #[inline(always)] // so that the packet is copied only once
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let backlog = self.backlog + u64::from(packet.size);
        if !self.capacity.admits(backlog, self.packets.len()) {
            verdicts.drop(packet, now, DropReason::Overflow);
            return;
        }
        self.backlog = backlog;
        self.packets.push_back(packet);
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        // The packet comes last, so that it is copied only once.
        self.backlog -= u64::from(self.packets.front()?.size);
        self.packets.pop_front()
    }

    #[inline]
    fn backlog(&self) -> Bytes {
        Bytes::new(self.backlog)
    }

    #[inline]
    fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    fn pass(
        &mut self,
        packet: Packet<B>,
        _now: Time,
        _verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        debug_assert!(self.is_empty(), "the link was idle though a packet waited");
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    /// Which of packets with these sizes a queue with this limit admits.
    fn admissions(limit: Limit, sizes: &[u32]) -> Vec<bool> {
        let mut queue = DropTail::new(limit);
        let mut verdicts = Verdicts::new();
        let admitted = sizes
            .iter()
            .map(|&size| {
                let before = queue.len();
                let packet = Packet { flow: FlowId(0), size, ecn: Ecn::Ect0, body: () };
                queue.enqueue(packet, Time::ZERO, &mut verdicts);
                queue.len() > before
            })
            .collect();
        let dropped = usize::try_from(verdicts.dropped_packets()).unwrap();
        assert_eq!(dropped + queue.len(), sizes.len());
        admitted
    }

    #[test]
    fn bytes_fill_up_to_the_limit_and_not_beyond() {
        let limit = |bytes| Limit::Bytes(Bytes::new(bytes));
        assert_eq!(admissions(limit(3_000), &[1_500, 1_500, 1]), [true, true, false]);
        assert_eq!(admissions(limit(2_999), &[1_500, 1_500, 1_499]), [true, false, true]);
        assert_eq!(admissions(limit(0), &[1]), [false]);
    }

    #[test]
    fn packets_fill_up_to_the_limit_whatever_their_size() {
        assert_eq!(admissions(Limit::Packets(2), &[1_500, 9_000, 1]), [true, true, false]);
        assert_eq!(admissions(Limit::Packets(0), &[1]), [false]);
    }

    #[test]
    fn a_dequeue_makes_room() {
        let mut queue = DropTail::new(Limit::Bytes(Bytes::new(1_500)));
        let mut verdicts = Verdicts::new();
        for body in 0..3 {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::Ect0, body };
            queue.enqueue(packet, Time::ZERO, &mut verdicts);
            let packet = queue.dequeue(Time::ZERO, &mut verdicts).unwrap();
            assert_eq!((packet.body, queue.backlog(), queue.len()), (body, Bytes::ZERO, 0));
        }
        assert_eq!(verdicts.dropped_packets(), 0);
    }
}
