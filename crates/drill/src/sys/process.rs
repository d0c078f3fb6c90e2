//! Child processes.

use std::io::{Error, Result};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};

/// Does work in a child, whose result it returns; false if the child was killed. Only for a process
/// with a single thread.
pub fn in_child(work: impl FnOnce() -> bool) -> Result<bool> {
    // SAFETY: no other thread holds a lock that the child could wait for.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let status = i32::from(!work());
        // SAFETY: ends this process.
        unsafe { libc::_exit(status) }
    }
    let child = Some(child).filter(|child| *child > 0).and_then(Pid::from_raw);
    let child = child.ok_or_else(Error::last_os_error)?;
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            ended => return Ok(ended?.is_some_and(|(_, status)| status.exit_status() == Some(0))),
        }
    }
}
