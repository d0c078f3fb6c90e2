//! The TUN device between the script and the kernel.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd as _, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;

/// `struct virtio_net_hdr` before each packet.
const HEADER: usize = 10;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
/// More than the largest packet with its header.
const LARGEST: usize = 1 << 17;
/// As a usual network card: checksums and segmentation of TCP are its work.
const OFFLOADS: libc::c_uint =
    libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;

/// Moves this process into a network namespace of its own.
pub fn leave_network() -> Result<()> {
    // SAFETY: no memory involved.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } < 0 {
        return Err(Error::last_os_error());
    }
    Ok(())
}

/// The number of a device in this process's network namespace.
pub fn device_index(name: &str) -> Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: a C string that outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        index => Ok(index),
    }
}

/// Sends a request to rtnetlink in this process's namespace and waits for its acknowledgement.
pub fn netlink_request(message: &[u8]) -> Result<()> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: no memory involved.
    let socket = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) };
    if socket < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    let mut socket = unsafe { File::from_raw_fd(socket) };
    socket.write_all(message)?;
    let mut answer = [0; 1024];
    let _ = socket.read(&mut answer)?;
    // A `nlmsghdr` of 16 bytes, then the negative error number; 0 acknowledges.
    match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
        0 => Ok(()),
        error => Err(Error::from_raw_os_error(-error)),
    }
}

/// The device `tun0`, which lives as long as this.
#[derive(Debug)]
pub struct Tun {
    file: File,
    buffer: Vec<u8>,
}

impl Tun {
    /// Makes the device.
    pub fn new() -> Result<Self> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")?;
        // SAFETY: plain data.
        let mut request: libc::ifreq = unsafe { zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(b"tun0") {
            *to = from.cast_signed();
        }
        let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        request.ifr_ifru.ifru_flags = super::raw::len::<i16>(usize::try_from(flags).unwrap_or(0));
        // SAFETY: `request` is the structure that this request expects.
        if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: this request takes a number.
        if unsafe {
            libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(OFFLOADS))
        } < 0
        {
            return Err(Error::last_os_error());
        }
        Ok(Self { file, buffer: vec![0; LARGEST] })
    }

    /// The descriptor, which is readable when a packet waits.
    pub fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The next packet that left, if one waits.
    pub fn receive(&mut self) -> Result<Option<&[u8]>> {
        match self.file.read(&mut self.buffer) {
            Ok(len) => Ok(Some(self.buffer.get(HEADER..len).unwrap_or(&[]))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel; with a segment size it comes as if a card had merged it.
    pub fn send(&mut self, packet: &[u8], merged_mss: Option<u16>) -> Result<()> {
        let mut header = [0; HEADER];
        if let Some(mss) = merged_mss {
            let version_4 = packet.first().is_some_and(|first| first >> 4 == 4);
            header[1] = if version_4 { GSO_TCPV4 } else { GSO_TCPV6 };
            header[4..6].copy_from_slice(&mss.to_ne_bytes());
        }
        let whole = [&header[..], packet].concat();
        self.file.write(&whole).map(drop)
    }
}
