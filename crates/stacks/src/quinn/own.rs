//! Where quinn-proto differs from its fork.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::HandshakeTokenKey;
use quinn_proto::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    QlogConfig, SendStream, ServerConfig, Transmit, TransportConfig,
};
use ring::hkdf;

use crate::clock::span;
use crate::events::Figures;
use crate::logs::QlogWriter;

pub(super) const NAME: &str = "quinn";

/// Quinn's control of this name.
pub(super) fn control(cca: &str, window: Option<u64>) -> Arc<dyn ControllerFactory + Send + Sync> {
    match cca {
        "cubic" => with_window!(CubicConfig, window),
        "reno" => with_window!(NewRenoConfig, window),
        "bbr" => with_window!(BbrConfig, window),
        other => unreachable!("the scenario was checked: {other}"),
    }
}

/// The key of its tokens.
pub(super) fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&draws::bytes::<32>()))
}

pub(super) fn name_connections(
    config: &mut EndpointConfig,
    make: fn() -> Box<dyn ConnectionIdGenerator>,
) {
    config.cid_generator(make);
}

pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true, None)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    remote: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    reply: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, remote, None, ecn, data, reply)
}

pub(super) fn transmit(
    connection: &mut Connection,
    now: Instant,
    segments: NonZeroUsize,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, segments.get(), buffer)
}

/// Writes as much of `bytes` as there is room for; nothing if there is none.
pub(super) fn write(mut stream: SendStream<'_>, bytes: Bytes) -> Option<usize> {
    stream.write_chunks(&mut [bytes]).ok().map(|written| written.bytes)
}

/// Lets a connection write its qlog, with times from `start` on.
pub(super) fn log(config: &mut TransportConfig, writer: QlogWriter, flow: &str, start: Instant) {
    let mut qlog = QlogConfig::default();
    qlog.writer(writer).title(Some(flow.to_owned())).start_time(start);
    config.qlog_stream(qlog.into_stream());
}

pub(super) fn figures(connection: &mut Connection) -> Option<Figures> {
    let (path, control) = (connection.stats().path, connection.congestion_state().metrics());
    Some(Figures {
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
