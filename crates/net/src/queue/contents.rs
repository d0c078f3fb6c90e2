//! Counts the packets in a discipline of many queues.

use narrows_base::{Bytes, Packet};

use super::waiting::{PeekedPacket, frame_bytes};

/// The sum over all queues of a discipline, and a packet that was dequeued ahead.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contents {
    packets: usize,
    bytes: u64,
    frame_bytes: u64,
    ahead: PeekedPacket,
}

impl Contents {
    /// Counts a packet that was queued.
    #[inline]
    pub(super) fn add<B>(&mut self, packet: &Packet<B>) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.frame_bytes += frame_bytes(packet);
    }

    /// Counts a packet that left its queue.
    #[inline]
    pub(super) fn remove<B>(&mut self, packet: &Packet<B>) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        self.frame_bytes -= frame_bytes(packet);
    }

    pub(super) fn count_ahead<B>(&mut self, packet: Option<&Packet<B>>) {
        self.ahead = PeekedPacket::of(packet);
    }

    /// Packets that count against a limit.
    #[inline]
    pub(super) const fn occupancy(&self) -> u64 {
        (self.packets + self.ahead.packets) as u64
    }

    pub(super) const fn len(&self) -> usize {
        self.packets
    }

    pub(super) const fn backlog(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// Bytes of the Ethernet frames in the queues.
    #[inline]
    pub(super) const fn frame_bytes(&self) -> u64 {
        self.frame_bytes
    }
}
