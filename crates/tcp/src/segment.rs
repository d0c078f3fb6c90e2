//! Segments between sender and receiver.

use narrows_base::{Ecn, FlowId, Packet, Time};

use crate::accecn::{AccEcnOption, Ace, OptionOrder};

/// Payload bytes of a full packet: MTU 1500 minus IP, TCP and timestamps.
pub const MSS: u32 = 1448;
/// Payload bytes of a full packet without timestamps, as a SYN announces them.
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
        /// The ECN that it asks for.
        ace: Ace,
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
        /// The ECN that it accepts.
        ace: Ace,
        /// The option of accurate ECN.
        option: Option<AccEcnOption>,
    },
    /// The handshake's third packet.
    HandshakeAck {
        /// TSval in ms.
        ts: u32,
        /// TSecr in ms, that of the answer.
        ts_echo: u32,
        /// With accurate ECN, the codepoint with which the answer arrived.
        ace: Ace,
        /// The option of accurate ECN.
        option: Option<AccEcnOption>,
    },
    /// The answer to a repeated SYN-ACK (RFC 5961 section 4).
    Challenge {
        /// The next new packet (`snd_nxt`).
        seq: Seq,
        /// TSval in ms.
        ts: u32,
        /// TSecr in ms: the receiver's newest timestamp.
        ts_echo: u32,
        /// With accurate ECN, the codepoint with which the answer arrived.
        ace: Ace,
    },
    /// A probe of a receive window that is closed: an ACK whose number the receiver has seen.
    WindowProbe {
        /// The next new packet (`snd_nxt`), before which the probe is.
        seq: Seq,
        /// TSval in ms.
        ts: u32,
        /// TSecr in ms: the receiver's newest timestamp.
        ts_echo: u32,
        /// The count of marked ACKs, with accurate ECN.
        ace: Ace,
    },
    /// Payload.
    Data(Data),
    /// A pure acknowledgement.
    Ack(Ack),
    /// A datagram, which no TCP takes.
    Datagram(Datagram),
    /// A datagram on its way back (as the echo protocol of RFC 862 sends it).
    Echo(Datagram),
    /// A datagram of another transport stack, from the end that sends data.
    Opaque(Opaque),
    /// A datagram of another transport stack, from the end that receives data.
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
    /// True if it was sent before.
    pub retransmission: bool,
    /// TSval in ms.
    pub ts: u32,
    /// TSecr in ms: the receiver's newest timestamp.
    pub ts_echo: u32,
    /// CWR: the sender has reduced its window (RFC 3168).
    pub cwr: bool,
    /// The count of marked ACKs, with accurate ECN.
    pub ace: Ace,
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
    /// SACK blocks, and the option of accurate ECN in the place of those that are missing.
    pub sack: SackBlocks,
    /// ECN echo (RFC 3168).
    pub ece: bool,
    /// The count of marked packets, with accurate ECN.
    pub ace: Ace,
}

/// Up to three SACK blocks, which fit beside timestamps, newest first (RFC 2018).
///
/// An option of accurate ECN takes the place of missing blocks, as in a header: beside two blocks it has
/// room for two counters, beside one for three. So packets are no larger with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 3],
    len: u8,
    /// True if the first block reports a duplicate (RFC 2883).
    pub dsack: bool,
    /// 0 without an option, otherwise one more than its counters, and [`ECT0_FIRST`].
    option: u8,
}

/// Added to the number of counters in [`SackBlocks`] if the one of ECT(0) is the first.
const ECT0_FIRST: u8 = 8;

impl SackBlocks {
    /// Most blocks that fit.
    pub const MAX: usize = 3;

    /// The first of `len` blocks; those beyond are zero.
    pub(crate) fn newest(blocks: [(Seq, Seq); 4], len: usize) -> Self {
        let [first, second, third, _] = blocks;
        let len = u8::try_from(len.min(Self::MAX)).expect("three at most");
        Self { blocks: [first, second, third], len, ..Self::default() }
    }

    /// Adds the option of accurate ECN; false if there is no room for it.
    #[must_use]
    pub fn add_option(&mut self, option: &AccEcnOption) -> bool {
        let counters = option.counters();
        let first = Self::MAX - counters.len().div_ceil(2);
        if first < usize::from(self.len) {
            return false;
        }
        for (block, pair) in self.blocks[first..].iter_mut().zip(counters.chunks(2)) {
            *block = (pair[0], pair.get(1).copied().unwrap_or(0));
        }
        let fields = u8::try_from(counters.len()).expect("three counters at most");
        self.option = 1
            + fields
            + match option.order {
                OptionOrder::Ect0First => ECT0_FIRST,
                OptionOrder::Ect1First => 0,
            };
        true
    }

