//! The sender of media: it encodes frames, paces their packets, and learns what arrived.

use std::collections::VecDeque;

use narrows_base::{Duration, Ecn, Rate, Time};
use narrows_cc::{INFINITE_SSTHRESH, RecoveryState};
use narrows_spec::law::Draws;
use narrows_spec::scenario::Media;
use narrows_tcp::ends::{End, EndCompletion, Outgoing, SendingEnd};
use narrows_tcp::{SenderStats, SenderView};

use crate::control::{Control, Fate, FeedbackPacket, Report};
use crate::encoder::Encoder;
use crate::number::real;
use crate::screen::{SharedScreen, ShownFrame, lock_screen};
use crate::wire::{Feedback, HEADER, Packet, short, whole};

/// Frames older than this are discarded with all that waits, and a key frame follows (RFC 8298
/// section 4.1.3 asks for such a mechanism and leaves the value open).
const STALE: Duration = Duration::from_millis(500);
/// Without feedback for this long, packets leave at the least rate whatever the window is (RFC 8298
/// section 6 presumes a minimum rate and leaves the time open).
const SILENCE: Duration = Duration::from_secs(1);
/// The least pacing rate (`RATE_PACE_MIN`, RFC 8298 section 4.1.1.1).
const LEAST_PACE_BPS: f64 = 50_000.0;
/// How long a packet that is lost may still turn out to have arrived.
const REMEMBERED: Duration = Duration::from_secs(2);

/// When a flow of media starts and stops, and its packets' codepoint.
#[derive(Clone, Copy, Debug)]
pub struct MediaSchedule {
    /// The first frame is captured then.
    pub start: Time,
    /// No frame is captured from then on.
    pub stop: Option<Time>,
    /// ECN bits of packets with media.
    pub ecn: Ecn,
}

/// A packet that was sent.
struct SentPacket {
    at: Time,
    size: u64,
    /// Bytes up to its end.
    end: u64,
    arrived: bool,
    /// When it was declared lost.
    lost: Option<Time>,
    /// When the first later packet was known to have arrived.
    overtaken: Option<Time>,
}

/// Round-trip times, smoothed as in RFC 6298 section 2.
#[derive(Clone, Copy)]
struct RoundTrips {
    latest: Duration,
    smoothed: Duration,
    lowest: Duration,
}

/// Packets on their way, and what feedback says of them.
#[derive(Default)]
struct Flight {
    /// From the first whose fate is open.
    sent: VecDeque<SentPacket>,
    /// The number of the first of them.
    first: u64,
    /// Bytes sent, and those up to the highest packet that arrived.
    bytes: u64,
    acked: u64,
    /// The highest packet that arrived: its number, when it was sent and arrived.
    highest: Option<(u64, Time, Time)>,
    /// How long a packet may be late.
    reordering: Duration,
    stats: SenderStats,
}

