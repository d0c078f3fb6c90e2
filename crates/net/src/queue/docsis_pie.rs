//! DOCSIS-PIE: PIE for cable modems, which know the rate of their link.

#![expect(clippy::cast_precision_loss, reason = "sizes and rates are far below 2^53")]

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{PeekedPacket, Waiting};
use crate::element::DropReason;

/// The parameters of RFC 8034, with its defaults; Linux doesn't have it. The rates and the buffer
/// have no defaults: they belong to the subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocsisPieParams {
    /// Bytes that may wait (`BUFFER_SIZE`).
    pub buffer: Bytes,
    /// The guaranteed long-term rate (`MSR`).
    pub max_sustained_rate: Rate,
    /// The rate within the burst (`PEAK_RATE`).
    pub peak_rate: Rate,
    /// Bytes that may pass at the peak rate after idle time.
    pub max_burst_bytes: Bytes,
    /// The delay to hold (`LATENCY_TARGET`).
    pub target: Duration,
    /// Time between updates of the probability (`INTERVAL`).
    pub interval: Duration,
    /// How long the first burst passes untouched (`MAX_BURST`).
    pub max_burst: Duration,
    /// Quiet time after which it is granted again (`BURST_RESET_TIMEOUT`).
    pub burst_reset: Duration,
}

/// The default limit in bytes.
const LIMIT: u64 = 256 << 10;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "docsis_pie",
    title: "DOCSIS-PIE",
    family: "pie",
    summary: "PIE for cable modems, which know the rate of their link",
    source: "RFC 8034 appendix A",
    role: Role::Queue(LimitUnit::Bytes(Some(LIMIT))),
    parameters: &[
        Parameter::rate(
            "max_sustained_rate",
            ParameterDefault::LinkRate,
            "the guaranteed long-term rate",
        ),
        Parameter::rate("peak_rate", ParameterDefault::LinkRate, "the rate within the burst"),
        Parameter::bytes(
            "max_burst",
            ParameterDefault::Whole(0),
            "bytes that may pass at the peak rate after idle time",
        ),
        Parameter::duration(
            "target",
            ParameterDefault::ms(10),
            "the delay to hold (LATENCY_TARGET)",
        ),
        Parameter::duration(
            "interval",
            ParameterDefault::ms(16),
            "time between updates of the probability",
        )
        .at_least(entry::SHORTEST_PERIOD),
        Parameter::duration(
            "burst_time",
            ParameterDefault::ms(142),
            "how long the first burst passes (MAX_BURST)",
        ),
        Parameter::duration(
            "burst_reset",
            ParameterDefault::ms(1_000),
            "quiet time after which it is granted again",
        ),
    ],
};

impl DocsisPieParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            buffer: limit.bytes(),
            max_sustained_rate: values.rate("max_sustained_rate"),
            peak_rate: values.rate("peak_rate"),
            max_burst_bytes: values.bytes("max_burst"),
            target: values.duration("target"),
            interval: values.duration("interval"),
            max_burst: values.duration("burst_time"),
            burst_reset: values.duration("burst_reset"),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for DocsisPieParams {
    fn default() -> Self {
        Self::of(
            &Values::defaults(&INFO, Rate::from_bps(10_000_000)),
            Limit::Bytes(Bytes::new(LIMIT)),
        )
    }
}

impl NamedDiscipline for DocsisPieParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = DocsisPie<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> DocsisPie<B> {
        DocsisPie::new(&Self::of(values, limit), random)
    }
}

/// Weights of the distance from the target and of its change, per second.
const A: f64 = 0.25;
const B: f64 = 2.5;
const MEAN_PACKET: f64 = 1_024.0;
const MIN_PACKET: f64 = 64.0;
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
const LATENCY_LOW: f64 = 0.005;
const LATENCY_HIGH: f64 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BurstState {
    /// The queue has stayed short.
    Inactive,
    /// Watching; the first drop starts the burst's protection.
    Quiescent,
    Active,
}

/// A queue under DOCSIS-PIE (RFC 8034 appendix A).
///
/// It predicts the delay from the backlog and the rates of the subscription, not from the rate of
/// the link behind it, so both should be the same. It never marks.
#[derive(Clone, Debug)]
pub struct DocsisPie<T> {
    params: DocsisPieParams,
    random: Stream,
    waiting: Waiting<T>,
    ahead: PeekedPacket,
    next_update: Time,
    state: BurstState,
    /// For a packet of mean size; above 1, larger packets are dropped with certainty.
    probability: f64,
    accumulated: f64,
    delay_before: f64,
    burst_left: Duration,
    quiet_for: Duration,
    /// Bytes that may pass at the peak rate, as of `tokens_at`.
    tokens: f64,
    tokens_at: Time,
}

