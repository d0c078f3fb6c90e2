//! The receiving end, which acknowledges data.

mod ack_policy;
mod ecn;
mod gro;
mod memory;
mod program;
mod request;
mod sacks;
mod short;
mod socket;
pub(crate) mod window;

use narrows_base::{Duration, Ecn, FlowId, Jiffies, Packet, RangeSet, Time};

use crate::accecn::{AccEcnOption, AccEcnSettings, AccurateEnd, Ace, OptionSlot};
use crate::ecn::EcnMode;
use crate::outbox::{Envelope, Outbox};
use crate::profile::{BufferLimits, TcpProfile};
use crate::segment::{Ack, Data, Kind, Segment, Seq};
use crate::timer::timestamp_ms;
use ack_policy::{AckDecision, AckPolicy};
use ecn::Echo;
use gro::Gro;
use request::Request;
use sacks::SackList;
use short::ShortPackets;
use socket::Socket;
pub use socket::{Refusals, SocketConfig, Span};
use window::ReceiveBuffer;

/// Settings of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// The flow that it belongs to.
    pub flow: FlowId,
    /// Kernel version.
    pub profile: &'static TcpProfile,
    /// Limit of the receive buffer.
    pub limits: BufferLimits,
    /// How long the network card collects packets for GRO to merge; zero for no GRO.
    pub gro: Duration,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Options and fallbacks of accurate ECN.
    pub accurate_ecn: AccEcnSettings,
    /// The largest advertised window, in bytes (`TCP_WINDOW_CLAMP`).
    pub window_clamp: Option<u64>,
    /// Number of this connection in its flow's chain.
    pub instance: u32,
    /// A socket with packets of any size; `None` for one whose packets are full and whose application
    /// reads at once.
    pub socket: Option<SocketConfig>,
}

/// The handshake's third packet, as far as it concerns accurate ECN.
#[derive(Clone, Copy, Debug)]
pub struct ThirdPacket {
    /// Its flags.
    pub ace: Ace,
    /// Its option.
    pub option: Option<AccEcnOption>,
    /// The codepoint with which it arrived.
    pub ecn: Ecn,
    /// Its payload.
    pub bytes: u32,
}

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Payload bytes received, each once.
    pub bytes: u64,
    /// Data packets that arrived, including duplicates.
    pub packets: u64,
    /// The number of duplicates among these.
    pub duplicates: u64,
    /// ACKs sent.
    pub acks: u64,
}

/// A receiving TCP whose application reads at once, unless it is given a socket.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    clock: Jiffies,
    /// `rcv_nxt`: the next packet in order.
    next: Seq,
    out_of_order: RangeSet<Seq>,
    short: ShortPackets,
    sacks: SackList,
    /// `None` without GRO once the handshake is complete.
    entry: Option<Box<EarlyStages>>,
    policy: AckPolicy,
    echo: Echo,
    buffer: ReceiveBuffer,
    /// Packet number of the last ACK sent (`rcv_wup`).
    last_ack: Seq,
    socket: Option<Box<Socket>>,
    /// Timestamp to echo, in ms (RFC 7323 section 4.3).
    ts_recent: u32,
    stats: ReceiverStats,
    out: Outbox,
}

/// The stages before an established TCP: GRO and the handshake.
#[derive(Debug, Default)]
struct EarlyStages {
    gro: Option<Gro>,
    /// A handshake that isn't complete.
    request: Option<Request>,
}

impl EarlyStages {
    /// Has GRO merge packets that arrive within `window`.
    fn merging(window: Duration) -> Self {
        Self { gro: Some(Gro::new(window)), request: None }
    }

    /// When the first timer fires, or [`Time::MAX`].
    fn deadline(&self) -> Time {
        let gro = self.gro.as_ref().map_or(Time::MAX, Gro::deadline);
        self.request.as_ref().map_or(gro, |request| gro.min(request.deadline()))
    }
}

