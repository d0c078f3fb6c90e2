//! Memory that system calls read and fill.

use std::mem::zeroed;

use super::address::{Fd, Sockaddr};
use super::raw::{Raw, len, raw, size};

const CONTROL_BYTES: usize = 512;

/// Zeros for a call to read from or to fill; `None` is a null pointer.
#[derive(Debug)]
pub struct Buffer(Option<Vec<u8>>);

impl Buffer {
    /// This many bytes.
    pub fn zeros(bytes: usize) -> Self {
        Self(Some(vec![0; bytes]))
    }

    /// A null pointer.
    pub fn null() -> Self {
        Self(None)
    }

    /// A pointer for the call.
    pub fn pointer(&mut self) -> *mut libc::c_void {
        self.0.as_mut().map_or(std::ptr::null_mut(), |bytes| bytes.as_mut_ptr().cast())
    }

    /// Frees the memory after a send with these flags, unless the kernel didn't copy it and may
    /// still read it.
    pub fn keep_for(self, flags: i32) {
        if flags & libc::MSG_ZEROCOPY != 0 {
            std::mem::forget(self.0);
        }
    }
}

/// A control message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlMessage {
    pub level: i32,
    pub kind: i32,
    pub data: Vec<u8>,
}

/// Flags and control messages of a received message.
#[derive(Debug)]
pub struct ReceivedMessage {
    pub flags: i32,
    pub control: Vec<ControlMessage>,
}

fn parts(buffers: &mut [(Buffer, usize)]) -> Vec<libc::iovec> {
    let part = |(buffer, len): &mut (Buffer, usize)| libc::iovec {
        iov_base: buffer.pointer(),
        iov_len: *len,
    };
    buffers.iter_mut().map(part).collect()
}

/// `sendmsg(2)`.
pub fn sendmsg(fd: Fd, to: Option<&Sockaddr>, buffers: &mut [(Buffer, usize)], flags: i32) -> Raw {
    let mut parts = parts(buffers);
    // SAFETY: plain data.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = len(parts.len());
    if let Some(to) = to {
        let (address, bytes) = to.pointer();
        message.msg_name = address.cast_mut().cast();
        message.msg_namelen = bytes;
    }
    // SAFETY: all pointers are to memory that outlives the call.
    raw(unsafe { libc::sendmsg(fd, &raw const message, flags) } as i64)
}

/// `writev(2)` or `readv(2)`.
pub fn send_parts(fd: Fd, buffers: &mut [(Buffer, usize)], write: bool) -> Raw {
    let parts = parts(buffers);
    let count = len(parts.len());
    // SAFETY: the array has this many elements, whose buffers outlive the call.
    let result = unsafe {
        if write {
            libc::writev(fd, parts.as_ptr(), count)
        } else {
            libc::readv(fd, parts.as_ptr(), count)
        }
    };
    raw(result as i64)
}

/// `recvmsg(2)`.
pub fn recvmsg(fd: Fd, buffers: &mut [(Buffer, usize)], flags: i32) -> (Raw, ReceivedMessage) {
    let mut parts = parts(buffers);
    let mut control = vec![0u64; CONTROL_BYTES / 8];
    // SAFETY: plain data.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = len(parts.len());
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = len(CONTROL_BYTES);
    // SAFETY: all pointers are to memory that outlives the call.
    let result = raw(unsafe { libc::recvmsg(fd, &raw mut message, flags) } as i64);
    let control = if result.is_ok() { control_messages(&message) } else { Vec::new() };
    (result, ReceivedMessage { flags: message.msg_flags, control })
}

fn control_messages(message: &libc::msghdr) -> Vec<ControlMessage> {
    let mut found = Vec::new();
    // SAFETY: the kernel filled the header's buffer, in which these macros walk.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = next.as_ref() {
            let data = libc::CMSG_DATA(header);
            let bytes = size(header.cmsg_len) - (data as usize - next as usize);
            let data = std::slice::from_raw_parts(data, bytes).to_vec();
            found.push(ControlMessage { level: header.cmsg_level, kind: header.cmsg_type, data });
            next = libc::CMSG_NXTHDR(message, header);
        }
    }
    found
}
