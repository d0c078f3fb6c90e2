//! Makes both ends of a connection.
//!
//! Options are those that the stack ships with, except the limits of buffers and windows, which
//! follow `socket_buffers` and `receive_window` as those of TCP do.

use std::num::NonZeroUsize;
use std::sync::Arc;

use draws::Draws;
use narrows_base::Time;
use narrows_sim::stacks::Connecting;
use narrows_spec::scenario::SocketBuffers;
use narrows_spec::stacks::option;
use narrows_tcp::ends::Ends;
use ring::hmac;

use super::client::Client;
use super::driver::Driver;
use super::own;
use super::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use super::proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig,
    ServerConfig, TransportConfig, VarInt,
};
use super::server::Server;
use super::watch::Watch;
use crate::clock::Clock;
use crate::events::ConnectionEvents;
use crate::logs::Logs;
use crate::tls::Identity;

/// Limits with raised buffers, as for TCP.
const RAISED: u64 = 64 << 20;
/// Limits with unlimited ones: more than any path of a specification holds.
const UNLIMITED: u64 = 1 << 32;

/// Both ends of a flow.
pub(crate) fn ends(connecting: &Connecting, logs: &Logs) -> Ends {
    let (stack, flow) = (own::NAME, &connecting.flow.name);
    let draws = |end: &str| Draws::new(connecting.seed, &format!("stack/{stack}/{flow}/{end}"));
    let (mut of_client, mut of_server) = (draws("client"), draws("server"));
    let options = &connecting.flow.options;
    let segments = option(options, "segments").and_then(|number| usize::try_from(number).ok());
    let segments = segments.and_then(NonZeroUsize::new).expect("it has a default and bounds");
    let clock = Clock::new();
    let identity = of_server.during(|| Identity::new(draws::bytes()));
    let config_of_server = of_server.during(endpoint);
    let tls = QuicServerConfig::try_from(identity.server()).expect("it has an initial suite");
    let mut config = of_server.during(|| ServerConfig::new(Arc::new(tls), own::token_key()));
    config.transport_config(Arc::new(transport(connecting)));
    let server = Driver::new(clock, of_server, segments, config_of_server, Some(Arc::new(config)));

    let seen = ConnectionEvents::new_shared();
    let mut watched = transport(connecting);
    let control = own::control(&connecting.flow.cca, option(options, "initial_window"));
    watched.congestion_controller_factory(Arc::new(Watch::new(control, &seen)));
    if let Some(writer) = logs.qlog(flow) {
        own::log(&mut watched, writer, flow, clock.instant(Time::ZERO));
    }
    let tls =
        QuicClientConfig::try_from(identity.client(&logs.keys)).expect("it has an initial suite");
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(watched));
    config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&draws::bytes::<20>())));
    let config_of_client = of_client.during(endpoint);
    let client = Driver::new(clock, of_client, segments, config_of_client, None);
    (Box::new(Client::new(client, config, connecting, seen)), Box::new(Server::new(server)))
}

fn endpoint() -> EndpointConfig {
    let mut config =
        EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &draws::bytes::<32>())));
    config.rng_seed(Some(draws::bytes()));
    own::name_connections(&mut config, || Box::new(Ids));
    config
}

fn transport(connecting: &Connecting) -> TransportConfig {
    let mut config = TransportConfig::default();
    let limit = match connecting.buffers {
        SocketBuffers::Stock => None,
        SocketBuffers::Raised => Some(RAISED),
        SocketBuffers::Unlimited => Some(UNLIMITED),
    };
    let threshold = option(&connecting.flow.options, "ack_threshold").map(VarInt::from_u64);
    if let Some(Ok(threshold)) = threshold {
        let mut acks = AckFrequencyConfig::default();
        acks.ack_eliciting_threshold(threshold);
        config.ack_frequency_config(Some(acks));
    }
    if let Some(limit) = limit {
        config.send_window(limit);
    }
    if let Some(window) = connecting.flow.receive_window_bytes.or(limit) {
        let window = VarInt::from_u64(window).unwrap_or(VarInt::MAX);
        config.stream_receive_window(window);
    }
    config
}

/// Makes connection IDs as the stack's own generator of random ones, from the seed.
struct Ids;

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&draws::bytes::<8>())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}