impl Receiver {
    /// A listening receiver.
    #[must_use]
    pub fn new(config: ReceiverConfig) -> Self {
        let profile = config.profile;
        let clock = Jiffies::new(profile.cc.hz);
        Self {
            config,
            clock,
            next: 0,
            out_of_order: RangeSet::default(),
            short: ShortPackets::default(),
            sacks: SackList::default(),
            entry: (!config.gro.is_zero()).then(|| Box::new(EarlyStages::merging(config.gro))),
            policy: AckPolicy::new(
                clock,
                profile.sack_compression,
                profile.ack_on_psh,
                config.socket,
            ),
            echo: Echo::new(config.ecn),
            buffer: ReceiveBuffer::new(
                &profile.receive,
                config.limits.receive(profile),
                config.window_clamp,
                config.socket,
            ),
            socket: config.socket.map(|_| Box::default()),
            last_ack: 0,
            ts_recent: 0,
            stats: ReceiverStats::default(),
            out: Outbox::new(Envelope::new(config.flow, config.instance, config.ecn)),
        }
    }

    /// Processes a segment from the sender, whose packet arrived with the codepoint `ecn`.
    #[inline] // runs for every packet of data
    pub fn receive(&mut self, segment: &Segment, ecn: Ecn, now: Time) {
        if segment.instance != self.config.instance {
            return;
        }
        match &segment.kind {
            Kind::Data(data) if data.count == 1 && self.entry.is_none() => {
                if data.ecn == ecn {
                    self.receive_one(data, now);
                } else {
                    self.receive_one(&Data { ecn, ..*data }, now);
                }
            }
            _ => self.receive_unusual(segment, ecn, now),
        }
    }

    /// Processes anything other than a single packet of data that reaches TCP at once.
    #[inline(never)]
    fn receive_unusual(&mut self, segment: &Segment, ecn: Ecn, now: Time) {
        match &segment.kind {
            Kind::Syn { ts, ace, .. } => self.take_request(*ts, *ace, ecn, now),
            Kind::HandshakeAck { ts, ts_echo, ace, option } => {
                let third = ThirdPacket { ace: *ace, option: *option, ecn, bytes: 0 };
                self.take_third(&third, (*ts, *ts_echo), now);
            }
            Kind::Challenge { seq, ts, .. } => {
                if *seq <= self.last_ack {
                    self.ts_recent = *ts;
                }
            }
            Kind::Data(data) => {
                self.complete_handshake(data.ts_echo, now);
                let data = Data { ecn, ..*data };
                match self.entry.as_mut().and_then(|entry| entry.gro.as_mut()) {
                    Some(gro) if data.count == 1 => gro.hold(data, now),
                    _ => {
                        let unit: Vec<Data> = data.packets().collect();
                        self.receive_unit(&unit, now);
                    }
                }
            }
            // Its number is below all that was acknowledged (`tcp_send_dupack`).
            Kind::WindowProbe { .. } => self.send_ack(now),
            Kind::SynAck { .. } | Kind::Ack(_) => {}
            Kind::Datagram(_) | Kind::Echo(_) | Kind::Opaque(_) | Kind::OpaqueReply(_) => {}
        }
    }

    /// Answers a SYN, the first one or a repeated one.
    fn take_request(&mut self, ts: u32, ace: Ace, ecn: Ecn, now: Time) {
        self.echo.negotiate(ace, ecn, self.config.accurate_ecn);
        let entry = self.entry.get_or_insert_default();
        if let Some(request) = &mut entry.request {
            request.repeat(self.clock, now);
        } else {
            entry.request = Some(Request::new(self.clock, now));
            self.ts_recent = ts;
        }
        self.answer_request(now);
    }

