//! The application's data: what it hasn't written yet, and what it has but that isn't sent, in
//! socket buffers (`sk_write_queue`).

use std::collections::VecDeque;

/// Consecutive data that leave together if they fit a burst (`struct sk_buff`).
#[derive(Clone, Copy, Debug, Default)]
struct SocketBuffer {
    bytes: u32,
    /// True if its last packet has PSH (`tcp_mark_push`).
    pushed: bool,
}

/// The data that aren't sent.
#[derive(Debug)]
pub(super) struct UnsentData {
    mss: u32,
    /// The first buffer, which every burst looks at; it is empty only if there is none.
    head: SocketBuffer,
    /// Packets in it, kept since counting them takes a division.
    packets: u32,
    /// The buffers behind it.
    later: VecDeque<SocketBuffer>,
    /// Payload in all buffers.
    queued: u64,
    /// Payload that the application hasn't written yet; `None` without end.
    unwritten: Option<u64>,
    /// Payload written since a buffer was marked (`pushed_seq`).
    unpushed: u64,
    /// True if the next data may take the mark of a buffer that they join: the first data of a call
    /// of `write` do. How the calls of an application without end divide its data isn't known.
    takes_mark: bool,
    /// True if the data that aren't written are those of one call.
    is_one_call: bool,
    /// True if the last packet ends the connection.
    closes: bool,
}

impl UnsentData {
    pub(super) fn new(size: Option<u64>, mss: u32, closes: bool) -> Self {
        Self {
            mss,
            head: SocketBuffer::default(),
            packets: 0,
            later: VecDeque::new(),
            queued: 0,
            unwritten: size,
            unpushed: 0,
            takes_mark: true,
            is_one_call: false,
            closes: closes && size.is_some(),
        }
    }

    /// New packets have at most that much payload; none may wait.
    pub(super) fn set_mss(&mut self, mss: u32) {
        debug_assert!(self.is_empty(), "packets of another size wait");
        self.mss = mss;
    }

