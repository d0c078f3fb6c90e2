//! The peer's segments, for the simulator's sender and receiver (`tcp_rcv_state_process`).

use narrows_base::{Ecn, Time};
use narrows_packetdrill::{EndError, SackBlock, Tcp, TcpFlags, TcpOption};
use narrows_tcp::{AccEcnOption, Ace, Ack, Data, Kind, Seq, Span, ThirdPacket};

use crate::accurate;
use crate::arrivals::NumberedPacket;
use crate::connection::{Connection, ISN};
use crate::handshake::{self, Terms, segment};
use crate::headers::SynOptions;
use crate::memory;
use crate::state::TcpState;

/// The window of a request that isn't complete (`tcp_synack_window`).
const EARLY_WINDOW: u32 = 0xffff;

impl Connection {
    /// Takes a segment that arrives with that codepoint.
    pub(crate) fn receive(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) -> Result<(), EndError> {
        match self.state {
            TcpState::Closed => self.refuse(tcp, now),
            TcpState::SynSent => self.take_answer(tcp, ecn, now)?,
            TcpState::SynReceived => self.take_third(tcp, ecn, now)?,
            _ => self.take_counted(tcp, ecn, now)?,
        }
        self.flush(now);
        Ok(())
    }

    /// Answers a segment of no connection (RFC 9293 section 3.5.2).
    fn refuse(&mut self, tcp: &Tcp, now: Time) {
        if tcp.flags.has(TcpFlags::RST) {
            return;
        }
        if tcp.flags.has(TcpFlags::ACK) {
            return self.emit_reset(TcpFlags::default(), tcp.ack, 0, now);
        }
        let len = tcp.len + u32::from(tcp.flags.has(TcpFlags::SYN));
        self.emit_reset(TcpFlags::ACK, 0, tcp.seq.wrapping_add(len), now);
    }

    /// The answer to this end's request (`tcp_rcv_synsent_state_process`).
    fn take_answer(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) -> Result<(), EndError> {
        let answers = tcp.flags.has(TcpFlags::SYN) && tcp.flags.has(TcpFlags::ACK);
        if !answers || tcp.ack != ISN.wrapping_add(1) {
            let message = "an answer other than SYN and ACK to the end's SYN".to_owned();
            return Err(EndError::Unsupported(message));
        }
        let peer = SynOptions::read(tcp.options.as_deref().unwrap_or_default());
        let (ace, asked) = (accurate::ace(tcp.flags), self.kernel.ecn.asks);
        let terms = Terms::agree(peer, self.own_options(), asked);
        let mode = ace.agree(asked);
        self.terms = Terms { ecn: mode, ..terms };
        self.peer_isn = tcp.seq;
        self.ports = (tcp.destination, tcp.source);
        self.ts_recent = peer.timestamp.map_or(0, |stamp| stamp.0);
        // The first one only asked: the size of its packets was not known yet.
        self.sender = handshake::sender(&self.kernel, &self.options, terms, self.started)?;
        let request = handshake::request(Ace::request(mode));
        self.receiver.receive(&request, Ecn::NotEct, self.started);
        self.receiver.advance(self.started, &mut self.scratch);
        self.scratch.clear();
        let window = u32::from(tcp.window.unwrap_or(0));
        self.establish(window, (ace, accurate::option(tcp), ecn), &accurate::NO_THIRD, now);
        self.adopt_counters();
        Ok(())
    }

    /// The third packet of the handshake, or another one instead (`tcp_check_req`).
    fn take_third(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) -> Result<(), EndError> {
        if tcp.flags.has(TcpFlags::RST) {
            self.take_early_reset(tcp, now);
            return Ok(());
        }
        if tcp.flags.has(TcpFlags::SYN) {
            let request = handshake::request(accurate::ace(tcp.flags));
            self.receiver.receive(&request, ecn, now);
            return Ok(());
        }
        if !tcp.flags.has(TcpFlags::ACK) {
            return Ok(());
        }
        if tcp.ack != ISN.wrapping_add(1) {
            self.emit_reset(TcpFlags::default(), tcp.ack, 0, now);
            return Ok(());
        }
        self.note_timestamp(tcp);
        let window = u32::from(tcp.window.unwrap_or(0)) << self.terms.peer_scale;
        let (ace, option) = (accurate::ace(tcp.flags), accurate::option(tcp));
        let third = ThirdPacket { ace, option, ecn, bytes: tcp.len };
        self.establish(window, accurate::answer(self.terms.ecn), &third, now);
        self.begin_after_request(tcp);
        if tcp.len > 0 || tcp.flags.has(TcpFlags::FIN) {
            return self.take(tcp, ecn, now);
        }
        Ok(())
    }

