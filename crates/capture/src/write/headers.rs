//! IP, TCP and UDP headers with their checksums.

use narrows_base::Ecn;
use narrows_tcp::{AccEcnOption, OptionOrder};

use super::addresses::Address;

/// The longest IP header with the longest TCP header.
pub const MAX_HEADERS: usize = 40 + 60;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
/// Equal at every point, since the path has no router.
const TIME_TO_LIVE: u8 = 64;
const DONT_FRAGMENT: u16 = 0x4000;

/// TCP's flags (RFC 9293 section 3.1).
pub mod flags {
    pub const FIN: u16 = 1;
    pub const SYN: u16 = 2;
    pub const PSH: u16 = 8;
    pub const ACK: u16 = 16;
    pub const ECE: u16 = 64;
    pub const CWR: u16 = 128;
    /// The flag of accurate ECN (RFC 9768 section 3).
    pub const AE: u16 = 256;
}

/// A TCP packet, or a datagram, of which only ends, marks and payload count. Its payload is zeros
/// unless its bytes are given.
#[derive(Clone, Debug)]
pub struct WirePacket {
    pub is_datagram: bool,
    pub source: (Address, u16),
    pub destination: (Address, u16),
    pub ecn: Ecn,
    pub seq: u32,
    pub ack: u32,
    pub flags: u16,
    /// The scaled field of the header.
    pub window: u16,
    pub options: TcpOptions,
    /// Bytes of payload.
    pub payload: u16,
}

/// TCP options, at most 40 bytes.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    bytes: [u8; 40],
    len: usize,
}

impl TcpOptions {
    /// The options of Linux in a SYN: MSS, SACK permitted, timestamps, window scale
    /// (`tcp_options_write`), and in an answer the option of accurate ECN.
    pub fn of_syn(
        mss: u16,
        (ts, ts_echo): (u32, u32),
        accurate: Option<AccEcnOption>,
        scale: u8,
    ) -> Self {
        let mut options = Self::empty();
        options.put(&[2, 4]);
        options.put(&mss.to_be_bytes());
        options.put(&[4, 2, 8, 10]);
        options.stamps(ts, ts_echo);
        options.accurate(accurate);
        options.align(4);
        options.put(&[1, 3, 3, scale]);
        options
    }

    /// Timestamps, the option of accurate ECN, and SACK blocks.
    pub fn of_segment(
        ts: u32,
        ts_echo: u32,
        accurate: Option<AccEcnOption>,
        blocks: &[(u32, u32)],
    ) -> Self {
        let mut options = Self::empty();
        options.put(&[1, 1, 8, 10]);
        options.stamps(ts, ts_echo);
        options.accurate(accurate);
        if blocks.is_empty() {
            options.align(4);
        } else {
            let len = u8::try_from(2 + 8 * blocks.len()).expect("three blocks fit");
            // Blocks end with a word, so their option begins in the middle of one.
            options.align(2);
            if options.len.is_multiple_of(4) {
                options.put(&[1, 1]);
            }
            options.put(&[5, len]);
            for (start, end) in blocks {
                options.put(&start.to_be_bytes());
                options.put(&end.to_be_bytes());
            }
        }
        options
    }

    fn empty() -> Self {
        Self { bytes: [0; 40], len: 0 }
    }

    fn stamps(&mut self, ts: u32, ts_echo: u32) {
        self.put(&ts.to_be_bytes());
        self.put(&ts_echo.to_be_bytes());
    }

    /// The option of accurate ECN: kind, length, and counters of three bytes.
    fn accurate(&mut self, option: Option<AccEcnOption>) {
        let Some(option) = option else { return };
        let kind = match option.order {
            OptionOrder::Ect0First => 172,
            OptionOrder::Ect1First => 174,
        };
        let counters = option.counters();
        self.put(&[kind, u8::try_from(2 + 3 * counters.len()).expect("three counters at most")]);
        for counter in counters {
            self.put(&counter.to_be_bytes()[1..]);
        }
    }