    fn answer_request(&mut self, now: Time) {
        let request = self.entry.as_ref().and_then(|entry| entry.request);
        let (timeouts, repeated) = request.map_or((0, 0), |request| request.repetitions());
        let mut option = None;
        if let Some(accurate) = self.echo.accurate() {
            accurate.note_repeated_answer(repeated);
            option = accurate.first_option().filter(|_| repeated == 0);
        }
        self.out.push(Kind::SynAck {
            window: self.buffer.first_window(),
            scale: self.buffer.scale(),
            ts: timestamp_ms(now),
            ts_echo: self.ts_recent,
            ace: self.echo.answer(timeouts),
            option,
        });
    }

    /// Takes the handshake's third packet with its timestamp and echo in ms.
    pub fn take_third(&mut self, third: &ThirdPacket, (ts, ts_echo): (u32, u32), now: Time) {
        self.ts_recent = ts;
        let completes = self.entry.as_ref().is_some_and(|entry| entry.request.is_some());
        if let Some(accurate) = self.echo.accurate().filter(|_| completes) {
            accurate.take_third(third.ace, third.option, third.bytes == 0);
        }
        self.complete_handshake(ts_echo, now);
        self.count(third.ecn, 1, third.bytes, ts);
    }

    /// The ECN mode that the handshake settled on.
    #[must_use]
    pub fn ecn(&self) -> EcnMode {
        self.echo.mode()
    }

    /// Counts packets that arrived as one, with `bytes` bytes of payload, this codepoint and the
    /// timestamp `stamp` in ms (`tcp_ecn_received_counters`).
    pub fn count(&mut self, ecn: Ecn, packets: u32, bytes: u32, stamp: u32) {
        if self.echo.count(ecn, packets, bytes, stamp) {
            self.policy.ack_now();
        }
    }

    /// The end's state of accurate ECN, if both ends use it.
    pub fn accurate_ecn(&mut self) -> Option<&mut AccurateEnd> {
        self.echo.accurate()
    }

    /// Completes the handshake at the first packet that isn't a SYN.
    fn complete_handshake(&mut self, ts_echo: u32, now: Time) {
        let request = self.entry.as_mut().and_then(|entry| entry.request.take());
        if let Some(request) = request {
            self.policy.handshake_rtt(request.rtt(ts_echo, now));
            self.buffer.open(now);
            self.entry.take_if(|entry| entry.gro.is_none());
            if self.config.ecn.counts() {
                self.out.mark_as(self.echo.of_the_rest());
            }
        }
    }

    /// Processes one packet, the usual unit.
    fn receive_one(&mut self, data: &Data, now: Time) {
        self.take_unit::<false>(std::slice::from_ref(data), now);
    }

    /// Processes consecutive packets that reach TCP as one.
    fn receive_unit(&mut self, unit: &[Data], now: Time) {
        let known = |data: &Data| data.seq < self.next || self.out_of_order.contains(data.seq);
        if unit.len() == 1 || !unit.iter().any(known) {
            self.take_several(unit, now);
        } else if unit[0].seq == self.next {
            self.take_overlapping(unit, now);
        } else {
            for data in unit {
                self.take_several(std::slice::from_ref(data), now);
            }
        }
    }

    fn take_several(&mut self, unit: &[Data], now: Time) {
        if self.socket.is_some() {
            self.take_unit::<true>(unit, now);
        } else {
            self.take_unit::<false>(unit, now);
        }
    }

    /// Takes packets in order that overlap some that arrived before; the first range of those is
    /// reported as a duplicate (`tcp_ofo_queue`).
    #[cold]
    fn take_overlapping(&mut self, unit: &[Data], now: Time) {
        let end = unit[unit.len() - 1].seq + 1;
        self.stats.packets += unit.len() as u64;
        self.ts_recent = unit[0].ts;
        self.sacks.clear_duplicate();
        let covered = self.out_of_order.as_slice().iter().take_while(|row| row.0 < end);
        let covered: Vec<_> = covered.map(|&(from, to)| (from, to.min(end))).collect();
        let mut known = 0;
        for (from, to) in covered {
            self.sacks.extend_duplicate(from, to);
            self.stats.duplicates += u64::from(to - from);
            known += self.short.release(from, to);
            if self.socket.is_none() {
                self.buffer.memory.release(to - from);
            }
        }
        self.out_of_order.remove_below(end);
        self.drop_covered(end);
        if self.out_of_order.is_empty() {
            self.sacks.remove_below(end, true);
            self.policy.ack_now();
        }
        let bytes = payload(unit);
        self.stats.bytes += bytes - known;
        if self.socket.is_some() {
            self.take_in_order::<true>(unit, bytes, now);
        } else {
            self.take_in_order::<false>(unit, bytes, now);
        }
    }

