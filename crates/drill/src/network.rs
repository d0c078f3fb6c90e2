//! Sets up the network between the kernel and the script's peer, by rtnetlink(7): to start the program
//! `ip` for each step takes a guest longer than most scripts.

use std::net::IpAddr;

use crate::job::{Addresses, Network};
use crate::sys::{Tun, device_index, leave_network, netlink_request};

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
/// `NLM_F_REQUEST` and `NLM_F_ACK`.
const REQUEST: u16 = 1 | 4;
/// `NLM_F_CREATE` and `NLM_F_EXCL`.
const CREATE: u16 = 0x400 | 0x200;
const IFLA_MTU: u16 = 4;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_BOOT: u8 = 3;
const RTN_UNICAST: u8 = 1;
const RTNH_F_ONLINK: u32 = 4;
const IFF_UP: u32 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

/// A namespace of this process with the device `tun0`, its address, and the way to the peer.
pub fn set_up(network: &Network) -> Result<Tun, String> {
    leave_network().map_err(|error| format!("a network namespace: {error}"))?;
    let tun = Tun::new().map_err(|error| format!("the device tun0: {error}"))?;
    let index = |name| device_index(name).map_err(|error| format!("the device {name}: {error}"));
    let (device, loopback) = (index("tun0")?, index("lo")?);
    let addresses = &network.addresses;
    let steps = [
        ("lo", set_up_device(loopback, None)),
        ("tun0", set_up_device(device, network.mtu)),
        ("the address", add_address(device, addresses)),
        ("the route", add_route(device, addresses)),
    ];
    for (what, message) in steps {
        netlink_request(&message).map_err(|error| format!("{what}: {error}"))?;
    }
    Ok(tun)
}

/// Brings a device up, with an MTU in bytes.
fn set_up_device(device: u32, mtu: Option<u16>) -> Vec<u8> {
    // struct ifinfomsg: family, padding, type, index, flags, mask of flags.
    let mut body = vec![0; 4];
    body.extend([device, IFF_UP, IFF_UP].map(u32::to_ne_bytes).concat());
    if let Some(mtu) = mtu {
        body.extend(attribute(IFLA_MTU, &u32::from(mtu).to_ne_bytes()));
    }
    message(RTM_NEWLINK, REQUEST, &body)
}

/// Gives a device its address. No packets look for duplicates.
fn add_address(device: u32, addresses: &Addresses) -> Vec<u8> {
    let local = octets(addresses.local);
    let flags = if addresses.local.is_ipv6() { IFA_F_NODAD } else { 0 };
    // struct ifaddrmsg: family, prefix length, flags, scope, index.
    let mut body = vec![family(addresses.local), addresses.prefix, flags, 0];
    body.extend(device.to_ne_bytes());
    body.extend(attribute(IFA_LOCAL, &local));
    body.extend(attribute(IFA_ADDRESS, &local));
    message(RTM_NEWADDR, REQUEST | CREATE, &body)
}

/// Adds the way to the peer. The gateway of IPv6 is in no network of the device.
fn add_route(device: u32, addresses: &Addresses) -> Vec<u8> {
    let remote = octets(addresses.remote);
    let flags = if addresses.remote.is_ipv6() { RTNH_F_ONLINK } else { 0 };
    let bits = if addresses.remote.is_ipv6() { 128 } else { 32 };
    // struct rtmsg: family, length of destination and source, TOS, table, protocol, scope, type,
    // flags.
    let mut body = vec![family(addresses.remote), bits, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, 0];
    body.push(RTN_UNICAST);
    body.extend(flags.to_ne_bytes());
    body.extend(attribute(RTA_DST, &remote));
    body.extend(attribute(RTA_GATEWAY, &octets(addresses.gateway)));
    body.extend(attribute(RTA_OIF, &device.to_ne_bytes()));
    message(RTM_NEWROUTE, REQUEST | CREATE, &body)
}

fn family(address: IpAddr) -> u8 {
    if address.is_ipv6() { AF_INET6 } else { AF_INET }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// A `rtattr`, whose value has a multiple of 4 bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    [&length::<u16>(4 + value.len()).to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
}

/// A `nlmsghdr` and the body.
fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let mut out = length::<u32>(16 + body.len()).to_ne_bytes().to_vec();
    out.extend([kind, flags].map(u16::to_ne_bytes).concat());
    out.extend([0; 8]);
    out.extend(body);
    out
}

fn length<T: TryFrom<usize>>(bytes: usize) -> T {
    T::try_from(bytes).unwrap_or_else(|_| panic!("{bytes} bytes are too many"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(local: &str, gateway: &str, remote: &str) -> Addresses {
        let address = |text: &str| text.parse().expect("an address");
        let (local, gateway) = (address(local), address(gateway));
        Addresses { local, prefix: 16, gateway, remote: address(remote) }
    }

    #[test]
    fn lengths_are_those_of_the_structures() {
        let version_4 = addresses("192.168.0.1", "192.168.0.1", "192.0.2.1");
        let version_6 = addresses("fd3d::1", "fd3d::2", "fd3d:1::1");
        for (message, length) in [
            (set_up_device(3, None), 16 + 16),
            (set_up_device(3, Some(1520)), 16 + 16 + 8),
            (add_address(3, &version_4), 16 + 8 + 8 + 8),
            (add_address(3, &version_6), 16 + 8 + 20 + 20),
            (add_route(3, &version_4), 16 + 12 + 8 + 8 + 8),
            (add_route(3, &version_6), 16 + 12 + 20 + 20 + 8),
        ] {
            assert_eq!((message.len(), usize::from(message[0])), (length, length));
        }
        assert_eq!(add_address(3, &version_4)[28..32], [192, 168, 0, 1]);
    }
}
