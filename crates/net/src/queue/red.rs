//! RED: drops early with a probability that grows with the average backlog.

use narrows_base::registry::{Fault, Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::limit::Limit;
use super::red_average::{Average, weight_log};
use super::verdicts::Verdicts;
use super::waiting::{PeekedPacket, Waiting, frame_bytes};
use crate::element::DropReason;

/// The parameters of `tc`'s red; the defaults are `tc`'s where it has one. All
/// bytes are those of Ethernet frames, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParams {
    /// Bytes that may wait; required by `tc`.
    pub limit: Bytes,
    /// The average backlog above which packets are dropped; a third of `max`.
    pub min: Option<Bytes>,
    /// The average backlog above which all packets are dropped; a quarter of `limit`.
    pub max: Option<Bytes>,
    /// The size of an average packet; required by `tc`.
    pub avpkt: Bytes,
    /// How many average packets may arrive at once, which determines how slow the average is; by
    /// default (2 `min` + `max`) / (3 `avpkt`).
    pub burst: Option<u32>,
    /// The probability of a drop as the average nears `max`.
    pub probability: f64,
    /// The rate of the link, for the average's decay over idle times.
    pub bandwidth: Rate,
    /// True if packets are marked instead of dropped where they can be.
    pub ecn: bool,
    /// True if packets beyond `max` are dropped in spite of `ecn`.
    pub harddrop: bool,
    /// True if, with `ecn`, packets that can't be marked are spared.
    pub nodrop: bool,
    /// True if the probability adapts to keep the average in the middle of
    /// `min` and `max` (Adaptive RED, Floyd and others 2001).
    pub adaptive: bool,
    /// How often it adapts. Not an option of `tc`.
    pub adaptation: Duration,
}

/// Bytes that may wait in tests and benches; `tc` requires a limit.
const LIMIT: u64 = 400_000;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "red",
    title: "RED",
    family: "red",
    summary: "drops at random, more often the longer the queue was on average",
    source: "Floyd and Jacobson 1993; Linux net/sched/sch_red.c",
    role: Role::Queue(LimitUnit::Bytes(None)),
    parameters: &[
        Parameter::bytes(
            "min",
            ParameterDefault::Off,
            "the average above which packets are dropped; a third of max",
        ),
        Parameter::bytes(
            "max",
            ParameterDefault::Off,
            "the average above which all packets are dropped; a quarter of the limit",
        ),
        Parameter::bytes("avpkt", ParameterDefault::Whole(1_000), "the size of an average packet")
            .positive(),
        Parameter::whole(
            "burst",
            ParameterDefault::Off,
            "average packets that may arrive at once; (2 min + max) / 3 avpkt",
        ),
        Parameter::share(
            "probability",
            ParameterDefault::Number(0.02),
            "probability of a drop as the average nears max",
        ),
        Parameter::rate(
            "bandwidth",
            ParameterDefault::Whole(10_000_000),
            "the link's rate, for the decay over idle times",
        ),
        Parameter::flag("ecn", false, entry::MARKS),
        Parameter::flag("harddrop", false, "with ecn, packets beyond max are dropped anyway"),
        Parameter::flag("nodrop", false, "with ecn, packets that can't be marked are spared"),
        Parameter::flag(
            "adaptive",
            false,
            "the probability adapts (Adaptive RED, Floyd and others 2001)",
        ),
    ],
};

impl RedParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.bytes(),
            min: values.some_bytes("min"),
            max: values.some_bytes("max"),
            avpkt: values.bytes("avpkt"),
            burst: values.some_whole("burst"),
            probability: values.number("probability"),
            bandwidth: values.rate("bandwidth"),
            ecn: values.flag("ecn"),
            harddrop: values.flag("harddrop"),
            nodrop: values.flag("nodrop"),
            adaptive: values.flag("adaptive"),
            adaptation: Duration::from_millis(500),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for RedParams {
    fn default() -> Self {
        Self::of(
            &Values::defaults(&INFO, Rate::from_bps(10_000_000)),
            Limit::Bytes(Bytes::new(LIMIT)),
        )
    }
}

impl NamedDiscipline for RedParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Red<B>;

    /// Refuses what `tc` refuses (`tc_red_eval_ewma`) and meaningless values.
    fn fits(values: &Values, limit: Limit) -> Result<(), Fault> {
        let params = Self::of(values, limit);
        let (min, max) = params.thresholds();
        if min >= max {
            let need = format!("less than max ({max})");
            return Err(Fault::new("min_bytes", min.to_string(), need));
        }
        if !params.burst_fits() {
            let need = "more packets than min / avpkt, and min above avpkt";
            return Err(Fault::new("burst", params.burst_packets().to_string(), need));
        }
        Ok(())
    }

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> Red<B> {
        Red::new(&Self::of(values, limit), random)
    }
}

