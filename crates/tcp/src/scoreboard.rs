//! The retransmission queue: packets sent and not yet acknowledged.
//!
//! Counts as Linux's `tcp_packets_in_flight`:
//! pipe = packets out - (SACKed + lost) + retransmitted.

use narrows_base::{RangeSet, prefetch_start};
use narrows_cc::{AtSend, Progress};

use crate::flight_log::{FlightLog, Loss};
use crate::segment::{Ack, Seq};

const NONE: Seq = Seq::MAX;

/// Marks of one packet (Linux `TCPCB_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) const SACKED: Self = Self(1);
    pub(crate) const LOST: Self = Self(2);
    /// A retransmission of it is in flight.
    pub(crate) const RETRANS: Self = Self(4);
    pub(crate) const EVER_RETRANS: Self = Self(8);
    /// Sent while the application had too little to send.
    pub(crate) const APP_LIMITED: Self = Self(16);
    /// First packet of a burst that left as one (an skb).
    pub(crate) const BURST_HEAD: Self = Self(32);
    /// It is in the list in order of transmission.
    const IN_ORDER: Self = Self(64);

    pub(crate) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    /// Returns `true` if the scoreboard counts the packet as SACKed, lost or retransmitted.
    fn is_counted(self) -> bool {
        self.has(Self(Self::SACKED.0 | Self::LOST.0 | Self::RETRANS.0))
    }

    /// Returns `true` if the packet was sent once, isn't known to be lost or to have arrived, and
    /// is in the order of transmission.
    fn is_plain(self) -> bool {
        const OTHERS: u8 =
            Marks::SACKED.0 | Marks::LOST.0 | Marks::RETRANS.0 | Marks::EVER_RETRANS.0;
        self.0 & (OTHERS | Self::IN_ORDER.0) == Self::IN_ORDER.0
    }

    /// Returns `true` if the packet was sent once and SACKed, so that it isn't in the order of
    /// transmission.
    fn is_only_sacked(self) -> bool {
        const OTHERS: u8 =
            Marks::LOST.0 | Marks::RETRANS.0 | Marks::EVER_RETRANS.0 | Marks::IN_ORDER.0;
        self.0 & (OTHERS | Self::SACKED.0) == Self::SACKED.0
    }

    /// Returns `true` if the packet is lost and not in flight again.
    pub(crate) fn waits_for_retransmission(self) -> bool {
        self.0 & (Self::LOST.0 | Self::RETRANS.0) == Self::LOST.0
    }

    pub(crate) fn set(&mut self, mark: Self) {
        self.0 |= mark.0;
    }

    pub(crate) fn clear(&mut self, mark: Self) {
        self.0 &= !mark.0;
    }
}

/// A packet that is out, with the state of the flow when it was last sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    /// When it leaves or left, in us (the departure time, `skb_mstamp`).
    pub(crate) sent_us: u64,
    /// Snapshots for the rate sample (tcp_rate.c).
    pub(crate) first_sent_us: u64,
    pub(crate) delivered_us: u64,
    pub(crate) delivered: u64,
    prev: Seq,
    next: Seq,
    pub(crate) len: u16,
    pub(crate) marks: Marks,
}

impl SentPacket {
    /// A packet with `len` bytes of payload that hasn't left yet.
    pub(crate) const fn new(len: u16) -> Self {
        Self {
            sent_us: 0,
            first_sent_us: 0,
            delivered_us: 0,
            delivered: 0,
            prev: NONE,
            next: NONE,
            len,
            marks: Marks(0),
        }
    }
}

const EMPTY: SentPacket = SentPacket::new(0);

/// Packets that left one after the other, each once, and are acknowledged together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) first: Seq,
    pub(crate) packets: u32,
    /// Their payload.
    pub(crate) bytes: u64,
    /// When the first left, in us.
    pub(crate) first_us: u64,
    /// The last of them.
    pub(crate) last: SentPacket,
}

/// All packets from `una` to `next`, their marks and their order of transmission.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    ring: Vec<SentPacket>,
    mask: u32,
    /// Lowest packet not yet acknowledged cumulatively.
    una: Seq,
    /// The next new packet.
    next: Seq,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Packets that are first in their burst.
    bursts: u32,
    /// Packets ever marked lost (`tp->lost`).
    lost_total: u64,
    /// Packets marked lost that weren't reported yet; kept only on request.
    unreported_lost: Option<Vec<Seq>>,
    /// Each packet's state at its departure, for a control that watches packets.
    flights: Option<Box<FlightLog>>,
    sacked: RangeSet<Seq>,
    /// No packet below it waits for retransmission.
    lost_cursor: Seq,
    /// Every packet below it is SACKed or marked lost (what `lost_skb_hint` spares).
    lost_below: Seq,
    order_head: Seq,
    order_tail: Seq,
}

