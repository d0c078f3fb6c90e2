//! Simple senders with windows, and a link between them and their echo.

#![expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]

use std::collections::BTreeMap;

use narrows_base::{Duration, Ecn, FlowId, Packet, Rate, Time};
use narrows_net::{Element, Link, Queue, RateProcess};

const END: Time = Time::from_nanos(60_000_000_000);
const WARM_UP: Time = Time::from_nanos(10_000_000_000);

/// How a sender reacts.
#[derive(Clone, Copy, Debug)]
enum SenderKind {
    /// Adds a packet a round trip, halves once a round trip on a loss or mark.
    Halving,
    /// Adds a packet a round trip, takes half a packet off for each mark.
    Scalable,
    /// Keeps its window.
    Stubborn,
    /// Sends a small packet at each interval.
    Sparse,
}

#[derive(Clone, Copy, Debug)]
pub struct Sender {
    kind: SenderKind,
    rtt: Duration,
    ecn: Ecn,
    window: f64,
    in_flight: f64,
    /// Reactions to what was sent before have been made.
    reacted: Time,
}

impl Sender {
    pub fn halving(rtt: Duration, ecn: Ecn) -> Self {
        Self::new(SenderKind::Halving, rtt, ecn, 10.0)
    }

    pub fn scalable(rtt: Duration) -> Self {
        Self::new(SenderKind::Scalable, rtt, Ecn::Ect1, 10.0)
    }

    pub fn stubborn(rtt: Duration, window: f64) -> Self {
        Self::new(SenderKind::Stubborn, rtt, Ecn::NotEct, window)
    }

    pub fn sparse(interval: Duration) -> Self {
        Self::new(SenderKind::Sparse, interval, Ecn::NotEct, 1.0)
    }

    fn new(kind: SenderKind, rtt: Duration, ecn: Ecn, window: f64) -> Self {
        Self { kind, rtt, ecn, window, in_flight: 0.0, reacted: Time::ZERO }
    }

    /// A packet sent at `sent` came back, or its loss became known.
    fn learn(&mut self, now: Time, sent: Time, signal: bool) {
        self.in_flight -= 1.0;
        match self.kind {
            SenderKind::Halving if signal && sent >= self.reacted => {
                self.window = (self.window / 2.0).max(1.0);
                self.reacted = now;
            }
            SenderKind::Scalable if signal => self.window = (self.window - 0.5).max(2.0),
            SenderKind::Halving | SenderKind::Scalable if !signal => {
                self.window += 1.0 / self.window;
            }
            _ => {}
        }
    }
}

/// Measurements after the warm-up.
#[derive(Default)]
pub struct Report {
    /// Times from arrival to the end of the transmission, per sender in ms.
    delays: Vec<Vec<f64>>,
    bytes: Vec<u64>,
    pub dropped: u64,
}

impl Report {
    pub fn mean_delay_ms(&self, sender: Option<usize>) -> f64 {
        let of = |n: &usize| sender.is_none_or(|only| only == *n);
        let all = (0..self.delays.len()).filter(of).flat_map(|n| &self.delays[n]);
        all.clone().sum::<f64>() / all.count() as f64
    }

    pub fn max_delay_ms(&self, sender: usize) -> f64 {
        self.delays[sender].iter().copied().fold(0.0, f64::max)
    }

    pub fn utilisation(&self, rate: Rate) -> f64 {
        let bits = 8 * self.bytes.iter().sum::<u64>();
        bits as f64 / rate.as_bps() as f64 / (END - WARM_UP).as_secs_f64()
    }

    pub fn share(&self, sender: usize) -> f64 {
        self.bytes[sender] as f64 / self.bytes.iter().sum::<u64>() as f64
    }
}

/// The events that senders wait for: a packet's echo or loss, sent when, with a signal
/// of congestion or not.
type Echo = (usize, Time, bool);

struct Network {
    link: Link<u64>,
    senders: Vec<Sender>,
    /// In the order of their times, then of their making.
    echoes: BTreeMap<(Time, u64), Echo>,
    made: u64,
    report: Report,
}

/// A minute of these senders over a link with this queue. A packet's body is the
/// time that it was sent.
pub fn run(queue: Queue<u64>, rate: Rate, senders: &[Sender]) -> Report {
    let empty = vec![Vec::new(); senders.len()];
    let report = Report { delays: empty, bytes: vec![0; senders.len()], dropped: 0 };
    let link = Link::new(queue, RateProcess::constant(rate));
    let (senders, echoes) = (senders.to_vec(), BTreeMap::new());
    let mut network = Network { link, senders, echoes, made: 0, report };
    // They start 10 ms apart.
    for n in 0..network.senders.len() {
        network.senders[n].in_flight = 1.0;
        let start = Time::from_nanos(10_000_000 * n as u64);
        network.echo(start, (n, start, false));
    }
    while network.step() {}
    network.report
}

impl Network {
    fn echo(&mut self, at: Time, echo: Echo) {
        self.made += 1;
        self.echoes.insert((at, self.made), echo);
    }

    fn step(&mut self) -> bool {
        let echo = self.echoes.first_key_value().map_or(Time::MAX, |(key, _)| key.0);
        let due = self.link.next_deadline().unwrap_or(Time::MAX);
        let now = echo.min(due);
        if now > END {
            return false;
        }
        self.deliver(now);
        if echo <= due {
            let (_, (n, sent, signal)) = self.echoes.pop_first().unwrap();
            self.senders[n].learn(now, sent, signal);
            self.send(n, now);
        }
        self.note_drops();
        true
    }

    fn deliver(&mut self, now: Time) {
        while let Some(departure) = self.link.poll(now) {
            let (n, sent) =
                (departure.packet.flow.index(), Time::from_nanos(departure.packet.body));
            let rtt = self.senders[n].rtt;
            self.echo(departure.at + rtt, (n, sent, departure.packet.ecn == Ecn::Ce));
            if departure.at > WARM_UP {
                let delay = (departure.at - sent).as_secs_f64() * 1e3;
                self.report.delays[n].push(delay);
                self.report.bytes[n] += u64::from(departure.packet.size);
            }
        }
    }

    fn note_drops(&mut self) {
        while let Some(dropped) = self.link.take_dropped() {
            let (n, sent) = (dropped.packet.flow.index(), Time::from_nanos(dropped.packet.body));
            let known = dropped.at + self.senders[n].rtt;
            self.echo(known, (n, sent, true));
            self.report.dropped += u64::from(dropped.at > WARM_UP);
        }
    }

    fn send(&mut self, n: usize, now: Time) {
        while self.senders[n].in_flight + 1.0 <= self.senders[n].window {
            let sender = &mut self.senders[n];
            sender.in_flight += 1.0;
            let size = if matches!(sender.kind, SenderKind::Sparse) { 200 } else { 1_500 };
            let flow = FlowId(n as u32);
            let packet = Packet { flow, size, ecn: sender.ecn, body: now.as_nanos() };
            self.link.receive(packet, now);
        }
    }
}