    /// A reset of a request: a number other than the next one may be an attack (RFC 5961 section 3.2).
    fn take_early_reset(&mut self, tcp: &Tcp, now: Time) {
        let ahead = tcp.seq.wrapping_sub(self.peer_isn.wrapping_add(1));
        if ahead == 0 || !self.kernel.profile.challenges_early_resets {
            self.state = TcpState::Closed;
        } else if ahead < EARLY_WINDOW {
            self.emit_pure_ack(now);
        }
    }

    fn establish(
        &mut self,
        window: u32,
        (ace, option, ecn): (Ace, Option<AccEcnOption>, Ecn),
        third: &ThirdPacket,
        now: Time,
    ) {
        let stamp = |time: Time| u32::try_from(time.as_nanos() / 1_000_000 + 1).unwrap_or(u32::MAX);
        self.largest_window = window;
        let (ts, ts_echo) = (stamp(now), stamp(self.started));
        let scale = self.terms.peer_scale;
        let answer = Kind::SynAck { window, scale, ts, ts_echo, ace, option };
        (self.state, self.established) = (TcpState::Established, now);
        self.sender.receive(&segment(answer), ecn, now);
        self.receiver.take_third(third, (ts, ts_echo), now);
        self.share_checks();
    }

    /// A segment of an open connection, whose codepoint counts.
    fn take_counted(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) -> Result<(), EndError> {
        if tcp.flags.has(TcpFlags::SYN) && !tcp.flags.has(TcpFlags::RST) {
            self.challenge(tcp, ecn, now);
            return Ok(());
        }
        if !tcp.flags.has(TcpFlags::RST) && self.is_current(tcp) {
            let stamp = stamps(tcp).map_or(0, |stamp| stamp.0);
            self.receiver.count(ecn, 1, tcp.len, stamp);
        }
        let taken = self.take(tcp, ecn, now);
        self.share_checks();
        taken
    }

    /// True if a segment reaches the last acknowledgement or beyond (`tcp_sequence`).
    fn is_current(&self, tcp: &Tcp) -> bool {
        let end = self.peer_byte(tcp).wrapping_add(tcp.len);
        end.wrapping_sub(self.acknowledged).cast_signed() >= 0
    }

    /// A segment of an open connection.
    fn take(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) -> Result<(), EndError> {
        if tcp.flags.has(TcpFlags::RST) {
            self.state = TcpState::Closed;
            return Ok(());
        }
        if !self.receiver.is_acceptable(self.span(tcp)) {
            self.emit_pure_ack(now);
            return Ok(());
        }
        if !tcp.flags.has(TcpFlags::ACK) || !self.take_ack(tcp, now)? {
            return Ok(());
        }
        self.note_timestamp(tcp);
        let fin = tcp.flags.has(TcpFlags::FIN);
        if tcp.len > 0 && self.orphaned && self.own_fin.is_some() {
            self.state = TcpState::Closed;
            self.emit_reset(TcpFlags::default(), tcp.ack, 0, now);
            return Ok(());
        }
        if tcp.len > 0 || fin {
            self.take_data(tcp, ecn, now)?;
        }
        self.note_own_fin();
        self.note_peer_fin(now);
        Ok(())
    }

    /// Remembers the timestamp of a segment that begins at or before the last acknowledgement
    /// (`tcp_replace_ts_recent`).
    fn note_timestamp(&mut self, tcp: &Tcp) {
        let seq = tcp.seq.wrapping_sub(self.peer_isn.wrapping_add(1));
        if let Some((val, _)) = stamps(tcp)
            && seq <= self.acknowledged
        {
            self.ts_recent = val;
        }
    }

