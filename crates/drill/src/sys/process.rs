//! Processes, and what only a machine's first one does.

use std::convert::Infallible;
use std::ffi::CString;
use std::io::{Error, Result};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::raw::raw;

fn check(result: i32) -> Result<i32> {
    raw(result).map(|_| result).map_err(Error::from_raw_os_error)
}

/// Does work in a child, whose result it returns; false if the child was killed. Only for a process
/// with a single thread.
pub fn in_child(work: impl FnOnce() -> bool) -> Result<bool> {
    // SAFETY: no other thread holds a lock that the child could wait for.
    let child = check(unsafe { libc::fork() })?;
    if child == 0 {
        let status = i32::from(!work());
        // SAFETY: ends this process.
        unsafe { libc::_exit(status) }
    }
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        match check(unsafe { libc::waitpid(child, &raw mut status, 0) }) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result.map(|_| status == 0),
        }
    }
}

/// Mounts a file system without a device.
pub fn mount(kind: &str, place: &Path, data: &str) -> Result<()> {
    let kind = CString::new(kind)?;
    let place = CString::new(place.as_os_str().as_bytes())?;
    let data = CString::new(data)?;
    let (source, kind, data) = (c"none".as_ptr(), kind.as_ptr(), data.as_ptr());
    // SAFETY: all are C strings that outlive the call.
    check(unsafe { libc::mount(source, place.as_ptr(), kind, 0, data.cast()) }).map(drop)
}

/// Switches a virtual machine off.
///
/// Fails if this isn't the machine's first process: anyone who calls it elsewhere, perhaps as root,
/// doesn't mean the whole machine.
pub fn power_off() -> Result<Infallible> {
    let own = std::process::id();
    if own != 1 {
        return Err(Error::other(format!(
            "found process {own}; the first process of a guest would be right"
        )));
    }
    // SAFETY: no memory involved.
    check(unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF)
    })?;
    Err(Error::other("the kernel went on"))
}
