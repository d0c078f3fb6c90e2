//! QUIC by quinn-proto.

mod config;
mod recorded_control;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use narrows_base::Ecn;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    Incoming, StreamEvent, StreamId, Transmit, VarInt,
};

use crate::clock::span;
use crate::events::ConnectionCounters;
use crate::quic::limits::Limits;
use crate::quic::stack::{Event, SenderControl, Stack, Transmission};

/// One end of a connection of quinn-proto.
pub(crate) struct Quinn {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// A client's, until it connects.
    config: Option<ClientConfig>,
}

impl Quinn {
    fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    fn accept_connection(&mut self, incoming: Incoming, now: Instant) -> Option<Transmission> {
        // A copy of the first datagram doesn't make another connection.
        if self.connection.is_some() {
            self.endpoint.ignore(incoming);
            return None;
        }
        let mut reply = Vec::new();
        match self.endpoint.accept(incoming, now, &mut reply, None) {
            Ok(accepted) => {
                self.connection = Some(accepted);
                None
            }
            Err(error) => Some(transmission(&error.response?, reply)),
        }
    }
}

impl Stack for Quinn {
    type Stream = StreamId;

    const NAME: &'static str = "quinn";

    fn client(
        tls: rustls::ClientConfig,
        limits: &Limits,
        sender_control: SenderControl<'_>,
    ) -> Self {
        let endpoint = Endpoint::new(Arc::new(config::endpoint()), None, true, None);
        Self {
            endpoint,
            connection: None,
            config: Some(config::client(tls, limits, sender_control)),
        }
    }

    fn server(tls: rustls::ServerConfig, limits: &Limits) -> Self {
        let endpoint = Arc::new(config::endpoint());
        let server = Arc::new(config::server(tls, limits));
        let endpoint = Endpoint::new(endpoint, Some(server), true, None);
        Self { endpoint, connection: None, config: None }
    }

    fn connect(&mut self, server: SocketAddr, now: Instant) {
        let config = self.config.take().expect("a client connects once");
        let connected = self.endpoint.connect(now, config, server, "narrows");
        self.connection = Some(connected.expect("a valid configuration"));
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        ecn: Ecn,
        remote: SocketAddr,
        now: Instant,
    ) -> Option<Transmission> {
        let ecn = EcnCodepoint::from_bits(ecn.bits());
        let mut reply = Vec::new();
        let data = BytesMut::from(bytes);
        match self.endpoint.handle(now, remote, None, ecn, data, &mut reply)? {
            DatagramEvent::ConnectionEvent(_, event) => {
                self.connection()?.handle_event(event);
                None
            }
            DatagramEvent::NewConnection(incoming) => self.accept_connection(incoming, now),
            DatagramEvent::Response(response) => Some(transmission(&response, reply)),
        }
    }

    fn advance(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn poll(&mut self) -> Option<Event<StreamId>> {
        use quinn_proto::Event as Own;
        loop {
            return Some(match self.connection()?.poll()? {
                Own::Connected => Event::Connected,
                Own::ConnectionLost { .. } => Event::Lost,
                Own::Stream(StreamEvent::Finished { .. }) => Event::Acknowledged,
                Own::Stream(StreamEvent::Opened { dir: Dir::Uni }) => Event::Opened,
                Own::Stream(StreamEvent::Readable { id }) => Event::Readable(id),
                _ => continue,
            });
        }
    }

    fn transmit(&mut self, now: Instant, segments: NonZeroUsize) -> Option<Transmission> {
        let mut buffer = Vec::new();
        let transmit = self.connection()?.poll_transmit(now, segments.get(), &mut buffer)?;
        Some(transmission(&transmit, buffer))
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.connection()?.poll_timeout()
    }

    fn close(&mut self, now: Instant) {
        if let Some(connection) = self.connection() {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
    }

    fn open(&mut self) -> Option<StreamId> {
        self.connection()?.streams().open(Dir::Uni)
    }

    fn write(&mut self, stream: StreamId, bytes: Bytes) -> Option<usize> {
        let mut stream = self.connection()?.send_stream(stream);
        stream.write_chunks(&mut [bytes]).ok().map(|written| written.bytes)
    }

    fn finish(&mut self, stream: StreamId) {
        if let Some(connection) = self.connection() {
            connection.send_stream(stream).finish().expect("the stream is open");
        }
    }

    fn reset(&mut self, stream: StreamId) {
        if let Some(connection) = self.connection() {
            // It can only fail if everything was acknowledged.
            let _ = connection.send_stream(stream).reset(VarInt::from_u32(0));
        }
    }

    fn accept(&mut self) -> Option<StreamId> {
        self.connection()?.streams().accept(Dir::Uni)
    }

    fn read(&mut self, stream: StreamId) -> u64 {
        let Some(connection) = self.connection() else { return 0 };
        let mut stream = connection.recv_stream(stream);
        // A stream that was reset has nothing to read.
        let Ok(mut chunks) = stream.read(false) else { return 0 };
        let mut bytes = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            bytes += chunk.bytes.len() as u64;
        }
        // The next call of `transmit` sends a window update if one is due.
        let _ = chunks.finalize();
        bytes
    }

    fn figures(&mut self) -> Option<ConnectionCounters> {
        let connection = self.connection()?;
        let (path, control) = (connection.stats().path, connection.congestion_state().metrics());
        Some(ConnectionCounters {
            sent: path.sent_packets,
            lost: path.lost_packets,
            cwnd: path.cwnd,
            ssthresh: control.ssthresh,
            mtu: u64::from(path.current_mtu),
            srtt: Some(span(path.rtt)),
            min_rtt: Some(span(path.min_rtt)),
            // Quinn's pacer has no rate, and what its BBR calls one paces nothing.
            pacing_rate: None,
            bandwidth: None,
            congestion_events: path.congestion_events,
            mtu_probes_sent: path.sent_plpmtud_probes,
        })
    }
}

fn transmission(transmit: &Transmit, mut bytes: Vec<u8>) -> Transmission {
    bytes.truncate(transmit.size);
    let ecn = transmit.ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
    Transmission { bytes, length: transmit.segment_size.unwrap_or(transmit.size), ecn }
}
