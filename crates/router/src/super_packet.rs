//! Packets of up to 64 KiB that hosts with segmentation offload hand over in one piece, and the
//! header that TUN devices and packet sockets then put before each packet (`struct
//! virtio_net_hdr`).

use crate::frame::{is_tcp, tcp_header_len};

/// Bytes of the header before a packet.
pub(crate) const HEADER: usize = 10;
/// IP bytes of a full packet.
const FULL_PACKET: usize = 1500;
/// The offset of the checksum in a TCP header.
const CHECKSUM: usize = 16;
const NEEDS_CHECKSUM: u8 = 1;
const TCP_IPV4: u8 = 1;

/// The lengths of the IPv4 and the TCP header; `None` for other packets.
fn headers(packet: &[u8]) -> Option<(usize, usize)> {
    let ip = usize::from(packet.first()? & 15) * 4;
    is_tcp(packet).then_some((ip, tcp_header_len(packet)?))
}

/// The header for a packet, behind a link-layer header of `link` bytes.
///
/// Hosts with offloads leave checksums to their devices, so the header tells the receiver not to
/// check them. It also gives the size of a super-packet's segments, which are full packets.
pub(crate) fn header(packet: &[u8], link: usize) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    let Some((ip, tcp)) = headers(packet) else { return out };
    let field = |value: usize| u16::try_from(value).unwrap_or(u16::MAX).to_ne_bytes();
    out[0] = NEEDS_CHECKSUM;
    if packet.len() > FULL_PACKET {
        out[1] = TCP_IPV4;
        out[2..4].copy_from_slice(&field(link + ip + tcp));
        out[4..6].copy_from_slice(&field(FULL_PACKET - ip - tcp));
    }
    out[6..8].copy_from_slice(&field(link + ip));
    out[8..10].copy_from_slice(&field(CHECKSUM));
    out
}

/// The bytes of a packet on a link: a super-packet has the headers of all its segments
/// (`qdisc_pkt_len_init`).
pub(crate) fn size_on_link(packet: &[u8]) -> usize {
    let length = packet.len();
    match headers(packet) {
        Some((ip, tcp)) if length > FULL_PACKET => {
            let headers = ip + tcp;
            let segments = (length - headers).div_ceil(FULL_PACKET - headers);
            length + (segments - 1) * headers
        }
        _ => length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IP and TCP headers with timestamps, 52 bytes, and payload.
    fn tcp(payload: usize) -> Vec<u8> {
        let mut packet = vec![0; 52 + payload];
        (packet[0], packet[9], packet[32]) = (0x45, 6, 0x80);
        packet
    }

    #[test]
    fn a_super_packet_is_as_long_as_its_segments() {
        let sizes = [0, 1448, 1449, 2 * 1448, 44 * 1448].map(|payload| size_on_link(&tcp(payload)));
        assert_eq!(sizes, [52, 1500, 1500 + 53, 3000, 44 * 1500]);
        assert_eq!(size_on_link(&[0x45; 3000]), 3000, "other protocols have no segments");
    }

    #[test]
    fn the_header_gives_the_segment_size() {
        let fields = |header: [u8; HEADER]| {
            let field = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
            (header[0], header[1], [2, 4, 6, 8].map(field))
        };
        assert_eq!(fields(header(&tcp(2896), 0)), (1, 1, [52, 1448, 20, 16]));
        assert_eq!(fields(header(&tcp(2896), 14)), (1, 1, [66, 1448, 34, 16]));
        assert_eq!(fields(header(&tcp(100), 0)), (1, 0, [0, 0, 20, 16]));
        assert_eq!(header(&[0x45; 40], 0), [0; HEADER]);
    }
}
