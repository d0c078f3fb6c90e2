//! The receiving host, which takes one connection after the other per flow and discards the data.

use std::collections::BTreeMap;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use narrows_linux::socket::{discard, get_option, set_option};
use narrows_spec::scenario::{EcnMode, Flow, Workload};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::connection::as_option;
use crate::info::TcpInfo;

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
    open: BTreeMap<u32, Arc<OwnedFd>>,
    /// Segments and bytes of the connections before.
    closed: (u64, u64),
}

/// The receiving end of one flow or chain.
pub struct FlowReceiver(Arc<Mutex<ReceiverState>>);

/// Data segments and payload bytes in order.
fn read_arrivals(fd: &OwnedFd) -> (u64, u64) {
    let mut raw = [0; 256];
    let raw = get_option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw);
    let info = raw.map(TcpInfo::decode).unwrap_or_default();
    (info.data_segs_in.into(), info.bytes_received)
}

impl FlowReceiver {
    /// Listens in the current namespace and starts a thread.
    ///
    /// # Errors
    /// If the port is taken, or the kernel lacks a control that the receiver needs.
    pub fn start(port: u16, flow: &Flow) -> Result<Self> {
        let listener = listen(port)?;
        if flow.ecn == EcnMode::Dctcp {
            // Only a receiver with this control echoes each mark; connections inherit it.
            sockopt::set_tcp_congestion(&listener, &flow.cca)?;
        }
        let window = flow.receive_window_bytes;
        if let Some(window) = window {
            keep_buffer(&listener, window)?;
            clamp(&listener, window)?;
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
        let (open_segments, open_bytes) =
            shared.open.values().map(|fd| read_arrivals(fd)).fold((0, 0), sum);
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
fn keep_buffer(listener: &OwnedFd, window: u64) -> Result<()> {
    let buffer = as_option(window.saturating_mul(BUFFER_PER_WINDOW));
    set_option(listener, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, buffer)
        .or_else(|_| set_option(listener, libc::SOL_SOCKET, libc::SO_RCVBUF, buffer))
}

/// Clamps the receive window to `window` bytes.
fn clamp(socket: &OwnedFd, window: u64) -> Result<()> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, as_option(window))
}

/// Clamps a connection after its first packet: when the kernel learns how large packets are, it
/// forgets the clamp (`tcp_measure_rcv_mss` of 6.12).
fn reapply_clamp(connection: &OwnedFd, window: u64) {
    // Both fail only on a connection that is gone, which the next read notices.
    let _ = discard(connection, 1).and_then(|_| clamp(connection, window));
}

/// Listens on a port at every address, although connections of an earlier run on the same host may
/// still be in TIME_WAIT there.
fn listen(port: u16) -> Result<OwnedFd> {
    let (family, flags) = (AddressFamily::INET, SocketFlags::CLOEXEC);
    let listener = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&listener, true)?;
    rustix::net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))?;
    rustix::net::listen(&listener, 16)?;
    Ok(listener)
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
        let Ok(connection) = rustix::net::accept_with(listener, SocketFlags::CLOEXEC) else {
            break;
        };
        let connection = Arc::new(connection);
        lock(shared).open.insert(number, Arc::clone(&connection));
        if !several {
            receive(&connection, number, window, shared);
            continue;
        }
        let theirs = Arc::clone(shared);
        let work = move || receive(&connection, number, window, &theirs);
        if thread::Builder::new().stack_size(STACK).spawn(work).is_err() {
            break;
        }
    }
}

/// Takes all of a connection. The lock isn't held while data is read.
fn receive(connection: &OwnedFd, number: u32, window: Option<u64>, shared: &Mutex<ReceiverState>) {
    const MOST: usize = 1 << 30;
    if let Some(window) = window {
        reapply_clamp(connection, window);
    }
    while matches!(discard(connection, MOST), Ok(n) if n > 0) {}
    let mut shared = lock(shared);
    shared.open.remove(&number);
    let (segments, bytes) = read_arrivals(connection);
    shared.closed.0 += segments;
    // The end of the stream took one sequence number.
    shared.closed.1 += bytes.saturating_sub(1);
}

fn lock(shared: &Mutex<ReceiverState>) -> MutexGuard<'_, ReceiverState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{Ipv4Addr, TcpStream};

    use rustix::net::getsockname;

    use super::*;

    #[test]
    fn a_port_can_be_used_again_at_once() {
        let first = listen(0).expect("any port");
        let address = SocketAddrV4::try_from(getsockname(&first).expect("a name")).expect("IPv4");
        let mut far = TcpStream::connect((Ipv4Addr::LOCALHOST, address.port())).expect("connects");
        // The end that closes first is the one that waits.
        drop(rustix::net::accept(&first).expect("a connection"));
        drop(first);
        assert_eq!(far.read(&mut [0]).expect("the end"), 0);
        drop(far);
        listen(address.port()).expect("the same port");
    }
}
