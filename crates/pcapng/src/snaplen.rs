//! The part of a real packet that a capture keeps.

const TCP: u8 = 6;
/// The most bytes kept without a snap length, and the bytes kept of a packet with unknown headers.
/// The longest headers of TCP over IPv4 have 60 + 60 bytes.
pub const MOST_HEADERS: u32 = 128;

/// The bytes kept of an IP packet: `snaplen`, or if there is none, the headers of an
/// IPv4 TCP packet (RFC 791, RFC 9293) and the first 128 bytes of any other.
#[must_use]
pub fn truncate(packet: &[u8], snaplen: Option<u32>) -> &[u8] {
    let wanted = snaplen
        .map_or_else(|| headers(packet).unwrap_or(MOST_HEADERS as usize), |bytes| bytes as usize);
    &packet[..wanted.min(packet.len())]
}

fn headers(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let ip = usize::from(first & 15) * 4;
    let is_tcp = first >> 4 == 4 && *packet.get(9)? == TCP;
    is_tcp.then_some(ip + usize::from(packet.get(ip + 12)? >> 4) * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_headers_or_the_snap_length() {
        let mut packet = vec![0_u8; 1500];
        packet[0] = 0x45;
        packet[9] = TCP;
        packet[32] = 0x80;
        assert_eq!(truncate(&packet, None).len(), 20 + 32);
        assert_eq!(truncate(&packet, Some(96)).len(), 96);
        assert_eq!(truncate(&packet, Some(65_535)).len(), 1500);
        packet[9] = 17;
        assert_eq!(truncate(&packet, None).len(), 128);
        assert_eq!(truncate(&packet[..7], None).len(), 7);
        assert_eq!(truncate(&[], None).len(), 0);
    }
}
