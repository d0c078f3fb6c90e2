//! The qlog of one flow, in the terms of QUIC (draft-ietf-quic-qlog-quic-events).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io;

use narrows_base::{FlowId, Heading, Packet, Time};
use narrows_cc::{INFINITE_SSTHRESH, RecoveryState};
use narrows_tcp::{Ack, Data, Kind, MSS, Segment, SenderView, Seq};

use super::log::{Log, Millis, QlogForm};
use super::numbers::Transmissions;
use crate::write::addresses::{ConnectionEnds, IpVersion, ends};
use crate::write::wire::Wire;

/// An event; the forms call them differently.
#[derive(Clone, Copy, Debug)]
enum Event {
    ConnectionStarted,
    ConnectionState,
    PacketSent,
    PacketReceived,
    PacketLost,
    CongestionState,
    Metrics,
}

impl Event {
    const fn name(self, form: QlogForm) -> &'static str {
        let names = match self {
            Self::ConnectionStarted => {
                ("connectivity:connection_started", "quic:connection_started")
            }
            Self::ConnectionState => {
                ("connectivity:connection_state_updated", "quic:connection_state_updated")
            }
            Self::PacketSent => ("transport:packet_sent", "quic:packet_sent"),
            Self::PacketReceived => ("transport:packet_received", "quic:packet_received"),
            Self::PacketLost => ("recovery:packet_lost", "quic:packet_lost"),
            Self::CongestionState => {
                ("recovery:congestion_state_updated", "quic:congestion_state_updated")
            }
            Self::Metrics => ("recovery:metrics_updated", "quic:recovery_metrics_updated"),
        };
        match form {
            QlogForm::Version03 => names.0,
            QlogForm::Draft14 => names.1,
        }
    }
}

/// One flow's file, and the state of its connections.
#[derive(Debug)]
pub(super) struct FlowLog {
    log: Log,
    flow: FlowId,
    /// Prefix of the connections' names, if there may be several.
    several: Option<String>,
    /// Open connections by their numbers; of successive ones, the last.
    connections: BTreeMap<u32, Connection>,
}

#[derive(Debug, Default)]
struct Connection {
    /// Its `group_id`.
    group: Option<String>,
    sent: Transmissions,
    /// ACKs received.
    received: u64,
    /// First byte beyond the receive window.
    edge: u64,
    /// The packet with the FIN.
    last: Option<Seq>,
    /// Its FIN is acknowledged.
    over: bool,
    metrics: Metrics,
    state: &'static str,
}

/// The metrics logged last, in qlog's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Metrics {
    min_rtt: Option<u64>,
    smoothed_rtt: Option<u64>,
    latest_rtt: Option<u64>,
    congestion_window: Option<u64>,
    bytes_in_flight: Option<u64>,
    packets_in_flight: Option<u64>,
    ssthresh: Option<u64>,
    pacing_rate: Option<u64>,
}

impl FlowLog {
    pub(super) fn new(log: Log, flow: FlowId, several: Option<String>) -> Self {
        Self { log, flow, several, connections: BTreeMap::new() }
    }

    pub(super) fn finish(self) -> io::Result<Option<(String, u64)>> {
        let events = self.log.events;
        Ok(self.log.finish()?.map(|name| (name, events)))
    }

    /// Logs a packet that the sender sends or receives.
    pub(super) fn packet(
        &mut self,
        at: Time,
        heading: Heading,
        packet: &Packet<Segment>,
        wire: &Wire,
    ) -> io::Result<()> {
        let instance = packet.body.instance;
        let kind = &packet.body.kind;
        if matches!(kind, Kind::Syn { .. }) {
            return self.connect(at, instance);
        }
        let Some(connection) = self.connections.get_mut(&instance) else {
            return Ok(()); // late, from a finished connection
        };
        let log = &mut self.log;
        let offset = |seq| wire.offset(self.flow, instance, seq);
        match (kind, heading) {
            (Kind::HandshakeAck { .. }, Heading::Out) => {
                connection.changes(log, at, "handshake_complete")
            }
            (Kind::Data(data), Heading::Out) => {
                connection.data(log, at, data, packet.size, offset(data.seq))
            }
            (Kind::Ack(ack), Heading::In) => {
                connection.ack(log, at, ack, packet.size, offset(ack.ack))
            }
            _ => Ok(()),
        }
    }

