//! The interface of a QUIC stack.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use narrows_base::Ecn;

use super::limits::Limits;
use crate::events::{ConnectionCounters, ConnectionEvents};
use crate::logs::QlogWriter;

/// One end of one connection: the stack's endpoint and its connection.
///
/// A client has no connection before [`Self::connect`], a server none before the first datagram.
/// Without a connection nothing is due, sent or read. Calls draw random numbers from the generator
/// that the caller has set (`draws`).
pub(crate) trait Stack: Sized + Send + 'static {
    /// Identifies a stream.
    type Stream: Copy + Send;

    /// The stack's name in specifications.
    const NAME: &'static str;

    /// Makes the sending end.
    fn client(
        tls: rustls::ClientConfig,
        limits: &Limits,
        sender_control: SenderControl<'_>,
    ) -> Self;

    /// Makes the receiving end.
    fn server(tls: rustls::ServerConfig, limits: &Limits) -> Self;

    /// Begins the handshake; a client does so once.
    fn connect(&mut self, server: SocketAddr, now: Instant);

    /// Takes a datagram. Returns the answer that an endpoint gives without a connection.
    fn receive(
        &mut self,
        bytes: &[u8],
        ecn: Ecn,
        remote: SocketAddr,
        now: Instant,
    ) -> Option<Transmission>;

    /// Runs the timers that are due and passes events between endpoint and connection.
    fn advance(&mut self, now: Instant);

    /// Returns the next event for the application.
    fn poll(&mut self) -> Option<Event<Self::Stream>>;

    /// Returns the next datagrams to send, `segments` of them at most.
    fn transmit(&mut self, now: Instant, segments: NonZeroUsize) -> Option<Transmission>;

    /// Returns the instant of the next timer.
    fn next_timeout(&mut self) -> Option<Instant>;

    /// Closes the connection; the next datagram says so.
    fn close(&mut self, now: Instant);

    /// Opens a stream on which this end writes.
    fn open(&mut self) -> Option<Self::Stream>;

    /// Writes as many of `bytes` as the windows allow and returns their number, `None` if none.
    fn write(&mut self, stream: Self::Stream, bytes: Bytes) -> Option<usize>;

    /// Marks the end of a stream.
    fn finish(&mut self, stream: Self::Stream);

    /// Abandons a stream: what waits isn't sent.
    fn reset(&mut self, stream: Self::Stream);

    /// Returns the next stream that the other end has opened.
    fn accept(&mut self) -> Option<Self::Stream>;

    /// Reads what has arrived on a stream, in any order, and returns the number of bytes.
    fn read(&mut self, stream: Self::Stream) -> u64;

    /// Returns the connection's counters.
    fn figures(&mut self) -> Option<ConnectionCounters>;
}

/// The control of a sending end, and where its events are recorded.
pub(crate) struct SenderControl<'a> {
    /// The congestion control.
    pub(crate) cca: &'a str,
    /// The name of the flow, the title of its qlog.
    pub(crate) flow: &'a str,
    /// Where acknowledgements and losses are counted.
    pub(crate) seen: &'a Arc<Mutex<ConnectionEvents>>,
    /// Takes the qlog.
    pub(crate) qlog: Option<QlogWriter>,
    /// Time 0 of the run.
    pub(crate) start: Instant,
}

/// An event for the application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<S> {
    /// The handshake is complete.
    Connected,
    /// The other end has acknowledged a whole stream.
    Acknowledged,
    /// The connection is closed or lost.
    Lost,
    /// The other end has opened streams.
    Opened,
    /// A stream has something to read.
    Readable(S),
}

/// Datagrams that leave at once.
#[derive(Debug)]
pub(crate) struct Transmission {
    /// One datagram after the other.
    pub(crate) bytes: Vec<u8>,
    /// The length of each datagram; the last one may be shorter.
    pub(crate) length: usize,
    pub(crate) ecn: Ecn,
}
