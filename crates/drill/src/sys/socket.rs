//! Sockets and other descriptors.

use std::ffi::CString;

use super::address::{Fd, Sockaddr};
use super::memory::Buffer;
use super::raw::{Raw, len, raw};

pub fn socket(family: i32, kind: i32, protocol: i32) -> Raw {
    // SAFETY: no memory involved.
    raw(unsafe { libc::socket(family, kind, protocol) })
}

pub fn bind(fd: Fd, to: &Sockaddr) -> Raw {
    let (address, len) = to.pointer();
    // SAFETY: pointer and length describe the address.
    raw(unsafe { libc::bind(fd, address, len) })
}

pub fn connect(fd: Fd, to: &Sockaddr) -> Raw {
    let (address, len) = to.pointer();
    // SAFETY: pointer and length describe the address.
    raw(unsafe { libc::connect(fd, address, len) })
}

pub fn listen(fd: Fd, backlog: i32) -> Raw {
    // SAFETY: no memory involved.
    raw(unsafe { libc::listen(fd, backlog) })
}

pub fn accept(fd: Fd) -> Raw {
    // SAFETY: null pointers ask for no address.
    raw(unsafe { libc::accept(fd, std::ptr::null_mut(), std::ptr::null_mut()) })
}

pub fn close(fd: Fd) -> Raw {
    // SAFETY: no memory involved.
    raw(unsafe { libc::close(fd) })
}

pub fn shutdown(fd: Fd, how: i32) -> Raw {
    // SAFETY: no memory involved.
    raw(unsafe { libc::shutdown(fd, how) })
}

pub fn fcntl(fd: Fd, command: i32, argument: i32) -> Raw {
    // SAFETY: the commands of scripts take a number.
    raw(unsafe { libc::fcntl(fd, command, argument) })
}

pub fn read(fd: Fd, buffer: &mut Buffer, count: usize) -> Raw {
    // SAFETY: the buffer has `count` bytes, or is a null pointer, which the kernel refuses.
    raw(unsafe { libc::read(fd, buffer.pointer(), count) } as i64)
}

pub fn write(fd: Fd, buffer: &mut Buffer, count: usize) -> Raw {
    // SAFETY: as above.
    raw(unsafe { libc::write(fd, buffer.pointer(), count) } as i64)
}

pub fn recv(fd: Fd, buffer: &mut Buffer, count: usize, flags: i32) -> Raw {
    // SAFETY: as above.
    raw(unsafe { libc::recv(fd, buffer.pointer(), count, flags) } as i64)
}

pub fn sendto(fd: Fd, buffer: &mut Buffer, count: usize, flags: i32, to: Option<&Sockaddr>) -> Raw {
    let (address, bytes) = to.map_or((std::ptr::null(), 0), Sockaddr::pointer);
    // SAFETY: as above; pointer and length describe the address.
    raw(unsafe { libc::sendto(fd, buffer.pointer(), count, flags, address, bytes) } as i64)
}

/// `value` may be longer than `len`, which the kernel gets.
pub fn setsockopt(fd: Fd, level: i32, name: i32, value: &[u8], bytes: u32) -> Raw {
    assert!(bytes as usize <= value.len(), "the caller gives enough memory");
    // SAFETY: the value has that many bytes.
    raw(unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), bytes) })
}

/// Fills the value; returns the length that the kernel gives as well.
pub fn getsockopt(fd: Fd, level: i32, name: i32, value: &mut [u8]) -> (Raw, usize) {
    let mut bytes: libc::socklen_t = len(value.len());
    let to = value.as_mut_ptr().cast();
    // SAFETY: the value has that many bytes.
    let result = raw(unsafe { libc::getsockopt(fd, level, name, to, &raw mut bytes) });
    (result, bytes as usize)
}

/// The number of bytes that `SIOCINQ` gives.
pub fn inq(fd: Fd) -> (Raw, i32) {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request fills an int.
    let result = raw(unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) });
    (result, bytes)
}

/// Calls poll(2); returns its result and the events of each descriptor.
pub fn poll(fds: &[(Fd, i16)], timeout_ms: i32) -> (Raw, Vec<i16>) {
    let mut polled: Vec<_> =
        fds.iter().map(|&(fd, events)| libc::pollfd { fd, events, revents: 0 }).collect();
    // SAFETY: the array has this many elements and outlives the call.
    let result = raw(unsafe { libc::poll(polled.as_mut_ptr(), len(polled.len()), timeout_ms) });
    (result, polled.iter().map(|each| each.revents).collect())
}

pub fn epoll_create(size: i32) -> Raw {
    // SAFETY: no memory involved.
    raw(unsafe { libc::epoll_create(size) })
}

pub fn epoll_ctl(fd: Fd, operation: i32, of: Fd, events: u32, data: u64) -> Raw {
    let mut event = libc::epoll_event { events, u64: data };
    // SAFETY: the event outlives the call.
    raw(unsafe { libc::epoll_ctl(fd, operation, of, &raw mut event) })
}

pub fn epoll_wait(fd: Fd, most: usize, timeout_ms: i32) -> (Raw, Vec<(u32, u64)>) {
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; most.max(1)];
    // SAFETY: the array has at least `most` elements and outlives the call.
    let result = raw(unsafe { libc::epoll_wait(fd, events.as_mut_ptr(), len(most), timeout_ms) });
    let count = usize::try_from(result.unwrap_or(0)).unwrap_or(0);
    (result, events[..count].iter().map(|event| (event.events, event.u64)).collect())
}

pub fn open(path: &str, flags: i32) -> Raw {
    let path = CString::new(path).map_err(|_| libc::EINVAL)?;
    // SAFETY: the path is a C string that outlives the call.
    raw(unsafe { libc::open(path.as_ptr(), flags) })
}

/// Both ends, for reading and for writing.
pub fn pipe() -> Result<[Fd; 2], i32> {
    let mut ends = [0; 2];
    // SAFETY: the array has two elements.
    raw(unsafe { libc::pipe(ends.as_mut_ptr()) })?;
    Ok(ends)
}

pub fn splice(from: Fd, to: Fd, count: usize, flags: u32) -> Raw {
    let none = std::ptr::null_mut();
    // SAFETY: null pointers stand for no offset.
    raw(unsafe { libc::splice(from, none, to, none, count, flags) } as i64)
}

pub fn sendfile(to: Fd, from: Fd, offset: i64, count: usize) -> Raw {
    let mut offset: libc::off_t = offset;
    // SAFETY: the offset outlives the call.
    raw(unsafe { libc::sendfile(to, from, &raw mut offset, count) } as i64)
}
