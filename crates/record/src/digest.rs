//! A fingerprint of results, the same on every machine and in every build.

use std::fmt;

use narrows_base::{Duration, FlowId, Histogram, Rate, Time};

use crate::event::{Completion, Event, EventKind, FlowSample, PacketEvent, QueueSample, RttSample};
use crate::observer::Observer;

/// FNV-1a of 128 bits, taken over 64-bit words instead of bytes.
///
/// A step is a bijection for each word: two sequences that differ in a single
/// word never have the same digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u128);

impl Default for Digest {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    /// Takes a number.
    #[inline]
    pub fn number(&mut self, word: u64) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        self.0 = (self.0 ^ u128::from(word)).wrapping_mul(PRIME);
    }

    /// Takes a text and its length.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        text.bytes().for_each(|byte| self.number(u64::from(byte)));
    }

    /// Takes an event and its instant.
    pub fn event(&mut self, at: Time, event: &Event) {
        self.number(at.as_nanos());
        self.number(event.kind() as u64);
        match event {
            Event::Flow(sample) => self.flow(sample),
            Event::Internal(i) => self.internal(i.flow, i.name, i.value),
            Event::Queue(sample) => self.queue(sample),
            Event::Completion(completion) => self.completion(completion),
            Event::Packet(packet) => self.packet(packet),
            Event::Rtt(sample) => self.rtt(sample),
        }
    }

    /// Takes an optional number; `None` hashes differently from every number.
    fn optional(&mut self, word: Option<u64>) {
        self.number(u64::from(word.is_some()));
        self.number(word.unwrap_or(0));
    }

    fn numbers<const N: usize>(&mut self, words: [u64; N]) {
        words.into_iter().for_each(|word| self.number(word));
    }

    fn flow(&mut self, s: &FlowSample) {
        self.numbers([s.flow.0.into(), s.cwnd.into(), s.in_flight.into(), s.sent, s.delivered]);
        self.numbers([s.lost, s.retransmitted, s.received.get(), s.wire.get(), s.dropped]);
        self.optional(s.ssthresh.map(u64::from));
        for rtt in [s.rtt, s.srtt, s.min_rtt] {
            self.optional(rtt.map(Duration::as_nanos));
        }
        for rate in [s.pacing_rate, s.delivery_rate] {
            self.optional(rate.map(Rate::as_bps));
        }
        self.text(s.state);
        self.text(s.cca_state);
    }

    /// Takes an [`Event::Internal`] whose name needn't live as long as the program.
    pub(crate) fn internal_at(&mut self, at: Time, flow: FlowId, name: &str, value: f64) {
        self.number(at.as_nanos());
        self.number(EventKind::Internal as u64);
        self.internal(flow, name, value);
    }

    fn internal(&mut self, flow: FlowId, name: &str, value: f64) {
        self.number(flow.0.into());
        self.text(name);
        self.number(value.to_bits());
    }

    fn queue(&mut self, s: &QueueSample) {
        self.numbers([s.link.into(), s.backlog.get(), s.backlog_packets, s.arrived]);
        self.numbers([s.dropped, s.marked, s.forwarded, s.forwarded_bytes.get()]);
    }

    fn completion(&mut self, c: &Completion) {
        self.numbers([c.flow.0.into(), c.instance.into(), c.start.as_nanos()]);
        self.numbers([c.size.get(), c.retransmitted]);
    }

    fn packet(&mut self, p: &PacketEvent) {
        self.numbers([p.kind as u64, p.flow.0.into(), p.instance.into(), p.seq]);
        self.numbers([p.size.into(), p.retransmission.into()]);
    }

    fn rtt(&mut self, s: &RttSample) {
        self.numbers([s.flow.0.into(), s.rtt.as_nanos()]);
    }

    /// Takes the buckets of the histogram with this number.
    pub(crate) fn histogram(&mut self, id: u64, histogram: &Histogram) {
        self.number(id);
        for (value, weight) in histogram.buckets() {
            self.numbers([value.to_bits(), weight]);
        }
        self.optional(histogram.mean().map(f64::to_bits));
    }
}

/// The digest of every event of a run, including those of packets.
impl Observer for Digest {
    #[inline]
    fn wants(&self, _kind: EventKind) -> bool {
        true
    }

    fn on(&mut self, at: Time, event: &Event) {
        self.event(at, event);
    }

    fn on_queue(&mut self, link: u32, held: &Histogram) {
        self.histogram(link.into(), held);
    }
}

/// Thirty-two hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
