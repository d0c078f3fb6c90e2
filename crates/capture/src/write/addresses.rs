//! The addresses and ports of a run's flows in a capture.
//!
//! Flow `n` (from 0) goes from 10.0.0.1 + n to 10.128.0.1 + n, or from 2001:db8:1::1 + n to
//! 2001:db8:2::1 + n. Its connection `i` (from 0) goes from port 10000 + i to port 5001;
//! after 55,536 connections, to port 5002, and so on.

use std::net::IpAddr;

use narrows_base::FlowId;

/// Version of the Internet protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4, as in the simulator's packet sizes.
    #[default]
    V4,
    /// IPv6, with the same payload; every packet is 20 bytes longer than the simulator's.
    V6,
}

/// An address of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// IPv4.
    V4([u8; 4]),
    /// IPv6.
    V6([u8; 16]),
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionEnds {
    /// The sender's address.
    pub sender: Address,
    /// The sender's port.
    pub sender_port: u16,
    /// The receiver's address.
    pub receiver: Address,
    /// The receiver's port.
    pub receiver_port: u16,
}

const FIRST_SENDER_PORT: u32 = 10_000;
const SENDER_PORTS: u32 = 65_536 - FIRST_SENDER_PORT;
const FIRST_RECEIVER_PORT: u32 = 5_001;

/// The ends of connection `instance` of a flow.
#[must_use]
pub fn ends(version: IpVersion, flow: FlowId, instance: u32) -> ConnectionEnds {
    let port = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    ConnectionEnds {
        sender: address(version, 1, flow),
        sender_port: port(FIRST_SENDER_PORT + instance % SENDER_PORTS),
        receiver: address(version, 2, flow),
        receiver_port: port(FIRST_RECEIVER_PORT + instance / SENDER_PORTS),
    }
}

/// `side` is 1 for senders, 2 for receivers.
fn address(version: IpVersion, side: u8, flow: FlowId) -> Address {
    let host = flow.0 + 1;
    match version {
        IpVersion::V4 => {
            let [_, high, middle, low] = host.to_be_bytes();
            Address::V4([10, (side - 1) * 128 + high % 128, middle, low])
        }
        IpVersion::V6 => {
            let mut bytes = [0; 16];
            bytes[..6].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, side]);
            bytes[12..].copy_from_slice(&host.to_be_bytes());
            Address::V6(bytes)
        }
    }
}

impl From<Address> for IpAddr {
    fn from(address: Address) -> Self {
        match address {
            Address::V4(bytes) => bytes.into(),
            Address::V6(bytes) => bytes.into(),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        IpAddr::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_has_ends_of_its_own() {
        let first = ends(IpVersion::V4, FlowId(0), 0);
        assert_eq!(first.sender.to_string(), "10.0.0.1");
        assert_eq!(first.receiver.to_string(), "10.128.0.1");
        assert_eq!((first.sender_port, first.receiver_port), (10_000, 5_001));
        let later = ends(IpVersion::V6, FlowId(299), 55_537);
        assert_eq!(later.sender.to_string(), "2001:db8:1::12c");
        assert_eq!(later.receiver.to_string(), "2001:db8:2::12c");
        assert_eq!((later.sender_port, later.receiver_port), (10_001, 5_002));
    }
}
