//! Makes packets for the kernel.

use std::net::{IpAddr, SocketAddr};

use narrows_packetdrill::{IcmpQuote, IpPacket, Payload, Tcp};

use super::checksum::checksum;
use super::{icmp, options};

const TCP: u8 = 6;
const UDP: u8 = 17;
const TTL: u8 = 255;
/// A window field that a script leaves out.
const NO_WINDOW: u16 = 0;

/// Both ends of a connection, seen from a packet on its way.
#[derive(Clone, Copy, Debug)]
pub struct Endpoints {
    pub source: SocketAddr,
    pub destination: SocketAddr,
}

/// A packet with its checksums, or why it can't be made.
pub fn build(packet: &IpPacket, ends: Endpoints) -> Result<Vec<u8>, String> {
    let (protocol, payload) = match &packet.payload {
        Payload::Tcp(tcp) => (TCP, with_checksum(segment(tcp, ends), 16, TCP, ends)),
        Payload::Udp(udp) => {
            let len = 8 + udp.len;
            let ports = ports(udp.source, udp.destination, ends);
            let mut bytes = [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat();
            bytes.extend(len.to_be_bytes());
            bytes.resize(usize::from(len), 0);
            (UDP, with_checksum(bytes, 6, UDP, ends))
        }
        Payload::Icmp(message) => {
            let quoted = quote(message.quote, ends)?;
            let (protocol, bytes) = icmp::build(message, &quoted, ends.source.ip())?;
            let bytes = if ends.source.is_ipv4() {
                let field = checksum(&bytes).to_be_bytes();
                let mut bytes = bytes;
                bytes[2..4].copy_from_slice(&field);
                bytes
            } else {
                with_checksum(bytes, 2, protocol, ends)
            };
            (protocol, bytes)
        }
    };
    let tos = packet.ip.ecn.tos();
    let ttl = packet.ip.ttl.unwrap_or(TTL);
    let label = packet.ip.flow_label.unwrap_or(0);
    ip(ends, Header { tos, ttl, label, protocol }, &payload)
}

fn ports(source: u16, destination: u16, ends: Endpoints) -> [u16; 2] {
    let choose = |own: u16, connection: u16| if own == 0 { connection } else { own };
    [choose(source, ends.source.port()), choose(destination, ends.destination.port())]
}

fn segment(tcp: &Tcp, ends: Endpoints) -> Vec<u8> {
    let options = options::build(tcp.options.as_deref().unwrap_or_default());
    let words = u16::try_from((20 + options.len()) / 4).expect("options have at most 40 bytes");
    let [source, destination] = ports(tcp.source, tcp.destination, ends);
    let mut bytes = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    bytes.extend(tcp.seq.to_be_bytes());
    bytes.extend(tcp.ack.to_be_bytes());
    bytes.extend((words << 12 | tcp.flags.0).to_be_bytes());
    bytes.extend(tcp.window.unwrap_or(NO_WINDOW).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(tcp.urgent.to_be_bytes());
    bytes.extend(options);
    bytes.resize(bytes.len() + tcp.len as usize, 0);
    bytes
}

/// Fills the checksum field at `place`, which covers the pseudo header too.
fn with_checksum(mut bytes: Vec<u8>, place: usize, protocol: u8, ends: Endpoints) -> Vec<u8> {
    let mut covered = [octets(ends.source.ip()), octets(ends.destination.ip())].concat();
    covered
        .extend(u32::try_from(bytes.len()).expect("a packet is shorter than 4 GiB").to_be_bytes());
    covered.extend([0, 0, 0, protocol]);
    covered.extend(&bytes);
    bytes[place..place + 2].copy_from_slice(&checksum(&covered).to_be_bytes());
    bytes
}

fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

struct Header {
    tos: u8,
    ttl: u8,
    label: u32,
    protocol: u8,
}

fn ip(ends: Endpoints, header: Header, payload: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let own = if ends.source.is_ipv4() { 20 } else { 0 };
    let len = u16::try_from(own + payload.len())
        .map_err(|_| format!("a packet of {} bytes is longer than IP allows", payload.len()))?;
    if ends.source.is_ipv4() {
        bytes.extend([0x45, header.tos]);
        bytes.extend(len.to_be_bytes());
        bytes.extend([0, 0, 0, 0, header.ttl, header.protocol, 0, 0]);
    } else {
        let first = 6 << 28 | u32::from(header.tos) << 20 | header.label;
        bytes.extend(first.to_be_bytes());
        bytes.extend(len.to_be_bytes());
        bytes.extend([header.protocol, header.ttl]);
    }
    bytes.extend(octets(ends.source.ip()));
    bytes.extend(octets(ends.destination.ip()));
    if ends.source.is_ipv4() {
        let field = checksum(&bytes).to_be_bytes();
        bytes[10..12].copy_from_slice(&field);
    }
    bytes.extend(payload);
    Ok(bytes)
}

/// The start of a packet of the kernel, as a router quotes it.
fn quote(quote: IcmpQuote, ends: Endpoints) -> Result<Vec<u8>, String> {
    // The quoted packet was on its way to where the message comes from.
    let back = Endpoints { source: ends.destination, destination: ends.source };
    let [source, destination] = ports(0, 0, back);
    let mut bytes = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    let protocol = match quote {
        IcmpQuote::Tcp(seq) => {
            bytes.extend(seq.to_be_bytes());
            TCP
        }
        IcmpQuote::Udp => {
            bytes.extend([0, 8, 0, 0]);
            UDP
        }
        IcmpQuote::Raw(len) => return Ok(vec![0; usize::from(len)]),
    };
    ip(back, Header { tos: 0, ttl: TTL, label: 0, protocol }, &bytes)
}