impl RedParams {
    /// The averages above which some packets and all packets are dropped.
    #[must_use]
    pub fn thresholds(&self) -> (u64, u64) {
        let from_min = || self.min.map_or(self.limit.get() / 4, |min| min.get().saturating_mul(3));
        let max = self.max.map_or_else(from_min, Bytes::get);
        (self.min.map_or(max / 3, Bytes::get), max)
    }

    /// How many average packets may arrive at once.
    #[must_use]
    pub fn burst_packets(&self) -> u64 {
        let (min, max) = self.thresholds();
        let room = min.saturating_mul(2).saturating_add(max);
        self.burst.map_or(room / self.avpkt.get().saturating_mul(3), u64::from)
    }

    /// Returns `true` if the average has a weight for this burst; `tc` refuses the others.
    #[must_use]
    pub fn burst_fits(&self) -> bool {
        weight_log(self.thresholds().0, self.burst_packets(), self.avpkt.get()).is_some()
    }
}

/// Certainty, in Linux's 32 bits.
const ONE: f64 = 4_294_967_296.0;
/// 1 % of certainty.
const PERCENT: u64 = 42_949_673;

/// The decision by the average.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Nothing,
    Early,
    /// The average is beyond the maximum.
    Forced,
}

/// A queue under RED (Floyd and Jacobson 1993; Linux `sch_red.c` and `red.h`).
#[derive(Clone, Debug)]
pub struct Red<B> {
    params: RedParams,
    random: Stream,
    waiting: Waiting<B>,
    ahead: PeekedPacket,
    average: Average,
    min: u64,
    max: u64,
    /// The probability at the maximum, in units of 2^-32.
    max_p: u64,
    /// Packets since the last drop; `None` before the first between the
    /// thresholds.
    count: Option<u64>,
    /// The random number with which the count is compared.
    draw: u64,
    next_adaptation: Time,
}

impl<B> Red<B> {
    /// An empty queue with these parameters.
    ///
    /// # Panics
    /// If `min` isn't below `max`, `burst` is too small for `min` (`tc` refuses
    /// it too), the probability isn't in 0 to 1, or a rate, size or period is
    /// zero.
    #[must_use]
    pub fn new(params: &RedParams, random: Stream) -> Self {
        let (min, max) = params.thresholds();
        let avpkt = params.avpkt.get();
        assert!(min < max && avpkt > 0, "red needs min below max and an avpkt above zero");
        assert!((0.0..=1.0).contains(&params.probability), "a probability beyond 0 to 1");
        assert!(!params.adaptation.is_zero(), "red needs an adaptation period above zero");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a probability"
        )]
        let max_p = (params.probability * ONE) as u64;
        Self {
            params: *params,
            random,
            waiting: Waiting::new(),
            ahead: PeekedPacket::default(),
            average: Average::new(min, params.burst_packets(), avpkt, params.bandwidth),
            min,
            max,
            max_p,
            count: None,
            draw: 0,
            next_adaptation: Time::ZERO + params.adaptation,
        }
    }

    /// Decides about the next packet (`red_action`). Between the thresholds
    /// the gaps between drops are uniform.
    fn action(&mut self) -> Action {
        let average = self.average.bytes_floor();
        if average < self.min || average >= self.max {
            self.count = None;
            return if average < self.min { Action::Nothing } else { Action::Forced };
        }
        let Some(count) = self.count else {
            self.count = Some(0);
            self.draw = self.random_gap();
            return Action::Nothing;
        };
        self.count = Some(count + 1);
        if (average - self.min) * (count + 1) < self.draw {
            return Action::Nothing;
        }
        self.count = Some(0);
        self.draw = self.random_gap();
        Action::Early
    }

    /// Uniform up to (max - min) / probability.
    fn random_gap(&mut self) -> u64 {
        let per_byte = (self.max_p / (self.max - self.min)).max(1);
        (self.random.next_u64() >> 32) / per_byte
    }

    /// Returns `true` if the packet is admitted, perhaps with a mark.
    fn admits(&self, action: Action, packet: &mut Packet<B>, verdicts: &mut Verdicts<B>) -> bool {
        let forced = action == Action::Forced && self.params.harddrop;
        if action == Action::Nothing {
            return true;
        }
        self.params.ecn && !forced && (verdicts.mark(packet) || self.params.nodrop)
    }

    /// Adaptive RED's step (`red_adaptative_algo`).
    fn adapt(&mut self, now: Time) {
        let average = self.average.at(now);
        let fifth = (self.max - self.min) / 5;
        if average > self.min + 3 * fifth && self.max_p <= 50 * PERCENT {
            self.max_p += PERCENT.min(self.max_p / 4);
        } else if average < self.min + 2 * fifth && self.max_p >= PERCENT {
            self.max_p = self.max_p / 10 * 9;
        }
    }
}

