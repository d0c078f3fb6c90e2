//! Frames of a packet socket, many with one system call, each with the time when it came.
//!
//! A system call of a guest costs its host some 20 us, which is more than all else that happens to
//! a packet in it.

use std::io::{Error, ErrorKind, Result};
use std::mem::zeroed;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::null_mut;

use crate::sys::NANOS;

/// Frames that one system call takes or sends.
pub(crate) const FRAMES: u32 = 64;

/// A `struct cmsghdr` with a `struct timespec` on a machine of 64 bits.
#[repr(C)]
#[derive(Default)]
struct Control {
    length: u64,
    level: libc::c_int,
    kind: libc::c_int,
    seconds: u64,
    nanoseconds: u64,
}

/// Room for frames.
pub(crate) struct Batch {
    frames: Vec<Vec<u8>>,
    controls: Vec<Control>,
}

impl Batch {
    /// Room for frames of up to `largest` bytes.
    pub(crate) fn new(largest: usize) -> Self {
        // Not `vec![vec![..]; n]`, whose copies would use all of the memory at once.
        Self {
            frames: (0..FRAMES).map(|_| vec![0; largest]).collect(),
            controls: (0..FRAMES).map(|_| Control::default()).collect(),
        }
    }

    /// Passes every frame that waits at the socket to `each`, with CLOCK_REALTIME of its arrival
    /// in ns. The socket has to stamp them (`sys::frame_socket`).
    pub(crate) fn take(
        &mut self,
        socket: &OwnedFd,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<()> {
        loop {
            let lengths = self.receive(socket)?;
            for (number, &length) in lengths.iter().enumerate() {
                each(stamp(&self.controls[number])?, &self.frames[number][..length]);
            }
            if lengths.len() < FRAMES as usize {
                return Ok(());
            }
        }
    }

    /// Fills the room; returns the length of each frame that came.
    fn receive(&mut self, socket: &OwnedFd) -> Result<Vec<usize>> {
        let mut parts: Vec<_> = self.frames.iter_mut().map(|frame| part(frame)).collect();
        let places = parts.iter_mut().zip(&mut self.controls);
        let mut messages: Vec<_> = places.map(|(part, control)| message(part, control)).collect();
        let (first, count) = (messages.as_mut_ptr(), FRAMES);
        let flags = libc::MSG_DONTWAIT as _;
        // SAFETY: the messages, and all that they point to, outlive the call.
        let got = unsafe { libc::recvmmsg(socket.as_raw_fd(), first, count, flags, null_mut()) };
        match usize::try_from(got) {
            Ok(got) => Ok(messages[..got].iter().map(|each| each.msg_len as usize).collect()),
            Err(_) => match Error::last_os_error() {
                error if error.kind() == ErrorKind::WouldBlock => Ok(Vec::new()),
                error => Err(error),
            },
        }
    }
}

fn part(frame: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() }
}

fn message(part: &mut libc::iovec, control: &mut Control) -> libc::mmsghdr {
    *control = Control::default();
    // SAFETY: plain data.
    let mut message: libc::mmsghdr = unsafe { zeroed() };
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    message.msg_hdr.msg_control = (&raw mut *control).cast();
    #[allow(clippy::cast_possible_truncation, reason = "32 bits in musl, and a few bytes")]
    {
        message.msg_hdr.msg_controllen = size_of::<Control>() as _;
    }
    message
}

/// The time of arrival in ns (SO_TIMESTAMPNS, socket(7)).
fn stamp(control: &Control) -> Result<u64> {
    if (control.level, control.kind) != (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS) {
        return Err(Error::other("a packet came without its time"));
    }
    Ok(control.seconds * NANOS + control.nanoseconds)
}
