//! Packets, as a script writes them and as the two ends exchange them.

/// A packet. Sequence numbers are the script's or the wire's, depending on where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct IpPacket {
    /// Fields of the IP header.
    pub ip: IpInfo,
    /// The transport's part.
    pub payload: Payload,
}

/// The content of an IP packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// A TCP segment.
    Tcp(Tcp),
    /// A UDP datagram.
    Udp(Udp),
    /// An ICMP message.
    Icmp(Icmp),
}

/// Fields of the IP header that scripts write; what they don't write isn't checked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IpInfo {
    /// ECN field or type of service.
    pub ecn: EcnCheck,
    /// Time to live, or hop limit.
    pub ttl: Option<u8>,
    /// Flow label of IPv6.
    pub flow_label: Option<u32>,
}

/// The expectation about the type of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnCheck {
    /// None; packets to the end carry 0.
    #[default]
    Any,
    /// These two bits of ECN.
    Ecn(u8),
    /// Either ECT(0) or ECT(1).
    Ect01,
    /// The whole byte.
    Tos(u8),
}

impl EcnCheck {
    /// The byte that a packet to the end carries.
    #[must_use]
    pub fn tos(self) -> u8 {
        match self {
            Self::Any | Self::Ect01 => 0,
            Self::Ecn(bits) => bits,
            Self::Tos(byte) => byte,
        }
    }

    /// Returns `true` if the byte is as expected.
    #[must_use]
    pub fn accepts(self, tos: u8) -> bool {
        match self {
            Self::Any => true,
            Self::Ecn(bits) => tos & 3 == bits,
            Self::Ect01 => matches!(tos & 3, 1 | 2),
            Self::Tos(byte) => tos == byte,
        }
    }
}

/// The nine flags of a TCP header, as its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// FIN.
    pub const FIN: Self = Self(0x001);
    /// SYN.
    pub const SYN: Self = Self(0x002);
    /// RST.
    pub const RST: Self = Self(0x004);
    /// PSH.
    pub const PSH: Self = Self(0x008);
    /// ACK.
    pub const ACK: Self = Self(0x010);
    /// URG.
    pub const URG: Self = Self(0x020);
    /// ECE, the lowest bit of accurate ECN's counter.
    pub const ECE: Self = Self(0x040);
    /// CWR, its middle bit.
    pub const CWR: Self = Self(0x080);
    /// AE, its highest bit.
    pub const AE: Self = Self(0x100);

    const LETTERS: [(char, Self); 9] = [
        ('F', Self::FIN),
        ('S', Self::SYN),
        ('R', Self::RST),
        ('P', Self::PSH),
        ('.', Self::ACK),
        ('U', Self::URG),
        ('E', Self::ECE),
        ('W', Self::CWR),
        ('A', Self::AE),
    ];

    /// The flag of a letter.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
        Self::LETTERS.iter().find(|known| known.0 == letter).map(|known| known.1)
    }

    /// Both sets.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without another.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns `true` if all flags of `other` are set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// In the letters of scripts.
    #[must_use]
    pub fn letters(self) -> String {
        let set = Self::LETTERS.iter().filter(|known| self.has(known.1));
        let letters: String = set.map(|known| known.0).collect();
        if letters.is_empty() { "-".to_owned() } else { letters }
    }
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// Source port; 0: that of the connection.
    pub source: u16,
    /// Destination port; 0: that of the connection.
    pub destination: u16,
    /// The flags.
    pub flags: TcpFlags,
    /// First sequence number.
    pub seq: u32,
    /// Length of the payload in bytes.
    pub len: u32,
    /// Acknowledgement number, 0 without one.
    pub ack: u32,
    /// Window field, unscaled; `None` isn't checked.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: u16,
    /// The options in their order; `None` aren't checked.
    pub options: Option<Vec<TcpOption>>,
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// End of the list.
    Eol,
    /// Padding.
    Nop,
    /// Maximum segment size.
    Mss(u16),
    /// Shift of the window field.
    WindowScale(u8),
    /// SACK is permitted.
    SackOk,
    /// SACK blocks.
    Sack(Vec<SackBlock>),
    /// Timestamp and echo.
    Timestamp {
        /// The value.
        val: u32,
        /// The echoed value.
        ecr: u32,
    },
    /// A signature.
    Md5(Vec<u8>),
    /// A Fast Open cookie, or a request for one; `experimental`: in option 254.
    FastOpen {
        /// The cookie.
        cookie: Vec<u8>,
        /// With the experiment's number.
        experimental: bool,
    },
    /// Accurate ECN's byte counters in their order.
    AccEcn(Vec<(AccEcnCounter, u32)>),
    /// Any other, by kind and content.
    Other(u8, Vec<u8>),
}

/// A byte counter of accurate ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccEcnCounter {
    /// Bytes that arrived with ECT(0).
    E0,
    /// Bytes that arrived with ECT(1).
    E1,
    /// Bytes that arrived with CE.
    Ce,
}

/// A range of bytes that arrived out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte.
    pub left: u32,
    /// Behind the last byte.
    pub right: u32,
}

/// A UDP datagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Udp {
    /// Source port; 0: that of the connection.
    pub source: u16,
    /// Destination port; 0: that of the connection.
    pub destination: u16,
    /// Length of the payload in bytes.
    pub len: u16,
}

/// An ICMP message about a packet of the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Icmp {
    /// The type's name, such as "unreachable", or "type_3".
    pub kind: String,
    /// The code's name, such as "frag_needed", or "code_4".
    pub code: Option<String>,
    /// MTU of the next hop.
    pub mtu: Option<u32>,
    /// The packet that it quotes.
    pub quote: IcmpQuote,
}

/// The packet that an ICMP message quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpQuote {
    /// A TCP segment with this sequence number.
    Tcp(u32),
    /// A UDP datagram.
    Udp,
    /// None: this many bytes of padding.
    Raw(u16),
}
