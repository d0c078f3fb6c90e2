//! Waiting packets with their arrival times.

use std::collections::VecDeque;

use narrows_base::{Bytes, Packet, Time};

/// Bytes of an Ethernet header: Linux's disciplines count them with every
/// packet (`qdisc_pkt_len_init`), so Linux's constants are valid only with them.
const ETHERNET_HEADER: u64 = 14;

/// IP bytes of a full packet.
const FULL_PACKET: u32 = 1_500;

/// A full Ethernet frame as Linux counts it (`psched_mtu`).
pub(super) const FRAME: u32 = 1_514;

/// Bytes of the packet's Ethernet frame without its checksum. A super-packet, which is larger than
/// one frame's, has a header for each of its segments (`qdisc_pkt_len_init`).
#[inline]
pub(super) fn frame_bytes<B>(packet: &Packet<B>) -> u64 {
    u64::from(packet.size) + ETHERNET_HEADER * (1 + further_frames(packet.size))
}

/// The frames of a packet but the first; only super-packets, which are rare, cost a division.
#[inline]
fn further_frames(size: u32) -> u64 {
    if size <= FULL_PACKET { 0 } else { u64::from(size.div_ceil(FULL_PACKET)) - 1 }
}

/// A packet that was peeked at (`qdisc_peek_dequeued`) and still counts as waiting, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeekedPacket {
    /// 0 or 1.
    pub(super) packets: usize,
    pub(super) bytes: Bytes,
    pub(super) frame_bytes: u64,
}

impl PeekedPacket {
    pub(super) fn of<B>(packet: Option<&Packet<B>>) -> Self {
        packet.map_or_else(Self::default, |packet| Self {
            packets: 1,
            bytes: packet.bytes(),
            frame_bytes: frame_bytes(packet),
        })
    }
}

/// A first-in, first-out queue that knows how long each packet has waited.
#[derive(Clone, Debug)]
pub(super) struct Waiting<B> {
    packets: VecDeque<(Time, Packet<B>)>,
    bytes: u64,
    /// Ethernet frames beyond one for each packet, which super-packets have.
    further_frames: u64,
}

impl<B> Waiting<B> {
    pub(super) const fn new() -> Self {
        Self { packets: VecDeque::new(), bytes: 0, further_frames: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, packet: Packet<B>, now: Time) {
        self.bytes += u64::from(packet.size);
        self.further_frames += further_frames(packet.size);
        self.packets.push_back((now, packet));
    }

    /// The head and its arrival time.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, Packet<B>)> {
        let (since, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        self.further_frames -= further_frames(packet.size);
        Some((since, packet))
    }

    /// Removes the packet that arrived last.
    pub(super) fn pop_last(&mut self) -> Option<Packet<B>> {
        let (_, packet) = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.size);
        self.further_frames -= further_frames(packet.size);
        Some(packet)
    }

    /// When the head arrived.
    pub(super) fn head_since(&self) -> Option<Time> {
        self.packets.front().map(|(since, _)| *since)
    }

    pub(super) fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// Bytes of the Ethernet frames that wait.
    pub(super) fn frame_bytes(&self) -> u64 {
        self.bytes + ETHERNET_HEADER * (self.packets.len() as u64 + self.further_frames)
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    /// Three full packets in one, a full one, and an ACK.
    #[test]
    fn a_super_packet_has_a_header_for_each_segment() {
        let packet = |size| Packet { flow: FlowId(0), size, ecn: Ecn::NotEct, body: () };
        let sizes = [4_500, 1_500, 52];
        assert_eq!(sizes.map(|size| frame_bytes(&packet(size))), [3 * 1_514, 1_514, 66]);
        let mut waiting = Waiting::new();
        for size in sizes {
            waiting.push(packet(size), Time::ZERO);
        }
        assert_eq!(waiting.frame_bytes(), 4 * 1_514 + 66);
        let _ = waiting.pop();
        assert_eq!(waiting.frame_bytes(), 1_514 + 66);
    }
}
