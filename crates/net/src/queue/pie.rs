//! PIE: a proportional integral controller of the delay drops at enqueue.

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{FRAME, PeekedPacket, Waiting, frame_bytes};
use crate::element::DropReason;

/// The parameters of `tc`'s pie; the defaults are Linux's (`pie_params_init`).
/// Its `dq_rate_estimator` isn't modelled: the delay is that of the packets, which is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieParams {
    /// Packets that may wait.
    pub limit: u64,
    /// The delay to hold.
    pub target: Duration,
    /// Time between updates of the probability. Linux rounds it to its
    /// timer's ticks: 16 ms with a tick of 4 ms.
    pub tupdate: Duration,
    /// Weight of the distance from the target, in sixteenths per second.
    pub alpha: u32,
    /// Weight of the change of the delay, in sixteenths per second.
    pub beta: u32,
    /// True if packets are marked instead of dropped where they can be, as long
    /// as the probability is at most 10 %.
    pub ecn: bool,
    /// True if the probability of a packet is proportional to its size.
    pub bytemode: bool,
    /// How long a burst passes untouched. Not an option of `tc`.
    pub burst: Duration,
    /// When the first update runs: 500 ms (`pie_init`). Not an option of `tc`.
    pub first_update: Duration,
}

/// The delay to hold.
pub(super) const TARGET: Parameter =
    Parameter::duration("target", ParameterDefault::ms(15), "the delay to hold");
/// The controller's period.
pub(super) const TUPDATE: Parameter = Parameter::duration(
    "tupdate",
    ParameterDefault::ms(15),
    "time between updates of the probability",
)
.at_least(entry::SHORTEST_PERIOD);
/// The controller's integral part.
pub(super) const ALPHA: Parameter = Parameter::whole(
    "alpha",
    ParameterDefault::Whole(2),
    "weight of the distance from the target, in 1/16 per second",
)
.at_most(32);
/// The controller's proportional part.
pub(super) const BETA: Parameter = Parameter::whole(
    "beta",
    ParameterDefault::Whole(20),
    "weight of the delay's change, in 1/16 per second",
)
.at_most(32);
/// Its flag that makes drops of small packets less likely.
pub(super) const BYTEMODE: Parameter =
    Parameter::flag("bytemode", false, "a packet's probability is proportional to its size");

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 1_000;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "pie",
    title: "PIE",
    family: "pie",
    summary: "drops at random, by a controller that holds the delay at a target",
    source: "RFC 8033; Linux net/sched/sch_pie.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        TARGET,
        TUPDATE,
        ALPHA,
        BETA,
        Parameter::flag("ecn", false, "marks instead, as long as the probability is at most 10 %"),
        BYTEMODE,
    ],
};

impl PieParams {
    /// The parameters that a scenario gives.
    pub(super) fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            target: values.duration("target"),
            tupdate: values.duration("tupdate"),
            alpha: values.whole("alpha"),
            beta: values.whole("beta"),
            ecn: values.flag("ecn"),
            bytemode: values.flag("bytemode"),
            burst: Duration::from_millis(150),
            first_update: Duration::from_millis(500),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for PieParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for PieParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Pie<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> Pie<B> {
        Pie::new(&Self::of(values, limit), random)
    }
}

/// Probability 1.
pub(super) const MAX_PROB: i64 = (1 << 56) - 1;
/// Linux's units of 64 ns in a second (`PSCHED_TICKS_PER_SEC`).
const TICKS_PER_SEC: i64 = 1_000_000_000 >> 6;

const fn ticks(nanos: u64) -> i64 {
    (nanos >> 6).cast_signed()
}

/// A queue under PIE (RFC 8033; Linux `sch_pie.c`, in its integers).
#[derive(Clone, Debug)]
pub struct Pie<B> {
    params: PieParams,
    target: i64,
    random: Stream,
    waiting: Waiting<B>,
    ahead: PeekedPacket,
    next_update: Time,
    /// As a part of 2^56 - 1.
    prob: i64,
    /// The accumulated probability since the last drop.
    accu_prob: i64,
    /// Delays in units of 64 ns.
    qdelay: i64,
    qdelay_old: i64,
    burst_left: i64,
    last_dequeue: Option<i64>,
}

