//! A packet: a header that the network may read around a body that it may not.

use crate::quantity::Bytes;

/// The flow of a packet, as an index into the run's list of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The flow's place in the run's list of flows.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The two ECN bits of the IP header (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport can't read marks.
    #[default]
    NotEct = 0,
    /// ECN-capable, scalable control (L4S).
    Ect1 = 1,
    /// ECN-capable, classic control.
    Ect0 = 2,
    /// Congestion experienced: a queue marked the packet.
    Ce = 3,
}

impl Ecn {
    /// The two bits as they are in a header.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Decodes the two lowest bits of a byte.
    #[must_use]
    pub const fn from_bits(byte: u8) -> Self {
        match byte & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns `true` if a queue may mark this packet instead of dropping it.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// A packet with a visible header and an opaque body.
///
/// Queues and links are written for every `B`, so none can look inside: the
/// simulator carries TCP segments, the router carries frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<B> {
    /// The flow that sent it or whose acknowledgement it is.
    pub flow: FlowId,
    /// Length in bytes with the IP header, without link-layer framing.
    pub size: u32,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// The body, which only the end points understand.
    pub body: B,
}

impl<B> Packet<B> {
    /// Length with the IP header.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecn_has_the_bits_of_rfc_3168() {
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(all.map(Ecn::bits), [0b00, 0b01, 0b10, 0b11]);
        assert_eq!(all.map(|ecn| Ecn::from_bits(0b1011_1000 | ecn.bits())), all);
    }
}
