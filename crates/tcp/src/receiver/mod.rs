//! The receiving end, which acknowledges data.

mod ack_policy;
mod ecn;
mod gro;
mod memory;
mod request;
mod sacks;
mod short;
pub(crate) mod window;

use narrows_base::{Duration, Ecn, FlowId, Jiffies, Packet, RangeSet, Time};

use crate::ecn::EcnMode;
use crate::outbox::{Envelope, Outbox};
use crate::profile::{BufferLimits, TcpProfile};
use crate::segment::{Ack, Data, Kind, Segment, Seq};
use crate::timer::timestamp_ms;
use ack_policy::{AckPolicy, Verdict};
use ecn::Echo;
use gro::Gro;
use request::Request;
use sacks::SackList;
use short::ShortPackets;
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
    /// The largest advertised window, in bytes (`TCP_WINDOW_CLAMP`).
    pub window_clamp: Option<u64>,
    /// Number of this connection in its flow's chain.
    pub instance: u32,
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

/// A receiving TCP whose application reads at once.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    clock: Jiffies,
    /// `rcv_nxt`: the next packet in order.
    next: Seq,
    out_of_order: RangeSet<Seq>,
    short: ShortPackets,
    sacks: SackList,
    /// None if packets reach an established TCP at once.
    entry: Option<Box<Entry>>,
    policy: AckPolicy,
    echo: Echo,
    buffer: ReceiveBuffer,
    /// Packet number of the last ACK sent (`rcv_wup`).
    last_ack: Seq,
    /// Timestamp to echo, in ms (RFC 7323 section 4.3).
    ts_recent: u32,
    stats: ReceiverStats,
    out: Outbox,
}

/// The stages before an established TCP: GRO and the handshake.
#[derive(Debug, Default)]
struct Entry {
    gro: Option<Gro>,
    /// A handshake that isn't complete.
    request: Option<Request>,
}