impl<B> Pie<B> {
    /// An empty queue with these parameters.
    ///
    /// # Panics
    /// If `tupdate` is zero.
    #[must_use]
    pub fn new(params: &PieParams, random: Stream) -> Self {
        assert!(!params.tupdate.is_zero(), "pie needs a tupdate above zero");
        Self {
            params: *params,
            target: ticks(params.target.as_nanos()),
            random,
            waiting: Waiting::new(),
            ahead: PeekedPacket::default(),
            next_update: Time::ZERO + params.first_update,
            prob: 0,
            accu_prob: 0,
            qdelay: 0,
            qdelay_old: 0,
            burst_left: ticks(params.burst.as_nanos()),
            last_dequeue: None,
        }
    }

    /// The probability of a drop or mark, 0 to 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for whoever looks: 53 bits are enough")]
    pub fn probability(&self) -> f64 {
        self.prob as f64 / MAX_PROB as f64
    }

    /// Returns `true` if PIE drops or marks the packet (`pie_drop_early`).
    fn drops_early(&mut self, packet: &Packet<B>) -> bool {
        let low = self.qdelay < self.target / 2 && self.prob < MAX_PROB / 5;
        let backlog = self.waiting.frame_bytes() + self.ahead.frame_bytes;
        if self.burst_left > 0 || low || backlog < 2 * u64::from(FRAME) {
            return false;
        }
        let prob = self.packet_prob(packet);
        self.accu_prob = if prob == 0 { 0 } else { self.accu_prob.saturating_add(prob) };
        if self.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let struck = ((self.random.next_u64() >> 8).cast_signed()) < prob;
        if struck {
            self.accu_prob = 0;
        }
        struck
    }

    fn packet_prob(&self, packet: &Packet<B>) -> i64 {
        let frame = frame_bytes(packet);
        if self.params.bytemode && frame <= u64::from(FRAME) {
            return frame.cast_signed() * (self.prob / i64::from(FRAME));
        }
        self.prob
    }

    /// Alpha or beta per unit of delay, scaled down at low probabilities (RFC 8033 section 4.2).
    fn scale(&self, weight: u32) -> i64 {
        let mut weight = (i64::from(weight) * (MAX_PROB / TICKS_PER_SEC)) >> 4;
        if self.prob < MAX_PROB / 10 {
            weight >>= 1;
            let mut power = 100;
            while power <= 1_000_000 && self.prob < MAX_PROB / power {
                weight >>= 2;
                power *= 10;
            }
        }
        weight
    }

    /// Takes a packet for which there is room, unless the controller drops it. A marked packet
    /// stays as long as the probability is at most `most_marked`.
    pub(super) fn admit(
        &mut self,
        mut packet: Packet<B>,
        now: Time,
        verdicts: &mut Verdicts<B>,
        most_marked: i64,
    ) -> bool {
        if self.drops_early(&packet) {
            let mark = self.params.ecn && self.prob <= most_marked;
            if !mark || !verdicts.mark(&mut packet) {
                self.accu_prob = 0;
                verdicts.drop(packet, now, DropReason::Early);
                return false;
            }
        }
        self.waiting.push(packet, now);
        true
    }

    /// Drops a packet for which there is no room.
    pub(super) fn overflow(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        self.accu_prob = 0;
        verdicts.drop(packet, now, DropReason::Overflow);
    }