impl<B> QueueDiscipline<B> for Red<B> {
    fn enqueue(&mut self, mut packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let backlog = self.waiting.frame_bytes() + self.ahead.frame_bytes;
        self.average.update(backlog, now);
        let action = self.action();
        if !self.admits(action, &mut packet, verdicts) {
            verdicts.drop(packet, now, DropReason::Early);
        } else if backlog + frame_bytes(&packet) > self.params.limit.get() {
            verdicts.drop(packet, now, DropReason::Overflow);
        } else {
            self.waiting.push(packet, now);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut Verdicts<B>) -> Option<Packet<B>> {
        let head = self.waiting.pop();
        if head.is_none() {
            self.average.idle_from(now);
        }
        head.map(|(_, packet)| packet)
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
        self.params.adaptive.then_some(self.next_adaptation)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        self.adapt(due);
        self.next_adaptation = due + self.params.adaptation;
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    fn held_at(average: u64, params: &RedParams) -> Red<u32> {
        let mut queue = Red::new(params, Stream::new(1, "red"));
        for body in 0..average / 1_000 {
            let packet = Packet { flow: FlowId(0), size: 986, ecn: Ecn::Ect0, body: body as u32 };
            queue.waiting.push(packet, Time::ZERO);
        }
        queue.average.set(average);
        queue
    }

    /// Gaps between drops over many packets at a constant backlog.
    fn gaps(average: u64, params: &RedParams) -> Vec<u32> {
        let mut queue = held_at(average, params);
        let mut verdicts = Verdicts::new();
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for body in 0..200_000 {
            let packet = Packet { flow: FlowId(0), size: 986, ecn: Ecn::NotEct, body };
            queue.enqueue(packet, Time::ZERO, &mut verdicts);
            gap += 1;
            if verdicts.take_dropped().is_some() {
                gaps.push(gap);
                gap = 0;
            } else {
                let _ = queue.dequeue(Time::ZERO, &mut verdicts);
            }
        }
        gaps
    }

    /// In the middle of the thresholds p is 0.01: gaps are uniform up to 100.
    #[test]
    fn gaps_between_drops_are_uniform_up_to_one_over_the_probability() {
        let gaps = gaps(66_000, &RedParams::default());
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((48.0..54.0).contains(&mean), "{mean}");
        let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!(*least <= 2 && (99..=104).contains(most), "{least} to {most}");
    }

    #[test]
    fn below_the_minimum_nothing_is_dropped_and_beyond_the_maximum_everything() {
        assert!(gaps(30_000, &RedParams::default()).is_empty());
        let mut queue = held_at(120_000, &RedParams::default());
        let mut verdicts = Verdicts::new();
        for body in 0..10 {
            let packet = Packet { flow: FlowId(0), size: 986, ecn: Ecn::Ect0, body };
            queue.enqueue(packet, Time::ZERO, &mut verdicts);
        }
        assert_eq!(verdicts.dropped_packets(), 10);
    }

    #[test]
    fn adaptation_raises_by_one_percent_and_lowers_by_a_tenth() {
        let params = RedParams { adaptive: true, probability: 0.1, ..RedParams::default() };
        let after = |average| {
            let mut queue = held_at(average, &params);
            queue.average.update(average, Time::ZERO);
            queue.adapt(Time::from_nanos(1));
            queue.max_p as f64 / ONE
        };
        assert!((after(90_000) - 0.11).abs() < 1e-6, "{}", after(90_000));
        assert!((after(40_000) - 0.09).abs() < 1e-6, "{}", after(40_000));
        assert!((after(66_000) - 0.10).abs() < 1e-6, "{}", after(66_000));
    }

    #[test]
    fn the_minimum_itself_is_between_the_thresholds() {
        let noticed = |average| {
            let mut queue = held_at(average, &RedParams::default());
            let (min, _) = RedParams::default().thresholds();
            assert_eq!(min, 33_333);
            let _ = queue.action();
            queue.count.is_some()
        };
        assert!(noticed(33_333) && !noticed(33_332));
    }

    #[test]
    fn harddrop_refuses_what_is_beyond_the_maximum_and_marks_the_rest() {
        let admits = |action, harddrop| {
            let params = RedParams { ecn: true, harddrop, ..RedParams::default() };
            let mut packet = Packet { flow: FlowId(0), size: 986, ecn: Ecn::Ect0, body: 0 };
            let queue = held_at(60_000, &params);
            let admitted = queue.admits(action, &mut packet, &mut Verdicts::new());
            (admitted, packet.ecn == Ecn::Ce)
        };
        assert_eq!(admits(Action::Early, true), (true, true));
        assert_eq!(admits(Action::Forced, true), (false, false));
        assert_eq!(admits(Action::Forced, false), (true, true));
        assert_eq!(admits(Action::Nothing, true), (true, false));
    }
}
