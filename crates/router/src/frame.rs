//! IP packets from a TUN device.

use std::ops::{Deref, DerefMut};

use narrows_base::{Ecn, Packet, Time};

/// The bytes of an IP packet, and when it entered the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwardedPacket {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sent: Time,
}

impl From<Vec<u8>> for ForwardedPacket {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, sent: Time::ZERO }
    }
}

impl Deref for ForwardedPacket {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for ForwardedPacket {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Bytes of a UDP header (RFC 768).
const UDP_HEADER: usize = 8;

/// Returns `true` if an IPv4 packet carries payload of TCP or UDP.
pub(crate) fn has_data(frame: &[u8]) -> bool {
    payload(frame) > 0
}

/// Payload bytes of an IPv4 packet with TCP or UDP (RFC 791, RFC 9293, RFC 768).
pub(crate) fn payload(frame: &[u8]) -> usize {
    let headers = || match frame.get(9) {
        Some(&TCP) if is_tcp(frame) => Some(ip_header_len(frame)? + tcp_header_len(frame)?),
        Some(&UDP) if frame[0] >> 4 == 4 => Some(ip_header_len(frame)? + UDP_HEADER),
        _ => None,
    };
    headers().map_or(0, |headers| frame.len().saturating_sub(headers))
}

/// Returns `true` if a packet is a pure acknowledgement.
pub(crate) fn is_ack(packet: &Packet<ForwardedPacket>) -> bool {
    const ACK_PSH_ECE: [u8; 4] = [0x10, 0x18, 0x50, 0x58];
    let flags = tcp_header(&packet.body).and_then(|tcp| tcp.get(13));
    flags.is_some_and(|flags| ACK_PSH_ECE.contains(flags)) && !has_data(&packet.body)
}

/// Returns `true` if the newer acknowledgement contains all the information of the older one: it
/// belongs to the same connection, acknowledges no less, and the older one has neither SACK blocks
/// (its header is as short as with timestamps alone) nor an echo that the newer one lacks.
pub(crate) fn supersedes(
    older: &Packet<ForwardedPacket>,
    newer: &mut Packet<ForwardedPacket>,
) -> bool {
    const PLAIN: usize = 32;
    let (Some(old), Some(new)) = (tcp_header(&older.body), tcp_header(&newer.body)) else {
        return false;
    };
    let ack = |tcp: &[u8]| Some(u32::from_be_bytes(tcp.get(8..12)?.try_into().ok()?));
    let (Some(before), Some(after)) = (ack(old), ack(new)) else { return false };
    let plain = usize::from(old[12] >> 4) * 4 <= PLAIN;
    let echo = old[13] & 0x40 == new[13] & 0x40;
    old[..4] == new[..4] && after.wrapping_sub(before) < 1 << 31 && plain && echo
}

/// The packet from its TCP header on.
fn tcp_header(frame: &[u8]) -> Option<&[u8]> {
    frame.get(ip_header_len(frame)?..).filter(|tcp| is_tcp(frame) && tcp.len() >= 20)
}

pub(crate) fn is_tcp(frame: &[u8]) -> bool {
    frame.first().is_some_and(|b| b >> 4 == 4) && frame.get(9) == Some(&TCP)
}

/// Bytes of the TCP header of an IPv4 packet.
pub(crate) fn tcp_header_len(frame: &[u8]) -> Option<usize> {
    Some(usize::from(frame.get(ip_header_len(frame)? + 12)? >> 4) * 4)
}

fn ip_header_len(frame: &[u8]) -> Option<usize> {
    Some(usize::from(frame.first()? & 15) * 4)
}

/// The TCP ports of an IPv4 packet (source, destination).
pub(crate) fn tcp_ports(frame: &[u8]) -> Option<(u16, u16)> {
    let tcp = frame.get(ip_header_len(frame)?..).filter(|_| is_tcp(frame))?;
    let port = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
    Some((port(0)?, port(2)?))
}

/// The two lowest bits of the traffic class (RFC 3168 section 5).
pub(crate) fn ecn(frame: &[u8]) -> Ecn {
    Ecn::from_bits(frame.get(1).copied().unwrap_or(0))
}

/// Writes "congestion experienced" into an IPv4 header and updates its checksum (RFC 3168 section
/// 5, RFC 1624 equation 3).
pub(crate) fn mark(frame: &mut [u8]) {
    let [first, traffic_class, ..] = frame else { return };
    if *first >> 4 != 4 || *traffic_class & 3 == 3 {
        return;
    }
    let (old, new) = (*traffic_class, *traffic_class | 3);
    *traffic_class = new;
    let Some(&[high, low]) = frame.get(10..12) else { return };
    let sum =
        u32::from(!u16::from_be_bytes([high, low])) + u32::from(!u16::from(old)) + u32::from(new);
    let sum = (sum & 0xffff) + (sum >> 16);
    let folded = (sum & 0xffff) + (sum >> 16);
    #[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
    let checksum = !(folded as u16);
    frame[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
mod tests {
    use narrows_base::FlowId;

    use super::*;

    fn tcp(destination: u16, payload: usize) -> Vec<u8> {
        let mut frame = vec![0; 40 + payload];
        frame[0] = 0x45;
        frame[1] = 2;
        frame[9] = TCP;
        frame[22..24].copy_from_slice(&destination.to_be_bytes());
        frame[32] = 0x50;
        frame
    }

    #[test]
    fn only_payload_is_data() {
        assert!(has_data(&tcp(1, 1)));
        assert!(!has_data(&tcp(1, 0)));
        let mut datagram = tcp(1, 5);
        datagram[9] = UDP;
        assert_eq!(payload(&datagram), 17);
        datagram[9] = 1;
        assert_eq!(payload(&datagram), 0, "ICMP");
        assert!(!has_data(&[]));
    }

    /// The sum over a header with a correct checksum is all ones (RFC 791).
    fn sum(frame: &[u8]) -> u32 {
        let words = frame[..20].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        let sum: u32 = words.sum();
        (sum & 0xffff) + (sum >> 16)
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for id in 0..=u16::MAX {
            let mut frame = tcp(5000, 4);
            frame[4..6].copy_from_slice(&id.to_be_bytes());
            let checksum = !(sum(&frame) as u16);
            frame[10..12].copy_from_slice(&checksum.to_be_bytes());
            mark(&mut frame);
            assert_eq!((ecn(&frame), sum(&frame)), (Ecn::Ce, 0xffff), "id {id}");
        }
    }

    #[test]
    fn frames_without_a_header_stay_unchanged() {
        for frame in [&[][..], &[0x45][..], &[0x60, 0][..], &[0x45, 3, 0][..]] {
            let mut marked = frame.to_vec();
            mark(&mut marked);
            assert_eq!(marked, frame);
        }
    }

    fn packet(body: Vec<u8>) -> Packet<ForwardedPacket> {
        Packet { flow: FlowId(0), size: 1500, ecn: ecn(&body), body: body.into() }
    }

    fn ack(number: u32, header: u8, flags: u8) -> Packet<ForwardedPacket> {
        let mut frame = tcp(5000, 0);
        frame[28..32].copy_from_slice(&number.to_be_bytes());
        frame[32] = header << 4;
        frame[33] = flags;
        frame.resize(20 + usize::from(header) * 4, 0);
        packet(frame)
    }

    #[test]
    fn an_acknowledgement_may_stand_for_an_older_one() {
        let says = |old: &Packet<ForwardedPacket>, mut new: Packet<ForwardedPacket>| {
            supersedes(old, &mut new)
        };
        let plain = ack(10, 8, 0x10);
        assert!(is_ack(&plain));
        assert!(says(&plain, ack(11, 11, 0x10)));
        assert!(says(&ack(u32::MAX, 8, 0x10), ack(3, 8, 0x10)));
        assert!(!says(&plain, ack(9, 8, 0x10)));
        assert!(!says(&ack(10, 11, 0x10), ack(11, 8, 0x10)), "SACK blocks");
        assert!(!says(&ack(10, 8, 0x50), ack(11, 8, 0x10)), "an echo");
        for flags in [0x11, 0x12, 0x14] {
            assert!(!is_ack(&ack(10, 8, flags)));
        }
        assert!(!is_ack(&packet(tcp(5000, 5))));
    }
}
