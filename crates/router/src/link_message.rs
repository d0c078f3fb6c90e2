//! The messages to rtnetlink (rtnetlink(7)) that set a host's device up.

use std::net::Ipv4Addr;

use narrows_linux::rtnetlink::{attribute, link_up, message};

const RTM_NEWADDR: u16 = 20;
/// NLM_F_CREATE and NLM_F_EXCL.
const CREATE: u16 = 0x400 | 0x200;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFA_LOCAL: u16 = 2;
const AF_INET: u8 = 2;

/// Brings a device up, with an MTU in bytes and a queue length in packets.
pub(crate) fn set_up(device: u32, mtu: u32, queue_packets: u32) -> Vec<u8> {
    let attributes = [(IFLA_MTU, mtu), (IFLA_TXQLEN, queue_packets)];
    link_up(device, &attributes.map(|(kind, value)| attribute(kind, &value.to_ne_bytes())).concat())
}

/// Gives a device an address in a network of `prefix` bits.
pub(crate) fn add_address(device: u32, address: Ipv4Addr, prefix: u8) -> Vec<u8> {
    // struct ifaddrmsg: family, prefix length, flags, scope, index.
    let mut body = vec![AF_INET, prefix, 0, 0];
    body.extend(device.to_ne_bytes());
    body.extend(attribute(IFA_LOCAL, &address.octets()));
    message(RTM_NEWADDR, CREATE, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_structures() {
        let link = set_up(3, 1500, 10_000);
        assert_eq!((link.len(), link[0]), (16 + 16 + 8 + 8, 48));
        let address = add_address(3, Ipv4Addr::new(10, 0, 0, 1), 24);
        assert_eq!((address.len(), address[0]), (16 + 8 + 8, 32));
        assert_eq!(address[28..], [10, 0, 0, 1]);
    }
}
