//! Packets that aren't TCP: datagrams of UDP, and echoes of ICMP (RFC 792, RFC 4443).

use super::link::{Network, be16};
use super::segment::{Endpoint, Other, map_to_ipv6};

const ICMP: u8 = 1;
const UDP: u8 = 17;
const ICMP_6: u8 = 58;
/// Types of an echo's request and its reply, in either version.
const REQUESTS: [(u8, u8); 2] = [(ICMP, 8), (ICMP_6, 128)];
const REPLIES: [(u8, u8); 2] = [(ICMP, 0), (ICMP_6, 129)];
const UDP_HEADER: usize = 8;
/// Bytes that tell a packet of QUIC: its flags and, in a handshake, its version.
pub const BEGIN: usize = 5;

/// A packet that isn't TCP, as its headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpDatagram {
    /// Data between two ports.
    Udp {
        /// Who sent it.
        source: Endpoint,
        /// To whom.
        destination: Endpoint,
        /// Bytes of payload on the wire.
        payload: u32,
        /// The first of them, if they were kept.
        begin: Option<[u8; BEGIN]>,
    },
    /// A ping or its answer.
    Echo {
        /// Who asked.
        source: u128,
        /// Who answers.
        destination: u128,
        /// The program that asked, and its number.
        id: (u16, u16),
        /// True for an echo reply, false for the request.
        reply: bool,
    },
}

/// The facts that an IP header states about the packet behind it.
struct Header {
    protocol: u8,
    ends: (u128, u128),
    size: usize,
    /// Bytes behind it on the wire.
    length: usize,
}

/// The IP header; packets with extension headers and later fragments don't count.
fn header(network: Network, data: &[u8]) -> Result<Header, Other> {
    let fixed = |size: usize| data.get(..size).ok_or(Other::Cut);
    match network {
        Network::V4 => {
            let header = fixed(20)?;
            let address = |at: usize| map_to_ipv6(header[at..at + 4].try_into().expect("4 bytes"));
            if be16(header, 6)? & 0x1fff != 0 {
                return Err(Other::Fragment);
            }
            let size = usize::from(header[0] & 15) * 4;
            let length = usize::from(be16(header, 2)?);
            let length = length.checked_sub(size).ok_or(Other::Malformed)?;
            Ok(Header { protocol: header[9], ends: (address(12), address(16)), size, length })
        }
        Network::V6 => {
            let header = fixed(40)?;
            let address =
                |at: usize| u128::from_be_bytes(header[at..at + 16].try_into().expect("16 bytes"));
            let length = usize::from(be16(header, 4)?);
            Ok(Header { protocol: header[6], ends: (address(8), address(24)), size: 40, length })
        }
    }
}

/// The ends and the payload of a datagram of UDP, as far as it was kept.
pub(super) fn payload(
    network: Network,
    data: &[u8],
) -> Result<((Endpoint, Endpoint), &[u8]), Other> {
    let Header { protocol, ends, size, length } = header(network, data)?;
    let data = data.get(size..).ok_or(Other::Cut)?;
    if protocol != UDP {
        return Err(Other::NotTcp);
    }
    let end = |address, port| Endpoint { address, port };
    let ends = (end(ends.0, be16(data, 0)?), end(ends.1, be16(data, 2)?));
    Ok((ends, data.get(UDP_HEADER..length.min(data.len())).ok_or(Other::Cut)?))
}

/// The datagram in an IP packet.
pub(super) fn datagram(network: Network, data: &[u8]) -> Result<IpDatagram, Other> {
    let Header { protocol, ends, size, length } = header(network, data)?;
    let data = data.get(size..).ok_or(Other::Cut)?;
    if protocol == UDP {
        let end = |address, port| Endpoint { address, port };
        let payload = length.checked_sub(UDP_HEADER).ok_or(Other::Malformed)?;
        return Ok(IpDatagram::Udp {
            source: end(ends.0, be16(data, 0)?),
            destination: end(ends.1, be16(data, 2)?),
            payload: u32::try_from(payload).map_err(|_| Other::Malformed)?,
            begin: data
                .get(UDP_HEADER..UDP_HEADER + BEGIN.min(payload))
                .and_then(|b| b.try_into().ok()),
        });
    }
    let kind = (protocol, *data.first().ok_or(Other::Cut)?);
    let reply = REPLIES.contains(&kind);
    if !reply && !REQUESTS.contains(&kind) {
        return Err(Other::NotTcp);
    }
    let (source, destination) = if reply { (ends.1, ends.0) } else { ends };
    Ok(IpDatagram::Echo { source, destination, id: (be16(data, 4)?, be16(data, 6)?), reply })
}