    /// Fills a part of a word.
    fn align(&mut self, bytes: usize) {
        while !self.len.is_multiple_of(bytes) {
            self.put(&[1]);
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl WirePacket {
    /// Bytes on the wire, with the IP header.
    pub fn len(&self) -> usize {
        let ip = if matches!(self.source.0, Address::V4(_)) { 20 } else { 40 };
        ip + self.segment_len()
    }

    fn segment_len(&self) -> usize {
        if self.is_datagram {
            return 8 + usize::from(self.payload);
        }
        20 + self.options.len + usize::from(self.payload)
    }

    const fn protocol(&self) -> u8 {
        if self.is_datagram { PROTOCOL_UDP } else { PROTOCOL_TCP }
    }

    /// Writes the headers, and the payload's bytes if there are `bytes`, in place of what `out` holds.
    pub fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let sum = match (self.source.0, self.destination.0) {
            (Address::V4(source), Address::V4(destination)) => {
                self.ipv4(&source, &destination, out);
                self.pseudo_header(&source, &destination)
            }
            (Address::V6(source), Address::V6(destination)) => {
                self.ipv6(&source, &destination, out);
                self.pseudo_header(&source, &destination)
            }
            _ => unreachable!("both ends have addresses of one version"),
        };
        if self.is_datagram {
            self.udp(sum, bytes, out);
        } else {
            self.tcp(sum, out);
        }
    }

    fn ipv4(&self, source: &[u8; 4], destination: &[u8; 4], out: &mut Vec<u8>) {
        let length = u16::try_from(self.len()).expect("packets are at most 64 KiB");
        out.extend_from_slice(&[0x45, self.ecn.bits()]);
        out.extend_from_slice(&length.to_be_bytes());
        // The identification of a packet that is never fragmented is meaningless (RFC 6864).
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&DONT_FRAGMENT.to_be_bytes());
        out.extend_from_slice(&[TIME_TO_LIVE, self.protocol(), 0, 0]);
        out.extend_from_slice(source);
        out.extend_from_slice(destination);
        let checksum = !fold(sum(&out[..20]));
        out[10..12].copy_from_slice(&checksum.to_be_bytes());
    }

    fn ipv6(&self, source: &[u8; 16], destination: &[u8; 16], out: &mut Vec<u8>) {
        let length = u16::try_from(self.segment_len()).expect("packets are at most 64 KiB");
        out.extend_from_slice(&(6 << 28 | u32::from(self.ecn.bits()) << 20).to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&[self.protocol(), TIME_TO_LIVE]);
        out.extend_from_slice(source);
        out.extend_from_slice(destination);
    }

    /// Sum of the pseudo-header of a checksum (RFC 768, RFC 9293 section 3.1, RFC 8200 section 8.1; the
    /// halves of a 32-bit length add up to the same).
    fn pseudo_header(&self, source: &[u8], destination: &[u8]) -> u64 {
        sum(source) + sum(destination) + u64::from(self.protocol()) + self.segment_len() as u64
    }

    /// A checksum of zero is sent as ones (RFC 768).
    fn udp(&self, pseudo: u64, bytes: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let length = u16::try_from(self.segment_len()).expect("packets are at most 64 KiB");
        out.extend_from_slice(&self.source.1.to_be_bytes());
        out.extend_from_slice(&self.destination.1.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(bytes);
        let checksum = match !fold(pseudo + sum(&out[start..])) {
            0 => u16::MAX,
            sum => sum,
        };
        out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
    }

    /// A payload of zeros adds nothing to the checksum.
    fn tcp(&self, pseudo: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.source.1.to_be_bytes());
        out.extend_from_slice(&self.destination.1.to_be_bytes());
        out.extend_from_slice(&self.seq.to_be_bytes());
        out.extend_from_slice(&self.ack.to_be_bytes());
        let words = u8::try_from(5 + self.options.len / 4).expect("at most 15 words");
        let word = u16::from(words) << 12 | self.flags;
        out.extend_from_slice(&word.to_be_bytes());
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(self.options.as_slice());
        let checksum = !fold(pseudo + sum(&out[start..]));
        out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Sum of big-endian 16-bit words.
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(2);
    // An odd byte at the end is the upper half of a word.
    words.map(|word| u64::from(u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]))).sum()
}