impl<T> DocsisPie<T> {
    /// An empty queue with these parameters.
    ///
    /// # Panics
    /// If a rate or the interval is zero.
    #[must_use]
    pub fn new(params: &DocsisPieParams, random: Stream) -> Self {
        let rates = [params.max_sustained_rate, params.peak_rate];
        assert!(rates.iter().all(|r| r.as_bps() > 0), "docsis_pie needs rates above zero");
        assert!(!params.interval.is_zero(), "docsis_pie needs an interval above zero");
        Self {
            params: *params,
            random,
            waiting: Waiting::new(),
            ahead: PeekedPacket::default(),
            next_update: Time::ZERO + params.interval,
            state: BurstState::Inactive,
            probability: 0.0,
            accumulated: 0.0,
            delay_before: 0.0,
            burst_left: Duration::ZERO,
            quiet_for: Duration::ZERO,
            tokens: params.max_burst_bytes.get() as f64,
            tokens_at: Time::ZERO,
        }
    }

    /// The probability of a drop for a packet of 1,024 bytes.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    fn refill(&mut self, now: Time) {
        let passed = (now - self.tokens_at).as_secs_f64();
        let most = self.params.max_burst_bytes.get() as f64;
        self.tokens =
            (self.tokens + passed * bytes_per_sec(self.params.max_sustained_rate)).min(most);
        self.tokens_at = now;
    }

    /// How long the backlog will take, in seconds.
    fn predicted_delay(&self) -> f64 {
        let backlog = self.waiting.bytes().get() as f64;
        let at_peak = backlog.min(self.tokens.max(0.0));
        at_peak / bytes_per_sec(self.params.peak_rate)
            + (backlog - at_peak) / bytes_per_sec(self.params.max_sustained_rate)
    }

    /// Returns `true` if the packet is dropped early (`drop_early`).
    fn drops_early(&mut self, size: u32) -> bool {
        if !self.burst_left.is_zero() {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        let backlog = self.waiting.bytes().get();
        if self.state == BurstState::Inactive {
            if backlog < self.params.buffer.get() / 3 {
                return false;
            }
            self.state = BurstState::Quiescent;
        }
        let chance = (self.probability * f64::from(size) / MEAN_PACKET).min(PROB_LOW);
        self.accumulated += chance;
        let short = self.delay_before < self.params.target.as_secs_f64() / 2.0;
        if (short && self.probability < 0.2) || backlog as f64 <= 2.0 * MEAN_PACKET {
            return false;
        }
        let struck = self.accumulated >= PROB_HIGH
            || (self.accumulated >= PROB_LOW && self.random.chance(chance));
        if struck {
            self.note_drop();
        }
        struck
    }

    fn note_drop(&mut self) {
        self.accumulated = 0.0;
        if self.state == BurstState::Quiescent {
            self.state = BurstState::Active;
            self.burst_left = self.params.max_burst;
        }
    }

    /// The controller's step (`calculate_drop_prob`).
    fn update(&mut self) {
        let delay = self.predicted_delay();
        if self.burst_left.is_zero() {
            self.probability = self.next_probability(delay);
        } else {
            self.probability = 0.0;
            self.burst_left = self.burst_left.saturating_sub(self.params.interval);
        }
        self.watch_quiet(delay);
        self.delay_before = delay;
    }

    fn next_probability(&self, delay: f64) -> f64 {
        let error = delay - self.params.target.as_secs_f64();
        let mut step = (A * error + B * (delay - self.delay_before)) * gain(self.probability);
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        let mut probability = self.probability + step;
        if delay < LATENCY_LOW && self.delay_before < LATENCY_LOW {
            probability *= 0.98;
        } else if delay > LATENCY_HIGH {
            probability += 0.02;
        }
        probability.clamp(0.0, PROB_LOW * MEAN_PACKET / MIN_PACKET)
    }

    fn watch_quiet(&mut self, delay: f64) {
        let half = self.params.target.as_secs_f64() / 2.0;
        let quiet = delay < half
            && self.delay_before < half
            && self.probability == 0.0
            && self.burst_left.is_zero();
        if !quiet || self.state == BurstState::Inactive {
            self.quiet_for = Duration::ZERO;
        } else if self.state == BurstState::Active {
            self.state = BurstState::Quiescent;
            self.quiet_for = Duration::ZERO;
        } else {
            self.quiet_for += self.params.interval;
            if self.quiet_for > self.params.burst_reset {
                self.state = BurstState::Inactive;
            }
        }
    }
}