impl Entry {
    /// Merges packets that arrive within a span of time.
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
            entry: (!config.gro.is_zero()).then(|| Box::new(Entry::merging(config.gro))),
            policy: AckPolicy::new(clock, profile.sack_compression, profile.ack_on_psh),
            echo: Echo::new(config.ecn),
            buffer: ReceiveBuffer::new(
                &profile.receive,
                config.limits.receive(profile),
                config.window_clamp,
            ),
            last_ack: 0,
            ts_recent: 0,
            stats: ReceiverStats::default(),
            out: Outbox::new(Envelope::new(config.flow, config.instance, config.ecn)),
        }
    }

    /// Processes a segment from the sender, whose packet arrived with the codepoint `ecn`.
    #[inline(always)] // every packet of data comes by
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
            Kind::Syn { ts, ecn, .. } => self.take_request(*ts, *ecn, now),
            Kind::HandshakeAck { ts, ts_echo } => {
                self.ts_recent = *ts;
                self.complete_handshake(*ts_echo, now);
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
            Kind::SynAck { .. } | Kind::Ack(_) => {}
            Kind::Datagram(_) | Kind::Echo(_) | Kind::Opaque(_) | Kind::OpaqueReply(_) => {}
        }
    }

    /// Answers a SYN, the first one or a repeated one.
    fn take_request(&mut self, ts: u32, ecn: bool, now: Time) {
        let entry = self.entry.get_or_insert_default();
        if let Some(request) = &mut entry.request {
            request.repeat(self.clock, now);
        } else {
            entry.request = Some(Request::new(self.clock, now));
            self.ts_recent = ts;
            self.echo.negotiate(ecn);
        }
        self.answer_request(now);
    }

    fn answer_request(&mut self, now: Time) {
        self.out.push(Kind::SynAck {
            window: self.buffer.first_window(),
            scale: self.buffer.scale(),
            ts: timestamp_ms(now),
            ts_echo: self.ts_recent,
            ecn: !self.echo.is_off(),
        });
    }

    /// The first packet that isn't a SYN completes the handshake.
    fn complete_handshake(&mut self, ts_echo: u32, now: Time) {
        let request = self.entry.as_mut().and_then(|entry| entry.request.take());
        if let Some(request) = request {
            self.policy.handshake_rtt(request.rtt(ts_echo, now));
            self.buffer.open(now);
            self.entry.take_if(|entry| entry.gro.is_none());
        }
    }

    /// Processes one packet, the usual unit.
    fn receive_one(&mut self, data: &Data, now: Time) {
        self.take_unit(std::slice::from_ref(data), now);
    }

    /// Processes consecutive packets that reach TCP as one.
    fn receive_unit(&mut self, unit: &[Data], now: Time) {
        let known = |data: &Data| data.seq < self.next || self.out_of_order.contains(data.seq);
        if unit.len() > 1 && unit.iter().any(known) {
            for data in unit {
                self.receive_one(data, now);
            }
        } else {
            self.take_unit(unit, now);
        }
    }

    /// Takes packets that are all new, or a single one.
    #[inline(always)] // compiled once for a single packet, and once for several
    fn take_unit(&mut self, unit: &[Data], now: Time) {
        let first = &unit[0];
        let known = |data: &Data| data.seq < self.next || self.out_of_order.contains(data.seq);
        self.stats.packets += unit.len() as u64;
        if first.seq <= self.last_ack {
            if first.seq + 1 < self.last_ack {
                return self.take_stale(first, now);
            }
            self.ts_recent = first.ts;
        }
        self.buffer.measure_rtt(first, now);
        if !self.echo.is_off() {
            self.echo.count(unit);
            if unit.iter().any(|data| self.echo.accept_cwr(data)) {
                self.policy.ack_now();
            }
        }
        self.sacks.clear_duplicate();
        if known(first) {
            self.stats.duplicates += 1;
            self.take_duplicate(first, now);
            return;
        }
        let bytes = payload(unit);
        self.stats.bytes += bytes;
        if first.seq == self.next {
            self.take_in_order(unit, bytes, now);
        } else {
            self.take_out_of_order(unit, now);
        }
    }

    #[inline(always)]
    fn take_in_order(&mut self, unit: &[Data], bytes: u64, now: Time) {
        let last = unit[unit.len() - 1];
        self.next = last.seq + 1;
        self.buffer.memory.queue(unit.len());
        let had_holes = !self.out_of_order.is_empty();
        let fresh = if had_holes { bytes + self.close_hole() } else { bytes };
        self.policy.data_received(&last, fresh, self.buffer.window(), now);
        self.note_mark(last.ecn, last.seq + 1, now);
        if had_holes && self.out_of_order.is_empty() {
            self.policy.ack_now();
        }
        self.grow_window(unit);
        self.buffer.on_received(fresh, now);
        self.decide(true, had_holes, now);
        self.read(fresh, fresh - bytes, now);
    }

    /// Takes the data that waited behind the new packets; returns their payload in bytes.
    fn close_hole(&mut self) -> u64 {
        let mut bytes = 0;
        while let Some(end) = self.out_of_order.pop_at(self.next) {
            bytes += self.short.release(self.next, end);
            self.buffer.memory.release(end - self.next);
            self.next = end;
        }
        self.sacks.remove_below(self.next, self.out_of_order.is_empty());
        self.buffer.wait_beyond(self.span_beyond());
        bytes
    }

    /// Packets from the next in order to the end of those out of order.
    fn span_beyond(&self) -> Seq {
        self.out_of_order.end().map_or(0, |end| end - self.next)
    }

    fn take_out_of_order(&mut self, unit: &[Data], now: Time) {
        let last = unit[unit.len() - 1];
        let (start, end) = (unit[0].seq, last.seq + 1);
        self.note_mark(last.ecn, self.next, now);
        let row = self.out_of_order.insert_whole(start, end).expect("any number of rows");
        self.short.hold(unit);
        let (position, packets) = (start - row.0, end - start);
        // What joins a buffer is in memory before the window may grow; anything else comes later.
        let joins = memory::joins(position);
        if joins {
            self.buffer.memory.hold(position, packets);
        }
        self.policy.out_of_order(&last);
        if self.policy.has_compressed() && self.sacks.is_far(start, end) {
            // The change affects a block that the next ACK might not hold, so report the current
            // state first. No ACK is owed for this packet then (`tcp_ack_snd_check`).
            self.send_ack(now);
        }
        // Mostly it continues the newest block, and nothing above it waits for it.
        if row.1 != end || !self.sacks.extend_newest(start, end) {
            self.sacks.add(start, end);
        }
        self.grow_window(unit);
        if !joins {
            self.buffer.memory.hold(position, packets);
        }
        self.buffer.wait_beyond(self.span_beyond());
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
                self.echo.told_before();
                self.policy.ack_now();
            }
        }
    }

    /// Data below the last ACK are reported and otherwise ignored (`tcp_sequence`,
    /// `tcp_send_dupack`).
    #[cold]
    fn take_stale(&mut self, data: &Data, now: Time) {
        self.stats.duplicates += 1;
        if !self.echo.is_off() {
            self.echo.count(std::slice::from_ref(data));
        }
        self.sacks.set_duplicate(data.seq, data.seq + 1);
        self.policy.enter_quick(self.buffer.window());
        self.send_ack(now);
    }

    /// Old data: report it, and acknowledge at once for a while.
    fn take_duplicate(&mut self, data: &Data, now: Time) {
        self.sacks.set_duplicate(data.seq, data.seq + 1);
        if data.seq < self.next {
            self.policy.enter_quick(self.buffer.window());
        } else {
            self.policy.out_of_order(data);
            self.sacks.add(data.seq, data.seq + 1);
        }
        self.policy.schedule();
        self.decide(false, true, now);
    }

    /// Whether to acknowledge now, with data that are `unread`, or without.
    #[inline(always)] // every packet comes by
    fn decide(&mut self, unread: bool, maybe_holes: bool, now: Time) {
        let due = self.policy.exceeds_a_packet() && (!unread || self.edge_advances());
        let holes = maybe_holes && !self.out_of_order.is_empty();
        let rtt_us = self.buffer.rtt_us();
        match self.policy.decide(due, holes, self.next, rtt_us, now) {
            Verdict::Now => self.send_ack(now),
            Verdict::Wait => {}
        }
    }

    #[inline]
    fn edge_advances(&mut self) -> bool {
        self.look_at_memory();
        self.buffer.edge_advances()
    }

    /// Little memory ends quick ACKs (`__tcp_select_window`).
    #[inline]
    fn look_at_memory(&mut self) {
        if self.buffer.is_short() {
            self.policy.leave_quick();
        }
    }

    /// The application reads the `bytes` that came in order, of which `behind` waited behind the
    /// packet that just arrived (`__tcp_cleanup_rbuf`).
    #[inline(always)] // every packet in order comes by
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

    /// Acknowledges the data before the latest packet, with the echo of that time
    /// (`__tcp_send_ack` with `prior_rcv_nxt`).
    fn send_earlier_ack(&mut self, before: Seq, now: Time) {
        self.push_ack(before, now);
        self.policy.earlier_ack_sent();
    }

    #[inline]
    fn push_ack(&mut self, number: Seq, now: Time) {
        self.look_at_memory();
        let ack = Ack {
            ack: number,
            window: self.buffer.advertise(),
            ts: timestamp_ms(now),
            ts_echo: self.ts_recent,
            sack: self.sacks.take_blocks(),
            ece: self.echo.ece,
            marked: self.echo.total,
        };
        self.last_ack = self.next;
        self.stats.acks += 1;
        self.echo.ack_sent();
        self.out.push(Kind::Ack(ack));
    }

    /// Handles due timers and moves everything to send at `now` behind what is in `out`. Returns an
    /// instant before which nothing happens by itself, or [`Time::MAX`].
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