/// One's-complement sum in 16 bits (RFC 1071).
#[expect(clippy::cast_possible_truncation, reason = "nothing is left above 16 bits")]
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071 section 3.
    #[test]
    fn the_internet_checksum() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    }

    #[test]
    fn the_option_of_accurate_ecn_uses_padding_of_sack_blocks() {
        let option = |fields| AccEcnOption::new(OptionOrder::Ect1First, &[1, 2, 3][..fields]);
        let bytes = |fields, blocks: &[(u32, u32)]| {
            TcpOptions::of_segment(0, 0, Some(option(fields)), blocks).as_slice()[12..].to_vec()
        };
        assert_eq!(bytes(3, &[]), [174, 11, 0, 0, 1, 0, 0, 2, 0, 0, 3, 1]);
        assert_eq!(bytes(2, &[(6, 7)])[..12], [174, 8, 0, 0, 1, 0, 0, 2, 1, 1, 5, 10]);
        assert_eq!(bytes(1, &[(6, 7)])[..8], [174, 5, 0, 0, 1, 1, 5, 10]);
        assert_eq!(bytes(0, &[(6, 7)])[..4], [174, 2, 5, 10]);
        let answer = TcpOptions::of_syn(1460, (1, 2), Some(option(3)), 7);
        assert_eq!((answer.len, &answer.as_slice()[16..18]), (32, &[174, 11][..]));
    }

    #[test]
    fn a_header_of_an_own_hand() {
        let packet = WirePacket {
            is_datagram: false,
            source: (Address::V4([10, 0, 0, 1]), 10_000),
            destination: (Address::V4([10, 128, 0, 1]), 5_001),
            ecn: Ecn::Ce,
            seq: 1,
            ack: 2,
            flags: flags::ACK | flags::AE,
            window: 3,
            options: TcpOptions::of_segment(4, 5, None, &[(6, 7)]),
            payload: 8,
        };
        let mut bytes = Vec::new();
        packet.encode(&[], &mut bytes);
        assert_eq!(bytes[..10], [0x45, 3, 0, 72, 0, 0, 0x40, 0, 64, 6]);
        assert_eq!(fold(sum(&bytes[..20])), 0xffff);
        assert_eq!(bytes[32..36], [0xb1, 0x10, 0, 3]);
        assert_eq!(bytes[52..], [1, 1, 5, 10, 0, 0, 0, 6, 0, 0, 0, 7]);
        assert_eq!((bytes.len(), packet.len()), (64, 72));
        let mut datagram = Vec::new();
        let packet = WirePacket { is_datagram: true, ..packet };
        packet.encode(&[], &mut datagram);
        assert_eq!((datagram.len(), packet.len()), (28, 36));
        assert_eq!((datagram[9], &datagram[20..26]), (17, &[39, 16, 19, 137, 0, 16][..]));
        let pseudo = sum(&datagram[12..20]) + 17 + 16;
        assert_eq!(fold(pseudo + sum(&datagram[20..])), 0xffff, "the checksum adds up to ones");
        packet.encode(&[1, 2, 3, 4, 5, 6, 7], &mut datagram);
        assert_eq!((datagram.len(), &datagram[28..]), (35, &[1, 2, 3, 4, 5, 6, 7][..]));
        assert_eq!(fold(pseudo + sum(&datagram[20..])), 0xffff, "so it does with an odd payload");
    }
}
