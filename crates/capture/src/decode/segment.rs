//! A TCP segment as described by its headers, and the reasons why a frame isn't one.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The most SACK blocks that fit into the options.
pub const MOST_SACKS: usize = 4;

/// The flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The sender has no more data.
    pub const FIN: Self = Self(1);
    /// Sequence numbers begin.
    pub const SYN: Self = Self(2);
    /// The connection is reset.
    pub const RST: Self = Self(4);
    /// The end of a write.
    pub const PSH: Self = Self(8);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(16);
    /// The receiver saw a mark of congestion.
    pub const ECE: Self = Self(64);

    /// Returns true if any of the `others` is set.
    #[inline]
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Both.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

/// An address of either family and a port; IPv4 as `::ffff:a.b.c.d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The address.
    pub address: u128,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Returns whether its address is one of IPv4.
    #[must_use]
    pub fn is_ipv4(self) -> bool {
        Ipv6Addr::from(self.address).to_ipv4_mapped().is_some()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv6Addr::from(self.address);
        match address.to_ipv4_mapped() {
            Some(address) => write!(f, "{address}:{}", self.port),
            None => write!(f, "[{address}]:{}", self.port),
        }
    }
}

/// An IPv4 address as IPv6 holds it.
pub(super) fn map_to_ipv6(address: [u8; 4]) -> u128 {
    Ipv4Addr::from(address).to_ipv6_mapped().into()
}

/// One TCP segment as described by its headers; sequence numbers as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturedSegment {
    /// Nanoseconds since 1970.
    pub time: u64,
    /// Who sent it.
    pub source: Endpoint,
    /// To whom.
    pub destination: Endpoint,
    /// Number of its first byte.
    pub seq: u32,
    /// The next byte that its sender expects, if [`Flags::ACK`] is set.
    pub ack: u32,
    /// The flags.
    pub flags: Flags,
    /// The window as written, not scaled.
    pub window: u16,
    /// Bytes of payload on the wire.
    pub payload: u32,
    /// Bytes of the IP packet on the wire; for an offloaded one, as given to the card.
    pub size: u32,
    /// Bytes of its IP and TCP headers.
    pub headers: u16,
    /// Identification of the IPv4 packet, zero for IPv6.
    pub id: u16,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
    /// Timestamp and its echo.
    pub timestamps: Option<(u32, u32)>,
    /// Maximum segment size that the sender of a SYN accepts.
    pub mss: Option<u16>,
    /// Scale of its later windows, in a SYN.
    pub scale: Option<u8>,
    /// True if it allows SACK, in a SYN.
    pub sack_permitted: bool,
    /// SACK blocks as written.
    pub sacks: [(u32, u32); MOST_SACKS],
    /// The number of SACK blocks.
    pub sack_count: u8,
    /// True if it is the first of the fragments of its packet.
    pub fragmented: bool,
    /// True if some of its options were cut off by the snap length.
    pub options_cut: bool,
}

impl CapturedSegment {
    /// The SACK blocks.
    #[must_use]
    pub fn sacks(&self) -> &[(u32, u32)] {
        &self.sacks[..usize::from(self.sack_count)]
    }
}

/// Why a frame isn't a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// IP that carries something else.
    NotTcp,
    /// A fragment without the TCP header.
    Fragment,
    /// The frame was cut off before the TCP header.
    Cut,
    /// Contradictory headers.
    Malformed,
    /// An unknown kind of link.
    UnknownLink,
}