    /// Takes packets that are all new, or a single one.
    #[inline(always)] // compiled once for a single packet, and once for several
    fn take_unit<const SOCKET: bool>(&mut self, unit: &[Data], now: Time) {
        let first = &unit[0];
        self.stats.packets += unit.len() as u64;
        if first.seq <= self.last_ack {
            if first.seq + 1 < self.last_ack {
                return self.take_stale(first, now);
            }
            self.ts_recent = first.ts;
        }
        self.buffer.measure_rtt(first, now);
        if !self.echo.is_off() {
            if !SOCKET && self.echo.accurate().is_some() {
                self.count_unit(unit);
            }
            if unit.iter().any(|data| self.echo.accept_cwr(data)) {
                self.policy.ack_now();
            }
        }
        self.sacks.clear_duplicate();
        if first.seq < self.next || self.out_of_order.contains(first.seq) {
            self.stats.duplicates += 1;
            self.take_duplicate(first, now);
            return;
        }
        let bytes = payload(unit);
        self.stats.bytes += bytes;
        if first.seq == self.next {
            self.take_in_order::<SOCKET>(unit, bytes, now);
        } else {
            self.take_out_of_order::<SOCKET>(unit, now);
        }
    }

    /// Counts the codepoint of packets that arrived as one, which is the same for all of them.
    #[cold]
    fn count_unit(&mut self, unit: &[Data]) {
        let packets = u32::try_from(unit.len()).expect("45 packets at most");
        let bytes = u32::try_from(payload(unit)).expect("64 KiB at most");
        self.count(unit[0].ecn, packets, bytes, unit[0].ts);
    }

    #[inline(always)]
    fn take_in_order<const SOCKET: bool>(&mut self, unit: &[Data], bytes: u64, now: Time) {
        let last = if SOCKET { Self::typical_packet(unit) } else { unit[unit.len() - 1] };
        self.next = unit[unit.len() - 1].seq + 1;
        if SOCKET {
            self.queue_for_program(unit);
        } else {
            self.buffer.memory.queue(unit.len());
        }
        let had_holes = !self.out_of_order.is_empty();
        let fresh = if had_holes { bytes + self.close_hole() } else { bytes };
        if SOCKET && last.fin {
            self.policy.fin_received();
        } else {
            self.policy.data_received(&last, fresh, self.buffer.window(), now);
        }
        self.note_mark(last.ecn, self.next, now);
        if had_holes && self.out_of_order.is_empty() {
            self.policy.ack_now();
        }
        if SOCKET {
            self.measure_and_grow(unit);
            self.note_fin(unit);
        } else {
            self.grow_window(unit);
        }
        self.buffer.on_received(fresh, now);
        self.decide(true, had_holes, now);
        if !SOCKET {
            self.read(fresh, fresh - bytes, now);
        }
    }

    /// Takes the data that follow the new packets without a gap; returns their payload in bytes.
    fn close_hole(&mut self) -> u64 {
        let mut bytes = 0;
        while let Some(end) = self.out_of_order.pop_at(self.next) {
            bytes += self.short.release(self.next, end);
            if self.socket.is_none() {
                self.buffer.memory.release(end - self.next);
            }
            self.next = end;
        }
        self.sacks.remove_below(self.next, self.out_of_order.is_empty());
        self.buffer.wait_beyond(self.span_beyond());
        if self.socket.is_some() {
            self.release_for_program();
        }
        bytes
    }