impl Scoreboard {
    /// An empty board. `notes_lost` says whether [`Self::take_lost`] will be called, `watches`
    /// whether the control watches packets.
    pub(crate) fn new(notes_lost: bool, watches: bool) -> Self {
        Self {
            // Room for the first window; most of many flows never have more out.
            ring: vec![EMPTY; 16],
            mask: 15,
            una: 0,
            next: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            bursts: 0,
            lost_total: 0,
            unreported_lost: notes_lost.then(Vec::new),
            flights: watches.then(Box::default),
            sacked: RangeSet::default(),
            lost_cursor: 0,
            lost_below: 0,
            order_head: NONE,
            order_tail: NONE,
        }
    }

    /// Lowest packet not yet acknowledged cumulatively (`snd_una`).
    #[inline]
    pub(crate) fn una(&self) -> Seq {
        self.una
    }

    /// The next new packet (`snd_nxt`).
    #[inline]
    pub(crate) fn next(&self) -> Seq {
        self.next
    }

    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    pub(crate) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Packets ever marked lost (`tp->lost`).
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total
    }

    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        // No check is needed, since only a packet below `next` is ever popped (see `pop`).
        self.next.wrapping_sub(self.una)
    }

    /// How far the flow has come.
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(u64::from(self.una), u64::from(self.next))
    }

    pub(crate) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// Packets in flight (`tcp_packets_in_flight`).
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        debug_assert!(self.packets_out() + self.retrans_out >= self.left_out());
        // Unchecked, since every ACK calls this several times; the counts are of marks of packets
        // in the ring, so they can't underflow.
        let on_the_way = self.packets_out().wrapping_add(self.retrans_out);
        on_the_way.wrapping_sub(self.sacked_out).wrapping_sub(self.lost_out)
    }

    /// One past the highest SACKed packet, or `una` (`tcp_highest_sack_seq`).
    pub(crate) fn highest_sacked(&self) -> Seq {
        if self.sacked_out == 0 { self.una } else { self.sacked.end().unwrap_or(self.una) }
    }

    /// Begins to load the packets that are acknowledged, sent, found lost and retransmitted next.
    pub(crate) fn prefetch(&self) {
        for seq in [self.una, self.next, self.order_head, self.lost_cursor] {
            self.prefetch_packet(seq);
        }
        self.sacked.prefetch();
    }

    /// Begins to load the last packets that an ACK covers, cumulatively and by its newest SACK block.
    pub(crate) fn prefetch_acked(&self, ack: &Ack) {
        let sacked = ack.sack.as_slice().first().map(|&(_, end)| end);
        for end in [Some(ack.ack), sacked].into_iter().flatten() {
            self.prefetch_packet(end.wrapping_sub(1));
        }
    }

    fn prefetch_packet(&self, seq: Seq) {
        let place = self.ring.as_ptr().wrapping_add((seq & self.mask) as usize);
        prefetch_start(place);
        // Not every place is in one line.
        prefetch_start(place.wrapping_add(1));
    }

    #[inline]
    pub(crate) fn get(&self, seq: Seq) -> &SentPacket {
        &self.ring[(seq & self.mask) as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, seq: Seq) -> &mut SentPacket {
        &mut self.ring[(seq & self.mask) as usize]
    }

    /// Adds the packets of a burst, which leaves after all others. All are like `sent`, except that
    /// the last has `last_len` bytes.
    #[inline]
    pub(crate) fn push(&mut self, mut sent: SentPacket, packets: u32, last_len: u16) {
        while (self.packets_out() + packets) as usize > self.ring.len() {
            self.grow();
        }
        let first = self.next;
        let end = first.checked_add(packets).expect("a connection of fewer than 2^32 packets");
        let tail = std::mem::replace(&mut self.order_tail, end - 1);
        self.follow(tail, first);
        sent.prev = tail;
        sent.marks.set(Marks::IN_ORDER);
        for seq in first..end {
            sent.next = seq + 1;
            *self.get_mut(seq) = sent;
            sent.prev = seq;
        }
        let last = self.get_mut(end - 1);
        (last.next, last.len) = (NONE, last_len);
        self.next = end;
        self.start_burst(first);
    }

    fn grow(&mut self) {
        let mut ring = vec![EMPTY; self.ring.len() * 2];
        let mask = self.mask * 2 + 1;
        for seq in self.una..self.next {
            ring[(seq & mask) as usize] = *self.get(seq);
        }
        self.ring = ring;
        self.mask = mask;
    }

    /// Removes the lowest packet, which is acknowledged, and returns it.
    pub(crate) fn pop(&mut self) -> SentPacket {
        let sent = *self.get(self.una);
        if sent.marks.has(Marks::IN_ORDER) {
            self.join(sent.prev, sent.next);
        }
        if sent.marks.is_counted() {
            self.uncount(sent.marks);
        }
        self.bursts -= u32::from(sent.marks.has(Marks::BURST_HEAD));
        assert!(self.una < self.next, "nothing is out");
        self.una += 1;
        sent
    }

    /// Removes the lowest packets, which are acknowledged up to `end`, as long as they were sent once
    /// and in a row. Returns `None` if the lowest was retransmitted or has been SACKed.
    #[inline] // it has one caller, and runs for every ACK
    pub(crate) fn pop_run(&mut self, end: Seq) -> Option<Run> {
        let first = self.una;
        let SentPacket { prev: before, sent_us: first_us, .. } = *self.get(first);
        let (mut seq, mut prev, mut bytes, mut heads) = (first, before, 0, 0);
        while seq < end {
            let sent = self.get(seq);
            if !sent.marks.is_plain() || sent.delivered_us == 0 || sent.prev != prev {
                break;
            }
            bytes += u64::from(sent.len);
            heads += u32::from(sent.marks.has(Marks::BURST_HEAD));
            prev = seq;
            seq += 1;
        }
        if seq == first {
            return None;
        }
        assert!(seq <= self.next, "nothing is out");
        let last = *self.get(prev);
        self.join(before, last.next);
        self.bursts -= heads;
        self.una = seq;
        Some(Run { first, packets: seq - first, bytes, first_us, last })
    }

    /// Removes the lowest packets up to `end` as long as they were sent once and SACKed; returns their
    /// number and their payload. The ACK that fills a gap covers all that waited behind it.
    pub(crate) fn pop_sacked(&mut self, end: Seq) -> (u32, u64) {
        let first = self.una;
        let (mut seq, mut bytes, mut heads) = (first, 0, 0);
        while seq < end {
            let sent = self.get(seq);
            if !sent.marks.is_only_sacked() {
                break;
            }
            bytes += u64::from(sent.len);
            heads += u32::from(sent.marks.has(Marks::BURST_HEAD));
            seq += 1;
        }
        assert!(seq <= self.next, "nothing is out");
        self.sacked_out -= seq - first;
        self.bursts -= heads;
        self.una = seq;
        (seq - first, bytes)
    }

    fn uncount(&mut self, marks: Marks) {
        self.retrans_out -= u32::from(marks.has(Marks::RETRANS));
        self.sacked_out -= u32::from(marks.has(Marks::SACKED));
        self.lost_out -= u32::from(marks.has(Marks::LOST));
    }

    /// Forgets SACK ranges below `una`, after a cumulative ACK.
    pub(crate) fn prune(&mut self) {
        if !self.sacked.is_empty() {
            self.sacked.remove_below(self.una);
        }
        self.lost_cursor = self.lost_cursor.max(self.una);
    }

    /// Adds a SACK block and calls `fresh` with each newly SACKed packet.
    pub(crate) fn sack(&mut self, start: Seq, end: Seq, mut fresh: impl FnMut(&mut Self, Seq)) {
        let (start, end) = (start.max(self.una), end.min(self.next));
        if start >= end {
            return;
        }
        if let Some((from, to)) = self.sacked.extend_highest(start, end) {
            return (from..to).for_each(|seq| fresh(self, seq));
        }
        // The set is taken out temporarily so that `fresh` may change the rest.
        let mut sacked = std::mem::take(&mut self.sacked);
        sacked.insert(start, end, |from, to| (from..to).for_each(|seq| fresh(self, seq)));
        self.sacked = sacked;
    }

    /// Marks a packet SACKed: it is no longer lost or in flight again (`tcp_sacktag_one`), and won't be
    /// sampled again. Returns it as it was.
    #[inline] // it has one caller, and where packets are lost, most others come by
    pub(crate) fn mark_sacked(&mut self, seq: Seq) -> SentPacket {
        let sent = self.get_mut(seq);
        let before = *sent;
        sent.delivered_us = 0;
        sent.marks.set(Marks::SACKED);
        sent.marks.clear(Marks::IN_ORDER);
        let was_lost = before.marks.has(Marks::LOST);
        if was_lost {
            sent.marks.clear(Marks::LOST);
            sent.marks.clear(Marks::RETRANS);
        }
        self.sacked_out += 1;
        if was_lost {
            self.lost_out -= 1;
            self.retrans_out -= u32::from(before.marks.has(Marks::RETRANS));
        }
        if before.marks.has(Marks::IN_ORDER) {
            self.join(before.prev, before.next);
        }
        before
    }

    /// Marks a packet lost, or its retransmission (`tcp_mark_skb_lost`).
    pub(crate) fn mark_lost(&mut self, seq: Seq) {
        let mut marks = self.get(seq).marks;
        if marks.has(Marks::SACKED) {
            return;
        }
        let before = self.lost_total;
        self.lost_cursor = self.lost_cursor.min(seq);
        if marks.has(Marks::LOST) {
            if marks.has(Marks::RETRANS) {
                marks.clear(Marks::RETRANS);
                self.retrans_out -= 1;
                self.lost_total += 1;
            }
        } else {
            marks.set(Marks::LOST);
            self.lost_out += 1;
            self.lost_total += 1;
        }
        self.get_mut(seq).marks = marks;
        if self.lost_total > before {
            self.note_one_lost(seq);
        }
    }

    fn note_one_lost(&mut self, seq: Seq) {
        if let Some(unreported) = &mut self.unreported_lost {
            unreported.push(seq);
        }
        let SentPacket { delivered_us, marks, .. } = *self.get(seq);
        // A packet that lost its SACK mark isn't reported (`bbr_skb_marked_lost`).
        if delivered_us > 0
            && let Some(flights) = &mut self.flights
        {
            flights.on_lost(seq, marks.has(Marks::APP_LIMITED), self.lost_total);
        }
    }

    /// Notes the flow's state when a packet leaves, for a control that watches packets.
    pub(crate) fn note_sent(&mut self, seq: Seq, in_flight: u32) {
        #[expect(clippy::cast_possible_truncation, reason = "the count is reported modulo 2^32")]
        let at_send = AtSend { in_flight, lost: self.lost_total as u32 };
        if let Some(flights) = &mut self.flights {
            flights.on_sent(seq, self.una, at_send);
        }
    }

    /// The flow's state when this packet left, if the control watches packets.
    pub(crate) fn at_send(&self, seq: Seq) -> Option<AtSend> {
        self.flights.as_ref().map(|flights| flights.at_send(seq))
    }

    /// The losses not yet reported to a control that watches packets.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        self.flights.as_deref_mut().map(FlightLog::take_losses).unwrap_or_default()
    }

    /// Marks every packet below `end` lost, unless it is already SACKed or marked; nothing is known
    /// about a retransmission in flight.
    pub(crate) fn mark_lost_below(&mut self, end: Seq) {
        for seq in self.lost_below.max(self.una)..end {
            if !self.get(seq).marks.has(Marks::LOST) {
                self.mark_lost(seq);
            }
        }
        self.lost_below = self.lost_below.max(end);
    }

    /// The SACKed packet with `n` - 1 SACKed ones above it.
    pub(crate) fn nth_highest_sacked(&self, n: u32) -> Option<Seq> {
        self.sacked.nth_highest(n)
    }

    /// Packets marked lost since the last call, in that order.
    pub(crate) fn take_lost(&mut self) -> impl Iterator<Item = Seq> + '_ {
        self.unreported_lost.iter_mut().flat_map(|unreported| unreported.drain(..))
    }

    /// Removes all loss marks (`tcp_undo_cwnd_reduction` with `unmark_loss`).
    pub(crate) fn unmark_lost(&mut self) {
        for seq in self.una..self.next {
            self.get_mut(seq).marks.clear(Marks::LOST);
        }
        self.lost_out = 0;
        self.lost_cursor = self.next;
        self.lost_below = self.una;
    }

    /// Clears the mark of a retransmission in flight, after a DSACK for it.
    pub(crate) fn clear_retrans(&mut self, seq: Seq) {
        if self.get(seq).marks.has(Marks::RETRANS) {
            self.get_mut(seq).marks.clear(Marks::RETRANS);
            self.retrans_out -= 1;
        }
    }

    /// Notes that a retransmission is in flight.
    pub(crate) fn mark_retransmitted(&mut self, seq: Seq) {
        let marks = &mut self.get_mut(seq).marks;
        marks.set(Marks::EVER_RETRANS);
        if !marks.has(Marks::RETRANS) {
            marks.set(Marks::RETRANS);
            self.retrans_out += 1;
        }
    }

    /// The lowest lost packet that isn't in flight again.
    pub(crate) fn next_lost(&mut self) -> Option<Seq> {
        let mut seq = self.lost_cursor.max(self.una);
        while seq < self.next {
            if self.get(seq).marks.waits_for_retransmission() {
                self.lost_cursor = seq;
                return Some(seq);
            }
            seq += 1;
        }
        self.lost_cursor = seq;
        None
    }

    /// A burst starts with this packet.
    #[inline]
    pub(crate) fn start_burst(&mut self, seq: Seq) {
        let marks = &mut self.get_mut(seq).marks;
        let is_new = !marks.has(Marks::BURST_HEAD);
        marks.set(Marks::BURST_HEAD);
        self.bursts += u32::from(is_new);
    }

    /// Bursts of which the first packet isn't acknowledged, the number of socket buffers in the
    /// retransmission queue.
    pub(crate) fn bursts(&self) -> u32 {
        self.bursts
    }

    /// How many packets from `seq` on, at most `limit`, can be retransmitted as
    /// one burst: they left as one and all wait for retransmission.
    pub(crate) fn lost_burst(&mut self, seq: Seq, limit: u32) -> u32 {
        let mut count = 1;
        while seq + count < self.next {
            let marks = self.get(seq + count).marks;
            if marks.has(Marks::BURST_HEAD) || !marks.waits_for_retransmission() {
                break;
            }
            if count == limit {
                // The rest becomes a separate burst (`tcp_fragment`).
                self.start_burst(seq + count);
                break;
            }
            count += 1;
        }
        count
    }

    /// The packet sent longest ago that is neither SACKed nor removed as lost.
    pub(crate) fn oldest_sent(&self) -> Option<Seq> {
        (self.order_head != NONE).then_some(self.order_head)
    }

    /// The one sent after `seq`.
    pub(crate) fn sent_after(&self, seq: Seq) -> Option<Seq> {
        let next = self.get(seq).next;
        (next != NONE).then_some(next)
    }

    /// Puts a packet last in the order of transmission (`tsorted_sent_queue`).
    pub(crate) fn sent_now(&mut self, seq: Seq) {
        self.leave_order(seq);
        let tail = self.order_tail;
        let sent = self.get_mut(seq);
        sent.prev = tail;
        sent.next = NONE;
        sent.marks.set(Marks::IN_ORDER);
        self.follow(tail, seq);
        self.order_tail = seq;
    }

    /// `seq` comes after `tail` in the order of transmission.
    #[inline]
    fn follow(&mut self, tail: Seq, seq: Seq) {
        if tail == NONE {
            self.order_head = seq;
        } else {
            self.get_mut(tail).next = seq;
        }
    }

    /// Takes a packet out of the order of transmission.
    #[inline]
    pub(crate) fn leave_order(&mut self, seq: Seq) {
        if self.get(seq).marks.has(Marks::IN_ORDER) {
            self.unlink(seq);
        }
    }

    fn unlink(&mut self, seq: Seq) {
        let sent = self.get_mut(seq);
        sent.marks.clear(Marks::IN_ORDER);
        let (prev, next) = (sent.prev, sent.next);
        self.join(prev, next);
    }

    /// Packets between them have left the order of transmission.
    #[inline]
    fn join(&mut self, prev: Seq, next: Seq) {
        if prev == NONE {
            self.order_head = next;
        } else {
            self.get_mut(prev).next = next;
        }
        if next == NONE {
            self.order_tail = prev;
        } else {
            self.get_mut(next).prev = prev;
        }
    }
}

#[cfg(test)]
mod tests;
