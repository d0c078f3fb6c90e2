//! The receiving host, which takes one connection after the other per flow and discards the data.

use std::collections::BTreeMap;
use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use narrows_spec::scenario::{EcnMode, Flow, Workload};

use crate::info::TcpInfo;
use crate::sys;

/// Buffer for the overhead of small packets, so that the clamp rather than the buffer is the limit.
const BUFFER_PER_WINDOW: u64 = 4;

/// The data that have arrived at the receiver of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivedData {
    /// Data segments over the whole chain, including duplicates.
    pub segments: u64,
    /// Data segments of the open connection, including duplicates.
    pub open_segments: u64,
    /// Payload bytes in order, over the whole chain.
    pub bytes: u64,
    /// Payload bytes of the open connection, in order.
    pub open_bytes: u64,
}

#[derive(Default)]
struct ReceiverState {
    /// The open connections, by their numbers.
    open: BTreeMap<u32, OwnedFd>,
    /// Segments and bytes of the connections before.
    closed: (u64, u64),
}

/// The receiving end of one flow or chain.
pub struct FlowReceiver(Arc<Mutex<ReceiverState>>);

/// Data segments and payload bytes in order.
fn read_arrivals(fd: &OwnedFd) -> (u64, u64) {
    let mut raw = [0; 256];
    let raw = sys::get_option(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw);
    let info = raw.map(TcpInfo::decode).unwrap_or_default();
    (info.data_segs_in.into(), info.bytes_received)
}

impl FlowReceiver {
    /// Listens in the current namespace and starts a thread.
    ///
    /// # Errors
    /// If the port is taken, or the kernel lacks a control that the receiver needs.
    pub fn start(port: u16, flow: &Flow) -> Result<Self> {
        let listener = sys::listen(port)?;
        if flow.ecn == EcnMode::Dctcp {
            // Only a receiver with this control echoes each mark; connections inherit it.
            let cca = flow.cca.as_bytes();
            sys::set_option(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, cca)?;
        }
        let window = flow.receive_window_bytes;
        if let Some(window) = window {
            keep_buffer(listener.as_raw_fd(), window)?;
            clamp(listener.as_raw_fd(), window)?;
        }
        let shared = Arc::new(Mutex::new(ReceiverState::default()));
        let theirs = Arc::clone(&shared);
        let several = matches!(flow.workload, Some(Workload::Arrivals { .. }));
        thread::Builder::new().spawn(move || serve(&listener, window, several, &theirs))?;
        Ok(Self(shared))
    }

    /// The data that have arrived until now.
    #[must_use]
    pub fn arrivals(&self) -> ArrivedData {
        let shared = lock(&self.0);
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        let (open_segments, open_bytes) = shared.open.values().map(read_arrivals).fold((0, 0), sum);
        let (segments, bytes) = shared.closed;
        // Segments say how much is beyond holes, but only of a single connection.
        let alone = shared.open.len() == 1;
        ArrivedData {
            segments: segments + open_segments,
            open_segments: if alone { open_segments } else { 0 },
            bytes: bytes + open_bytes,
            open_bytes,
        }
    }
}

/// Sets the buffer, because a set buffer isn't autotuned, which would move the window's clamp
/// (`tcp_rcv_space_adjust`).
fn keep_buffer(fd: RawFd, window: u64) -> Result<()> {
    let buffer = option_bytes(window.saturating_mul(BUFFER_PER_WINDOW));
    sys::set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &buffer)
        .or_else(|_| sys::set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer))
}

/// Clamps the receive window to `window` bytes.
fn clamp(fd: RawFd, window: u64) -> Result<()> {
    sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &option_bytes(window))
}

/// Clamps a connection after its first packet: when the kernel learns how large packets are, it
/// forgets the clamp (`tcp_measure_rcv_mss` of 6.12).
fn reapply_clamp(fd: RawFd, window: u64) {
    // Both fail only on a connection that is gone, which the next read notices.
    let _ = sys::discard(fd, 1).and_then(|_| clamp(fd, window));
}

fn option_bytes(value: u64) -> [u8; 4] {
    i32::try_from(value).unwrap_or(i32::MAX).to_ne_bytes()
}

/// Serves connections for ever, one after another or `several` at once.
fn serve(
    listener: &OwnedFd,
    window: Option<u64>,
    several: bool,
    shared: &Arc<Mutex<ReceiverState>>,
) {
    const STACK: usize = 64 << 10;
    for number in 0.. {
        let Ok(connection) = sys::accept(listener.as_raw_fd()) else { break };
        let fd = connection.as_raw_fd();
        lock(shared).open.insert(number, connection);
        if !several {
            receive(fd, number, window, shared);
            continue;
        }
        let theirs = Arc::clone(shared);
        let work = move || receive(fd, number, window, &theirs);
        if thread::Builder::new().stack_size(STACK).spawn(work).is_err() {
            break;
        }
    }
}

/// Takes all of a connection. The lock isn't held while data is read: nobody else ever closes the
/// descriptor, and here that takes the lock.
fn receive(fd: RawFd, number: u32, window: Option<u64>, shared: &Mutex<ReceiverState>) {
    const MOST: usize = 1 << 30;
    if let Some(window) = window {
        reapply_clamp(fd, window);
    }
    while matches!(sys::discard(fd, MOST), Ok(n) if n > 0) {}
    let mut shared = lock(shared);
    if let Some(connection) = shared.open.remove(&number) {
        let (segments, bytes) = read_arrivals(&connection);
        shared.closed.0 += segments;
        // The end of the stream took one sequence number.
        shared.closed.1 += bytes.saturating_sub(1);
    }
}

fn lock(shared: &Mutex<ReceiverState>) -> MutexGuard<'_, ReceiverState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