    /// Packets from the next in order to the end of those out of order.
    fn span_beyond(&self) -> Seq {
        self.out_of_order.end().map_or(0, |end| end - self.next)
    }

    fn take_out_of_order<const SOCKET: bool>(&mut self, unit: &[Data], now: Time) {
        let last = if SOCKET { Self::typical_packet(unit) } else { unit[unit.len() - 1] };
        let (start, end) = (unit[0].seq, unit[unit.len() - 1].seq + 1);
        self.note_mark(last.ecn, self.next, now);
        let row = self.out_of_order.insert_whole(start, end).expect("any number of rows");
        self.short.hold(unit);
        let (position, packets) = (start - row.0, end - start);
        // A packet that joins an existing buffer takes its memory before the window may grow, any
        // other packet afterwards.
        let joins = memory::joins(position);
        if joins && !SOCKET {
            self.buffer.memory.hold(position, packets);
        }
        self.policy.out_of_order(&last);
        if self.policy.has_compressed() && self.sacks.is_far(start, end) {
            // The change affects a block that the next ACK might not hold, so report the current
            // state first. No ACK is owed for this packet then (`tcp_ack_snd_check`).
            self.send_ack(now);
        }
        // Usually the packets extend the newest block and touch none above it.
        if row.1 != end || !self.sacks.extend_newest(start, end) {
            self.sacks.add(start, end);
        }
        if SOCKET {
            self.measure_and_grow(unit);
        } else {
            self.grow_window(unit);
        }
        self.buffer.wait_beyond(self.span_beyond());
        if SOCKET {
            self.hold_for_program(unit);
        } else if !joins {
            self.buffer.memory.hold(position, packets);
        }
        self.buffer.out_of_order();
        self.decide(false, true, now);
    }

    #[inline]
    fn grow_window(&mut self, unit: &[Data]) {
        for data in unit {
            if self.buffer.may_grow() {
                self.try_to_grow(data);
            }
        }
    }

    #[inline(never)] // once the window has grown, hardly any packet comes here
    fn try_to_grow(&mut self, data: &Data) {
        if self.buffer.grow(data) {
            self.policy.window_grew();
        }
    }

    /// Handles a new packet's codepoint; `next` is the next packet expected after it.
    #[inline]
    fn note_mark(&mut self, ecn: Ecn, next: Seq, now: Time) {
        if !self.echo.is_off() {
            self.take_codepoint(ecn, next, now);
        }
    }

    #[inline(never)]
    fn take_codepoint(&mut self, ecn: Ecn, next: Seq, now: Time) {
        match self.echo.take(ecn, next, self.policy.is_delayed()) {
            ecn::Request::Nothing => {}
            ecn::Request::Quick => self.policy.enter_quick_after_mark(self.buffer.window()),
            ecn::Request::Now => self.policy.ack_now(),
            ecn::Request::Twice(before) => {
                self.send_earlier_ack(before, now);
                self.echo.on_delayed_ack_sent();
                self.policy.ack_now();
            }
        }
    }

    /// Reports data below the last ACK and otherwise ignores them (`tcp_sequence`,
    /// `tcp_send_dupack`).
    #[cold]
    fn take_stale(&mut self, data: &Data, now: Time) {
        self.stats.duplicates += 1;
        self.note_repeated(data.seq);
        self.sacks.set_duplicate(data.seq, data.seq + 1);
        self.policy.enter_quick(self.buffer.window());
        self.send_ack(now);
    }

    /// Reports data that arrived before; below `rcv_nxt` they also start quick ACKs.
    fn take_duplicate(&mut self, data: &Data, now: Time) {
        self.sacks.set_duplicate(data.seq, data.seq + 1);
        if data.seq < self.next {
            self.note_repeated(data.seq);
            self.policy.enter_quick(self.buffer.window());
        } else {
            self.policy.out_of_order(data);
            self.sacks.add(data.seq, data.seq + 1);
        }
        self.policy.schedule();
        self.decide(false, true, now);
    }

