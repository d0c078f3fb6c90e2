//! A flow's bursts in its host's egress queue `fq`, each of which leaves at the time that TCP fixed
//! (sch_fq.c), and how many TCP lets wait there (TCP Small Queues).
//!
//! The card behind the queue has no limit of its own, so flows of a host don't delay each other.

use std::collections::VecDeque;

use narrows_base::{Packet, Rate, Time};

use super::send_buffer::BUFFER_OVERHEAD;
use crate::segment::{Segment, Seq};

/// TCP lets about as much wait as leaves in 2^-10 s (`sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;

/// A burst that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingBurst {
    /// When it leaves (`skb->tstamp`).
    pub(super) departure: Time,
    pub(super) first: Seq,
    pub(super) packets: u32,
    pub(super) payload: u64,
    /// Segments that it consists of.
    pub(super) segments: usize,
}

impl WaitingBurst {
    fn memory(&self) -> u64 {
        memory_of(self.payload)
    }
}

/// Memory of a burst with that payload (`skb->truesize`).
fn memory_of(payload: u64) -> u64 {
    payload + BUFFER_OVERHEAD
}

/// The queue of one flow.
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    bursts: VecDeque<WaitingBurst>,
    /// The segments of all bursts, a super-packet being one.
    segments: VecDeque<Packet<Segment>>,
    /// Memory of all bursts (`sk_wmem_alloc`, less the 1 that it begins with).
    memory: u64,
    /// True if TCP waits until a burst leaves (`TSQ_THROTTLED`).
    throttled: bool,
}

impl HostQueue {
    /// Returns `true` if nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.bursts.is_empty()
    }

    /// When the next burst leaves.
    pub(super) fn next_departure(&self) -> Option<Time> {
        self.bursts.front().map(|burst| burst.departure)
    }

    /// Queues a burst with its segments; none may leave later than it.
    pub(super) fn push(
        &mut self,
        burst: WaitingBurst,
        segments: impl Iterator<Item = Packet<Segment>>,
    ) {
        self.segments.extend(segments);
        self.memory += burst.memory();
        self.bursts.push_back(burst);
    }

    /// Takes the segments of the first burst if its time has come.
    pub(super) fn pop(&mut self, now: Time) -> Option<impl Iterator<Item = Packet<Segment>> + '_> {
        let burst = *self.bursts.front().filter(|burst| burst.departure <= now)?;
        self.bursts.pop_front();
        self.memory -= burst.memory();
        Some(self.segments.drain(..burst.segments))
    }

    /// Returns `true` if a burst with that payload must wait until another has left, and notes that
    /// it waits. The limit doubles for each `factor` (`tcp_small_queue_check`).
    pub(super) fn throttle(&mut self, payload: u64, rate: Rate, factor: u32) -> bool {
        let paced = rate.as_bytes_per_sec() >> PACING_SHIFT;
        let limit = (2 * memory_of(payload)).max(paced) << factor;
        // Linux counts one byte more than there is.
        let is_full = self.memory >= limit;
        self.throttled |= is_full;
        is_full
    }

    /// Returns `true` if the packet is still here and needn't be retransmitted; TCP then waits
    /// until a burst leaves (`skb_still_in_host_queue`).
    pub(super) fn holds(&mut self, seq: Seq) -> bool {
        let is_here =
            self.bursts.iter().any(|one| (one.first..one.first + one.packets).contains(&seq));
        self.throttled |= is_here;
        is_here
    }

    /// Returns `true` once if TCP waited for a burst to leave (`tcp_wfree`).
    pub(super) fn take_throttled(&mut self) -> bool {
        std::mem::take(&mut self.throttled)
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Duration, FlowId};

    use super::*;
    use crate::accecn::Ace;
    use crate::ecn::EcnMode;
    use crate::outbox::Envelope;
    use crate::segment::Kind;

    const PAIR: u64 = 2 * 1448;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// A queue with pairs of packets that leave at these microseconds.
    fn queue(departures: &[u64]) -> HostQueue {
        let envelope = Envelope::new(FlowId(0), 0, EcnMode::Off);
        let mut queue = HostQueue::default();
        for (index, &micros) in (0..).zip(departures) {
            let (departure, first) = (at(micros), 2 * index);
            let burst = WaitingBurst { departure, first, packets: 2, payload: PAIR, segments: 2 };
            let segments = (first..first + 2).map(|seq| {
                envelope.seal(Kind::Challenge { seq, ts: 0, ts_echo: 0, ace: Ace::NONE })
            });
            queue.push(burst, segments);
        }
        queue
    }

    /// The first packet of each burst that leaves.
    fn leaving(queue: &mut HostQueue, micros: u64) -> Vec<usize> {
        std::iter::from_fn(|| queue.pop(at(micros)).map(Iterator::count)).collect()
    }

    #[test]
    fn fq_dequeue_releases_each_burst_at_its_time() {
        let mut queue = queue(&[100, 250, 400]);
        assert_eq!(queue.next_departure(), Some(at(100)));
        assert!(leaving(&mut queue, 99).is_empty());
        assert_eq!(leaving(&mut queue, 250), [2, 2], "the timer was late");
        assert_eq!(queue.next_departure(), Some(at(400)));
        assert_eq!(leaving(&mut queue, 400), [2]);
        assert!(queue.is_empty() && queue.next_departure().is_none());
    }

    #[test]
    fn tcp_small_queue_check_lets_two_bursts_wait() {
        let slow = Rate::from_bps(8_000_000);
        assert!(!queue(&[1]).throttle(PAIR, slow, 0));
        assert!(queue(&[1, 2]).throttle(PAIR, slow, 0), "both are 2 skb->truesize");
        assert!(!queue(&[1, 2]).throttle(PAIR + 1, slow, 0), "the next is larger");
        // Retransmissions may fill twice as much.
        assert!(!queue(&[1, 2, 3]).throttle(PAIR, slow, 1));
        assert!(queue(&[1, 2, 3, 4]).throttle(PAIR, slow, 1));
    }

    #[test]
    fn tcp_small_queue_check_lets_a_millisecond_wait() {
        // 2^-10 s are 14,912 bytes, which four pairs with 832 bytes of overhead each reach.
        let fast = Rate::from_bps(8 * 14_912 * 1024);
        assert!(!queue(&[1, 2, 3]).throttle(PAIR, fast, 0));
        assert!(queue(&[1, 2, 3, 4]).throttle(PAIR, fast, 0));
    }

    #[test]
    fn tcp_wfree_wakes_only_who_was_throttled() {
        let mut queue = queue(&[1, 2]);
        assert!(!queue.take_throttled());
        queue.throttle(PAIR, Rate::default(), 0);
        assert_eq!([queue.take_throttled(), queue.take_throttled()], [true, false]);
    }

    #[test]
    fn skb_still_in_host_queue_until_it_left() {
        let mut queue = queue(&[100, 200]);
        assert_eq!([1, 2, 4].map(|seq| queue.holds(seq)), [true, true, false]);
        assert!(queue.take_throttled(), "its sender is woken when it leaves");
        leaving(&mut queue, 100);
        assert_eq!([1, 2].map(|seq| queue.holds(seq)), [false, true]);
    }
}