    /// Returns `true` if an update would change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        let full = ticks(self.params.burst.as_nanos());
        (self.prob, self.accu_prob, self.qdelay, self.qdelay_old) == (0, 0, 0, 0)
            && self.burst_left == full
            && self.last_dequeue.is_none()
    }

    /// The controller's step (`pie_calculate_probability`).
    pub(super) fn update(&mut self) {
        let (qdelay, old) = (self.qdelay, self.qdelay_old);
        let mut delta = self
            .scale(self.params.alpha)
            .saturating_mul(qdelay - self.target)
            .saturating_add(self.scale(self.params.beta).saturating_mul(qdelay - old));
        if delta > MAX_PROB / 50 && self.prob >= MAX_PROB / 10 {
            delta = MAX_PROB / 100 * 2;
        }
        if qdelay > ticks(250_000_000) {
            delta = delta.saturating_add(MAX_PROB / 50);
        }
        let raised = self.prob.saturating_add(delta);
        self.prob = raised.clamp(0, MAX_PROB);
        // A delay of zero with a backlog means a backlog too small to judge.
        let is_empty = self.waiting.len() + self.ahead.packets == 0;
        if qdelay == 0 && old == 0 && is_empty && raised <= MAX_PROB {
            self.prob -= self.prob / 64;
        }
        let quiet = qdelay < self.target / 2 && old < self.target / 2;
        if quiet && self.prob == 0 {
            self.burst_left = ticks(self.params.burst.as_nanos());
            self.last_dequeue = None;
            self.accu_prob = 0;
        }
        self.qdelay_old = qdelay;
    }

    /// Takes the delay of a packet that leaves (`pie_process_dequeue`).
    fn measure(&mut self, since: Time, now: Time) {
        let (now, since) = (ticks(now.as_nanos()), ticks(since.as_nanos()));
        self.qdelay = if self.waiting.len() == 0 { 0 } else { now - since };
        let passed = self.last_dequeue.map_or(0, |last| now - last);
        self.last_dequeue = Some(now);
        self.burst_left = (self.burst_left - passed).max(0);
    }
}