    /// Notes that old data arrived again: the path may drop ACKs with the option of accurate ECN.
    fn note_repeated(&mut self, seq: Seq) {
        if let Some(accurate) = self.echo.accurate() {
            accurate.note_duplicate(seq);
        }
    }

    /// Decides whether to acknowledge now; `unread` says whether data wait to be read.
    #[inline(always)] // runs for every packet
    fn decide(&mut self, unread: bool, maybe_holes: bool, now: Time) {
        let due = self.policy.exceeds_a_packet() && (!unread || self.edge_advances());
        let holes = maybe_holes && !self.out_of_order.is_empty();
        let rtt_us = self.buffer.rtt_us();
        match self.policy.decide(due, holes, self.next, rtt_us, now) {
            AckDecision::Now => self.send_ack(now),
            AckDecision::Wait => {}
        }
    }

    #[inline]
    fn edge_advances(&mut self) -> bool {
        self.look_at_memory();
        self.buffer.edge_advances()
    }

    /// Ends quick ACKs if memory is short (`__tcp_select_window`).
    #[inline]
    fn look_at_memory(&mut self) {
        if self.buffer.is_short() {
            self.policy.leave_quick();
        }
    }

    /// Lets the application read `bytes` in-order bytes, `behind` of which waited behind the packet
    /// that just arrived (`__tcp_cleanup_rbuf`).
    #[inline(always)] // runs for every packet in order
    fn read(&mut self, bytes: u64, behind: u64, now: Time) {
        self.buffer.read(bytes, behind, now);
        self.buffer.memory.read();
        if self.policy.ack_after_read(self.buffer.memory.in_use() == 0) || self.buffer.has_doubled()
        {
            self.send_ack(now);
        }
    }

    fn send_ack(&mut self, now: Time) {
        self.push_ack(self.next, now);
        self.policy.ack_sent();
    }

    /// Acknowledges the data before the latest packet, with the ECE flag as it was before that
    /// (`__tcp_send_ack` with `prior_rcv_nxt`).
    fn send_earlier_ack(&mut self, before: Seq, now: Time) {
        self.push_ack(before, now);
        self.policy.earlier_ack_sent();
    }

    #[inline]
    fn push_ack(&mut self, number: Seq, now: Time) {
        let ack = self.make_ack(number, now);
        self.stats.acks += 1;
        self.out.push(Kind::Ack(ack));
    }

    /// Returns the acknowledgement that a data packet in the other direction carries, in place of a
    /// pure ACK that is owed.
    pub fn acknowledge_with_data(&mut self, now: Time) -> Ack {
        let ack = self.make_ack(self.next, now);
        self.policy.ack_sent();
        ack
    }

    /// Ends quick ACKs, since the application's answer will soon carry the next ACK
    /// (`inet_csk_enter_pingpong_mode`).
    pub fn expect_answer(&mut self) {
        self.policy.leave_quick();
    }

    #[inline] // runs for every ACK
    fn make_ack(&mut self, number: Seq, now: Time) -> Ack {
        if self.echo.accurate().is_some() {
            return self.make_accurate_ack(number, now);
        }
        self.make_plain_ack(number, now)
    }

    #[inline(always)] // the same
    fn make_plain_ack(&mut self, number: Seq, now: Time) -> Ack {
        self.look_at_memory();
        let ack = Ack {
            ack: number,
            window: self.buffer.advertise(),
            ts: timestamp_ms(now),
            ts_echo: self.ts_recent,
            sack: self.sacks.take_blocks(),
            ece: self.echo.ece,
            ace: Ace::NONE,
        };
        self.last_ack = self.next;
        ack
    }

