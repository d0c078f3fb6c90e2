//! NADA, RFC 8698. The sender does the receiver's computations (section 4.2), from the feedback for
//! each packet, as section 6.4 allows.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};
use narrows_cc::exponential;
use narrows_spec::scenario::Media;

use crate::control::{Base, Control, Fate, Report, milliseconds};
use crate::number::real;

// The parameters of section 4.1, table 2; times in ms.
const PRIO: f64 = 1.0;
const XREF: f64 = 10.0;
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU: f64 = 500.0;
const LOGWIN: Duration = Duration::from_millis(500);
const QEPS: f64 = 10.0;
const DFILT: f64 = 120.0;
const GAMMA_MAX: f64 = 0.5;
const QBOUND: f64 = 50.0;
const MULTILOSS: f64 = 7.0;
const QTH: f64 = 50.0;
const LAMBDA: f64 = 0.5;
const PLRREF: f64 = 0.01;
const PMRREF: f64 = 0.01;
const DLOSS: f64 = 10.0;
const DMARK: f64 = 2.0;
/// The upper bound of the signal in ms. The RFC's table has no such bound, but its authors' program
/// does (cisco/ns3-rmcat, `NADA_PARAM_XMAX`). Without it the signal falls by seconds after losses
/// of a full queue, which multiplies the rate at once and fills the queue again.
const XMAX: f64 = 500.0;
const BETA_S: f64 = 0.1;
const BETA_V: f64 = 0.1;
const ALPHA: f64 = 0.1;
/// The largest change of rates by the rate-shaping buffer, as a part of the reference rate
/// (equations 11 and 12).
const MOST_SHAPING: f64 = 0.05;
/// Samples of the minimum filter of queuing delays (section 5.1.1).
const FILTER: usize = 15;
/// The weights of the average loss interval (RFC 5348 section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// A packet of the observation window.
struct ObservedPacket {
    at: Time,
    bytes: u64,
    lost: bool,
    marked: bool,
    queue_ms: f64,
}

/// The intervals between loss events, in packets (RFC 5348 section 5).
#[derive(Debug, Default)]
struct Losses {
    /// Complete intervals, latest first.
    intervals: VecDeque<f64>,
    /// When the last loss event began.
    event: Option<Time>,
    /// Packets since the last loss event, or since the start.
    open: f64,
    /// Packets since the last loss.
    since: Option<f64>,
}

impl Losses {
    fn on_arrival(&mut self) {
        self.open += 1.0;
        self.since = self.since.map(|packets| packets + 1.0);
    }

    /// Counts a loss, which belongs to the last event if that began less than an RTT before (RFC
    /// 5348 section 5.2).
    fn on_loss(&mut self, sent: Time, rtt: Duration) {
        self.since = Some(0.0);
        if self.event.is_some_and(|event| sent < event + rtt) {
            self.open += 1.0;
            return;
        }
        self.event = Some(sent);
        self.intervals.push_front(self.open.max(1.0));
        self.intervals.truncate(WEIGHTS.len());
        self.open = 1.0;
    }

    /// The average interval, with the open one only if that makes it longer.
    fn average(&self) -> f64 {
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for (value, weight) in values.zip(WEIGHTS) {
                sum += value * weight;
                weights += weight;
            }
            if weights > 0.0 { sum / weights } else { 0.0 }
        };
        let closed = || self.intervals.iter().copied();
        mean(&mut closed()).max(mean(&mut std::iter::once(self.open).chain(closed())))
    }

    /// The weight of the last loss: 1 in the expiration window, then falling to 0 over an interval
    /// (section 4.2).
    fn weight(&self) -> f64 {
        let Some(since) = self.since else { return 0.0 };
        let interval = self.average();
        let beyond = since - MULTILOSS * interval;
        (1.0 - beyond / interval.max(1.0)).clamp(0.0, 1.0)
    }
}

