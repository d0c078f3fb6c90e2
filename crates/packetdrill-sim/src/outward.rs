//! The packets of the simulator's sender and receiver, as segments on the wire.

use narrows_base::{Ecn, Packet, Time};
use narrows_packetdrill::{
    EcnCheck, IpInfo, IpPacket, Payload, SackBlock, Tcp, TcpFlags, TcpOption, Transmission,
};
use narrows_tcp::{AccEcnOption, Ace, Ack, Data, EcnMode, Kind, Segment};

use crate::accurate;
use crate::connection::{Connection, ISN};
use crate::headers::{SynOptions, timestamp};

/// The time to live of packets.
const TTL: u8 = 64;
/// The largest window without a scale.
const LARGEST_WINDOW: u32 = 0xffff;

impl Connection {
    /// Adds a packet of the simulator to those that have left.
    pub(crate) fn emit(&mut self, packet: &Packet<Segment>, now: Time) {
        match &packet.body.kind {
            Kind::Syn { window, ts, ace, .. } => self.emit_syn(*window, *ts, *ace, now),
            Kind::SynAck { window, ts, ace, option, .. } => {
                self.emit_answer((*window, *ts), *ace, *option, now);
            }
            Kind::HandshakeAck { .. } if self.passive => {}
            Kind::HandshakeAck { ace, option, .. } => self.emit_third(*ace, *option, now),
            Kind::Challenge { .. } => self.emit_pure_ack(now),
            Kind::WindowProbe { .. } => self.emit_window_probe(now),
            Kind::Data(data) => self.emit_data(data, now),
            Kind::Ack(ack) => self.emit_ack(ack, packet.ecn, now),
            Kind::Datagram(_) | Kind::Echo(_) | Kind::Opaque(_) | Kind::OpaqueReply(_) => {}
        }
    }

    fn emit_syn(&mut self, window: u32, ts: u32, ace: Ace, now: Time) {
        let own = self.own_options();
        let options = SynOptions { timestamp: own.timestamp.map(|_| (ts, 0)), ..own };
        let tcp = Tcp {
            flags: TcpFlags::SYN.with(accurate::flags(ace)),
            seq: ISN,
            window: Some(narrow(window.min(LARGEST_WINDOW))),
            options: Some(options.write(None)),
            ..self.header()
        };
        self.send(tcp, Ecn::NotEct, now);
    }

    fn emit_answer(
        &mut self,
        (window, ts): (u32, u32),
        ace: Ace,
        option: Option<AccEcnOption>,
        now: Time,
    ) {
        let own = self.own_options();
        let options = SynOptions {
            timestamp: self.terms.timestamps.then_some((ts, self.ts_recent)),
            sack: self.terms.sack,
            window_scale: own.window_scale.filter(|_| self.terms.scaling),
            ..own
        };
        let tcp = Tcp {
            flags: TcpFlags::SYN.with(TcpFlags::ACK).with(accurate::flags(ace)),
            seq: ISN,
            ack: self.peer_isn.wrapping_add(1),
            window: Some(narrow(window.min(LARGEST_WINDOW))),
            options: Some(options.write(option.as_ref())),
            ..self.header()
        };
        self.send(tcp, Ecn::NotEct, now);
    }

    /// The handshake's third packet.
    fn emit_third(&mut self, ace: Ace, option: Option<AccEcnOption>, now: Time) {
        let ack = self.receiver.acknowledge_with_data(now);
        self.emit_ack_with(&Ack { ace, ..ack }, option.map(|option| (option, 0)), Ecn::NotEct, now);
    }

    fn emit_data(&mut self, data: &Data, now: Time) {
        let (start, end) = self.departures.note(data.seq, data.len.into());
        let fin = self.own_fin.is_some_and(|fin| start <= fin && fin < end);
        let len = end - start - u32::from(fin);
        if fin && len == 0 && self.join_fin(start) {
            return;
        }
        let ack = self.receiver.acknowledge_with_data(now);
        let mut flags = TcpFlags::ACK.with(self.ecn_flags(&ack));
        for (set, flag) in
            [(data.psh && len > 0, TcpFlags::PSH), (fin, TcpFlags::FIN), (data.cwr, TcpFlags::CWR)]
        {
            flags = if set { flags.with(flag) } else { flags };
        }
        let seq = Self::first_byte().wrapping_add(start);
        let composed = self.compose(&ack, now);
        let tcp = Tcp { flags, seq, len, ..self.acknowledging(&ack, data.ts, composed) };
        self.last_data = now;
        // A FIN alone isn't data (`tcp_ecn_send`).
        let ecn = self.codepoint(if len > 0 { data.ecn } else { Ecn::NotEct });
        self.send(tcp, ecn, now);
    }

    /// A FIN behind data that leave at the same time is a flag of their last packet.
    fn join_fin(&mut self, start: u32) -> bool {
        let seq = Self::first_byte().wrapping_add(start);
        let Some(Payload::Tcp(last)) = self.out.last_mut().map(|sent| &mut sent.packet.payload)
        else {
            return false;
        };
        let joins = last.len > 0 && last.seq.wrapping_add(last.len) == seq;
        if joins {
            last.flags = last.flags.with(TcpFlags::FIN).with(TcpFlags::PSH);
        }
        joins
    }

