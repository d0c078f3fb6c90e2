//! Segments between sender and receiver.

use narrows_base::{Ecn, FlowId, Packet, Time};

/// Payload bytes of a full packet: MTU 1500 minus IP, TCP and timestamps.
pub const MSS: u32 = 1448;
/// The same without timestamps, as a SYN announces it.
pub(crate) const SYN_MSS: u32 = 1460;
/// Bytes of IP and TCP header with timestamps.
pub const HEADER: u32 = 52;
/// Bytes of IP and UDP header.
pub const UDP_HEADER: u32 = 28;

/// A packet's number within its connection, from 0.
pub type Seq = u32;

/// A TCP segment, reduced to the fields on which Linux's control decisions depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of its connection in the flow's chain.
    pub instance: u32,
    /// Its kind.
    pub kind: Kind,
}

/// The kinds of segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Connection request.
    Syn {
        /// The sender's own receive window in bytes.
        window: u32,
        /// Bits by which its later windows are shifted (RFC 7323 section 2).
        scale: u8,
        /// TSval in ms.
        ts: u32,
        /// Whether it offers ECN.
        ecn: bool,
    },
    /// Its answer, with the first receive window in bytes.
    SynAck {
        /// Receive window in bytes.
        window: u32,
        /// Bits by which later windows are shifted (RFC 7323 section 2).
        scale: u8,
        /// TSval in ms.
        ts: u32,
        /// TSecr in ms, that of the request.
        ts_echo: u32,
        /// Whether it accepts ECN.
        ecn: bool,
    },
    /// The handshake's third packet.
    HandshakeAck {
        /// TSval in ms.
        ts: u32,
        /// TSecr in ms, that of the answer.
        ts_echo: u32,
    },
    /// The answer to a SYN-ACK that came again (RFC 5961 section 4).
    Challenge {
        /// The next new packet (`snd_nxt`).
        seq: Seq,
        /// TSval in ms.
        ts: u32,
        /// TSecr in ms: the receiver's newest timestamp.
        ts_echo: u32,
    },
    /// Payload.
    Data(Data),
    /// A pure acknowledgement.
    Ack(Ack),
    /// A datagram, which no TCP takes.
    Datagram(Datagram),
    /// The same datagram on its way back (as the echo protocol of RFC 862 sends it).
    Echo(Datagram),
    /// A datagram of another transport stack, from the end that sends data.
    Opaque(Opaque),
    /// The same from the other end.
    OpaqueReply(Opaque),
}

/// A datagram over UDP whose bytes its hosts keep. It is packed for the same reason as
/// [`Datagram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Opaque {
    /// Its number among those of its end, from 0.
    pub number: u64,
    /// Payload bytes.
    pub len: u16,
}

/// A datagram over UDP. It is packed, since eight bytes of alignment would make every packet, also
/// those of TCP, larger than a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Datagram {
    /// Its number within the flow, from 0.
    pub number: u64,
    /// Payload bytes.
    pub len: u16,
    /// When it left.
    pub sent: Time,
}

/// A packet of payload, or a super-packet: several consecutive ones that pass the network as one
/// (GSO), all full except the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Number of the first packet.
    pub seq: Seq,
    /// The number of packets.
    pub count: u16,
    /// Payload bytes of all packets.
    pub len: u16,
    /// PSH: the last packet of a burst that left as one (`tcp_transmit_skb`).
    pub psh: bool,
    /// FIN: the connection ends with it.
    pub fin: bool,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// TSval in ms.
    pub ts: u32,
    /// TSecr in ms: the receiver's newest timestamp.
    pub ts_echo: u32,
    /// CWR: the sender has reduced its window (RFC 3168).
    pub cwr: bool,
    /// The IP header's codepoint: as it was sent, and at the receiver as it arrived
    /// (`TCP_SKB_CB(skb)->ip_dsfield`).
    pub ecn: Ecn,
}

/// A pure ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The next expected packet.
    pub ack: Seq,
    /// Receive window in bytes, from `ack` on.
    pub window: u32,
    /// TSval in ms.
    pub ts: u32,
    /// TSecr in ms (RFC 7323 section 4.3: of the packet that moved the window).
    pub ts_echo: u32,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// ECN echo.
    pub ece: bool,
    /// Marked data packets received, modulo 2^16, with accurate counts (RFC 9768, as in its
    /// option).
    pub marked: u16,
}

/// Up to three SACK blocks, which fit beside timestamps, newest first (RFC 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 3],
    len: u8,
    /// Whether the first block reports a duplicate (RFC 2883).
    pub dsack: bool,
}

impl SackBlocks {
    /// Most blocks that fit.
    pub const MAX: usize = 3;

