//! The configuration of both ends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig,
    QlogConfig, QlogFactory, ServerConfig, Side, TransportConfig, VarInt,
};
use ring::hmac;

use super::recorded_control::RecordedControlFactory;
use crate::quic::limits::Limits;
use crate::quic::stack::SenderControl;

pub(super) fn endpoint() -> EndpointConfig {
    let mut config =
        EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &draws::bytes::<32>())));
    config.rng_seed(Some(draws::bytes()));
    config.cid_generator(Arc::new(|| Box::new(Ids)));
    config
}

pub(super) fn server(tls: rustls::ServerConfig, limits: &Limits) -> ServerConfig {
    let tls = QuicServerConfig::try_from(tls).expect("it has an initial suite");
    let mut config = ServerConfig::new(Arc::new(tls), Arc::new(NoTokens));
    config.transport_config(Arc::new(transport(limits)));
    config
}

pub(super) fn client(
    tls: rustls::ClientConfig,
    limits: &Limits,
    sender_control: SenderControl<'_>,
) -> ClientConfig {
    let mut transport = transport(limits);
    let control = control(sender_control.cca, limits.initial_window);
    transport.congestion_controller_factory(Arc::new(RecordedControlFactory::new(
        control,
        sender_control.seen,
    )));
    if let Some(writer) = sender_control.qlog {
        let mut qlog = QlogConfig::new(writer);
        qlog.title(Some(sender_control.flow.to_owned())).start_time(sender_control.start);
        transport.qlog_factory(Arc::new(FirstQlog(Mutex::new(Some(qlog)))));
    }
    let tls = QuicClientConfig::try_from(tls).expect("it has an initial suite");
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&draws::bytes::<20>())));
    config
}

/// Noq's control of this name.
fn control(cca: &str, window: Option<u64>) -> Arc<dyn ControllerFactory + Send + Sync> {
    match cca {
        "cubic" => with_window!(CubicConfig, window),
        "reno" => with_window!(NewRenoConfig, window),
        // It draws from the seed because `rand_pcg` does (crates/draws).
        "bbr3" => with_window!(Bbr3Config, window),
        other => unreachable!("the scenario was checked: {other}"),
    }
}

fn transport(limits: &Limits) -> TransportConfig {
    let mut config = TransportConfig::default();
    if let Some(Ok(threshold)) = limits.ack_threshold.map(VarInt::from_u64) {
        let mut acks = AckFrequencyConfig::default();
        acks.ack_eliciting_threshold(threshold);
        config.ack_frequency_config(Some(acks));
    }
    if let Some(window) = limits.send_window {
        config.send_window(window);
    }
    if let Some(window) = limits.receive_window {
        config.stream_receive_window(VarInt::from_u64(window).unwrap_or(VarInt::MAX));
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

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Noq's own key can't be seeded. It isn't needed: without its feature `bloom` it gives no tokens
/// to clients that may come again, and nobody asks a client for its address here.
struct NoTokens;

impl HandshakeTokenKey for NoTokens {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: u128, _: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Err(CryptoError)
    }
}

/// Gives its qlog to the first connection.
struct FirstQlog(Mutex<Option<QlogConfig>>);

impl QlogFactory for FirstQlog {
    fn for_connection(
        &self,
        _: Side,
        _: SocketAddr,
        _: ConnectionId,
        _: Instant,
    ) -> Option<QlogConfig> {
        self.0.lock().expect("no end panicked").take()
    }
}
