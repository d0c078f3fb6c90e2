//! Moves datagrams, timers and events between a stack's state machines and the network.
//!
//! This text is compiled for each QUIC stack; `proto` is its crate.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use narrows_base::{Ecn, Time};
use narrows_tcp::ends::Outgoing;

use super::own;
use super::proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, Event, ServerConfig, Transmit, VarInt,
};
use crate::clock::Clock;
use draws::Draws;

/// The addresses by which the ends know each other; captures have those of the flow.
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 50_000);

/// One end: an endpoint with its connection.
pub(super) struct Driver {
    clock: Clock,
    draws: Draws,
    /// Datagrams at most that leave at once.
    segments: NonZeroUsize,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    remote: SocketAddr,
    ready: VecDeque<Outgoing>,
    /// The next timer of the connection.
    timer: Option<Time>,
    /// When it did something last; what is ready is due then.
    now: Time,
}

impl Driver {
    pub(super) fn new(
        clock: Clock,
        mut draws: Draws,
        segments: NonZeroUsize,
        config: EndpointConfig,
        server: Option<Arc<ServerConfig>>,
    ) -> Self {
        let remote = if server.is_some() { CLIENT } else { SERVER };
        let endpoint = draws.during(|| own::endpoint(Arc::new(config), server));
        let (ready, now) = (VecDeque::new(), Time::ZERO);
        Self { clock, draws, segments, endpoint, connection: None, remote, ready, timer: None, now }
    }

    /// Connects to the server.
    pub(super) fn connect(&mut self, config: ClientConfig, now: Time) {
        let (instant, endpoint) = (self.clock.instant(now), &mut self.endpoint);
        let made = self.draws.during(|| endpoint.connect(instant, config, SERVER, "narrows"));
        self.connection = Some(made.expect("a valid configuration"));
    }

    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// Takes a datagram; what follows from it is done by [`Self::run`].
    pub(super) fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time) {
        let (instant, remote) = (self.clock.instant(now), self.remote);
        let (endpoint, connection) = (&mut self.endpoint, &mut self.connection);
        let mut reply = Vec::new();
        let transmit = self.draws.during(|| {
            let data = BytesMut::from(bytes);
            let ecn = EcnCodepoint::from_bits(ecn.bits());
            match own::handle(endpoint, instant, remote, ecn, data, &mut reply)? {
                DatagramEvent::ConnectionEvent(_, event) => {
                    connection.as_mut()?.1.handle_event(event);
                    None
                }
                DatagramEvent::NewConnection(incoming) => {
                    // A copy of the first datagram doesn't make another connection.
                    if connection.is_some() {
                        endpoint.ignore(incoming);
                        return None;
                    }
                    match endpoint.accept(incoming, instant, &mut reply, None) {
                        Ok(accepted) => *connection = Some(accepted),
                        Err(error) => return error.response,
                    }
                    None
                }
                DatagramEvent::Response(transmit) => Some(transmit),
            }
        });
        if let Some(transmit) = transmit {
            self.send(&transmit, &reply);
        }
    }

    /// Does everything that is due; `application` handles events and then reads and writes.
    pub(super) fn run(
        &mut self,
        now: Time,
        application: &mut dyn FnMut(&mut Connection, Option<Event>),
    ) {
        self.now = now;
        let instant = self.clock.instant(now);
        let mut sent = Vec::new();
        let Some((handle, connection)) = &mut self.connection else { return };
        let (endpoint, handle, segments) = (&mut self.endpoint, *handle, self.segments);
        self.draws.during(|| {
            loop {
                while connection.poll_timeout().is_some_and(|at| at <= instant) {
                    connection.handle_timeout(instant);
                }
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = endpoint.handle_event(handle, event) {
                        connection.handle_event(event);
                    }
                }
                while let Some(event) = connection.poll() {
                    application(connection, Some(event));
                }
                application(connection, None);
                let mut buffer = Vec::new();
                let Some(transmit) = own::transmit(connection, instant, segments, &mut buffer)
                else {
                    break;
                };
                sent.push((transmit, buffer));
            }
        });
        let timer = connection.poll_timeout();
        self.timer = timer.map(|at| self.clock.time(at));
        for (transmit, buffer) in sent {
            self.send(&transmit, &buffer);
        }
    }

    /// Closes the connection, and tells the other end.
    pub(super) fn close(&mut self, now: Time) {
        let instant = self.clock.instant(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(instant, VarInt::from_u32(0), Bytes::new());
        }
        self.run(now, &mut |_, _| {});
    }

    /// Makes datagrams of a transmission, which may have several.
    fn send(&mut self, transmit: &Transmit, buffer: &[u8]) {
        let ecn = transmit.ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
        let length = transmit.segment_size.unwrap_or(transmit.size);
        let datagrams = buffer[..transmit.size].chunks(length);
        self.ready.extend(datagrams.map(|bytes| Outgoing { bytes: bytes.into(), ecn }));
    }

    /// Whether a timer is due.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.timer.is_some_and(|at| at <= now)
    }

    pub(super) fn pop(&mut self) -> Option<Outgoing> {
        self.ready.pop_front()
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        if self.ready.is_empty() { self.timer } else { Some(self.now) }
    }
}
