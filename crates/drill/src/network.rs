//! Sets up the network between the kernel and the script's peer, by rtnetlink(7): to start the program
//! `ip` for each step takes a guest longer than most scripts.

use std::net::IpAddr;

use narrows_linux::device::device_index;
use narrows_linux::process::unshare;
use narrows_linux::rtnetlink::{attribute, link_up, message, request};
use rustix::thread::UnshareFlags;

use crate::job::{Addresses, Network};
use crate::sys::Tun;

const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
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
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

/// A namespace of this process with the device `tun0`, its address, and the way to the peer.
pub fn set_up(network: &Network) -> Result<Tun, String> {
    unshare(UnshareFlags::NEWNET).map_err(|error| format!("a network namespace: {error}"))?;
    let tun = Tun::new().map_err(|error| format!("the device tun0: {error}"))?;
    let index = |name| device_index(name).map_err(|error| format!("the device {name}: {error}"));
    let (device, loopback) = (index("tun0")?, index("lo")?);
    let mtu = network.mtu.map(|mtu| attribute(IFLA_MTU, &u32::from(mtu).to_ne_bytes()));
    let mtu = mtu.unwrap_or_default();
    let addresses = &network.addresses;
    let steps = [
        ("lo", link_up(loopback, &[])),
        ("tun0", link_up(device, &mtu)),
        ("the address", add_address(device, addresses)),
        ("the route", add_route(device, addresses)),
    ];
    for (what, message) in steps {
        request(&message).map_err(|error| format!("{what}: {error}"))?;
    }
    Ok(tun)
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
    message(RTM_NEWADDR, CREATE, &body)
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
    message(RTM_NEWROUTE, CREATE, &body)
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