    fn connect(&mut self, at: Time, instance: u32) -> io::Result<()> {
        if self.connections.contains_key(&instance) {
            return Ok(()); // a repeated SYN
        }
        self.connections.retain(|_, connection| !connection.over);
        let group = self.several.as_ref().map(|name| format!("{name} {instance}"));
        let connection = Connection { group, ..Connection::default() };
        connection.begins(&mut self.log, at, &ends(IpVersion::V4, self.flow, instance))?;
        connection.changes(&mut self.log, at, "attempted")?;
        self.connections.insert(instance, connection);
        Ok(())
    }

    /// Logs that the sender deems the latest transmission of packet `seq` lost.
    pub(super) fn log_loss(&mut self, at: Time, seq: Seq) -> io::Result<()> {
        let newest = self.connections.values().next_back();
        newest.map_or(Ok(()), |connection| connection.log_loss(&mut self.log, at, seq))
    }

    /// Logs the changes of the sender's state.
    pub(super) fn sender(&mut self, at: Time, view: &SenderView) -> io::Result<()> {
        let newest = self.connections.values_mut().next_back();
        newest.map_or(Ok(()), |connection| connection.sender(&mut self.log, at, view))
    }
}

impl Connection {
    fn event(
        &self,
        log: &mut Log,
        at: Time,
        event: Event,
        data: fmt::Arguments<'_>,
    ) -> io::Result<()> {
        let name = event.name(log.form());
        log.event(at, name, self.group.as_deref(), data)
    }

    fn begins(&self, log: &mut Log, at: Time, ends: &ConnectionEnds) -> io::Result<()> {
        let ConnectionEnds { sender, sender_port, receiver, receiver_port } = ends;
        match log.form() {
            QlogForm::Version03 => self.event(
                log,
                at,
                Event::ConnectionStarted,
                format_args!(
                    "\"ip_version\":\"v4\",\"protocol\":\"TCP\",\"src_ip\":\"{sender}\",\
                     \"dst_ip\":\"{receiver}\",\"src_port\":{sender_port},\
                     \"dst_port\":{receiver_port}"
                ),
            ),
            QlogForm::Draft14 => self.event(
                log,
                at,
                Event::ConnectionStarted,
                format_args!(
                    "\"local\":{{\"ip_v4\":\"{sender}\",\"port_v4\":{sender_port}}},\
                     \"remote\":{{\"ip_v4\":\"{receiver}\",\"port_v4\":{receiver_port}}}"
                ),
            ),
        }
    }

    fn changes(&self, log: &mut Log, at: Time, new: &str) -> io::Result<()> {
        self.event(log, at, Event::ConnectionState, format_args!("\"new\":\"{new}\""))
    }

    fn data(
        &mut self,
        log: &mut Log,
        at: Time,
        data: &Data,
        size: u32,
        offset: u64,
    ) -> io::Result<()> {
        let number = self.sent.number(data.seq);
        let (len, again) = (data.len, data.retransmission);
        let mut fin = "";
        if data.fin {
            self.last = Some(data.seq);
            fin = ",\"fin\":true";
        }
        let [length, more] = match log.form() {
            QlogForm::Version03 => {
                [format!("\"length\":{len}"), format!(",\"is_retransmission\":{again}")]
            }
            QlogForm::Draft14 => [format!("\"raw\":{{\"payload_length\":{len}}}"), String::new()],
        };
        self.event(
            log,
            at,
            Event::PacketSent,
            format_args!(
                "\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}},\
                 \"raw\":{{\"length\":{size},\"payload_length\":{len}}},\
                 \"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":{offset},\
                 {length}{fin}}}]{more}"
            ),
        )
    }

    fn ack(
        &mut self,
        log: &mut Log,
        at: Time,
        ack: &Ack,
        size: u32,
        offset: u64,
    ) -> io::Result<()> {
        let number = self.received;
        self.received += 1;
        self.over = self.last.is_some_and(|last| ack.ack > last);
        let form = log.form();
        let mut ranges = String::new();
        for (start, end) in self.sent.take_acked(ack) {
            let comma = if ranges.is_empty() { "" } else { "," };
            match form {
                QlogForm::Draft14 if start == end => write!(ranges, "{comma}[{start}]"),
                _ => write!(ranges, "{comma}[{start},{end}]"),
            }
            .expect("text grows");
        }
        let mut window = String::new();
        let edge = offset + u64::from(ack.window);
        if edge > self.edge {
            self.edge = edge;
            write!(window, ",{{\"frame_type\":\"max_data\",\"maximum\":{edge}}}")
                .expect("text grows");
        }
        let ranges = match form {
            // Ranges are optional there, but not empty.
            QlogForm::Draft14 if ranges.is_empty() => String::new(),
            _ => format!(",\"acked_ranges\":[{ranges}]"),
        };
        let more = match form {
            QlogForm::Version03 => format!(",\"ecn_echo\":{}", ack.ece),
            QlogForm::Draft14 => String::new(),
        };
        self.event(
            log,
            at,
            Event::PacketReceived,
            format_args!(
                "\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}},\
                 \"raw\":{{\"length\":{size}}},\"frames\":[{{\"frame_type\":\"ack\"{ranges}}}\
                 {window}]{more}"
            ),
        )
    }

    fn log_loss(&self, log: &mut Log, at: Time, seq: Seq) -> io::Result<()> {
        let Some(number) = self.sent.latest(seq) else { return Ok(()) };
        let data =
            format_args!("\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}}");
        self.event(log, at, Event::PacketLost, data)
    }

    fn sender(&mut self, log: &mut Log, at: Time, view: &SenderView) -> io::Result<()> {
        let state = congestion_state(view);
        if state != self.state {
            let old = std::mem::replace(&mut self.state, state);
            let old = if old.is_empty() { String::new() } else { format!("\"old\":\"{old}\",") };
            let data = format_args!("{old}\"new\":\"{state}\"");
            self.event(log, at, Event::CongestionState, data)?;
        }
        let metrics = Metrics::of(view);
        if metrics == self.metrics {
            return Ok(());
        }
        let news = metrics.news(&self.metrics);
        self.metrics = metrics;
        self.event(log, at, Event::Metrics, format_args!("{news}"))
    }
}