    /// The option of accurate ECN.
    #[must_use]
    pub fn option(&self) -> Option<AccEcnOption> {
        if self.option == 0 {
            return None;
        }
        let is_ect0_first = self.option > ECT0_FIRST;
        let order = if is_ect0_first { OptionOrder::Ect0First } else { OptionOrder::Ect1First };
        let fields = usize::from(self.fields());
        let pairs = &self.blocks[Self::MAX - fields.div_ceil(2)..];
        let counters = pairs.iter().flat_map(|&(one, other)| [one, other]);
        let mut found = [0; 4];
        found.iter_mut().zip(counters).for_each(|(place, counter)| *place = counter);
        Some(AccEcnOption::new(order, &found[..fields]))
    }

    /// The blocks alone.
    #[inline]
    #[must_use]
    pub(crate) fn without_option(mut self) -> Self {
        if self.option != 0 {
            self.option = 0;
            self.truncate(usize::from(self.len));
        }
        self
    }

    /// The first `blocks` blocks alone.
    pub(crate) fn truncate(&mut self, blocks: usize) {
        self.len = self.len.min(u8::try_from(blocks).expect("three at most"));
        self.blocks[usize::from(self.len)..].fill((0, 0));
    }

    /// Bytes of SACK blocks and option in a header.
    #[inline]
    fn header_bytes(&self) -> u32 {
        let sacks = if self.len == 0 { 0 } else { 4 + 8 * u32::from(self.len) };
        if self.option == 0 { sacks } else { sacks + self.option_bytes() }
    }

    /// The counters of its option.
    fn fields(&self) -> u8 {
        (self.option - 1) % ECT0_FIRST
    }

    #[cold]
    fn option_bytes(&self) -> u32 {
        let option = AccEcnOption::len(self.fields(), usize::from(self.len));
        u32::try_from(option).expect("twelve bytes at most")
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

    /// Returns `true` if there are no blocks.
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

/// IP bytes of an ACK: 52, 4 + 8n with n SACK blocks, and the option of accurate ECN.
#[must_use]
pub fn ack_size(sack: &SackBlocks) -> u32 {
    HEADER + sack.header_bytes()
}

/// IP bytes of a SYN or SYN-ACK: options for MSS, SACK, timestamps and scaling.
const SYN_SIZE: u32 = 60;
/// Bytes of accurate ECN's option with all counters.
const FULL_OPTION: u32 = 12;

impl Segment {
    /// The packet that carries this segment. Data have their own codepoint, other segments have
    /// `others`.
    #[inline]
    #[must_use]
    pub fn into_packet(self, flow: FlowId, others: Ecn) -> Packet<Self> {
        let (size, ecn) = match &self.kind {
            Kind::Syn { .. } | Kind::SynAck { option: None, .. } => (SYN_SIZE, others),
            Kind::SynAck { .. } => (SYN_SIZE + FULL_OPTION, others),
            Kind::HandshakeAck { option: Some(_), .. } => (HEADER + FULL_OPTION, others),
            Kind::HandshakeAck { .. } | Kind::Challenge { .. } | Kind::WindowProbe { .. } => {
                (HEADER, others)
            }
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
        // The usual kind first.
        if let Kind::Data(data) = &self.kind {
            return u64::from(data.count);
        }
        u64::from(matches!(self.kind, Kind::Datagram(_) | Kind::Opaque(_)))
    }

    /// Returns `true` if the segment carries payload.
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
    fn a_packet_still_fits_a_cache_line() {
        assert!(size_of::<Packet<Segment>>() <= 64);
    }

    #[test]
    fn an_option_takes_the_place_of_missing_blocks() {
        let option = |fields| AccEcnOption::new(OptionOrder::Ect1First, &[7, 8, 9][..fields]);
        let sizes = |blocks: &[(Seq, Seq)], fields| {
            let mut sack: SackBlocks = blocks.iter().copied().collect();
            assert!(sack.add_option(&option(fields)));
            assert_eq!((sack.as_slice(), sack.option()), (blocks, Some(option(fields))));
            assert_eq!(sack.without_option(), blocks.iter().copied().collect());
            ack_size(&sack)
        };
        assert_eq!(sizes(&[], 3), 52 + 12);
        assert_eq!(sizes(&[(1, 2)], 3), 52 + 12 + 12);
        assert_eq!(sizes(&[(5, 6), (1, 2)], 2), 52 + 20 + 8);
        assert_eq!(sizes(&[(9, 10), (5, 6), (1, 2)], 0), 52 + 28);
        let mut full = SackBlocks::from_iter([(9, 10), (5, 6), (1, 2)]);
        assert!(!full.add_option(&option(1)));
    }

    #[test]
    fn a_report_of_a_duplicate_is_no_received_block() {
        let mut sack = SackBlocks::from_iter([(1, 2), (5, 9)]);
        assert_eq!(sack.received_blocks(), [(1, 2), (5, 9)]);
        sack.dsack = true;
        assert_eq!(sack.received_blocks(), [(5, 9)]);
    }
}
