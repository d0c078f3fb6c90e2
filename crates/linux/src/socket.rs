//! Options and states of sockets that `rustix` lacks.

use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd as _};
use std::ptr::null_mut;

use libc::{c_int, socklen_t};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags};

fn check(result: c_int) -> Result<()> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Sets an option whose value is an `int`.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn set_option(socket: impl AsFd, level: c_int, option: c_int, value: c_int) -> Result<()> {
    let (fd, place) = (socket.as_fd().as_raw_fd(), (&raw const value).cast());
    // SAFETY: the value is a live `int` of the stated size.
    check(unsafe { libc::setsockopt(fd, level, option, place, size_of::<c_int>() as socklen_t) })
}

/// Reads an option into the buffer; returns the filled part.
///
/// # Errors
/// Errors of `getsockopt(2)`.
pub fn get_option(
    socket: impl AsFd,
    level: c_int,
    option: c_int,
    buffer: &mut [u8],
) -> Result<&[u8]> {
    let mut len = socklen_t::try_from(buffer.len()).map_err(Error::other)?;
    let (fd, place) = (socket.as_fd().as_raw_fd(), buffer.as_mut_ptr().cast());
    // SAFETY: pointer and length describe `buffer`.
    check(unsafe { libc::getsockopt(fd, level, option, place, &raw mut len) })?;
    Ok(&buffer[..len as usize])
}

/// Makes a socket report by an error event when the data written last are acknowledged
/// (Documentation/networking/timestamping.rst).
///
/// # Errors
/// As `setsockopt(2)`.
pub fn tell_acknowledgements(socket: impl AsFd) -> Result<()> {
    const TX_SOFTWARE_REPORTS: c_int = 1 << 4;
    const TX_ACK: c_int = 1 << 9;
    const WITHOUT_PAYLOAD: c_int = 1 << 11;
    let flags = TX_SOFTWARE_REPORTS | TX_ACK | WITHOUT_PAYLOAD;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags)
}

/// Takes all acknowledgements that a socket has queued.
///
/// # Errors
/// If the connection is broken.
pub fn take_acknowledgements(socket: impl AsFd) -> Result<()> {
    let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
    loop {
        // The kernel drops what would be in the ancillary data.
        let mut none = RecvAncillaryBuffer::default();
        match rustix::net::recvmsg(&socket, &mut [], &mut none, flags) {
            Ok(_) => {}
            Err(Errno::AGAIN) => return Ok(()),
            Err(e) => return Err(e.into()),
        }
    }
}

/// Bytes that were written and aren't acknowledged (SIOCOUTQ).
///
/// # Errors
/// If it isn't a socket.
pub fn unacknowledged_bytes(socket: impl AsFd) -> Result<c_int> {
    let mut bytes: c_int = 0;
    // SAFETY: the kernel writes one int.
    check(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(bytes)
}

/// Discards up to `limit` bytes of a TCP stream inside the kernel; blocks until that many arrived or
/// the stream ended (0).
///
/// # Errors
/// If the connection is broken.
pub fn discard(socket: impl AsFd, limit: usize) -> Result<usize> {
    // MSG_TRUNC on TCP drops the data without copying (tcp(7)); WAITALL saves wake-ups.
    let flags = libc::MSG_TRUNC | libc::MSG_WAITALL;
    // SAFETY: with MSG_TRUNC nothing is written, so a null buffer is allowed.
    let len = unsafe { libc::recv(socket.as_fd().as_raw_fd(), null_mut(), limit, flags) };
    usize::try_from(len).map_err(|_| Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn pair() -> Result<(TcpStream, TcpStream)> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        Ok((near, listener.accept()?.0))
    }

    #[test]
    fn an_option_is_read_as_it_was_set() -> Result<()> {
        let (near, _far) = pair()?;
        set_option(&near, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, 4096)?;
        let mut buffer = [0; 8];
        let read = get_option(&near, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &mut buffer)?;
        assert_eq!(read, 4096_i32.to_ne_bytes());
        let error = set_option(&near, libc::IPPROTO_TCP, -1, 0).expect_err("no such option");
        assert_eq!(error.raw_os_error(), Some(libc::ENOPROTOOPT));
        Ok(())
    }

    #[test]
    fn discarded_data_are_acknowledged_by_an_error_event() -> Result<()> {
        let (mut near, far) = pair()?;
        tell_acknowledgements(&near)?;
        near.write_all(&[1; 1000])?;
        assert_eq!(discard(&far, 1000)?, 1000);
        let mut polled = [rustix::event::PollFd::new(&near, rustix::event::PollFlags::empty())];
        rustix::event::poll(&mut polled, None)?;
        assert!(polled[0].revents().contains(rustix::event::PollFlags::ERR));
        assert_eq!(unacknowledged_bytes(&near)?, 0);
        take_acknowledgements(&near)?;
        rustix::event::poll(&mut polled, Some(&crate::clock::timespec(0)))?;
        assert!(polled[0].revents().is_empty(), "none is left");
        drop(near);
        assert_eq!(discard(&far, 1)?, 0);
        Ok(())
    }
}
