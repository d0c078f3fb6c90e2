//! A flow's packets in its host: bursts in the egress queue `fq`, each of which leaves at the time
//! that TCP fixed (sch_fq.c), packets that wait for a card with a line rate (sch_tbf.c), and how
//! many TCP lets wait in both (TCP Small Queues).
//!
//! A card without a line rate sends at once. No two flows of a host share a card, so they don't
//! delay each other.

use std::collections::VecDeque;

use narrows_base::{Packet, Rate, Time};

use super::send_buffer::BUFFER_OVERHEAD;
use crate::outbox::Outbox;
use crate::segment::{Kind, Segment, Seq};

/// TCP lets about as much wait as leaves in 2^-10 s (`sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;

/// Consecutive packets that wait until their time.
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

/// Memory of a socket buffer with that payload (`skb->truesize`).
fn memory_of(payload: u64) -> u64 {
    payload + BUFFER_OVERHEAD
}

/// Payload of a packet of data.
fn payload_of(packet: &Packet<Segment>) -> u64 {
    match packet.body.kind {
        Kind::Data(data) => u64::from(data.len),
        _ => 0,
    }
}

/// A card with a line rate: a token bucket that holds about one packet. Bursts are cut into packets
/// in front of it (`tbf_segment`).
#[derive(Debug)]
struct Card {
    rate: Rate,
    /// When the next packet may leave.
    free_at: Time,
    packets: VecDeque<Packet<Segment>>,
}

impl Card {
    /// When the next packet leaves, if one waits.
    fn next_departure(&self) -> Option<Time> {
        (!self.packets.is_empty()).then_some(self.free_at)
    }

    /// Takes the first packet if the card is free.
    fn pop(&mut self, now: Time) -> Option<Packet<Segment>> {
        if self.free_at > now {
            return None;
        }
        let packet = self.packets.pop_front()?;
        self.free_at = self.free_at.max(now) + self.rate.time_to_send(packet.bytes());
        Some(packet)
    }
}

/// The queues of one flow.
#[derive(Debug)]
pub(super) struct HostQueue {
    /// Bursts that wait for their departure time.
    bursts: VecDeque<WaitingBurst>,
    /// The segments of these bursts, a super-packet being one.
    segments: VecDeque<Packet<Segment>>,
    card: Option<Card>,
    /// Memory of all that waits (`sk_wmem_alloc`, less the 1 that it begins with).
    memory: u64,
    /// True if TCP waits until a burst leaves (`TSQ_THROTTLED`).
    throttled: bool,
    /// When TCP's own pacing timer fires, if it paces although packets wait here.
    paced_at: Time,
}

impl HostQueue {
    /// The queues in front of a card, which sends at once unless it has a line rate.
    pub(super) fn new(line_rate: Option<Rate>) -> Self {
        let card =
            line_rate.map(|rate| Card { rate, free_at: Time::ZERO, packets: VecDeque::new() });
        Self {
            bursts: VecDeque::new(),
            segments: VecDeque::new(),
            card,
            memory: 0,
            throttled: false,
            paced_at: Time::MAX,
        }
    }