fn bytes_per_sec(rate: Rate) -> f64 {
    rate.as_bps() as f64 / 8.0
}

/// The factor of a step, smaller at smaller probabilities.
fn gain(probability: f64) -> f64 {
    const STAIRS: [(f64, f64); 9] = [
        (0.000_001, 1.0 / 2_048.0),
        (0.000_01, 1.0 / 512.0),
        (0.000_1, 1.0 / 128.0),
        (0.001, 1.0 / 32.0),
        (0.01, 1.0 / 8.0),
        (0.1, 1.0 / 2.0),
        (1.0, 2.0),
        (10.0, 8.0),
        (f64::INFINITY, 32.0),
    ];
    STAIRS.iter().find(|stair| probability < stair.0).map_or(1.0, |stair| stair.1)
}

impl<T> QueueDiscipline<T> for DocsisPie<T> {
    fn enqueue(&mut self, packet: Packet<T>, now: Time, verdicts: &mut Verdicts<T>) {
        if self.waiting.bytes() + self.ahead.bytes + packet.bytes() > self.params.buffer {
            self.accumulated = 0.0;
            verdicts.drop(packet, now, DropReason::Overflow);
        } else if self.drops_early(packet.size) {
            verdicts.drop(packet, now, DropReason::Early);
        } else {
            self.waiting.push(packet, now);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut Verdicts<T>) -> Option<Packet<T>> {
        let (_, packet) = self.waiting.pop()?;
        self.refill(now);
        self.tokens -= f64::from(packet.size);
        Some(packet)
    }

    fn count_ahead(&mut self, ahead: Option<&Packet<T>>) {
        self.ahead = PeekedPacket::of(ahead);
    }

    fn backlog(&self) -> Bytes {
        self.waiting.bytes()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn next_deadline(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<T>) {
        self.refill(due);
        self.update();
        self.next_update = due + self.params.interval;
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    fn fill_queue(params: &DocsisPieParams, packets: u32) -> DocsisPie<u32> {
        let mut queue = DocsisPie::new(params, Stream::new(1, "docsis"));
        for body in 0..packets {
            let packet = Packet { flow: FlowId(0), size: 1_000, ecn: Ecn::Ect0, body };
            queue.enqueue(packet, Time::ZERO, &mut Verdicts::new());
        }
        queue
    }

    /// 100 kB at 10 Mbit/s; with 40 kB of tokens, those go at 20 Mbit/s.
    #[test]
    fn the_delay_is_predicted_from_the_two_rates() {
        let peak_rate = Rate::from_bps(20_000_000);
        let mut params = DocsisPieParams { peak_rate, ..DocsisPieParams::default() };
        assert!((fill_queue(&params, 100).predicted_delay() - 0.080).abs() < 1e-12);
        params.max_burst_bytes = Bytes::new(40_000);
        assert!((fill_queue(&params, 100).predicted_delay() - 0.064).abs() < 1e-12);
    }

    /// (0.25 x (80 - 10 ms) + 2.5 x 80 ms) / 2048.
    #[test]
    fn the_first_step_by_hand() {
        let mut queue = fill_queue(&DocsisPieParams::default(), 100);
        queue.update();
        assert!((queue.probability() - 0.2175 / 2_048.0).abs() < 1e-12, "{}", queue.probability());
    }

    /// Once the probability was zero, nothing accumulated before may affect a drop, however short
    /// the queue was then.
    #[test]
    fn a_probability_of_zero_forgets_what_added_up_even_while_inactive() {
        let mut queue = fill_queue(&DocsisPieParams::default(), 1);
        queue.accumulated = 8.4;
        assert!(!queue.drops_early(1_000));
        assert_eq!((queue.accumulated, queue.state), (0.0, BurstState::Inactive));
    }

    #[test]
    fn the_first_drop_opens_the_burst_protection() {
        let mut queue = fill_queue(&DocsisPieParams::default(), 100);
        (queue.probability, queue.accumulated, queue.delay_before) = (0.5, 8.5, 0.08);
        let mut offer = || {
            let packet = Packet { flow: FlowId(0), size: 1_000, ecn: Ecn::Ect0, body: 0 };
            let mut verdicts = Verdicts::new();
            queue.enqueue(packet, Time::ZERO, &mut verdicts);
            (verdicts.dropped_packets(), queue.burst_left)
        };
        assert_eq!(offer(), (1, Duration::from_millis(142)));
        assert_eq!(offer(), (0, Duration::from_millis(142)));
        queue.update();
        assert_eq!((queue.probability, queue.burst_left), (0.0, Duration::from_millis(126)));
    }
}
