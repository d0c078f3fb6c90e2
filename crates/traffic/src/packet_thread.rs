//! A thread that takes the packets of a device until it is told to end.

use std::io::{Error, ErrorKind, PipeReader, PipeWriter, Result, pipe};
use std::os::fd::OwnedFd;
use std::thread::{self, JoinHandle};

use narrows_linux::device::device_index;
use narrows_linux::packets::{
    PacketBatch, ReceivedPacket, bind_packets, missed_packets, stamp_packets,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Bytes of packets that may wait for the thread.
const BUFFER: usize = 256 << 20;

/// A thread that takes packets, and makes a `T` of them.
pub struct PacketThread<T> {
    thread: JoinHandle<Result<T>>,
    /// The thread ends when this is closed.
    end: PipeWriter,
}

impl<T: Send + 'static> PacketThread<T> {
    /// Takes the packets of a device of the current namespace.
    ///
    /// # Errors
    /// If there is no such device or no right to capture.
    pub fn start(
        device: &str,
        work: impl FnOnce(&PacketStream) -> Result<T> + Send + 'static,
    ) -> Result<Self> {
        let socket = open(device)?;
        let (ended, end) = pipe()?;
        let stream = PacketStream { socket, ended };
        Ok(Self { thread: thread::Builder::new().spawn(move || work(&stream))?, end })
    }

    /// Ends it, after the packets that came until now; returns what it made.
    ///
    /// # Errors
    /// Errors of its work.
    pub fn finish(self) -> Result<T> {
        drop(self.end);
        self.thread.join().map_err(|_| Error::from(ErrorKind::Other))?
    }
}

/// The packets of a thread's device.
pub struct PacketStream {
    socket: OwnedFd,
    /// Closed at its other side when it ends.
    ended: PipeReader,
}

impl PacketStream {
    /// Passes each packet to `each` until the thread is to end, with its first `largest` bytes.
    ///
    /// # Errors
    /// If the packets can't be read, and errors of `each`.
    pub fn take(
        &self,
        largest: usize,
        mut each: impl FnMut(ReceivedPacket<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut batch = PacketBatch::new(largest);
        loop {
            let is_over = self.await_packets()?;
            batch.take(&self.socket, &mut each)?;
            if is_over {
                return Ok(());
            }
        }
    }

    /// Returns whether the thread is to end.
    fn await_packets(&self) -> Result<bool> {
        let mut polled = [
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::empty()),
        ];
        match poll(&mut polled, None) {
            Ok(_) => Ok(!polled[1].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Packets that it missed because they weren't taken in time.
    ///
    /// # Errors
    /// Never in practice.
    pub fn missed_count(&self) -> Result<u64> {
        missed_packets(&self.socket)
    }
}

/// A socket that receives all IP packets of a device of the current namespace.
fn open(device: &str) -> Result<OwnedFd> {
    // No protocol: nothing is captured before the device is chosen.
    let (family, flags) = (AddressFamily::PACKET, SocketFlags::CLOEXEC);
    let socket = rustix::net::socket_with(family, SocketType::DGRAM, flags, None)?;
    // Only the first namespace's root may have more than net.core.rmem_max.
    sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, BUFFER))?;
    stamp_packets(&socket)?;
    bind_packets(&socket, libc::ETH_P_ALL, device_index(device)?)?;
    Ok(socket)
}
