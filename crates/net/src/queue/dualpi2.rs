//! DualPI2: a queue for L4S and one for the rest, coupled.

use std::collections::VecDeque;

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, Ecn, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{FRAME, PeekedPacket, Waiting, frame_bytes};
use crate::element::DropReason;

/// The parameters of `tc`'s dualpi2; the defaults are Linux's
/// (`dualpi2_reset_default`). Its `memlimit` isn't modelled, and packets are those on the wire, as
/// with `split_gso`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Params {
    /// Packets that may wait, of both queues.
    pub limit: u64,
    /// The delay to hold in the classic queue.
    pub target: Duration,
    /// Time between updates of the probability.
    pub tupdate: Duration,
    /// Weight of the distance from the target, per second.
    pub alpha: f64,
    /// Weight of the change of the delay, per second.
    pub beta: f64,
    /// How many times the base probability marks L4S packets.
    pub coupling_factor: u32,
    /// L4S packets that waited longer are marked.
    pub step_thresh: Duration,
    /// L4S packets that must wait before one for the step to apply to it.
    pub min_qlen_step: u64,
    /// The classic queue's minimum share of the link in percent.
    pub classic_protection: u32,
    /// True if an overload drops L4S packets too, instead of filling the queue
    /// up to its limit.
    pub drop_on_overload: bool,
    /// True if decisions are made at the enqueue instead of the dequeue.
    pub drop_enqueue: bool,
}

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 10_000;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "dualpi2",
    title: "DualPI2",
    family: "pie",
    summary: "a queue for L4S (ECT(1)) and one for the rest, coupled",
    source: "RFC 9332; Linux net/sched/sch_dualpi2.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        Parameter::duration(
            "target",
            ParameterDefault::ms(15),
            "the delay to hold in the classic queue",
        ),
        Parameter::duration(
            "tupdate",
            ParameterDefault::ms(16),
            "time between updates of the probability",
        )
        .at_least(entry::SHORTEST_PERIOD),
        Parameter::number("alpha", 0.16, "weight of the distance from the target, per second"),
        Parameter::number("beta", 3.2, "weight of its change, per second"),
        Parameter::whole(
            "coupling_factor",
            ParameterDefault::Whole(2),
            "multiple of the base probability with which L4S packets are marked",
        )
        .positive()
        .at_most(255),
        Parameter::duration(
            "step_thresh",
            ParameterDefault::ms(1),
            "L4S packets that waited longer are marked",
        ),
        Parameter::packets(
            "min_qlen_step",
            ParameterDefault::Whole(0),
            "L4S packets that must wait before one for the step to apply to it; RFC 9332 has 1",
        ),
        Parameter::whole(
            "classic_protection",
            ParameterDefault::Whole(10),
            "the classic queue's minimum share, in %",
        )
        .at_most(100),
        Parameter::flag("drop_on_overload", true, "an overload drops L4S packets, too"),
        Parameter::flag(
            "drop_enqueue",
            false,
            "decisions are made at the enqueue, not the dequeue",
        ),
    ],
};

impl DualPi2Params {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            target: values.duration("target"),
            tupdate: values.duration("tupdate"),
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            coupling_factor: values.whole("coupling_factor"),
            step_thresh: values.duration("step_thresh"),
            min_qlen_step: values.packets("min_qlen_step"),
            classic_protection: values.whole("classic_protection"),
            drop_on_overload: values.flag("drop_on_overload"),
            drop_enqueue: values.flag("drop_enqueue"),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for DualPi2Params {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for DualPi2Params {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = DualPi2<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> DualPi2<B> {
        DualPi2::new(&Self::of(values, limit), random)
    }
}

/// The decision on a packet by the base probability.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BaseDecision {
    Nothing,
    Mark,
    Drop,
}

/// The coupled queues of RFC 9332 (Linux `sch_dualpi2.c`, since 6.17).
///
/// Packets with ECT(1) or a mark go to the L4S queue.
#[derive(Clone, Debug)]
pub struct DualPi2<B> {
    params: DualPi2Params,
    random: Stream,
    classic: Waiting<B>,
    l4s: Waiting<B>,
    ahead: PeekedPacket,
    /// True for each packet of the L4S queue to which the step applies.
    may_step: VecDeque<bool>,
    next_update: Time,
    /// The base probability: classic packets feel its square.
    probability: f64,
    last_delay: f64,
    /// Above zero, the classic queue is next.
    credit: i64,
}

impl<B> DualPi2<B> {
    /// Empty queues with these parameters.
    ///
    /// # Panics
    /// If `tupdate` or `coupling_factor` is zero, or `classic_protection` above
    /// 100.
    #[must_use]
    pub fn new(params: &DualPi2Params, random: Stream) -> Self {
        assert!(!params.tupdate.is_zero(), "dualpi2 needs a tupdate above zero");
        assert!(params.coupling_factor > 0, "dualpi2 needs a coupling above zero");
        assert!(params.classic_protection <= 100, "a share above 100 %");
        let mut queue = Self {
            params: *params,
            random,
            classic: Waiting::new(),
            l4s: Waiting::new(),
            ahead: PeekedPacket::default(),
            may_step: VecDeque::new(),
            next_update: Time::ZERO + params.tupdate,
            probability: 0.0,
            last_delay: 0.0,
            credit: 0,
        };
        queue.reset_credit();
        queue
    }