impl Flight {
    fn number(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    fn in_flight(&self) -> u64 {
        self.bytes - self.acked
    }

    fn send(&mut self, size: u64, at: Time) {
        self.bytes += size;
        let end = self.bytes;
        self.sent.push_back(SentPacket {
            at,
            size,
            end,
            arrived: false,
            lost: None,
            overtaken: None,
        });
        self.stats.sent += 1;
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    /// Takes the arrivals of a report; returns the packets that were unknown to have arrived.
    fn take_arrivals(&mut self, feedback: &Feedback, now: Time) -> Vec<(u64, FeedbackPacket)> {
        let begin = whole(feedback.begin, self.number());
        let mut seen = Vec::new();
        for (number, arrival) in (begin..).zip(&feedback.arrivals) {
            let (Some((at, ecn)), Some(place)) = (*arrival, self.place(number)) else { continue };
            let Some(packet) = self.sent.get_mut(place).filter(|packet| !packet.arrived) else {
                continue;
            };
            packet.arrived = true;
            self.stats.delivered += 1;
            self.stats.delivered_ce += u64::from(ecn == Ecn::Ce);
            if self.highest.is_none_or(|(highest, ..)| highest < number) {
                self.highest = Some((number, packet.at, at));
                self.acked = packet.end;
            }
            if let Some(lost) = packet.lost {
                // It was late; its loss has been reported (RFC 8298 section 4.1.2.4).
                self.reordering = now.saturating_since(lost);
                continue;
            }
            let fate = Fate::Arrived { at, marked: ecn == Ecn::Ce };
            seen.push((number, FeedbackPacket { size: packet.size, sent: packet.at, fate }));
        }
        seen
    }

    /// Declares packets lost that were overtaken, and adds them in order.
    fn lose(&mut self, seen: &mut Vec<(u64, FeedbackPacket)>, waits: bool, now: Time) {
        let Some((highest, ..)) = self.highest else { return };
        let window = if waits { self.reordering } else { Duration::ZERO };
        for (number, packet) in (self.first..highest).zip(&mut self.sent) {
            if packet.arrived || packet.lost.is_some() {
                continue;
            }
            if *packet.overtaken.get_or_insert(now) + window <= now {
                packet.lost = Some(now);
                self.stats.lost += 1;
                seen.push((
                    number,
                    FeedbackPacket { size: packet.size, sent: packet.at, fate: Fate::Lost },
                ));
            }
        }
        seen.sort_by_key(|&(number, _)| number);
        let over = |packet: &SentPacket| {
            packet.arrived || packet.lost.is_some_and(|lost| lost + REMEMBERED < now)
        };
        while self.sent.front().is_some_and(over) {
            self.sent.pop_front();
            self.first += 1;
        }
    }
}

/// A packet that waits.
struct WaitingPacket {
    packet: Packet,
    len: u64,
}

/// The sending end.
pub(crate) struct Sender {
    control: Box<dyn Control>,
    encoder: Encoder,
    screen: SharedScreen,
    when: MediaSchedule,
    /// Frames in a second.
    fps: u64,
    packet_bytes: u64,
    /// Frames encoded.
    frames: u32,
    key_wanted: bool,
    /// When the last key frame was encoded.
    key_at: Option<Time>,
    waiting: VecDeque<WaitingPacket>,
    queued: u64,
    discarded: u64,
    /// When the next packet may leave.
    pace: Time,
    /// When feedback arrived last; before the first, when the first packet left.
    last_feedback: Option<Time>,
    flight: Flight,
    round_trips: Option<RoundTrips>,
    rtt: Option<Duration>,
    /// When it was polled last.
    now: Time,
}

impl Sender {
    pub(crate) fn new(
        media: &Media,
        when: MediaSchedule,
        control: Box<dyn Control>,
        draws: Draws,
        screen: SharedScreen,
    ) -> Self {
        Self {
            control,
            encoder: Encoder::new(media, draws),
            screen,
            when,
            fps: media.fps,
            packet_bytes: media.packet_bytes,
            frames: 0,
            key_wanted: false,
            key_at: None,
            waiting: VecDeque::new(),
            queued: 0,
            discarded: 0,
            pace: when.start,
            last_feedback: None,
            flight: Flight::default(),
            round_trips: None,
            rtt: None,
            now: when.start,
        }
    }

    /// When the next frame is captured.
    fn next_frame(&self) -> Option<Time> {
        let nanos = u64::from(self.frames) * 1_000_000_000 / self.fps;
        let at = self.when.start + Duration::from_nanos(nanos);
        self.when.stop.is_none_or(|stop| at < stop).then_some(at)
    }

    fn capture(&mut self, now: Time) {
        let stale = |first: &WaitingPacket| first.packet.captured + STALE < now;
        if self.waiting.front().is_some_and(stale) {
            self.discarded += self.waiting.len() as u64;
            self.waiting.clear();
            (self.queued, self.key_wanted) = (0, true);
        }
        let target = self.control.media_bps(self.queued);
        let frame = self.encoder.frame(target, self.key_wanted, now);
        if frame.key {
            (self.key_wanted, self.key_at) = (false, Some(now));
        }
        self.control.on_encoded(frame.bytes);
        // The encoder's rate is that of RTP packets, so a frame's bytes include their headers.
        let count = frame.bytes.div_ceil(self.packet_bytes).min(u64::from(u16::MAX));
        for index in 0..count {
            // All packets of a frame are of about the same size.
            let (before, after) = (frame.bytes * index / count, frame.bytes * (index + 1) / count);
            let len = (after - before).max(HEADER as u64);
            let [index, count] = [index, count].map(short);
            let (number, key) = (self.frames, frame.key);
            let packet = Packet { seq: 0, frame: number, index, count, key, captured: now };
            self.queued += len;
            self.waiting.push_back(WaitingPacket { packet, len });
        }
        self.frames += 1;
    }

    /// When silence lifts the window.
    fn silent_from(&self) -> Option<Time> {
        self.last_feedback.map(|at| at + SILENCE)
    }

    /// When the first packet that waits may leave, as far as it doesn't depend on feedback.
    fn next_packet(&self) -> Option<Time> {
        let first = self.waiting.front()?;
        let after = self.flight.in_flight() + first.len;
        match self.control.window() {
            Some(window) if after > window => Some(self.pace.max(self.silent_from()?)),
            _ => Some(self.pace),
        }
    }

    fn send(&mut self, now: Time) -> Option<Outgoing> {
        let silent = self.silent_from().is_some_and(|at| at <= now);
        let WaitingPacket { packet, len } = self.waiting.pop_front()?;
        let pace = match self.control.pacing_bps(self.queued) {
            Some(_) if silent && self.control.window().is_some() => Some(LEAST_PACE_BPS),
            pace => pace,
        };
        if let Some(bps) = pace {
            self.pace = now + nanoseconds(real(len) * 8e9 / bps);
        }
        self.queued -= len;
        // The number of a packet is given as it leaves: what is discarded leaves no gap.
        let packet = Packet { seq: short(self.flight.number()), ..packet };
        self.flight.send(len, now);
        self.last_feedback.get_or_insert(now);
        self.control.on_sent(len, self.flight.in_flight(), now);
        let bytes = packet.write(usize::try_from(len).expect("a packet is short"));
        Some(Outgoing { bytes, ecn: self.when.ecn })
    }

    /// A round trip without the time that the receiver held its report back.
    fn measure(&mut self, highest: (Time, Time), reported: Time, now: Time) -> Option<RoundTrips> {
        let held = reported.saturating_since(highest.1);
        let rtt = now.saturating_since(highest.0).saturating_sub(held);
        self.rtt = Some(rtt);
        let past =
            self.round_trips.unwrap_or(RoundTrips { latest: rtt, smoothed: rtt, lowest: rtt });
        let smoothed = (past.smoothed * 7 + rtt) / 8;
        self.round_trips = Some(RoundTrips { latest: rtt, smoothed, lowest: past.lowest.min(rtt) });
        self.round_trips
    }

    fn take(&mut self, feedback: &Feedback, now: Time) -> Option<()> {
        let before = self.flight.acked;
        let mut seen = self.flight.take_arrivals(feedback, now);
        self.flight.lose(&mut seen, self.control.allows_reordering(), now);
        let (_, sent, arrived) = self.flight.highest?;
        let trips = self.measure((sent, arrived), feedback.at, now)?;
        if feedback.wants_key && self.key_at.is_none_or(|at| at + trips.smoothed < now) {
            self.key_wanted = true;
        }
        let report = Report {
            now,
            at: feedback.at,
            seen: seen.into_iter().map(|(_, seen)| seen).collect(),
            highest: (sent, arrived),
            newly_acked: self.flight.acked - before,
            in_flight: self.flight.in_flight(),
            rtt: trips.latest,
            srtt: trips.smoothed,
        };
        self.control.report(&report, self.queued);
        Some(())
    }
}

/// A span of `nanos` ns, at least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded")]
fn nanoseconds(nanos: f64) -> Duration {
    Duration::from_nanos(nanos.clamp(1.0, 1e12) as u64)
}

impl End for Sender {
    fn receive(&mut self, bytes: &[u8], _: Ecn, now: Time) {
        if let Some(feedback) = Feedback::read(bytes, now) {
            self.last_feedback = Some(now);
            self.take(&feedback, now);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Outgoing> {
        self.now = now;
        while self.next_frame().is_some_and(|at| at <= now) {
            self.control.pass(now, self.queued);
            self.capture(now);
        }
        self.next_packet().filter(|&at| at <= now)?;
        self.send(now)
    }

    fn next_deadline(&self) -> Option<Time> {
        Time::earlier(self.next_frame(), self.next_packet())
    }
}

impl SendingEnd for Sender {
    fn stop_at(&mut self, at: Time) {
        self.when.stop = Some(at);
    }

    fn take_completed(&mut self) -> Option<EndCompletion> {
        let ShownFrame { frame, captured, at, bytes } = lock_screen(&self.screen).take(self.now)?;
        Some(EndCompletion::Part { number: frame, start: captured, end: at, bytes })
    }

    fn take_rtt(&mut self) -> Option<Duration> {
        self.rtt.take()
    }

    fn stats(&self) -> SenderStats {
        self.flight.stats
    }

    fn view(&self) -> Option<SenderView> {
        let packets = |bytes: u64| u32::try_from(bytes / self.packet_bytes).unwrap_or(u32::MAX);
        let trips = self.round_trips;
        let pacing = self.control.pacing_bps(self.queued);
        Some(SenderView {
            cwnd: self.control.window().map_or(0, packets),
            ssthresh: INFINITE_SSTHRESH,
            in_flight: packets(self.flight.in_flight()),
            rtt: trips.map(|trips| trips.latest),
            srtt: trips.map(|trips| trips.smoothed),
            min_rtt: trips.map(|trips| trips.lowest),
            pacing_rate: pacing.map(bits_per_second),
            delivery_rate: None,
            state: RecoveryState::Open,
            cca_state: "",
        })
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.control.inspect(visit);
        self.encoder.inspect(visit);
        visit("target_mbps", self.control.media_bps(self.queued) / 1e6);
        visit("waiting_bytes", real(self.queued));
        visit("discarded_packets", real(self.discarded));
        lock_screen(&self.screen).inspect(visit);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded")]
fn bits_per_second(bps: f64) -> Rate {
    Rate::from_bps(bps.clamp(0.0, 1e15) as u64)
}