/// Returns when the receiver observed each packet; it notices a loss when the next packet arrives.
/// Dated by the report, a loss would stay in the window for longer than the packets around it.
fn dates(report: &Report) -> Vec<Time> {
    let mut next = report.highest.1;
    let mut dates: Vec<Time> = Vec::with_capacity(report.seen.len());
    for seen in report.seen.iter().rev() {
        if let Fate::Arrived { at, .. } = seen.fate {
            next = at;
        }
        dates.push(next);
    }
    dates.reverse();
    dates
}

/// The state of the control.
pub(crate) struct Nada {
    rate_min: f64,
    rate_max: f64,
    /// Target feedback interval (DELTA) in ms.
    interval: f64,
    fps: f64,
    /// The reference rate in bit/s.
    rate: f64,
    congestion_ms: f64,
    queue_ms: f64,
    last: Time,
    base: Base,
    /// The last queuing delays, for the minimum filter.
    recent: VecDeque<f64>,
    window: VecDeque<ObservedPacket>,
    losses: Losses,
    loss: f64,
    marks: f64,
    ramps_up: bool,
}

impl Nada {
    pub(crate) fn new(media: &Media, start: Time) -> Self {
        Self {
            rate_min: real(media.min_bps),
            rate_max: real(media.max_bps),
            interval: real(media.feedback_ns) / 1e6,
            fps: real(media.fps),
            rate: real(media.min_bps),
            congestion_ms: 0.0,
            queue_ms: 0.0,
            last: start,
            base: Base::default(),
            recent: VecDeque::with_capacity(FILTER),
            window: VecDeque::new(),
            losses: Losses::default(),
            loss: 0.0,
            marks: 0.0,
            ramps_up: true,
        }
    }

    /// Takes the receiver's observations (sections 4.2 and 5.1).
    fn observe(&mut self, report: &Report) {
        let dates = dates(report);
        for (seen, at) in report.seen.iter().zip(dates) {
            let (mut queue_ms, mut marks) = (0.0, false);
            match seen.fate {
                Fate::Arrived { at: arrived, marked } => {
                    queue_ms = self.base.excess(milliseconds(seen.sent, arrived), report.now);
                    marks = marked;
                    self.recent.push_back(queue_ms);
                    self.losses.on_arrival();
                }
                Fate::Lost => self.losses.on_loss(seen.sent, report.rtt),
            }
            let lost = seen.fate == Fate::Lost;
            self.window.push_back(ObservedPacket {
                at,
                bytes: seen.size,
                lost,
                marked: marks,
                queue_ms,
            });
        }
        while self.recent.len() > FILTER {
            self.recent.pop_front();
        }
        while self.window.front().is_some_and(|one| one.at + LOGWIN < report.at) {
            self.window.pop_front();
        }
        self.queue_ms = self.recent.iter().copied().fold(f64::INFINITY, f64::min).min(1e6);
    }

    /// Updates the smoothed shares of lost and of marked packets in the window (equation 10).
    fn ratios(&mut self) {
        let total = real(self.window.len().max(1) as u64);
        let part = |of: fn(&ObservedPacket) -> bool| {
            real(self.window.iter().filter(|one| of(one)).count() as u64) / total
        };
        let (lost, marked) = (part(|one| one.lost), part(|one| one.marked));
        self.loss = ALPHA * lost + (1.0 - ALPHA) * self.loss;
        self.marks = ALPHA * marked + (1.0 - ALPHA) * self.marks;
    }

    /// The queuing delay, warped while losses are recent (equation 1).
    fn warp_delay(&self) -> f64 {
        let weight = self.losses.weight();
        if self.queue_ms < QTH || weight <= 0.0 {
            return self.queue_ms;
        }
        let exponent = LAMBDA * (self.queue_ms - QTH) / QTH;
        let warped = QTH * exponential(-exponent.min(700.0));
        weight * warped + (1.0 - weight) * self.queue_ms
    }