    /// The base probability, 0 to 1: its square for classic packets, times the
    /// coupling factor for L4S ones.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    fn reset_credit(&mut self) {
        let (classic, l4s) = self.weights();
        self.credit = i64::from(FRAME) * (classic - l4s);
    }

    fn weights(&self) -> (i64, i64) {
        let classic = i64::from(self.params.classic_protection);
        (classic, 100 - classic)
    }

    /// The controller's step (`calculate_probability`).
    fn update(&mut self, now: Time) {
        let age = |since: Option<Time>| since.map_or(0.0, |s| (now - s).as_secs_f64());
        let delay = age(self.classic.head_since()).max(age(self.l4s.head_since()));
        let error = delay - self.params.target.as_secs_f64();
        let step = self.params.alpha * error + self.params.beta * (delay - self.last_delay);
        let most = if self.params.drop_on_overload {
            1.0
        } else {
            1.0 / f64::from(self.params.coupling_factor)
        };
        self.last_delay = delay;
        self.probability = (self.probability + step).clamp(0.0, most);
    }

    fn roll(&mut self, probability: f64) -> bool {
        self.random.chance(probability)
    }

    /// The decision on a packet by the coupled probability (`must_drop`).
    /// `frames` are the bytes that wait.
    fn decide(&mut self, l4s: bool, capable: bool, frames: u64) -> BaseDecision {
        if frames < 2 * u64::from(FRAME) {
            return BaseDecision::Nothing;
        }
        let base = self.probability;
        let coupled = base * f64::from(self.params.coupling_factor);
        let overload = coupled > 1.0;
        if l4s && !overload {
            return if self.roll(coupled) { BaseDecision::Mark } else { BaseDecision::Nothing };
        }
        let may_drop = !l4s || self.params.drop_on_overload;
        let struck = may_drop && self.roll(base) && self.roll(base);
        match (l4s, struck) {
            (true, false) => BaseDecision::Mark,
            (false, false) => BaseDecision::Nothing,
            (false, true) if capable && !overload => BaseDecision::Mark,
            (_, true) => BaseDecision::Drop,
        }
    }

    fn frames(&self) -> u64 {
        self.classic.frame_bytes() + self.l4s.frame_bytes() + self.ahead.frame_bytes
    }

    /// The next packet by weighted round robin, whether it is L4S and the step
    /// applies, and its effect on the credit (`dequeue_packet`).
    fn next(&mut self, now: Time) -> Option<Candidate<B>> {
        let (classic, l4s) = self.weights();
        let (waits_c, waits_l) = (self.classic.len() > 0, self.l4s.len() > 0);
        if waits_l && (!waits_c || self.credit <= 0) {
            let (since, packet) = self.l4s.pop()?;
            let may_step = self.may_step.pop_front().unwrap_or(false);
            let step = may_step && now - since > self.params.step_thresh;
            let weight = if waits_c { classic } else { 0 };
            return Some(Candidate { packet, l4s: true, step, weight });
        }
        let (_, packet) = self.classic.pop()?;
        let weight = if waits_l { -l4s } else { 0 };
        Some(Candidate { packet, l4s: false, step: false, weight })
    }

    /// Decides on a packet that is about to leave; returns it unless it is dropped.
    fn judge(
        &mut self,
        candidate: Candidate<B>,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        let Candidate { packet, l4s, step, weight } = candidate;
        let change = weight * frame_bytes(&packet).cast_signed();
        let decision = if self.params.drop_enqueue {
            BaseDecision::Nothing
        } else {
            self.decide(l4s, packet.ecn.is_capable(), self.frames())
        };
        let mut packet = apply(decision, packet, now, verdicts)?;
        if step && decision != BaseDecision::Mark {
            let _ = verdicts.mark(&mut packet);
        }
        self.credit += change;
        Some(packet)
    }
}

/// A packet that may leave next.
struct Candidate<B> {
    packet: Packet<B>,
    l4s: bool,
    step: bool,
    /// The credit added by each of its bytes.
    weight: i64,
}