    /// Returns `true` if no buffer is left, though the application may have more data.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Returns `true` if the application has data that it hasn't written.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.unwritten != Some(0)
    }

    /// Payload that the application hasn't written yet; none without end.
    pub(super) fn unwritten_bytes(&self) -> Option<u64> {
        self.unwritten
    }

    /// Returns `true` if everything was written and sent.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.is_empty() && !self.has_more()
    }

    /// Payload in all buffers.
    #[inline]
    pub(super) fn queued_bytes(&self) -> u64 {
        self.queued
    }

    /// The number of buffers.
    #[inline]
    pub(super) fn buffers(&self) -> usize {
        usize::from(!self.is_empty()) + self.later.len()
    }

    /// Returns `true` if less than a full packet waits.
    pub(super) fn is_short(&self) -> bool {
        self.queued < u64::from(self.mss)
    }

    /// The application has more to write; without end if no size is given.
    pub(super) fn add(&mut self, bytes: Option<u64>) {
        self.unwritten = self.unwritten.zip(bytes).map(|(left, more)| left + more);
        (self.takes_mark, self.is_one_call) = (true, bytes.is_some());
    }

    /// The application writes no more; what it has written still leaves.
    pub(super) fn stop(&mut self) {
        // The last packet sent wasn't marked as the end.
        self.closes &= self.is_finished();
        self.unwritten = Some(0);
    }

    /// The last buffer, if there is one.
    fn last(&self) -> Option<&SocketBuffer> {
        self.later.back().or((!self.is_empty()).then_some(&self.head))
    }

    /// Returns `true` if the last buffer holds `goal` bytes, or there is none.
    pub(super) fn needs_buffer(&self, goal: u32) -> bool {
        self.last().is_none_or(|last| last.bytes >= goal)
    }

    /// The application fills the last buffer, or a new one, up to `goal` bytes. Returns whether it is
    /// full.
    pub(super) fn write(&mut self, goal: u32) -> bool {
        if !self.is_empty() && self.needs_buffer(goal) {
            self.later.push_back(SocketBuffer::default());
        }
        let last = self.later.back_mut().unwrap_or(&mut self.head);
        let room = goal - last.bytes;
        let bytes =
            self.unwritten.map_or(room, |left| u32::try_from(left).unwrap_or(room).min(room));
        if let Some(left) = &mut self.unwritten {
            *left -= u64::from(bytes);
        }
        last.bytes += bytes;
        last.pushed &= !self.takes_mark;
        self.takes_mark &= !self.is_one_call;
        self.queued += u64::from(bytes);
        self.unpushed += u64::from(bytes);
        if self.later.is_empty() {
            self.count_packets();
        }
        bytes == room
    }

    /// The first buffer is another one, or holds more.
    fn count_packets(&mut self) {
        self.packets = self.head.bytes.div_ceil(self.mss);
    }

    /// Payload written since a buffer was marked.
    pub(super) fn unpushed_bytes(&self) -> u64 {
        self.unpushed
    }

    /// Marks the last buffer (`tcp_mark_push`).
    pub(super) fn push(&mut self) {
        if self.is_empty() {
            return;
        }
        self.later.back_mut().unwrap_or(&mut self.head).pushed = true;
        self.unpushed = 0;
    }

    /// Fills the first buffer up to `packets` packets from the next one (`tcp_grow_skb`).
    /// Returns whether that emptied the next one.
    #[inline]
    pub(super) fn grow(&mut self, packets: u32) -> bool {
        let wanted = u64::from(packets) * u64::from(self.mss);
        let may_grow = wanted > u64::from(self.head.bytes) && !self.later.is_empty();
        may_grow && self.grow_to(wanted)
    }

    fn grow_to(&mut self, wanted: u64) -> bool {
        let (first, next) = (&mut self.head, &mut self.later[0]);
        let missing = wanted - u64::from(first.bytes);
        let moved = u32::try_from(missing).unwrap_or(u32::MAX).min(next.bytes);
        first.bytes += moved;
        next.bytes -= moved;
        let is_empty = next.bytes == 0;
        if is_empty {
            first.pushed |= next.pushed;
            self.later.pop_front();
        }
        self.count_packets();
        is_empty
    }

    /// Packets in the first buffer.
    #[inline]
    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// Payload of a burst of `packets` packets of the first buffer.
    #[inline]
    pub(super) fn payload(&self, packets: u32) -> u64 {
        (u64::from(packets) * u64::from(self.mss)).min(u64::from(self.head.bytes))
    }

    /// Payload in the first buffer.
    pub(super) fn head_bytes(&self) -> u32 {
        self.head.bytes
    }

    /// Returns `true` if only one buffer is left.
    pub(super) fn is_tail(&self) -> bool {
        !self.is_empty() && self.later.is_empty()
    }

    /// Returns `true` if the first buffer ends the connection.
    pub(super) fn closes_at_head(&self) -> bool {
        self.closes && self.is_tail() && !self.has_more()
    }

    /// Returns `true` if a burst of `packets` packets of the first buffer has PSH because the
    /// buffer is marked.
    #[inline]
    pub(super) fn is_pushed(&self, packets: u32) -> bool {
        self.head.pushed && self.packets == packets
    }

    /// Takes `packets` packets of the first buffer and returns their payload; only the last of them
    /// may not be full.
    ///
    /// # Panics
    /// If the buffer doesn't hold them.
    #[inline]
    pub(super) fn take(&mut self, packets: u32) -> u32 {
        self.packets = self.packets.checked_sub(packets).expect("a burst holds what a buffer has");
        let full = packets * self.mss;
        let bytes = if self.packets == 0 { self.head.bytes } else { full };
        self.head.bytes -= bytes;
        if self.packets == 0 {
            self.head = self.later.pop_front().unwrap_or_default();
            self.count_packets();
        }
        self.queued -= u64::from(bytes);
        bytes
    }

    /// Returns `true` if the packet taken last carries the FIN.
    pub(super) fn closes(&self) -> bool {
        self.closes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_000;

    fn lengths(unsent: &UnsentData) -> Vec<u32> {
        let head = (!unsent.is_empty()).then_some(&unsent.head);
        head.into_iter().chain(&unsent.later).map(|buffer| buffer.bytes).collect()
    }

    #[test]
    fn an_application_fills_buffers_and_the_last_goes_on_growing() {
        let mut unsent = UnsentData::new(Some(7_500), MSS, true);
        unsent.write(3_000);
        unsent.write(3_000);
        assert_eq!(lengths(&unsent), [3_000, 3_000]);
        unsent.write(4_000);
        assert_eq!(lengths(&unsent), [3_000, 4_000], "the goal has grown");
        unsent.write(4_000);
        assert_eq!((lengths(&unsent), unsent.has_more()), (vec![3_000, 4_000, 500], false));
        assert_eq!([unsent.closes_at_head(), unsent.is_finished()], [false, false]);
    }

    #[test]
    fn the_mark_is_on_the_last_packet_of_its_buffer() {
        let mut unsent = UnsentData::new(None, MSS, true);
        assert!(unsent.write(2_000) && unsent.write(2_000));
        assert_eq!(unsent.unpushed_bytes(), 4_000);
        unsent.push();
        assert!(unsent.write(2_000));
        assert_eq!(unsent.unpushed_bytes(), 2_000);
        assert_eq!([unsent.is_pushed(2), unsent.is_pushed(1)], [false, false]);
        assert_eq!([unsent.take(1), unsent.take(1)], [1_000, 1_000]);
        assert_eq!([unsent.is_pushed(2), unsent.is_pushed(1)], [true, false]);
    }

    #[test]
    fn only_the_first_data_of_a_call_take_the_mark_of_the_buffer_that_they_join() {
        let mut unsent = UnsentData::new(Some(0), MSS, false);
        unsent.add(Some(1_500));
        unsent.write(3_000);
        unsent.push();
        unsent.add(Some(5_000));
        unsent.write(3_000);
        assert!(!unsent.is_pushed(3), "a new call");
        unsent.push();
        unsent.write(4_000);
        assert!(unsent.is_pushed(4), "the same call");
    }

    #[test]
    fn a_burst_may_take_from_the_next_buffer_and_no_further() {
        let mut unsent = UnsentData::new(Some(5_000), MSS, true);
        for _ in 0..3 {
            unsent.write(2_000);
        }
        unsent.take(1);
        assert!(!unsent.grow(2));
        assert_eq!(lengths(&unsent), [2_000, 1_000, 1_000]);
        assert!(unsent.grow(4));
        assert_eq!(lengths(&unsent), [3_000, 1_000], "only the next one");
        unsent.push();
        unsent.grow(4);
        assert_eq!((lengths(&unsent), unsent.is_pushed(4)), (vec![4_000], true));
        assert!(unsent.closes_at_head());
    }

    #[test]
    fn the_last_packet_of_a_buffer_may_be_short() {
        let mut unsent = UnsentData::new(Some(4_700), MSS, true);
        unsent.write(2_500);
        unsent.write(2_500);
        assert_eq!(unsent.packets(), 3);
        assert_eq!([unsent.take(2), unsent.take(1)], [2_000, 500]);
        assert_eq!((unsent.packets(), unsent.queued_bytes()), (3, 2_200));
        assert_eq!((unsent.take(3), unsent.buffers()), (2_200, 0));
    }

    #[test]
    fn written_data_leaves_after_the_application_stops() {
        let mut unsent = UnsentData::new(None, MSS, true);
        unsent.write(2_000);
        unsent.stop();
        assert_eq!([unsent.has_more(), unsent.is_finished()], [false, false]);
        assert_eq!(unsent.take(2), 2_000);
        assert!(unsent.is_finished());
    }
}