    /// The aggregate congestion signal in ms (equation 2).
    fn signal(&self) -> f64 {
        let square = |x: f64| x * x;
        let penalty = DMARK * square(self.marks / PMRREF) + DLOSS * square(self.loss / PLRREF);
        (self.warp_delay() + penalty).min(XMAX)
    }

    /// The rate at which packets arrived, in bit/s (section 5.1.3).
    fn received_bps(&self) -> f64 {
        let bytes: u64 = self.window.iter().filter(|one| !one.lost).map(|one| one.bytes).sum();
        real(bytes) * 8.0 / LOGWIN.as_secs_f64()
    }

    /// The accelerated ramp-up (equations 3 and 4).
    fn ramp_up(&mut self, rtt_ms: f64) {
        let gamma = GAMMA_MAX.min(QBOUND / (rtt_ms + self.interval + DFILT));
        self.rate = self.rate.max((1.0 + gamma) * self.received_bps());
    }

    /// The gradual update (equations 5 to 7).
    fn update(&mut self, signal: f64, delta_ms: f64) {
        let offset = signal - PRIO * XREF * self.rate_max / self.rate;
        let change = signal - self.congestion_ms;
        let part = KAPPA * (delta_ms / TAU * (offset / TAU) + ETA * change / TAU);
        self.rate -= part * self.rate;
    }

    /// The change of a rate by the buffer of encoded frames (equations 11 and 12).
    fn shaping(&self, scale: f64, queued: u64) -> f64 {
        (MOST_SHAPING * self.rate).min(scale * 8.0 * real(queued) * self.fps)
    }
}

impl Control for Nada {
    fn report(&mut self, report: &Report, _: u64) {
        self.observe(report);
        self.ratios();
        let signal = self.signal();
        let free = |one: &ObservedPacket| !one.lost && one.queue_ms < QEPS;
        self.ramps_up = self.window.iter().all(free);
        if self.ramps_up {
            self.ramp_up(report.rtt.as_secs_f64() * 1e3);
        } else {
            self.update(signal, milliseconds(self.last, report.now));
        }
        self.rate = self.rate.min(self.rate_max).max(self.rate_min);
        (self.congestion_ms, self.last) = (signal, report.now);
    }

    fn media_bps(&self, queued: u64) -> f64 {
        self.rate_min.max(self.rate - self.shaping(BETA_V, queued))
    }