    /// An acknowledgement without data, whether one is owed or not.
    pub(crate) fn emit_pure_ack(&mut self, now: Time) {
        let ack = self.receiver.acknowledge_with_data(now);
        let ecn = if self.terms.ecn == EcnMode::Dctcp { Ecn::Ect0 } else { Ecn::NotEct };
        self.emit_ack(&ack, ecn, now);
    }

    /// A probe's number is one that the peer has acknowledged.
    fn emit_window_probe(&mut self, now: Time) {
        let ack = self.receiver.acknowledge_with_data(now);
        let composed = self.compose(&ack, now);
        let tcp = Tcp {
            flags: TcpFlags::ACK.with(self.ecn_flags(&ack)),
            seq: Self::first_byte().wrapping_add(self.departures.next_byte()).wrapping_sub(1),
            ..self.acknowledging(&ack, ack.ts, composed)
        };
        let ecn = self.codepoint(Ecn::NotEct);
        self.send(tcp, ecn, now);
    }

    fn emit_ack(&mut self, ack: &Ack, ecn: Ecn, now: Time) {
        let composed = self.compose(ack, now);
        self.emit_ack_with(ack, composed, ecn, now);
    }

    /// An acknowledgement beside this option of accurate ECN.
    pub(crate) fn emit_ack_with(
        &mut self,
        ack: &Ack,
        composed: Option<(AccEcnOption, usize)>,
        ecn: Ecn,
        now: Time,
    ) {
        let tcp = Tcp {
            flags: TcpFlags::ACK.with(self.ecn_flags(ack)),
            seq: Self::first_byte().wrapping_add(self.departures.next_byte()),
            ..self.acknowledging(ack, ack.ts, composed)
        };
        let ecn = self.codepoint(ecn);
        self.send(tcp, ecn, now);
    }

    /// A reset, whose numbers are those of a packet that has no place here.
    pub(crate) fn emit_reset(&mut self, flags: TcpFlags, seq: u32, ack: u32, now: Time) {
        let tcp = Tcp { flags: flags.with(TcpFlags::RST), seq, ack, ..self.header() };
        self.send(tcp, Ecn::NotEct, now);
    }

    /// A header with acknowledgement, window and options; that of accurate ECN may leave room for fewer
    /// SACK blocks.
    pub(crate) fn acknowledging(
        &mut self,
        ack: &Ack,
        ts: u32,
        composed: Option<(AccEcnOption, usize)>,
    ) -> Tcp {
        let next = self.arrivals.start(ack.ack);
        self.acknowledged = next;
        let mut options = Vec::new();
        if self.terms.timestamps {
            options.extend(timestamp((ts, self.ts_recent)));
        }
        let has_blocks = self.terms.sack && !ack.sack.is_empty();
        let padded = match &composed {
            Some((option, _)) => {
                let fields = option.counters().len();
                options.extend(accurate::write(option, !has_blocks || fields > 1));
                has_blocks && fields < 2
            }
            None => false,
        };
        if has_blocks {
            let most = composed.map_or(usize::MAX, |one| one.1);
            let number = |seq| self.peer_isn.wrapping_add(1).wrapping_add(self.arrivals.start(seq));
            let blocks = ack.sack.as_slice().iter().take(most);
            let blocks = blocks
                .map(|&(start, end)| SackBlock { left: number(start), right: number(end) })
                .collect();
            options.extend(std::iter::repeat_n(TcpOption::Nop, if padded { 0 } else { 2 }));
            options.push(TcpOption::Sack(blocks));
        }
        Tcp {
            ack: self.peer_isn.wrapping_add(1).wrapping_add(next),
            window: Some(narrow((ack.window >> self.terms.own_scale).min(LARGEST_WINDOW))),
            options: Some(options),
            ..self.header()
        }
    }

    fn header(&self) -> Tcp {
        Tcp {
            source: self.ports.0,
            destination: self.ports.1,
            flags: TcpFlags::default(),
            seq: 0,
            len: 0,
            ack: 0,
            window: Some(0),
            urgent: 0,
            options: Some(Vec::new()),
        }
    }

    pub(crate) fn send(&mut self, tcp: Tcp, ecn: Ecn, now: Time) {
        if self.kernel.refuses {
            return;
        }
        let tos = self.options.tos & !3 | ecn as u8;
        let ip = IpInfo { ecn: EcnCheck::Tos(tos), ttl: Some(TTL), flow_label: Some(0) };
        let packet = IpPacket { ip, payload: Payload::Tcp(tcp) };
        let at = i64::try_from(now.as_nanos()).expect("a script shorter than 292 years");
        self.out.push(Transmission { at, packet, zeros: true });
    }
}

fn narrow(window: u32) -> u16 {
    u16::try_from(window).expect("a window field")
}