    /// A separate function, so that other ACKs are inlined.
    #[cold]
    fn make_accurate_ack(&mut self, number: Seq, now: Time) -> Ack {
        let mut ack = self.make_plain_ack(number, now);
        self.tell_counts(&mut ack, now);
        ack
    }

    /// Adds flags and option of accurate ECN. The program of a socket composes the options itself.
    fn tell_counts(&mut self, ack: &mut Ack, now: Time) {
        ack.ace = self.echo.report();
        if self.socket.is_none() {
            let blocks = ack.sack.as_slice();
            let duplicate = blocks.first().filter(|_| ack.sack.dsack).map(|block| block.0);
            let slot = OptionSlot {
                blocks: blocks.len(),
                duplicate,
                srtt: self.policy.known_rtt(),
                ..OptionSlot::beside_timestamps(now)
            };
            self.echo.add_option(&mut ack.sack, &slot);
        }
    }

    /// Handles due timers and appends everything to send at `now` to `out`. Returns an instant
    /// before which nothing happens by itself, or [`Time::MAX`].
    #[inline(always)] // it is called after every packet of data
    pub fn advance(&mut self, now: Time, out: &mut Vec<Packet<Segment>>) -> Time {
        loop {
            if self.out.is_empty() {
                let timer = self.next_timer();
                if timer > now {
                    return timer;
                }
                self.fire_timers(now);
                if self.out.is_empty() {
                    return self.next_timer();
                }
            }
            self.out.move_to(out);
        }
    }

    #[inline(never)]
    fn fire_timers(&mut self, now: Time) {
        if let Some(entry) = &mut self.entry {
            let clock = self.clock;
            let unanswered = entry.request.as_mut().is_some_and(|one| one.fire_timer(clock, now));
            let arrivals = entry.gro.as_mut().and_then(|gro| gro.take_due(now));
            if unanswered {
                self.answer_request(now);
            }
            for unit in gro::units(&arrivals.unwrap_or_default()) {
                self.receive_unit(unit, now);
            }
        }
        if self.out.is_empty() && self.policy.fire_timers(now) {
            self.send_ack(now);
        }
    }

    /// When the first timer fires, or [`Time::MAX`].
    #[inline]
    fn next_timer(&self) -> Time {
        let policy = self.policy.next_timer();
        self.entry.as_ref().map_or(policy, |entry| policy.min(entry.deadline()))
    }

    /// Prefetches memory that the receiver points to.
    pub fn prefetch_further(&self) {
        self.out.prefetch();
        self.out_of_order.prefetch();
    }

    /// When it must be advanced next.
    #[inline]
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        if !self.out.is_empty() {
            return Some(Time::ZERO);
        }
        let timer = self.next_timer();
        (timer < Time::MAX).then_some(timer)
    }

    /// Notes whether a program has accepted the connection (`accept`).
    pub fn accept(&mut self, is_accepted: bool) {
        self.buffer.accept(is_accepted);
    }

    /// The size of the receive buffer, in bytes (`sk_rcvbuf`).
    #[must_use]
    pub fn buffer_size(&self) -> u64 {
        self.buffer.size()
    }

    /// The memory of data that aren't read yet, in bytes (`sk_rmem_alloc`).
    #[must_use]
    pub fn memory_in_use(&self) -> u64 {
        self.buffer.memory.in_use()
    }

    /// Bits by which its windows are shifted on the wire.
    #[must_use]
    pub fn window_scale(&self) -> u8 {
        self.buffer.scale()
    }

    /// The next packet in order (`rcv_nxt`).
    #[must_use]
    pub fn next_expected(&self) -> Seq {
        self.next
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &ReceiverConfig {
        &self.config
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> ReceiverStats {
        self.stats
    }
}

#[inline]
fn payload(unit: &[Data]) -> u64 {
    if let [data] = unit {
        return u64::from(data.len);
    }
    unit.iter().map(|data| u64::from(data.len)).sum()
}
