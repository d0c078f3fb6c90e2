//! Sets up the network between the kernel and the script's peer.

use std::net::IpAddr;
use std::process::Command;

use crate::job::Network;
use crate::sys::{Tun, leave_network};

/// A namespace of this process with the device `tun0`, its address, and the way to the peer.
pub fn set_up(network: &Network) -> Result<Tun, String> {
    leave_network().map_err(|error| format!("a network namespace: {error}"))?;
    let tun = Tun::new().map_err(|error| format!("the device tun0: {error}"))?;
    let addresses = network.addresses;
    if let Some(mtu) = network.mtu {
        ip(&["link", "set", "tun0", "mtu", &mtu.to_string()])?;
    }
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "set", "tun0", "up"])?;
    let local = format!("{}/{}", addresses.local, addresses.prefix);
    // No packets to detect duplicates, and a gateway in any network.
    let (family, nodad, onlink): (_, &[&str], &[&str]) = match addresses.local {
        IpAddr::V4(_) => ("-4", &[], &[]),
        IpAddr::V6(_) => ("-6", &["nodad"], &["onlink"]),
    };
    ip(&[&[family, "addr", "add", &local, "dev", "tun0"], nodad].concat())?;
    let (remote, gateway) = (addresses.remote.to_string(), addresses.gateway.to_string());
    ip(&[&[family, "route", "add", &remote, "dev", "tun0", "via", &gateway], onlink].concat())?;
    Ok(tun)
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let done = Command::new("ip").args(arguments).output();
    let done = done.map_err(|error| format!("the program ip: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("ip {}: {}", arguments.join(" "), said.trim()))
}
