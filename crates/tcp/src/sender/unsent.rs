//! The application's data: what it hasn't written yet, and what it has but that isn't sent, in
//! socket buffers (`sk_write_queue`).

use std::collections::VecDeque;

/// Consecutive data that leave together if they fit a burst (`struct sk_buff`).
#[derive(Debug)]
struct SocketBuffer {
    bytes: u32,
    /// Whether its last packet has PSH (`tcp_mark_push`).
    pushed: bool,
}

/// The data that aren't sent.
#[derive(Debug)]
pub(super) struct Unsent {
    mss: u32,
    buffers: VecDeque<SocketBuffer>,
    /// Payload in all buffers.
    queued: u64,
    /// Payload that the application hasn't written yet; `None` without end.
    unwritten: Option<u64>,
    /// Payload written since a buffer was marked (`pushed_seq`).
    unpushed: u64,
    /// Whether the last packet ends the connection.
    closes: bool,
}

impl Unsent {
    pub(super) fn new(size: Option<u64>, mss: u32, closes: bool) -> Self {
        Self {
            mss,
            buffers: VecDeque::new(),
            queued: 0,
            unwritten: size,
            unpushed: 0,
            closes: closes && size.is_some(),
        }
    }

    /// Whether no buffer is left, though the application may have more.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Whether the application has data that it hasn't written.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        self.unwritten != Some(0)
    }

    /// Whether everything was written and sent.
    #[inline]
    pub(super) fn is_finished(&self) -> bool {
        self.is_empty() && !self.has_more()
    }

    /// Payload in all buffers.
    pub(super) fn queued(&self) -> u64 {
        self.queued
    }

    /// The number of buffers.
    pub(super) fn buffers(&self) -> usize {
        self.buffers.len()
    }

    /// Whether less than a full packet waits.
    pub(super) fn is_short(&self) -> bool {
        self.queued < u64::from(self.mss)
    }

    /// The application has more to write; without end if no size is given.
    pub(super) fn add(&mut self, bytes: Option<u64>) {
        self.unwritten = self.unwritten.zip(bytes).map(|(left, more)| left + more);
    }

    /// The application writes no more; what it has written still leaves.
    pub(super) fn stop(&mut self) {
        // The last packet sent wasn't marked as the end.
        self.closes &= self.is_finished();
        self.unwritten = Some(0);
    }

    /// Whether the last buffer holds `goal` bytes, or there is none.
    pub(super) fn needs_buffer(&self, goal: u32) -> bool {
        self.buffers.back().is_none_or(|last| last.bytes >= goal)
    }

    /// The application fills the last buffer, or a new one, up to `goal` bytes. Returns whether it is
    /// full.
    pub(super) fn write(&mut self, goal: u32) -> bool {
        if self.needs_buffer(goal) {
            self.buffers.push_back(SocketBuffer { bytes: 0, pushed: false });
        }
        let last = self.buffers.back_mut().expect("one was added");
        let room = goal - last.bytes;
        let bytes =
            self.unwritten.map_or(room, |left| u32::try_from(left).unwrap_or(room).min(room));
        if let Some(left) = &mut self.unwritten {
            *left -= u64::from(bytes);
        }
        last.bytes += bytes;
        last.pushed = false;
        self.queued += u64::from(bytes);
        self.unpushed += u64::from(bytes);
        bytes == room
    }

    /// Payload written since a buffer was marked.
    pub(super) fn unpushed(&self) -> u64 {
        self.unpushed
    }

    /// Marks the last buffer (`tcp_mark_push`).
    pub(super) fn push(&mut self) {
        if let Some(last) = self.buffers.back_mut() {
            last.pushed = true;
            self.unpushed = 0;
        }
    }

    /// Fills the first buffer up to so many packets with what the next one holds (`tcp_grow_skb`).
    pub(super) fn grow(&mut self, packets: u32) {
        let wanted = u64::from(packets) * u64::from(self.mss);
        let [first, next] = match self.buffers.as_mut_slices() {
            ([first, next, ..], _) => [first, next],
            ([first], [next, ..]) => [first, next],
            _ => return,
        };
        let missing = wanted.saturating_sub(u64::from(first.bytes));
        let moved = u32::try_from(missing).unwrap_or(u32::MAX).min(next.bytes);
        first.bytes += moved;
        next.bytes -= moved;
        if next.bytes == 0 {
            first.pushed |= next.pushed;
            self.buffers.remove(1);
        }
    }

    /// Packets in the first buffer.
    pub(super) fn packets(&self) -> u32 {
        self.head_bytes().div_ceil(self.mss)
    }

    /// Payload in the first buffer.
    pub(super) fn head_bytes(&self) -> u32 {
        self.buffers.front().map_or(0, |first| first.bytes)
    }

    /// Whether the first buffer is the last.
    pub(super) fn is_tail(&self) -> bool {
        self.buffers.len() == 1
    }

    /// Whether the first buffer ends the connection.
    pub(super) fn closes_at_head(&self) -> bool {
        self.closes && self.is_tail() && !self.has_more()
    }

    /// Whether a burst of so many packets of the first buffer has PSH by its mark.
    pub(super) fn is_pushed(&self, packets: u32) -> bool {
        self.buffers.front().is_some_and(|first| first.pushed) && self.packets() == packets
    }

    /// Takes the next packet and returns its length.
    #[inline]
    pub(super) fn take(&mut self) -> u16 {
        let first = self.buffers.front_mut().expect("a burst holds what a buffer has");
        let len = first.bytes.min(self.mss);
        first.bytes -= len;
        if first.bytes == 0 {
            self.buffers.pop_front();
        }
        self.queued -= u64::from(len);
        u16::try_from(len).expect("a packet's payload fits 16 bits")
    }

    /// Whether the packet taken last carries the FIN.
    pub(super) fn closes(&self) -> bool {
        self.closes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_000;

    fn lengths(unsent: &Unsent) -> Vec<u32> {
        unsent.buffers.iter().map(|buffer| buffer.bytes).collect()
    }

    #[test]
    fn an_application_fills_buffers_and_the_last_goes_on_growing() {
        let mut unsent = Unsent::new(Some(7_500), MSS, true);
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
        let mut unsent = Unsent::new(None, MSS, true);
        assert!(unsent.write(2_000) && unsent.write(2_000));
        assert_eq!(unsent.unpushed(), 4_000);
        unsent.push();
        assert!(unsent.write(2_000));
        assert_eq!(unsent.unpushed(), 2_000);
        assert_eq!([unsent.is_pushed(2), unsent.is_pushed(1)], [false, false]);
        assert_eq!([unsent.take(), unsent.take()], [1_000, 1_000]);
        assert_eq!([unsent.is_pushed(2), unsent.is_pushed(1)], [true, false]);
    }

    #[test]
    fn a_burst_may_take_from_the_next_buffer_and_no_further() {
        let mut unsent = Unsent::new(Some(5_000), MSS, true);
        for _ in 0..3 {
            unsent.write(2_000);
        }
        unsent.take();
        unsent.grow(2);
        assert_eq!(lengths(&unsent), [2_000, 1_000, 1_000]);
        unsent.grow(4);
        assert_eq!(lengths(&unsent), [3_000, 1_000], "only the next one");
        unsent.push();
        unsent.grow(4);
        assert_eq!((lengths(&unsent), unsent.is_pushed(4)), (vec![4_000], true));
        assert!(unsent.closes_at_head());
    }

    #[test]
    fn what_was_written_leaves_after_the_application_stops() {
        let mut unsent = Unsent::new(None, MSS, true);
        unsent.write(2_000);
        unsent.stop();
        assert_eq!([unsent.has_more(), unsent.is_finished()], [false, false]);
        assert_eq!([unsent.take(), unsent.take()], [1_000, 1_000]);
        assert!(unsent.is_finished());
    }
}
