//! Requests to rtnetlink (rtnetlink(7)): unlike the ioctls they work in user namespaces too.

use std::net::Ipv4Addr;

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
/// NLM_F_REQUEST and NLM_F_ACK.
const REQUEST: u16 = 1 | 4;
/// NLM_F_CREATE and NLM_F_EXCL.
const CREATE: u16 = 0x400 | 0x200;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFA_LOCAL: u16 = 2;
const AF_INET: u8 = 2;
const IFF_UP: u32 = 1;

/// Brings a device up, with an MTU in bytes and a queue length in packets.
pub(crate) fn set_up(device: u32, mtu: u32, queue_packets: u32) -> Vec<u8> {
    // struct ifinfomsg: family, padding, type, index, flags, mask of flags.
    let mut body = vec![0; 4];
    body.extend([device, IFF_UP, IFF_UP].map(u32::to_ne_bytes).concat());
    body.extend(attribute(IFLA_MTU, mtu.to_ne_bytes()));
    body.extend(attribute(IFLA_TXQLEN, queue_packets.to_ne_bytes()));
    message(RTM_NEWLINK, REQUEST, &body)
}

/// Gives a device an address in a network of `prefix` bits.
pub(crate) fn add_address(device: u32, address: Ipv4Addr, prefix: u8) -> Vec<u8> {
    // struct ifaddrmsg: family, prefix length, flags, scope, index.
    let mut body = vec![AF_INET, prefix, 0, 0];
    body.extend(device.to_ne_bytes());
    body.extend(attribute(IFA_LOCAL, address.octets()));
    message(RTM_NEWADDR, REQUEST | CREATE, &body)
}

fn attribute(kind: u16, value: [u8; 4]) -> Vec<u8> {
    [&8_u16.to_ne_bytes()[..], &kind.to_ne_bytes(), &value].concat()
}

/// A `nlmsghdr` and the body.
fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(16 + body.len()).expect("short");
    let mut out = len.to_ne_bytes().to_vec();
    out.extend([kind, flags].map(u16::to_ne_bytes).concat());
    out.extend([0; 8]);
    out.extend(body);
    out
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