impl Default for Metrics {
    /// Nothing is known, except that there is no threshold.
    fn default() -> Self {
        Self {
            min_rtt: None,
            smoothed_rtt: None,
            latest_rtt: None,
            congestion_window: None,
            bytes_in_flight: None,
            packets_in_flight: None,
            ssthresh: bytes(INFINITE_SSTHRESH),
            pacing_rate: None,
        }
    }
}

/// Linux counts windows in packets; a packet counts as a full one.
fn bytes(packets: u32) -> Option<u64> {
    Some(u64::from(packets) * u64::from(MSS))
}

impl Metrics {
    fn of(view: &SenderView) -> Self {
        let nanos = |rtt: narrows_base::Duration| rtt.as_nanos();
        Self {
            min_rtt: view.min_rtt.map(nanos),
            smoothed_rtt: view.srtt.map(nanos),
            latest_rtt: view.rtt.map(nanos),
            congestion_window: bytes(view.cwnd),
            bytes_in_flight: bytes(view.in_flight),
            packets_in_flight: Some(u64::from(view.in_flight)),
            ssthresh: bytes(view.ssthresh.min(INFINITE_SSTHRESH)),
            pacing_rate: view.pacing_rate.map(narrows_base::Rate::as_bps),
        }
    }

    /// The differences from `old`, as members of an object. Only RTTs may be unknown, and only at
    /// first.
    fn news(&self, old: &Self) -> String {
        let mut text = String::new();
        let times = [
            ("min_rtt", self.min_rtt, old.min_rtt),
            ("smoothed_rtt", self.smoothed_rtt, old.smoothed_rtt),
            ("latest_rtt", self.latest_rtt, old.latest_rtt),
        ];
        for (name, new, old) in times {
            member(&mut text, name, (new != old).then_some(new).flatten().map(Millis));
        }
        let amounts = [
            ("congestion_window", self.congestion_window, old.congestion_window),
            ("bytes_in_flight", self.bytes_in_flight, old.bytes_in_flight),
            ("packets_in_flight", self.packets_in_flight, old.packets_in_flight),
            ("ssthresh", self.ssthresh, old.ssthresh),
            ("pacing_rate", self.pacing_rate, old.pacing_rate),
        ];
        for (name, new, old) in amounts {
            member(&mut text, name, (new != old).then_some(new).flatten());
        }
        text
    }
}

fn member(text: &mut String, name: &str, value: Option<impl fmt::Display>) {
    if let Some(value) = value {
        let comma = if text.is_empty() { "" } else { "," };
        write!(text, "{comma}\"{name}\":{value}").expect("text grows");
    }
}

/// The recovery state or, in Open, the control's state.
fn congestion_state(view: &SenderView) -> &'static str {
    match view.state {
        state @ (RecoveryState::Cwr | RecoveryState::Recovery | RecoveryState::Loss) => {
            state.name()
        }
        RecoveryState::Open | RecoveryState::Disorder if !view.cca_state.is_empty() => {
            view.cca_state
        }
        RecoveryState::Open | RecoveryState::Disorder if view.cwnd < view.ssthresh => "slow_start",
        RecoveryState::Open | RecoveryState::Disorder => "congestion_avoidance",
    }
}