/// Carries out a decision; returns the packet unless it was dropped.
fn apply<B>(
    decision: BaseDecision,
    mut packet: Packet<B>,
    now: Time,
    verdicts: &mut Verdicts<B>,
) -> Option<Packet<B>> {
    if decision == BaseDecision::Drop {
        verdicts.drop(packet, now, DropReason::Early);
        return None;
    }
    if decision == BaseDecision::Mark {
        let _ = verdicts.mark(&mut packet);
    }
    Some(packet)
}

impl<B> QueueDiscipline<B> for DualPi2<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        if (self.len() + self.ahead.packets) as u64 >= self.params.limit {
            return verdicts.drop(packet, now, DropReason::Overflow);
        }
        let l4s = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        let decision = if self.params.drop_enqueue {
            self.decide(l4s, packet.ecn.is_capable(), self.frames())
        } else {
            BaseDecision::Nothing
        };
        let Some(packet) = apply(decision, packet, now, verdicts) else { return };
        if l4s {
            self.may_step.push_back(self.l4s.len() as u64 >= self.params.min_qlen_step);
            self.l4s.push(packet, now);
        } else {
            self.classic.push(packet, now);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        while let Some(candidate) = self.next(now) {
            if let Some(packet) = self.judge(candidate, now, verdicts) {
                return Some(packet);
            }
        }
        self.reset_credit();
        None
    }

    fn count_ahead(&mut self, ahead: Option<&Packet<B>>) {
        self.ahead = PeekedPacket::of(ahead);
    }

    fn backlog(&self) -> Bytes {
        self.classic.bytes() + self.l4s.bytes()
    }

    fn len(&self) -> usize {
        self.classic.len() + self.l4s.len()
    }

    fn next_deadline(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        self.update(due);
        self.next_update = due + self.params.tupdate;
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
mod tests {
    use narrows_base::FlowId;

    use super::*;

    const NOW: Time = Time::ZERO;

    fn queue(params: &DualPi2Params, probability: f64) -> DualPi2<u32> {
        let mut queue = DualPi2::new(params, Stream::new(1, "dualpi2"));
        queue.probability = probability;
        queue
    }

    /// Of 10,000 packets of one kind in a standing queue: shares of drops and
    /// marks.
    fn fate(probability: f64, ecn: Ecn) -> (f64, f64) {
        let mut queue = queue(&DualPi2Params::default(), probability);
        let mut verdicts = Verdicts::new();
        let mut left = 0;
        for body in 0..10_000 {
            while queue.len() < 50 {
                queue.enqueue(
                    Packet { flow: FlowId(0), size: 1_500, ecn, body },
                    NOW,
                    &mut verdicts,
                );
            }
            left += u32::from(queue.dequeue(NOW, &mut verdicts).is_some());
        }
        let all = f64::from(left) + verdicts.dropped_packets() as f64;
        (verdicts.dropped_packets() as f64 / all, verdicts.marked_packets() as f64 / all)
    }

    fn assert_near(found: (f64, f64), expected: (f64, f64)) {
        let near = (found.0 - expected.0).abs() < 0.015 && (found.1 - expected.1).abs() < 0.015;
        assert!(near, "{found:?}, expected {expected:?}");
    }

    #[test]
    fn l4s_feels_twice_the_base_probability_and_classic_its_square() {
        assert_near(fate(0.2, Ecn::Ect1), (0.0, 0.4));
        assert_near(fate(0.2, Ecn::Ect0), (0.0, 0.04));
        assert_near(fate(0.2, Ecn::NotEct), (0.04, 0.0));
    }

    #[test]
    fn in_overload_all_feel_drops() {
        assert_near(fate(0.7, Ecn::Ect1), (0.49, 0.51));
        assert_near(fate(0.7, Ecn::Ect0), (0.49, 0.0));
    }

    #[test]
    fn the_classic_queue_keeps_a_tenth_of_the_link() {
        let mut queue = queue(&DualPi2Params::default(), 0.0);
        let mut verdicts = Verdicts::new();
        let mut classic = 0;
        for body in 0..10_000 {
            for ecn in [Ecn::Ect0, Ecn::Ect1] {
                queue.enqueue(
                    Packet { flow: FlowId(0), size: 1_500, ecn, body },
                    NOW,
                    &mut verdicts,
                );
            }
            let packet = queue.dequeue(NOW, &mut verdicts).unwrap();
            classic += u32::from(packet.ecn == Ecn::Ect0);
        }
        assert!((980..=1_020).contains(&classic), "{classic}");
    }

    /// 0.16 x (25 - 15 ms) + 3.2 x (25 - 0 ms).
    #[test]
    fn a_step_of_the_controller_by_hand() {
        let mut queue = queue(&DualPi2Params::default(), 0.0);
        let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::Ect0, body: 0 };
        queue.enqueue(packet, Time::ZERO, &mut Verdicts::new());
        queue.update(Time::from_nanos(25_000_000));
        assert!((queue.probability() - 0.0816).abs() < 1e-12, "{}", queue.probability());
    }
}