    /// Returns `true` if nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.memory == 0
    }

    /// Returns `true` if a burst leaves the host as soon as TCP sends it (`fq_fastpath_check`).
    pub(super) fn lets_pass(&self, departure: Time, now: Time) -> bool {
        self.card.is_none() && departure <= now && self.bursts.is_empty()
    }

    /// When the next burst leaves `fq`.
    pub(super) fn next_burst(&self) -> Option<Time> {
        self.bursts.front().map(|burst| burst.departure)
    }

    /// The next instant that needs no timer of `fq`: when the card is free for a packet, or when
    /// TCP's own timer fires. [`Time::MAX`] if there is none.
    pub(super) fn next_on_time(&self) -> Time {
        let card = self.card.as_ref().and_then(Card::next_departure);
        card.map_or(self.paced_at, |free_at| free_at.min(self.paced_at))
    }

    /// Queues a burst with its segments; none may leave later than it.
    pub(super) fn push(
        &mut self,
        burst: WaitingBurst,
        segments: impl Iterator<Item = Packet<Segment>>,
        now: Time,
    ) {
        self.memory += self.memory_of_burst(&burst);
        match &mut self.card {
            Some(card) if burst.departure <= now && self.bursts.is_empty() => {
                card.packets.extend(segments);
            }
            _ => {
                self.segments.extend(segments);
                self.bursts.push_back(burst);
            }
        }
    }

    fn memory_of_burst(&self, burst: &WaitingBurst) -> u64 {
        let buffers = if self.card.is_some() { u64::from(burst.packets) } else { 1 };
        burst.payload + buffers * BUFFER_OVERHEAD
    }

    /// Moves what may leave by now to `out`.
    pub(super) fn release(&mut self, now: Time, out: &mut Outbox) {
        while self.next_burst().is_some_and(|departure| departure <= now) {
            let Some(burst) = self.bursts.pop_front() else { break };
            let segments = self.segments.drain(..burst.segments);
            match &mut self.card {
                Some(card) => card.packets.extend(segments),
                None => {
                    out.extend(segments);
                    self.memory -= memory_of(burst.payload);
                }
            }
        }
        self.send(now, out);
    }

    /// Moves what the card may send by now to `out`.
    pub(super) fn send(&mut self, now: Time, out: &mut Outbox) {
        let Some(card) = &mut self.card else { return };
        while let Some(packet) = card.pop(now) {
            self.memory -= memory_of(payload_of(&packet));
            out.extend(std::iter::once(packet));
        }
    }

    /// Notes when TCP's own pacing timer fires.
    pub(super) fn pace(&mut self, at: Time) {
        self.paced_at = at;
    }

    /// Returns `true` once if TCP's own pacing timer has fired.
    pub(super) fn take_paced(&mut self, now: Time) -> bool {
        let fired = self.paced_at <= now;
        if fired {
            self.paced_at = Time::MAX;
        }
        fired
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

    /// Returns `true` if the packet is still in `fq` and needn't be retransmitted; TCP then waits
    /// until a burst leaves (`skb_still_in_host_queue`).
    pub(super) fn holds(&mut self, seq: Seq) -> bool {
        // A card has cut bursts into packets that TCP doesn't know.
        let is_here = self.card.is_none()
            && self.bursts.iter().any(|one| (one.first..one.first + one.packets).contains(&seq));
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
    use narrows_base::{Duration, Ecn, FlowId};

    use super::*;
    use crate::accecn::Ace;
    use crate::ecn::EcnMode;
    use crate::outbox::Envelope;
    use crate::segment::Data;

    const PAIR: u64 = 2 * 1448;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    fn outbox() -> Outbox {
        Outbox::new(Envelope::new(FlowId(0), 0, EcnMode::Off))
    }

    /// Queues pairs of packets at time 0, to leave `fq` at these microseconds.
    fn fill(mut queue: HostQueue, departures: &[u64]) -> HostQueue {
        let envelope = Envelope::new(FlowId(0), 0, EcnMode::Off);
        for (index, &micros) in (0..).zip(departures) {
            let (departure, first) = (at(micros), 2 * index);
            let burst = WaitingBurst { departure, first, packets: 2, payload: PAIR, segments: 2 };
            let segments = (first..first + 2).map(|seq| envelope.seal(data(seq)));
            queue.push(burst, segments, Time::ZERO);
        }
        queue
    }

    fn queue(departures: &[u64]) -> HostQueue {
        fill(HostQueue::new(None), departures)
    }

    /// The number of packets that leave.
    fn leaving(queue: &mut HostQueue, micros: u64) -> usize {
        let mut out = outbox();
        queue.release(at(micros), &mut out);
        out.len()
    }

    #[test]
    fn fq_dequeue_releases_each_burst_at_its_time() {
        let mut queue = queue(&[100, 250, 400]);
        assert_eq!(queue.next_burst(), Some(at(100)));
        assert_eq!(leaving(&mut queue, 99), 0);
        assert_eq!(leaving(&mut queue, 250), 4, "the timer was late");
        assert_eq!(queue.next_burst(), Some(at(400)));
        assert_eq!(leaving(&mut queue, 400), 2);
        assert!(queue.is_empty() && queue.next_burst().is_none());
    }

    /// A card that sends a packet of 1500 bytes in 100 us.
    fn card() -> HostQueue {
        HostQueue::new(Some(Rate::from_bps(120_000_000)))
    }

    #[test]
    fn tbf_dequeue_spaces_packets_at_the_line_rate() {
        let mut queue = fill(card(), &[0, 0]);
        assert_eq!(leaving(&mut queue, 0), 1, "the bucket holds one packet");
        assert_eq!(queue.next_on_time(), at(100));
        assert_eq!(leaving(&mut queue, 99), 0);
        assert_eq!([100, 200, 300].map(|micros| leaving(&mut queue, micros)), [1, 1, 1]);
        assert!(queue.is_empty());
        assert_eq!(queue.next_on_time(), Time::MAX);
    }

    #[test]
    fn packets_leave_fq_before_they_wait_for_the_card() {
        let mut queue = fill(card(), &[50, 500]);
        assert_eq!((queue.next_burst(), queue.next_on_time()), (Some(at(50)), Time::MAX));
        assert_eq!([50, 150, 499, 500].map(|micros| leaving(&mut queue, micros)), [1, 1, 0, 1]);
    }

    #[test]
    fn tbf_segment_frees_memory_packet_by_packet() {
        // Four buffers with 832 bytes of overhead each, of which TCP lets 7456 bytes wait.
        let slow = Rate::from_bps(8_000_000);
        let mut queue = fill(card(), &[0, 0]);
        assert_eq!(leaving(&mut queue, 0), 1);
        assert!(!queue.throttle(PAIR, slow, 0), "6840 bytes");
        assert!(queue.throttle(PAIR / 2, slow, 0), "twice 2280 bytes");
        assert!(!queue.holds(1), "a packet that TCP doesn't know");
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

    fn data(seq: Seq) -> Kind {
        Kind::Data(Data {
            seq,
            count: 1,
            len: 1448,
            psh: false,
            fin: false,
            retransmission: false,
            ts: 0,
            ts_echo: 0,
            cwr: false,
            ace: Ace::NONE,
            ecn: Ecn::NotEct,
        })
    }
}