    fn pacing_bps(&self, queued: u64) -> Option<f64> {
        Some(self.rate_max.min(self.rate + self.shaping(BETA_S, queued)))
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("reference_mbps", self.rate / 1e6);
        visit("congestion_signal_ms", self.congestion_ms);
        visit("queue_delay_ms", self.queue_ms);
        visit("loss_ratio", self.loss);
        visit("ramps_up", if self.ramps_up { 1.0 } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use narrows_spec::scenario::MediaControl;

    use super::*;
    use crate::bench::{media, ms, report};

    fn nada() -> Nada {
        Nada::new(&media(MediaControl::Nada), Time::ZERO)
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, {expected}");
    }

    #[test]
    fn it_ramps_up_from_the_received_rate_without_a_queue() {
        let mut nada = nada();
        // 25 packets in 500 ms are 400 kbit/s; 50 / (100 + 100 + 120) more.
        let arrived: Vec<u64> = (0..25).map(|n| 560 + 10 * n).collect();
        nada.report(&report(850, &arrived, 0, 0), 0);
        near(nada.rate, 400e3 * (1.0 + 50.0 / 320.0));
        // The sender's backlog lowers the encoder's rate by at most 5 %, and raises the pace alike.
        near(nada.media_bps(0), 462.5e3);
        near(nada.media_bps(2_000), 462.5e3 * 0.95);
        near(nada.media_bps(500), 462.5e3 - 0.1 * 8.0 * 500.0 * 30.0);
        near(nada.pacing_bps(500).expect("a pace"), 462.5e3 + 12e3);
    }

    #[test]
    fn it_follows_the_gradual_rule_when_a_queue_builds_up() {
        let mut nada = nada();
        nada.report(&report(200, &[100, 110], 0, 0), 0);
        nada.rate = 1e6;
        nada.window.clear();
        nada.recent.clear();
        // A queue of 20 ms: offset 20 - 10 x 2.4 / 1 = -4, change 20.
        nada.report(&report(300, &[210, 220], 20, 0), 0);
        near(nada.queue_ms, 20.0);
        near(nada.rate, 1e6 * (1.0 - 0.5 * (0.2 * (-4.0 / 500.0) + 2.0 * 20.0 / 500.0)));
        // No change: only the offset counts, and the next report comes 200 ms later.
        let rate = nada.rate;
        nada.report(&report(500, &[430, 440], 20, 0), 0);
        let offset = 20.0 - 10.0 * 2.4e6 / rate;
        near(nada.rate, rate * (1.0 - 0.5 * 0.4 * offset / 500.0));
    }

    #[test]
    fn the_rate_is_stable_at_the_equilibrium_signal() {
        let mut nada = nada();
        nada.rate = 0.6e6;
        nada.congestion_ms = 40.0;
        nada.update(40.0, 100.0);
        near(nada.rate, 0.6e6);
    }

    #[test]
    fn losses_add_a_penalty_and_end_the_ramp() {
        let mut nada = nada();
        nada.report(&report(200, &[100, 110, 120], 0, 1), 0);
        assert!(!nada.ramps_up);
        // One of four lost: 0.1 x 0.25 smoothed, (2.5)^2 x 10 ms.
        near(nada.loss, 0.025);
        near(nada.congestion_ms, 62.5);
        near(nada.rate, 96e3);
    }

    #[test]
    fn a_loss_leaves_the_window_with_the_packets_around_it() {
        let mut nada = nada();
        // The gap is seen at 100 ms, and reported 50 ms later.
        let mut first = report(200, &[90, 100], 0, 1);
        first.seen.swap(1, 2);
        nada.report(&first, 0);
        let kept = |nada: &Nada| nada.window.iter().filter(|one| one.lost).count();
        nada.report(&report(650, &[590], 0, 0), 0);
        assert_eq!((nada.window.len(), kept(&nada)), (3, 1), "100, the loss and 590 ms");
        nada.report(&report(660, &[605], 0, 0), 0);
        assert_eq!((nada.window.len(), kept(&nada)), (2, 0));
    }

    #[test]
    fn a_signal_is_bounded_however_many_packets_are_lost() {
        let mut nada = nada();
        nada.loss = 0.5;
        near(nada.signal(), 500.0);
    }

    #[test]
    fn a_long_delay_counts_less_while_losses_are_recent() {
        let mut nada = nada();
        nada.queue_ms = 150.0;
        near(nada.warp_delay(), 150.0);
        for _ in 0..20 {
            nada.losses.on_arrival();
        }
        nada.losses.on_loss(ms(100), Duration::from_millis(50));
        near(nada.warp_delay(), 50.0 * 0.367_879_441_171_442_3);
        // The average interval is 20 packets: full weight for 140 packets, none from 160 on.
        for _ in 0..150 {
            nada.losses.on_arrival();
        }
        let average = nada.losses.average();
        assert!(average > 20.0, "the open interval counts when it is longer: {average}");
    }

    #[test]
    fn losses_of_one_round_trip_are_one_event() {
        let mut losses = Losses::default();
        (0..10).for_each(|_| losses.on_arrival());
        losses.on_loss(ms(100), Duration::from_millis(50));
        losses.on_loss(ms(149), Duration::from_millis(50));
        assert_eq!(losses.intervals, [10.0]);
        losses.on_loss(ms(150), Duration::from_millis(50));
        assert_eq!(losses.intervals, [2.0, 10.0]);
        near(losses.average(), 6.0);
    }
}
