//! The receiving host: takes one connection after the other per flow and discards the data.

use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::config::{Ecn, FlowConfig};
use crate::info::TcpInfo;
use crate::sys;

/// What has arrived at the receiver of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived {
    /// Data segments over the whole chain, duplicates included.
    pub segments: u64,
    /// Data segments of the open connection, duplicates included.
    pub open_segments: u64,
    /// Payload bytes in order, over the whole chain.
    pub bytes: u64,
    /// Payload bytes of the open connection, in order.
    pub open_bytes: u64,
}

#[derive(Default)]
struct Shared {
    open: Option<OwnedFd>,
    /// Segments and bytes of the connections before.
    closed: (u64, u64),
}

/// The receiving end of one flow or chain.
pub struct Receiver(Arc<Mutex<Shared>>);

/// Data segments and payload bytes in order.
fn arrived(fd: &OwnedFd) -> (u64, u64) {
    let mut raw = [0; 256];
    let raw = sys::get_option(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw);
    let info = raw.map(TcpInfo::decode).unwrap_or_default();
    (info.data_segs_in.into(), info.bytes_received)
}

impl Receiver {
    /// Listens in the current namespace and starts a thread.
    ///
    /// # Errors
    /// If the port is taken, or the kernel lacks a control that the receiver must have.
    pub fn start(port: u16, flow: &FlowConfig) -> Result<Self> {
        let listener = sys::listen(port)?;
        if flow.ecn == Ecn::Dctcp {
            // Only a receiver with this control tells each mark; connections inherit it.
            let cca = flow.cca.as_bytes();
            sys::set_option(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, cca)?;
        }
        let shared = Arc::new(Mutex::new(Shared::default()));
        let theirs = Arc::clone(&shared);
        thread::Builder::new().spawn(move || serve(&listener, &theirs))?;
        Ok(Self(shared))
    }

    /// What has arrived until now.
    #[must_use]
    pub fn arrived(&self) -> Arrived {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (open_segments, open_bytes) = shared.open.as_ref().map(arrived).unwrap_or_default();
        let (segments, bytes) = shared.closed;
        Arrived {
            segments: segments + open_segments,
            open_segments,
            bytes: bytes + open_bytes,
            open_bytes,
        }
    }
}

/// Serves connections for ever. The lock isn't held while data is read: only this thread ever
/// closes the descriptor, and it takes the lock to do so.
fn serve(listener: &OwnedFd, shared: &Mutex<Shared>) {
    const MOST: usize = 1 << 30;
    while let Ok(connection) = sys::accept(listener.as_raw_fd()) {
        let fd = connection.as_raw_fd();
        shared.lock().unwrap_or_else(PoisonError::into_inner).open = Some(connection);
        while matches!(sys::discard(fd, MOST), Ok(n) if n > 0) {}
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = shared.open.take() {
            let (segments, bytes) = arrived(&connection);
            shared.closed.0 += segments;
            // The end of the stream took one sequence number.
            shared.closed.1 += bytes.saturating_sub(1);
        }
    }
}
