//! The end hosts, each a network namespace with one TUN device.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Command;
use std::thread;

use narrows_linux::device::device_index;
use narrows_linux::{process, rtnetlink};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::thread::UnshareFlags;

use crate::device::Device;
use crate::link_message;

/// The device's name in either namespace.
const DEVICE: &str = "path0";
/// IP bytes of a full packet.
const MTU: u32 = 1500;
/// Capacity of a device's queue in packets, more than any stall should need.
const DEVICE_PACKETS: u32 = 20_000;
const PREFIX: u8 = 24;

/// A network namespace that vanishes with its last process, and the device in it.
///
/// Nothing has a name outside, so nothing stays behind however the process ends.
pub struct HostNamespace {
    /// None for that of this process.
    namespace: Option<OwnedFd>,
    device: Device,
    /// The device's name.
    name: String,
}

/// Enables this process to make namespaces; true if it needed a user namespace.
///
/// It must not have started a thread yet. The scheduling class must be set before, since a user
/// namespace doesn't allow it.
///
/// # Errors
/// With the remedy, if neither capabilities nor user namespaces are available.
pub fn prepare_process() -> Result<bool> {
    if process::unshare(UnshareFlags::NEWNET).is_ok() {
        return Ok(false);
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    process::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)
        .and_then(|()| become_root(user.as_raw(), group.as_raw()))
        .map_err(|e| {
            // The error of an exhausted limit is "No space left on device".
            let why = if e.kind() == ErrorKind::StorageFull {
                "limit reached".into()
            } else {
                e.to_string()
            };
            Error::other(format!(
                "this user may make no network namespaces ({why}); root, or the sysctls \
                 user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 and \
                 kernel.apparmor_restrict_unprivileged_userns=0 (those that exist),"
            ))
        })?;
    Ok(true)
}

/// Maps this user to root of the new user namespace (user_namespaces(7)).
fn become_root(user: u32, group: u32) -> Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

impl HostNamespace {
    /// A new host with this address; a pair of hosts shares a network of 24 bits. With `offloads`
    /// it sends super-packets.
    ///
    /// # Errors
    /// If this process isn't allowed to, or there is no TUN.
    pub fn new(address: Ipv4Addr, offloads: bool) -> Result<Self> {
        in_thread(move || {
            process::unshare(UnshareFlags::NEWNET)?;
            // IPv6 router solicitations would cross the path; kernels without IPv6 lack this file.
            _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
            let tun = Device::tun(DEVICE, offloads)?;
            let device = device_index(DEVICE)?;
            rtnetlink::request(&link_message::add_address(device, address, PREFIX))?;
            rtnetlink::request(&link_message::set_up(device, MTU, DEVICE_PACKETS))?;
            let namespace = OwnedFd::from(File::open("/proc/thread-self/ns/net")?);
            Ok(Self { namespace: Some(namespace), device: tun, name: DEVICE.into() })
        })
    }

    /// The hosts behind a TUN device that exists in the current namespace, to which their packets
    /// are routed.
    ///
    /// # Errors
    /// If there is no such device, or it isn't open to this user.
    pub fn behind(device: &str) -> Result<Self> {
        device_index(device).map_err(|e| Error::other(format!("{device}: {e}")))?;
        let name = device.to_owned();
        Ok(Self { namespace: None, device: Device::tun(device, false)?, name })
    }

    /// The device's name.
    #[must_use]
    pub const fn device() -> &'static str {
        DEVICE
    }

    /// Where the host's packets are read and written.
    pub(crate) const fn packets(&self) -> &Device {
        &self.device
    }

    /// Runs commands within the namespace, such as `tc`.
    ///
    /// # Errors
    /// With what the first one says that fails.
    pub fn run(&self, commands: &[Vec<String>]) -> Result<()> {
        self.enter(|| commands.iter().try_for_each(|command| call(command)))
    }

    /// A file by which programs that this process starts can enter the namespace.
    ///
    /// # Errors
    /// If it is that of this process.
    pub fn namespace_for_children(&self) -> Result<String> {
        let own = || Error::other("the host has no namespace of its own");
        let namespace = self.namespace.as_ref().ok_or_else(own)?;
        fcntl_setfd(namespace, FdFlags::empty())?;
        Ok(format!("/proc/self/fd/{}", namespace.as_raw_fd()))
    }

    /// Calls `inside` in a thread within the namespace.
    ///
    /// # Errors
    /// Errors of `inside`, or if the namespace can't be entered.
    pub fn enter<T: Send>(&self, inside: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_thread(|| {
            if let Some(namespace) = &self.namespace {
                process::enter_namespace(namespace.as_fd())?;
            }
            inside()
        })
    }

    /// Sysctls by their path below `/proc/sys`; those that the kernel lacks are left out.
    ///
    /// # Errors
    /// If the namespace can't be entered.
    pub fn sysctls(&self, names: &[String]) -> Result<BTreeMap<String, String>> {
        let read = |name: &String| {
            let text = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
            Some((name.clone(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
        };
        self.enter(|| Ok(names.iter().filter_map(read).collect()))
    }

    /// Packets that the device dropped because the router didn't fetch them in time.
    ///
    /// # Errors
    /// If the kernel's table can't be read.
    pub fn device_drops(&self) -> Result<u64> {
        let table = self.enter(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        dropped_on_sending(&table, &self.name)
            .ok_or_else(|| Error::other("/proc/net/dev lacks the device"))
    }
}

fn call(command: &[String]) -> Result<()> {
    let words = command.join(" ");
    let [program, arguments @ ..] = command else { return Ok(()) };
    let done = Command::new(program).args(arguments).output();
    let done = done.map_err(|e| Error::other(format!("{words}: {e}")))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(Error::other(format!("{words}: {}", said.trim())))
}

/// The twelfth number of the device's row (proc_net(5)).
fn dropped_on_sending(table: &str, device: &str) -> Option<u64> {
    let row = table.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
    row.split_whitespace().nth(11)?.parse().ok()
}

/// Calls `work` in a thread that ends with it: namespaces belong to threads.
fn in_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let ended = thread::scope(|scope| scope.spawn(work).join());
    ended.map_err(|_| Error::other("a thread of the router panicked"))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_found_in_the_table() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12\n \
                     path0: 100 1 0 0 0 0 0 0 200 2 0 77 0 0 0 0\n";
        assert_eq!(dropped_on_sending(table, DEVICE), Some(77));
        assert_eq!(dropped_on_sending("lo: 1", DEVICE), None);
    }
}
