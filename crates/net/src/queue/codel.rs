//! CoDel drops when the delay has been above a target for an interval.

use narrows_base::registry::{Info, LimitUnit, Parameter, Role, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::control_law::SquareRoot;
use super::control_law::{Control, Head, Law};
use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{FRAME, PeekedPacket, Waiting};
use crate::element::DropReason;

/// The parameters of `tc`'s codel; the defaults are Linux's (`codel_init`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelParams {
    /// Packets that may wait.
    pub limit: u64,
    /// The acceptable delay. Counted in units of 1,024 ns.
    pub target: Duration,
    /// How long the delay may be above it. Counted in the same units.
    pub interval: Duration,
    /// True if packets are marked instead of dropped where they can be.
    pub ecn: bool,
    /// Marks every packet that waited longer.
    pub ce_threshold: Option<Duration>,
    /// A packet with at most this many bytes of Ethernet frames behind it is spared. Not an option
    /// of `tc`: the device's MTU with its header.
    pub mtu: u32,
    /// How the control law computes its root, by default as in Linux.
    pub square_root: SquareRoot,
}

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 1_000;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "codel",
    title: "CoDel",
    family: "codel",
    summary: "drops when the delay has been above a target for an interval",
    source: "RFC 8289; Linux net/sched/sch_codel.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        entry::TARGET,
        entry::INTERVAL,
        Parameter::flag("ecn", false, entry::MARKS),
        entry::CE_THRESHOLD,
    ],
};

impl CoDelParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            target: values.duration("target"),
            interval: values.duration("interval"),
            ecn: values.flag("ecn"),
            ce_threshold: values.some_duration("ce_threshold"),
            mtu: FRAME,
            square_root: SquareRoot::Newton,
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for CoDelParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for CoDelParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = CoDel<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, _random: Stream) -> CoDel<B> {
        CoDel::new(&Self::of(values, limit))
    }
}

/// One queue under CoDel (RFC 8289; Linux `sch_codel.c`).
#[derive(Clone, Debug)]
pub struct CoDel<B> {
    limit: usize,
    law: Law,
    control: Control,
    waiting: Waiting<B>,
    ahead: PeekedPacket,
}

impl<B> CoDel<B> {
    /// An empty queue with these parameters.
    #[must_use]
    pub fn new(params: &CoDelParams) -> Self {
        let law = Law::new(params.target, params.interval, params.ecn, params.mtu)
            .with_ce_threshold(params.ce_threshold)
            .with_square_root(params.square_root);
        let limit = usize::try_from(params.limit).unwrap_or(usize::MAX);
        Self {
            limit,
            law,
            control: Control::default(),
            waiting: Waiting::new(),
            ahead: PeekedPacket::default(),
        }
    }
}

impl<B> QueueDiscipline<B> for CoDel<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        if self.waiting.len() + self.ahead.packets >= self.limit {
            verdicts.drop(packet, now, DropReason::Overflow);
        } else {
            self.waiting.push(packet, now);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        let waiting = &mut self.waiting;
        self.control.dequeue(&self.law, now, verdicts, || {
            let (since, packet) = waiting.pop()?;
            Some(Head { since, packet, backlog: waiting.frame_bytes() })
        })
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
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    /// Drives a standing queue of 10 ms, a packet every 0.1 ms, for a second;
    /// the times of its drops after the first, in ms.
    fn drop_times(square_root: SquareRoot) -> Vec<f64> {
        let mut queue = CoDel::new(&CoDelParams { square_root, ..CoDelParams::default() });
        let mut verdicts = Verdicts::new();
        let packet = |body| Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
        for step in 0..10_000u64 {
            let now = Time::from_nanos(step * 100_000);
            while queue.len() < 100 {
                queue.enqueue(packet(step), now, &mut verdicts);
            }
            let _ = queue.dequeue(now, &mut verdicts);
        }
        let times: Vec<_> = std::iter::from_fn(|| verdicts.take_dropped())
            .map(|d| d.at.as_secs_f64() * 1e3)
            .collect();
        times.iter().map(|t| t - times[0]).take(8).collect()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 0.2;
        assert!(found.iter().zip(expected).all(near), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn the_drop_times_are_those_of_the_rfc() {
        let expected = [0.0, 100.0, 170.7, 228.4, 278.4, 323.2, 364.0, 401.8];
        assert_near(&drop_times(SquareRoot::Exact), &expected);
    }

    /// One Newton step for each drop, computed with real numbers.
    #[test]
    fn the_drop_times_of_linux_lag_by_one_newton_step() {
        let (mut root, mut expected) = (1.0, vec![0.0, 100.0]);
        for count in 2..8 {
            root = root * (3.0 - f64::from(count) * root * root) / 2.0;
            expected.push(expected.last().unwrap() + 100.0 * root);
        }
        assert_near(&drop_times(SquareRoot::Newton), &expected);
        assert!((expected[7] - 377.9).abs() < 1.0, "{expected:?}");
    }

    #[test]
    fn with_ecn_nothing_is_dropped_and_as_much_is_marked() {
        let mut queue = CoDel::new(&CoDelParams { ecn: true, ..CoDelParams::default() });
        let mut verdicts = Verdicts::new();
        for step in 0..5_000u64 {
            let now = Time::from_nanos(step * 100_000);
            while queue.len() < 100 {
                let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::Ect0, body: () };
                queue.enqueue(packet, now, &mut verdicts);
            }
            let _ = queue.dequeue(now, &mut verdicts);
        }
        assert_eq!(verdicts.dropped_packets(), 0);
        // An interval from 105 ms on, then 100, 50, 56, 49 ms and so on to 500 ms.
        assert!((8..=11).contains(&verdicts.marked_packets()), "{}", verdicts.marked_packets());
    }

    #[test]
    fn a_late_packet_is_marked_at_the_threshold() {
        let ce_threshold = Some(Duration::from_millis(1));
        let mut queue = CoDel::new(&CoDelParams { ce_threshold, ..CoDelParams::default() });
        let mut verdicts = Verdicts::new();
        let mut after = |micros: u64| {
            let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::Ect1, body: () };
            queue.enqueue(packet, Time::ZERO, &mut verdicts);
            queue.dequeue(Time::from_nanos(micros * 1_000), &mut verdicts).unwrap().ecn
        };
        assert_eq!((after(1_000), after(1_002)), (Ecn::Ect1, Ecn::Ce));
    }
}