    /// The acknowledgement of a segment; false if it is invalid and the segment is dropped.
    fn take_ack(&mut self, tcp: &Tcp, now: Time) -> Result<bool, EndError> {
        let first = Self::first_byte();
        let acked = tcp.ack.wrapping_sub(first).cast_signed();
        let next = self.departures.next_byte();
        if acked > next.cast_signed() {
            if self.kernel.profile.challenges_acks_of_unsent {
                self.emit_pure_ack(now);
            }
            return Ok(false);
        }
        if acked < self.oldest_ack() {
            self.emit_pure_ack(now); // RFC 5961 section 5.2
            return Ok(false);
        }
        let byte = acked.max(0).cast_unsigned();
        let number = self.departures.below(byte);
        let window = u32::from(tcp.window.unwrap_or(0)) << self.terms.peer_scale;
        self.largest_window = self.largest_window.max(window);
        let stamp = stamps(tcp).filter(|_| self.terms.timestamps);
        let blocks = sack_blocks(tcp).filter(|_| self.terms.sack).unwrap_or_default();
        let ece = tcp.flags.has(TcpFlags::ECE) && !self.terms.ecn.counts();
        let mut ack = Ack {
            ack: number,
            window,
            ts: stamp.map_or(0, |stamp| stamp.0),
            ts_echo: stamp.map_or(0, |stamp| stamp.1),
            sack: self.departures.sacked_packets(blocks, first, byte),
            ece,
            ace: accurate::ace(tcp.flags),
        };
        let Some(info) = self.sender.info() else { return Ok(false) };
        let next_packet = self.departures.below(next);
        let una = next_packet - info.unacked;
        let repeats = number == una && window == info.snd_wnd && blocks.is_empty() && !ece;
        if number > una {
            self.duplicates = 0;
        }
        if repeats && (tcp.len > 0 || tcp.flags.has(TcpFlags::FIN)) {
            return Ok(true); // it says nothing new, and isn't a duplicate as it has data
        }
        if repeats && !self.terms.sack && info.unacked > 1 {
            ack.sack = self.count_duplicate(una, info.unacked);
        }
        if let Some(option) = accurate::option(tcp).filter(|_| self.terms.ecn.counts())
            && !ack.sack.add_option(&option)
        {
            let message = "an option of accurate ECN beside three SACK blocks".to_owned();
            return Err(EndError::Unsupported(message));
        }
        self.sender.receive(&segment(Kind::Ack(ack)), Ecn::NotEct, now);
        Ok(true)
    }

    /// The lowest number that an ACK may have: that many bytes may have been acknowledged meanwhile as
    /// the largest window holds.
    fn oldest_ack(&self) -> i32 {
        let una = self.sender.acked_bytes();
        let most = una.min(u64::from(self.largest_window));
        i32::try_from(una - most).unwrap_or(i32::MAX)
    }

    /// A peer without SACK: each duplicate says that another packet arrived, which are taken to be
    /// those behind the lost one (`tcp_add_reno_sack`).
    fn count_duplicate(&mut self, una: Seq, unacked: u32) -> narrows_tcp::SackBlocks {
        self.duplicates = (self.duplicates + 1).min(unacked - 1);
        std::iter::once((una + 1, una + 1 + self.duplicates)).collect()
    }

    /// The place of a segment among the peer's bytes.
    fn span(&self, tcp: &Tcp) -> Span {
        let start = u64::from(self.peer_byte(tcp));
        Span { start, end: start + u64::from(tcp.len), fin: tcp.flags.has(TcpFlags::FIN) }
    }

    fn peer_byte(&self, tcp: &Tcp) -> u32 {
        tcp.seq.wrapping_sub(self.peer_isn.wrapping_add(1))
    }

    fn take_data(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) -> Result<(), EndError> {
        let span = self.span(tcp);
        let start = self.peer_byte(tcp);
        let known = (start < self.in_order()).then(|| self.arrivals.find(start)).transpose()?;
        if !self.receiver.admit(span, known, now) {
            return Ok(());
        }
        let end = start.wrapping_add(tcp.len);
        let mut packets = self.arrivals.number(start, end)?;
        if span.fin {
            self.receiver.expect_answer();
            self.peer_fin = Some(end);
            packets.extend(self.arrivals.number(end, end + 1)?);
        }
        self.last_data_received = Some(now);
        let behind_data = packets.len() - usize::from(span.fin);
        let psh = tcp.flags.has(TcpFlags::PSH);
        let cwr = tcp.flags.has(TcpFlags::CWR) && !self.terms.ecn.counts();
        let ts_echo = stamps(tcp).map_or(0, |stamp| stamp.1);
        let data = |(place, NumberedPacket { seq, len }): (usize, NumberedPacket)| Data {
            seq,
            count: 1,
            len: u16::try_from(len).expect("a packet"),
            psh: psh && place + 1 == behind_data,
            fin: place == behind_data,
            retransmission: false,
            ts: 1,
            ts_echo,
            cwr: cwr && place == 0,
            ace: Ace::NONE,
            ecn,
        };
        let unit: Vec<Data> = packets.into_iter().enumerate().map(data).collect();
        self.receiver.receive_buffer(&unit, span, memory::of_packet(tcp), now);
        Ok(())
    }

    /// Behind the last byte that arrived in order.
    pub(crate) fn in_order(&self) -> u32 {
        self.arrivals.start(self.receiver.next_expected())
    }
}

pub(crate) fn stamps(tcp: &Tcp) -> Option<(u32, u32)> {
    tcp.options.iter().flatten().find_map(|option| match option {
        TcpOption::Timestamp { val, ecr } => Some((*val, *ecr)),
        _ => None,
    })
}

fn sack_blocks(tcp: &Tcp) -> Option<&[SackBlock]> {
    tcp.options.iter().flatten().find_map(|option| match option {
        TcpOption::Sack(blocks) => Some(blocks.as_slice()),
        _ => None,
    })
}
