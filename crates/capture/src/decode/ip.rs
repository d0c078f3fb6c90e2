//! IPv4 (RFC 791) and IPv6 with its extension headers (RFC 8200, RFC 2675).

use super::link::{Network, be16, be32};
use super::segment::{Other, map_to_ipv6};

const TCP: u8 = 6;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
/// The extension header of a fragment.
pub const FRAGMENT_HEADER: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
/// The most extension headers that are followed; nobody sends as many.
const MOST_EXTENSIONS: usize = 8;
const JUMBO: u8 = 0xc2;

/// The contents of the network header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) source: u128,
    pub(super) destination: u128,
    /// Bytes after the network headers, on the wire.
    pub(super) payload: usize,
    /// Bytes of the network headers.
    pub(super) headers: u16,
    pub(super) id: u16,
    pub(super) ecn: u8,
    pub(super) fragmented: bool,
}

/// Decodes the network header; returns it and the bytes behind it. The frame has `length` bytes for
/// the packet.
#[inline]
pub(super) fn packet(
    network: Network,
    data: &[u8],
    length: usize,
) -> Result<(Packet, &[u8]), Other> {
    match network {
        Network::V4 => v4(data, length),
        Network::V6 => v6(data, length),
    }
}

#[inline]
fn v4(data: &[u8], length: usize) -> Result<(Packet, &[u8]), Other> {
    let destination = be32(data, 16)?;
    let headers = usize::from(data[0] & 0xf) * 4;
    if data[0] >> 4 != 4 || headers < 20 {
        return Err(Other::Malformed);
    }
    let fragment = be16(data, 6)?;
    if data[9] != TCP {
        return Err(Other::NotTcp);
    }
    if fragment & 0x1fff != 0 {
        return Err(Other::Fragment);
    }
    // 0 in a packet above 64 KiB that the card has yet to segment (BIG TCP).
    let total = match usize::from(be16(data, 2)?) {
        0 => length,
        total => total,
    };
    let packet = Packet {
        source: map_to_ipv6(be32(data, 12)?.to_be_bytes()),
        destination: map_to_ipv6(destination.to_be_bytes()),
        payload: total.checked_sub(headers).ok_or(Other::Malformed)?,
        headers: u16::from(data[0] & 0xf) * 4,
        id: be16(data, 4)?,
        ecn: data[1] & 3,
        fragmented: fragment & 0x2000 != 0,
    };
    Ok((packet, data.get(headers..).ok_or(Other::Cut)?))
}

fn v6(data: &[u8], length: usize) -> Result<(Packet, &[u8]), Other> {
    const FIXED: usize = 40;
    let (fixed, rest) = data.split_at_checked(FIXED).ok_or(Other::Cut)?;
    if fixed[0] >> 4 != 6 {
        return Err(Other::Malformed);
    }
    let address = |at: usize| u128::from_be_bytes(fixed[at..at + 16].try_into().expect("16 bytes"));
    let (extensions, rest) = extensions(fixed[6], rest)?;
    let behind = match (usize::from(be16(fixed, 4)?), extensions.jumbo) {
        (0, Some(jumbo)) => jumbo as usize,
        (0, None) => length.saturating_sub(FIXED),
        (length, _) => length,
    };
    let packet = Packet {
        source: address(8),
        destination: address(24),
        payload: behind.checked_sub(usize::from(extensions.size)).ok_or(Other::Malformed)?,
        headers: 40 + extensions.size,
        id: 0,
        ecn: fixed[1] >> 4 & 3,
        fragmented: extensions.fragmented,
    };
    Ok((packet, rest))
}

struct Extensions {
    size: u16,
    jumbo: Option<u32>,
    fragmented: bool,
}

/// Skips the extension headers up to TCP.
fn extensions(mut next: u8, mut data: &[u8]) -> Result<(Extensions, &[u8]), Other> {
    let mut found = Extensions { size: 0, jumbo: None, fragmented: false };
    for _ in 0..MOST_EXTENSIONS {
        let length = match next {
            TCP => return Ok((found, data)),
            HOP_BY_HOP | ROUTING | DESTINATION => {
                8 + 8 * u16::from(*data.get(1).ok_or(Other::Cut)?)
            }
            AUTHENTICATION => 8 + 4 * u16::from(*data.get(1).ok_or(Other::Cut)?),
            FRAGMENT_HEADER => 8,
            _ => return Err(Other::NotTcp),
        };
        if next == FRAGMENT_HEADER {
            let place = be16(data, 2)?;
            if place & 0xfff8 != 0 {
                return Err(Other::Fragment);
            }
            found.fragmented = place & 1 != 0;
        }
        if next == HOP_BY_HOP && data.len() >= 8 && data[2] == JUMBO && data[3] == 4 {
            found.jumbo = Some(be32(data, 4)?);
        }
        next = data[0];
        found.size += length;
        data = data.get(usize::from(length)..).ok_or(Other::Cut)?;
    }
    Err(Other::Malformed)
}
