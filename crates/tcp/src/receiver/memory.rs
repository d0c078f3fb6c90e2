//! The memory of received packets (`sk_rmem_alloc`).

use crate::segment::{MSS, Seq};

/// Packets in one socket buffer, a fragment each (`MAX_SKB_FRAGS`).
const MOST_MERGED: u32 = 17;

/// Returns `true` if a packet joins the socket buffer of those before it, `position` of which are
/// in a row without gaps (`tcp_ooo_try_coalesce`).
pub(super) fn joins(position: Seq) -> bool {
    !position.is_multiple_of(MOST_MERGED)
}

/// The memory of waiting packets, which are out of order or unread by the application.
#[derive(Debug)]
pub(super) struct Memory {
    /// Bytes of a socket buffer beside its payload, and with a full packet.
    overhead: u64,
    packet: u64,
    /// Packets out of order, the socket buffers that they are in, and the memory that they will take
    /// once all others are read.
    packets: u64,
    buffers: u64,
    out_of_order: u64,
    used: u64,
}

impl Memory {
    pub(super) fn new(overhead: u32) -> Self {
        let (overhead, packet) = (overhead.into(), u64::from(MSS + overhead));
        Self { overhead, packet, packets: 0, buffers: 0, out_of_order: 0, used: 0 }
    }

    /// In bytes.
    #[inline]
    pub(super) fn in_use(&self) -> u64 {
        self.used
    }

    /// Of a full packet alone, in bytes.
    #[inline]
    pub(super) fn of_a_packet(&self) -> u64 {
        self.packet
    }

    fn of(&self, packets: u64, buffers: u64) -> u64 {
        packets * u64::from(MSS) + buffers * self.overhead
    }

    /// So many packets in order reach the application's queue as one.
    #[inline]
    pub(super) fn queue(&mut self, packets: usize) {
        self.used += if packets == 1 {
            self.packet
        } else {
            self.of(packets as u64, (packets as u64).div_ceil(MOST_MERGED.into()))
        };
    }

    /// So many packets are out of order, the first of them `position` packets after the start of its
    /// row.
    #[inline]
    pub(super) fn hold(&mut self, position: Seq, packets: u32) {
        if packets == 1 && joins(position) {
            self.packets += 1;
            self.out_of_order += u64::from(MSS);
            self.used = self.out_of_order;
        } else {
            self.hold_several(position, packets);
        }
    }

    /// Counts the memory of packets that may begin socket buffers.
    #[inline(never)] // most packets join one
    fn hold_several(&mut self, position: Seq, packets: u32) {
        let begun = |packets: u32| packets.div_ceil(MOST_MERGED);
        let buffers = u64::from(begun(position + packets) - begun(position));
        self.packets += u64::from(packets);
        self.buffers += buffers;
        self.out_of_order += self.of(packets.into(), buffers);
        self.used = self.out_of_order;
    }

    /// A row of `packets` packets is in order now, and waits for the application.
    pub(super) fn release(&mut self, packets: u32) {
        self.packets -= u64::from(packets);
        // A row that grew together may be in more.
        let buffers = self.buffers - u64::from(packets.div_ceil(MOST_MERGED)).min(self.buffers);
        self.buffers = if self.packets == 0 { 0 } else { buffers };
        self.out_of_order = self.of(self.packets, self.buffers);
    }

    /// Sets the memory in use, as counted by a socket with buffers of any size.
    pub(super) fn set(&mut self, used: u64) {
        self.used = used;
    }

    /// The application has read all that is in order.
    #[inline]
    pub(super) fn read(&mut self) {
        self.used = self.out_of_order;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_in_order_takes_memory_until_it_is_read() {
        let mut memory = Memory::new(832);
        memory.queue(1);
        assert_eq!(memory.in_use(), 2_280);
        memory.read();
        assert_eq!(memory.in_use(), 0);
    }

    #[test]
    fn packets_in_a_row_share_socket_buffers() {
        let mut memory = Memory::new(832);
        memory.hold(0, 15);
        assert_eq!(memory.in_use(), 15 * 1_448 + 832);
        memory.hold(0, 1);
        assert_eq!(memory.in_use(), 16 * 1_448 + 2 * 832);
        memory.hold(15, 3);
        assert_eq!(memory.in_use(), 19 * 1_448 + 3 * 832);
    }

    #[test]
    fn packets_may_be_held_together_or_one_by_one() {
        for (position, packets) in [(0, 1), (0, 40), (16, 2), (17, 1), (5, 30)] {
            let (mut together, mut apart) = (Memory::new(832), Memory::new(832));
            together.hold(position, packets);
            (position..position + packets).for_each(|position| apart.hold(position, 1));
            assert_eq!(together.in_use(), apart.in_use());
        }
    }

    #[test]
    fn data_behind_a_gap_takes_memory_until_it_is_read() {
        let mut memory = Memory::new(832);
        memory.hold(0, 15);
        memory.hold(0, 2);
        let waiting = memory.in_use();
        memory.queue(1);
        memory.release(15);
        assert_eq!(memory.in_use(), waiting + 2_280);
        memory.read();
        assert_eq!(memory.in_use(), 2 * 1_448 + 832);
    }
}