    /// The first of `len` blocks; those beyond are zero.
    pub(crate) fn newest(blocks: [(Seq, Seq); 4], len: usize) -> Self {
        let [first, second, third, _] = blocks;
        let told = u8::try_from(len.min(Self::MAX)).expect("three at most");
        Self { blocks: [first, second, third], len: told, dsack: false }
    }

    /// Appends the half-open block `start..end` if there is room.
    pub fn push(&mut self, start: Seq, end: Seq) {
        if usize::from(self.len) < Self::MAX {
            self.blocks[usize::from(self.len)] = (start, end);
            self.len += 1;
        }
    }

    /// The blocks as half-open ranges.
    #[must_use]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// The blocks without the report of a duplicate.
    pub(crate) fn received_blocks(&self) -> &[(Seq, Seq)] {
        self.as_slice().get(usize::from(self.dsack)..).unwrap_or_default()
    }

    /// The first block of these and that of `before`, if all others are the same and none reports a
    /// duplicate.
    #[inline]
    pub(crate) fn only_first_changed(&self, before: &Self) -> Option<((Seq, Seq), (Seq, Seq))> {
        let ([now, others @ ..], [then, same @ ..]) = (&self.blocks, &before.blocks);
        let is_alike = self.len == before.len && others == same;
        (is_alike && self.len > 0 && !self.dsack && !before.dsack).then_some((*now, *then))
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<(Seq, Seq)> for SackBlocks {
    fn from_iter<I: IntoIterator<Item = (Seq, Seq)>>(iter: I) -> Self {
        let mut blocks = Self::default();
        for (start, end) in iter {
            blocks.push(start, end);
        }
        blocks
    }
}

impl Data {
    /// Most packets in one: 64 KiB.
    pub const MAX_PACKETS: u16 = 45;

    /// Its packets one by one.
    pub(crate) fn packets(self) -> impl Iterator<Item = Self> {
        let full = u16::try_from(MSS).expect("a packet fits 16 bits");
        (0..self.count).map(move |at| {
            let is_last = at + 1 == self.count;
            Self {
                seq: self.seq + Seq::from(at),
                count: 1,
                len: if is_last { self.len - at * full } else { full },
                psh: self.psh && is_last,
                fin: self.fin && is_last,
                cwr: self.cwr && at == 0,
                ..self
            }
        })
    }
}

/// IP bytes of a packet with `len` bytes of payload.
#[must_use]
pub fn data_size(len: u16) -> u32 {
    HEADER + u32::from(len)
}

/// IP bytes of an ACK: 52, and 4 + 8n with n SACK blocks.
#[must_use]
pub fn ack_size(sack: &SackBlocks) -> u32 {
    match u32::from(sack.len) {
        0 => HEADER,
        n => HEADER + 4 + 8 * n,
    }
}

/// IP bytes of a SYN or SYN-ACK: options for MSS, SACK, timestamps and scaling.
const SYN_SIZE: u32 = 60;

impl Segment {
    /// The packet that carries this segment. Data have their own codepoint, other segments have
    /// `others`.
    #[inline]
    #[must_use]
    pub fn into_packet(self, flow: FlowId, others: Ecn) -> Packet<Self> {
        let (size, ecn) = match &self.kind {
            Kind::Syn { .. } | Kind::SynAck { .. } => (SYN_SIZE, others),
            Kind::HandshakeAck { .. } | Kind::Challenge { .. } => (HEADER, others),
            Kind::Data(data) => (u32::from(data.count) * HEADER + u32::from(data.len), data.ecn),
            Kind::Ack(ack) => (ack_size(&ack.sack), others),
            Kind::Datagram(datagram) | Kind::Echo(datagram) => {
                (UDP_HEADER + u32::from(datagram.len), others)
            }
            Kind::Opaque(datagram) | Kind::OpaqueReply(datagram) => {
                (UDP_HEADER + u32::from(datagram.len), others)
            }
        };
        Packet { flow, size, ecn, body: self }
    }

    /// The data packets that it is: a super-packet is several, and none carries no payload.
    #[inline]
    #[must_use]
    pub fn data_packets(&self) -> u64 {
        match &self.kind {
            Kind::Data(data) => u64::from(data.count),
            Kind::Datagram(_) | Kind::Opaque(_) => 1,
            _ => 0,
        }
    }

    /// Whether it carries payload.
    #[inline]
    #[must_use]
    pub const fn is_data(&self) -> bool {
        // The usual kind first.
        matches!(self.kind, Kind::Data(_))
            || matches!(self.kind, Kind::Datagram(_) | Kind::Opaque(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_a_duplicate_is_no_received_block() {
        let mut sack = SackBlocks::from_iter([(1, 2), (5, 9)]);
        assert_eq!(sack.received_blocks(), [(1, 2), (5, 9)]);
        sack.dsack = true;
        assert_eq!(sack.received_blocks(), [(5, 9)]);
    }
}