impl<B> QueueDiscipline<B> for Pie<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        if (self.waiting.len() + self.ahead.packets) as u64 >= self.params.limit {
            return self.overflow(packet, now, verdicts);
        }
        self.admit(packet, now, verdicts, MAX_PROB / 10);
    }

    fn dequeue(&mut self, now: Time, _: &mut Verdicts<B>) -> Option<Packet<B>> {
        let (since, packet) = self.waiting.pop()?;
        self.measure(since, now);
        Some(packet)
    }

    fn count_ahead(&mut self, ahead: Option<&Packet<B>>) {
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

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        self.update();
        self.next_update = due + self.params.tupdate;
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a probability in the units of the kernel"
)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    /// The probability after updates at a constant delay, from a given one.
    fn after_updates(start: f64, delay_ms: u64, updates: u32) -> f64 {
        let mut pie = Pie::<()>::new(&PieParams::default(), Stream::new(1, "pie"));
        pie.prob = (start * MAX_PROB as f64) as i64;
        pie.qdelay = ticks(delay_ms * 1_000_000);
        pie.qdelay_old = pie.qdelay;
        for _ in 0..updates {
            pie.update();
        }
        pie.probability()
    }

    /// Computed by hand from RFC 8033 section 4.2: 0.125 x (25 - 15 ms) = 0.00125, divided
    /// by what the probability demands.
    #[test]
    fn a_step_is_scaled_by_the_probability() {
        for (start, divisor) in
            [(0.5, 1.0), (0.05, 2.0), (0.005, 8.0), (0.000_5, 32.0), (0.000_05, 128.0)]
        {
            let step = after_updates(start, 25, 1) - start;
            let expected = 0.125 * 0.010 / divisor;
            assert!((step / expected - 1.0).abs() < 0.001, "{step} from {start}");
        }
    }

    #[test]
    fn a_step_is_at_most_two_percent_and_two_more_beyond_250_ms() {
        let step = |delay| after_updates(0.5, delay, 1) - 0.5;
        assert!((step(249) - 0.02).abs() < 1e-9, "{}", step(249));
        assert!((step(251) - 0.04).abs() < 1e-9, "{}", step(251));
        assert!((after_updates(0.99, 300, 9) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_empty_queue_forgets_by_a_64th() {
        let after = after_updates(0.5, 0, 1);
        let expected = (0.5 - 0.125 * 0.015) * 63.0 / 64.0;
        assert!((after - expected).abs() < 1e-6, "{after}");
    }

    /// A queue that holds `waiting` packets of 1500 bytes, after its first burst.
    fn holding(waiting: u32, probability: f64, delay_ms: u64, params: &PieParams) -> Pie<u32> {
        let mut pie = Pie::new(params, Stream::new(1, "pie"));
        for body in 0..waiting {
            pie.waiting.push(packet(1_500, body), Time::ZERO);
        }
        pie.prob = (probability * MAX_PROB as f64) as i64;
        pie.qdelay = ticks(delay_ms * 1_000_000);
        pie.burst_left = 0;
        pie
    }

    fn packet(size: u32, body: u32) -> Packet<u32> {
        Packet { flow: FlowId(0), size, ecn: Ecn::Ect0, body }
    }

    /// Gaps between drops over many packets, with the backlog kept as it is.
    fn gaps(mut pie: Pie<u32>) -> Vec<u32> {
        let mut verdicts = Verdicts::new();
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for body in 0..100_000 {
            pie.enqueue(packet(1_500, body), Time::ZERO, &mut verdicts);
            gap += 1;
            if verdicts.take_dropped().is_some() {
                gaps.push(gap);
                gap = 0;
            } else {
                pie.waiting.pop();
            }
        }
        gaps
    }

    #[test]
    fn short_delays_small_backlogs_and_bursts_are_spared() {
        let params = PieParams::default();
        let drops_early = |pie: Pie<u32>| !gaps(pie).is_empty();
        assert!(
            !drops_early(holding(9, 0.19, 7, &params)) && drops_early(holding(9, 0.19, 8, &params))
        );
        assert!(drops_early(holding(9, 0.21, 7, &params)), "not at probabilities above 20 %");
        assert!(
            !drops_early(holding(1, 0.5, 20, &params)) && drops_early(holding(2, 0.5, 20, &params))
        );
        let mut burst = holding(9, 0.5, 20, &params);
        burst.burst_left = 1;
        assert!(!drops_early(burst));
    }

    /// At 10 %, 8 packets are safe, each of the next is hit at random, and the accumulated
    /// probability reaches 8.5 with the 85th.
    #[test]
    fn drops_are_spread_by_the_accumulated_probability() {
        let gaps = gaps(holding(9, 0.1, 20, &PieParams::default()));
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((17.5..18.5).contains(&mean), "{mean}");
        let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!(*least == 9 && (60..=86).contains(most), "{least} to {most}");
    }

    #[test]
    fn small_packets_are_hit_less_in_bytemode_alone() {
        let chance = |bytemode| {
            let params = PieParams { bytemode, ..PieParams::default() };
            let pie = holding(9, 0.4, 20, &params);
            pie.packet_prob(&packet(743, 0)) as f64 / MAX_PROB as f64
        };
        assert!((chance(true) - 0.2).abs() < 1e-6, "{}", chance(true));
        assert!((chance(false) - 0.4).abs() < 1e-6, "{}", chance(false));
    }

    #[test]
    fn marks_replace_drops_up_to_ten_percent_if_wanted() {
        let drops = |ecn, probability| {
            let params = PieParams { ecn, ..PieParams::default() };
            let mut pie = holding(9, probability, 20, &params);
            pie.accu_prob = MAX_PROB / 2 * 17;
            let mut verdicts = Verdicts::new();
            pie.enqueue(packet(1_500, 0), Time::ZERO, &mut verdicts);
            verdicts.take_dropped().is_some()
        };
        assert_eq!([0.09, 0.11].map(|prob| drops(true, prob)), [false, true]);
        assert_eq!([0.09, 0.11].map(|prob| drops(false, prob)), [true, true]);
    }

    #[test]
    fn a_burst_passes_again_after_two_quiet_updates() {
        let burst_left = |old_ms: u64, delay_ms| {
            let mut pie = holding(0, 0.0, delay_ms, &PieParams::default());
            pie.qdelay_old = ticks(old_ms * 1_000_000);
            pie.update();
            pie.burst_left
        };
        assert_eq!(burst_left(5, 5), ticks(150_000_000));
        assert_eq!((burst_left(8, 5), burst_left(8, 8)), (0, 0));
    }
}
