//! Frames of a packet socket, many with one system call, each with the time when it came.
//!
//! A system call of a guest costs its host some 30 us, which is more than all else that happens to
//! a packet in it.

use std::io::{Error, ErrorKind, Result};
use std::mem::zeroed;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::null_mut;

use crate::sys::NANOS;

/// Frames that one system call takes.
const FRAMES: u32 = 64;
/// Bytes of a `struct cmsghdr` with a `struct timespec` on a machine of 64 bits.
const CONTROL: usize = 32;
const SECONDS: usize = 16;
const NANOSECONDS: usize = 24;

/// Room for frames.
pub(crate) struct Batch {
    frames: Vec<Vec<u8>>,
    controls: Vec<[u64; CONTROL / 8]>,
}

impl Batch {
    /// Room for frames of up to `largest` bytes.
    pub(crate) fn new(largest: usize) -> Self {
        Self {
            frames: vec![vec![0; largest]; FRAMES as usize],
            controls: vec![[0; CONTROL / 8]; FRAMES as usize],
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

fn message(part: &mut libc::iovec, control: &mut [u64; CONTROL / 8]) -> libc::mmsghdr {
    *control = [0; CONTROL / 8];
    // SAFETY: plain data.
    let mut message: libc::mmsghdr = unsafe { zeroed() };
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    message.msg_hdr.msg_control = control.as_mut_ptr().cast();
    message.msg_hdr.msg_controllen = CONTROL as _;
    message
}

/// The time of arrival in ns (SO_TIMESTAMPNS, socket(7)).
fn stamp(control: &[u64; CONTROL / 8]) -> Result<u64> {
    let kind = control[1].to_ne_bytes();
    let field = |at: usize| i32::from_ne_bytes([0, 1, 2, 3].map(|byte| kind[at + byte]));
    if (field(0), field(4)) != (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS) {
        return Err(Error::other("a packet came without its time"));
    }
    Ok(control[SECONDS / 8] * NANOS + control[NANOSECONDS / 8])
}
