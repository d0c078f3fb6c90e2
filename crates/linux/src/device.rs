//! Network devices of the current namespace.

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Result};
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

const TUN_DEVICE: &str = "/dev/net/tun";

/// The work that a host leaves to a TUN device, as to a usual network card. Each packet follows a
/// `struct virtio_net_hdr` then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunOffloads {
    /// None: packets are complete and have no header before them.
    None,
    /// Checksums, and the segmentation of TCP over IPv4.
    TcpV4,
    /// Checksums, and the segmentation of TCP over IPv4 and IPv6.
    Tcp,
}

impl TunOffloads {
    /// The argument of TUNSETOFFLOAD.
    const fn flags(self) -> libc::c_uint {
        const TCP_V4: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO_ECN;
        match self {
            Self::None => 0,
            Self::TcpV4 => TCP_V4,
            Self::Tcp => TCP_V4 | libc::TUN_F_TSO6,
        }
    }
}

/// The number of a device.
///
/// # Errors
/// If there is no such device.
pub fn device_index(name: &str) -> Result<u32> {
    Ok(rustix::net::netdevice::name_to_index(any_socket()?, name)?)
}

/// Makes a TUN device with raw IP packets, one per read, which doesn't block.
///
/// # Errors
/// With the remedy, if there is no TUN or it isn't open to this user.
pub fn open_tun(name: &str, offloads: TunOffloads) -> Result<OwnedFd> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(TUN_DEVICE).map_err(|e| match e.kind() {
        ErrorKind::PermissionDenied => Error::other(format!(
            "{TUN_DEVICE} isn't open to this user; root, or mode 0666 for it,"
        )),
        _ => Error::other(format!("there is no usable {TUN_DEVICE} ({e}); `modprobe tun`")),
    })?;
    let header = if offloads == TunOffloads::None { 0 } else { libc::IFF_VNET_HDR };
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | header;
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    let said = |e| Error::other(format!("{TUN_DEVICE} makes no device ({e}); `modprobe tun`"));
    call(&file, libc::TUNSETIFF as _, &mut request).map_err(said)?;
    if offloads != TunOffloads::None {
        set_offloads(&file, offloads).map_err(said)?;
    }
    Ok(file.into())
}

fn set_offloads(tun: impl AsFd, offloads: TunOffloads) -> Result<()> {
    let (fd, flags) = (tun.as_fd().as_raw_fd(), libc::c_ulong::from(offloads.flags()));
    // SAFETY: this request takes a number.
    match unsafe { libc::ioctl(fd, libc::TUNSETOFFLOAD as _, flags) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Makes a device split super-packets into single ones before it sends them (TSO off), so that
/// routers and queues behind it see packets of at most the MTU.
///
/// # Errors
/// If there is no such device or no right to change it.
pub fn segmentation_offload_off(name: &str) -> Result<()> {
    const ETHTOOL_STSO: u32 = 0x1f;
    switch_off(name, ETHTOOL_STSO)
}

/// Makes the kernel compute the checksums of packets from a device, for programs that read them.
///
/// # Errors
/// If there is no such device or no right to change it.
pub fn checksum_offload_off(name: &str) -> Result<()> {
    const ETHTOOL_STXCSUM: u32 = 0x17;
    switch_off(name, ETHTOOL_STXCSUM)
}

/// Sets a device's property to 0.
fn switch_off(name: &str, property: u32) -> Result<()> {
    // A `struct ethtool_value`, which outlives the request.
    let mut value = [property, 0];
    let mut request = request(name);
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    call(any_socket()?, libc::SIOCETHTOOL as _, &mut request)
}

/// A socket for requests about devices: any will do (netdevice(7)).
fn any_socket() -> Result<OwnedFd> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    Ok(rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?)
}

/// A request about a device (netdevice(7)).
fn request(name: &str) -> libc::ifreq {
    // SAFETY: plain data.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.as_bytes()) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request
}

/// Carries out one of the requests above.
fn call(descriptor: impl AsFd, number: libc::c_ulong, request: &mut libc::ifreq) -> Result<()> {
    // SAFETY: the requests of this file take an `ifreq`, and what it points to is live.
    match unsafe { libc::ioctl(descriptor.as_fd().as_raw_fd(), number as _, request) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        assert_eq!(device_index("lo").expect("every namespace has one"), 1);
        let error = device_index("nowhere0").expect_err("there is none");
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
        assert!(segmentation_offload_off("nowhere0").is_err());
    }
}
