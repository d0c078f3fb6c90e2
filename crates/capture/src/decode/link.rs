//! Link layers below IP. Numbers: <https://www.tcpdump.org/linktypes.html>.

use super::segment::Other;

const ETHERNET: u16 = 1;
const NULL: u16 = 0;
/// System-specific numbers for raw IP.
const RAW: [u16; 3] = [12, 14, 101];
const LOOP: u16 = 108;
const COOKED: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const COOKED_2: u16 = 276;

/// Tags of VLANs: 802.1Q, 802.1ad, and its predecessor.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// A PPP session over Ethernet (RFC 2516), and its protocols (RFC 1661, RFC 5072).
const PPPOE: u16 = 0x8864;
const PPP_IPV4: u16 = 0x21;
const PPP_IPV6: u16 = 0x57;
/// More tags than occur in practice.
const MOST_TAGS: usize = 4;

/// The network protocol of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    V4,
    V6,
}

/// The network protocol, and the bytes from its header on.
#[inline]
pub(super) fn network(link: u16, data: &[u8]) -> Result<(Network, &[u8]), Other> {
    match link {
        ETHERNET => skip_tags(be16(data, 12)?, &data[14..]),
        COOKED => skip_tags(be16(data, 14)?, &data[16..]),
        COOKED_2 => {
            let kind = be16(data, 0)?;
            skip_tags(kind, data.get(20..).ok_or(Other::Cut)?)
        }
        NULL | LOOP => by_version(data.get(4..).ok_or(Other::Cut)?),
        IPV4 | IPV6 => by_version(data),
        link if RAW.contains(&link) => by_version(data),
        _ => Err(Other::UnknownLink),
    }
}

#[inline]
fn skip_tags(mut kind: u16, mut data: &[u8]) -> Result<(Network, &[u8]), Other> {
    for _ in 0..MOST_TAGS {
        if !TAGS.contains(&kind) {
            break;
        }
        kind = be16(data, 2)?;
        data = &data[4..];
    }
    match kind {
        0x0800 => Ok((Network::V4, data)),
        0x86dd => Ok((Network::V6, data)),
        PPPOE => session(data),
        _ => Err(Other::NotIp),
    }
}

/// Skips six bytes of the session; two bytes give the protocol.
fn session(data: &[u8]) -> Result<(Network, &[u8]), Other> {
    match be16(data, 6)? {
        PPP_IPV4 => Ok((Network::V4, &data[8..])),
        PPP_IPV6 => Ok((Network::V6, &data[8..])),
        _ => Err(Other::NotIp),
    }
}

/// Uses the IP version, since the family's number before the packet differs between systems.
fn by_version(data: &[u8]) -> Result<(Network, &[u8]), Other> {
    match data.first().ok_or(Other::Cut)? >> 4 {
        4 => Ok((Network::V4, data)),
        6 => Ok((Network::V6, data)),
        _ => Err(Other::NotIp),
    }
}

/// Reads two bytes; fails if they were cut off.
#[inline]
pub(super) fn be16(data: &[u8], at: usize) -> Result<u16, Other> {
    match data.get(at..at + 2) {
        Some(bytes) => Ok(u16::from_be_bytes([bytes[0], bytes[1]])),
        None => Err(Other::Cut),
    }
}

/// Reads four bytes; fails if they were cut off.
#[inline]
pub(super) fn be32(data: &[u8], at: usize) -> Result<u32, Other> {
    match data.get(at..at + 4) {
        Some(bytes) => Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        None => Err(Other::Cut),
    }
}
