//! Reads packets of the kernel.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use narrows_packetdrill::{EcnCheck, IpInfo, IpPacket, Payload, Tcp, TcpFlags};

use super::build::Endpoints;
use super::options;

const TCP: u8 = 6;

/// A TCP packet of the kernel.
#[derive(Clone, Debug)]
pub struct ReadSegment {
    pub ends: Endpoints,
    pub packet: IpPacket,
    /// The payload is all zeros.
    pub zeros: bool,
}

/// A TCP packet; `None` for any other.
pub fn read(bytes: &[u8]) -> Option<ReadSegment> {
    let (ip, source, destination, tcp) = match bytes.first()? >> 4 {
        4 => version_4(bytes)?,
        6 => version_6(bytes)?,
        _ => return None,
    };
    let flags = be16(tcp, 12)?;
    let header = usize::from(flags >> 12) * 4;
    let options = options::read(tcp.get(20..header)?)?;
    let payload = tcp.get(header..)?;
    let (from, to) = (be16(tcp, 0)?, be16(tcp, 2)?);
    let segment = Tcp {
        source: from,
        destination: to,
        flags: TcpFlags(flags & 0x1ff),
        seq: be32(tcp, 4)?,
        ack: be32(tcp, 8)?,
        len: u32::try_from(payload.len()).ok()?,
        window: Some(be16(tcp, 14)?),
        urgent: be16(tcp, 18)?,
        options: Some(options),
    };
    Some(ReadSegment {
        ends: Endpoints {
            source: SocketAddr::new(source, from),
            destination: SocketAddr::new(destination, to),
        },
        packet: IpPacket { ip, payload: Payload::Tcp(segment) },
        zeros: payload.iter().all(|&byte| byte == 0),
    })
}

type Parts<'a> = (IpInfo, IpAddr, IpAddr, &'a [u8]);

fn version_4(bytes: &[u8]) -> Option<Parts<'_>> {
    let header = usize::from(bytes.first()? & 15) * 4;
    if *bytes.get(9)? != TCP {
        return None;
    }
    let ip = IpInfo { ecn: EcnCheck::Tos(bytes[1]), ttl: Some(bytes[8]), flow_label: None };
    let address = |at: usize| {
        let octets: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(IpAddr::V4(Ipv4Addr::from(octets)))
    };
    let end = usize::from(be16(bytes, 2)?);
    Some((ip, address(12)?, address(16)?, bytes.get(header..end)?))
}

fn version_6(bytes: &[u8]) -> Option<Parts<'_>> {
    if *bytes.get(6)? != TCP {
        return None;
    }
    let first = be32(bytes, 0)?;
    let tos = u8::try_from(first >> 20 & 0xff).ok()?;
    let ip = IpInfo {
        ecn: EcnCheck::Tos(tos),
        ttl: Some(*bytes.get(7)?),
        flow_label: Some(first & 0xf_ffff),
    };
    let address = |at: usize| {
        let octets: [u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
        Some(IpAddr::V6(Ipv6Addr::from(octets)))
    };
    // Large packets of IPv6 have no length in the header.
    let end = 40 + usize::from(be16(bytes, 4)?);
    let end = if end == 40 { bytes.len() } else { end };
    Some((ip, address(8)?, address(24)?, bytes.get(40..end)?))
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::build;

    #[test]
    fn segments_survive_the_wire() {
        let tcp = Tcp {
            source: 8080,
            destination: 40_000,
            flags: TcpFlags::ACK.with(TcpFlags::AE),
            seq: 5,
            len: 3,
            ack: 7,
            window: Some(9),
            urgent: 0,
            options: Some(Vec::new()),
        };
        for (source, destination) in [("192.0.2.1:1", "192.168.0.1:2"), ("[fd::1]:1", "[fd::2]:2")]
        {
            let source = source.parse().expect("an address");
            let destination = destination.parse().expect("an address");
            let ip = IpInfo { ecn: EcnCheck::Tos(3), ttl: Some(64), flow_label: None };
            let packet = IpPacket { ip, payload: Payload::Tcp(tcp.clone()) };
            let bytes = build(&packet, Endpoints { source, destination }).expect("a packet");
            let found = read(&bytes).expect("a segment");
            assert_eq!(found.packet.payload, packet.payload);
            assert_eq!((found.packet.ip.ecn, found.zeros), (EcnCheck::Tos(3), true));
            assert_eq!(found.ends.source.ip(), source.ip());
            assert_eq!(found.ends.source.port(), 8080);
        }
    }
}
