//! Where noq-proto differs from quinn-proto.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use narrows_base::Rate;
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey};
use noq_proto::{
    Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, FourTuple, PathId, QlogConfig, QlogFactory, SendStream, ServerConfig, Side,
    Transmit, TransportConfig,
};

use crate::clock::span;
use crate::events::Figures;
use crate::logs::QlogWriter;

pub(super) const NAME: &str = "noq";

/// Noq's control of this name.
pub(super) fn control(cca: &str, window: Option<u64>) -> Arc<dyn ControllerFactory + Send + Sync> {
    match cca {
        "cubic" => with_window!(CubicConfig, window),
        "reno" => with_window!(NewRenoConfig, window),
        // It draws from the seed because `rand_pcg` does (crates/draws).
        "bbr3" => with_window!(Bbr3Config, window),
        other => unreachable!("the scenario was checked: {other}"),
    }
}

/// The key of its tokens.
pub(super) fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(NoTokens)
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

pub(super) fn name_connections(
    config: &mut EndpointConfig,
    make: fn() -> Box<dyn ConnectionIdGenerator>,
) {
    config.cid_generator(Arc::new(make));
}

pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    remote: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    reply: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(remote), ecn, data, reply)
}

pub(super) fn transmit(
    connection: &mut Connection,
    now: Instant,
    segments: NonZeroUsize,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, segments, buffer)
}

/// Writes as much of `bytes` as there is room for; nothing if there is none.
pub(super) fn write(mut stream: SendStream<'_>, bytes: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [bytes][..]).ok()
}

/// Lets a connection write its qlog, with times from `start` on.
pub(super) fn log(config: &mut TransportConfig, writer: QlogWriter, flow: &str, start: Instant) {
    let mut qlog = QlogConfig::new(writer);
    qlog.title(Some(flow.to_owned())).start_time(start);
    config.qlog_factory(Arc::new(Once(Mutex::new(Some(qlog)))));
}

/// Gives its qlog to the first connection.
struct Once(Mutex<Option<QlogConfig>>);

impl QlogFactory for Once {
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

pub(super) fn figures(connection: &mut Connection) -> Option<Figures> {
    let path = connection.path_stats(PathId::ZERO)?;
    let control = connection.congestion_state(PathId::ZERO)?.metrics();
    Some(Figures {
        sent: path.sent_packets,
        lost: path.lost_packets,
        cwnd: path.cwnd,
        ssthresh: control.ssthresh,
        mtu: u64::from(path.current_mtu),
        srtt: Some(span(path.rtt)),
        min_rtt: None,
        pacing_rate: control.pacing_rate.map(Rate::from_bytes_per_sec),
        bandwidth: control.bandwidth_estimate,
        congestion_events: path.congestion_events,
        mtu_probes_sent: path.sent_plpmtud_probes,
    })
}
