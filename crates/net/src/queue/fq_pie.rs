//! Flow queueing with PIE: each flow has its own queue and its own controller.

use std::collections::BTreeMap;

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::contents::Contents;
use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::flow_hash::FlowHash;
use super::limit::Limit;
use super::pie::{self, MAX_PROB, Pie, PieParams};
use super::turns::Turns;
use super::verdicts::Verdicts;

/// The parameters of `tc`'s `fq_pie`; the defaults are Linux's (`fq_pie_init`). Its `memory_limit`
/// isn't modelled: 32 MB are more than `limit` full packets take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqPieParams {
    /// Packets that may wait, of all flows.
    pub limit: u64,
    /// Queues that flows are hashed into.
    pub flows: u32,
    /// Bytes of Ethernet frames that a flow may send in its turn.
    pub quantum: u32,
    /// The controller of each flow.
    pub pie: PieParams,
    /// The probability in % up to which packets are marked instead of dropped.
    pub ecn_prob: u32,
}

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 10_240;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "fq_pie",
    title: "FQ-PIE",
    family: "pie",
    summary: "a queue for each flow, in turns; PIE in each",
    source: "Ramakrishnan and others, LCN Symposium 2019; Linux net/sched/sch_fq_pie.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        entry::FLOWS,
        entry::QUANTUM.at_least(256).at_most(1 << 20),
        pie::TARGET,
        pie::TUPDATE,
        pie::ALPHA,
        pie::BETA,
        Parameter::flag("ecn", false, entry::MARKS),
        Parameter::whole(
            "ecn_prob",
            ParameterDefault::Whole(10),
            "probability up to which it marks, in %",
        )
        .at_most(100),
        pie::BYTEMODE,
    ],
};

impl FqPieParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            flows: values.whole("flows"),
            quantum: values.whole("quantum"),
            pie: PieParams::of(values, limit),
            ecn_prob: values.whole("ecn_prob"),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for FqPieParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for FqPieParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = FqPie<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> FqPie<B> {
        FqPie::new(&Self::of(values, limit), random)
    }
}

/// FQ-PIE (Linux `sch_fq_pie.c`).
///
/// Linux updates the controllers of at most 2048 flows at a time; here all are updated together.
#[derive(Clone, Debug)]
pub struct FqPie<B> {
    params: FqPieParams,
    hash: FlowHash,
    seed: u64,
    /// The controllers of flows that ever had a packet: of thousands of queues few are in use.
    pies: BTreeMap<usize, Pie<B>>,
    turns: Turns,
    contents: Contents,
    next_update: Time,
}

impl<B> FqPie<B> {
    /// Empty queues with these parameters. The hash of the flows and the seed of the controllers'
    /// streams are drawn from `random`, once.
    ///
    /// # Panics
    /// If there are no flows, or `tupdate` is zero.
    #[must_use]
    pub fn new(params: &FqPieParams, mut random: Stream) -> Self {
        assert!(!params.pie.tupdate.is_zero(), "fq_pie needs a tupdate above zero");
        Self {
            params: *params,
            hash: FlowHash::new(params.flows, &mut random),
            seed: random.next_u64(),
            pies: BTreeMap::new(),
            turns: Turns::new(params.flows, params.quantum),
            contents: Contents::default(),
            next_update: Time::ZERO + Duration::from_millis(500),
        }
    }
}

impl<B> QueueDiscipline<B> for FqPie<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let index = self.hash.bucket(packet.flow);
        let (params, seed) = (&self.params.pie, self.seed);
        let pie = self
            .pies
            .entry(index)
            .or_insert_with(|| Pie::new(params, Stream::new(seed, &format!("fq_pie/{index}"))));
        if self.contents.occupancy() >= self.params.limit {
            return pie.overflow(packet, now, verdicts);
        }
        let most_marked = MAX_PROB / 100 * i64::from(self.params.ecn_prob);
        let mut contents = self.contents;
        contents.add(&packet);
        if pie.admit(packet, now, verdicts, most_marked) {
            self.contents = contents;
            self.turns.join(index);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        let served = self.turns.serve(|flow| {
            let pie = self.pies.get_mut(&flow).expect("a flow with a turn had a packet");
            pie.dequeue(now, verdicts)
        });
        let (_, packet) = served?;
        self.contents.remove(&packet);
        Some(packet)
    }

    fn count_ahead(&mut self, ahead: Option<&Packet<B>>) {
        self.contents.count_ahead(ahead);
    }

    fn backlog(&self) -> Bytes {
        self.contents.backlog()
    }

    fn len(&self) -> usize {
        self.contents.len()
    }

    fn next_deadline(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        self.pies.values_mut().filter(|pie| !pie.is_at_rest()).for_each(Pie::update);
        self.next_update = due + self.params.pie.tupdate;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leaving, packet, seven_packets};
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn flows_take_turns_by_frame_bytes_and_a_new_one_goes_first() {
        let mut queue = FqPie::new(&FqPieParams::default(), Stream::new(1, "hash"));
        seven_packets(&mut queue);
        assert_eq!(leaving(&mut queue).0, [1, 2, 2, 1, 2, 2, 1]);
    }

    /// A flow at twice its share of the link is held at the target, and the other isn't touched.
    #[test]
    fn only_the_flow_with_a_queue_loses_packets() {
        let mut queue = FqPie::new(&FqPieParams::default(), Stream::new(1, "hash"));
        let mut verdicts = Verdicts::new();
        for ms in 0..20_000 {
            while queue.next_deadline().is_some_and(|due| due <= at(ms)) {
                queue.on_deadline(queue.next_update, &mut verdicts);
            }
            queue.enqueue(packet(1, 1_500, 0), at(ms), &mut verdicts);
            if ms % 4 == 0 {
                queue.enqueue(packet(2, 1_500, 0), at(ms), &mut verdicts);
            }
            if ms % 2 == 0 {
                queue.dequeue(at(ms), &mut verdicts);
            }
        }
        let mut dropped = [0_u32; 3];
        while let Some(drop) = verdicts.take_dropped() {
            dropped[drop.packet.flow.index()] += 1;
        }
        // 1000 packets a second arrive, and 250 leave.
        assert!((10_000..15_500).contains(&dropped[1]), "{dropped:?}");
        assert!(dropped[2] < 500, "{dropped:?}");
    }

    #[test]
    fn resting_flows_need_no_update() {
        let mut pie = Pie::new(&FqPieParams::default().pie, Stream::new(1, "pie"));
        assert!(pie.is_at_rest());
        pie.update();
        assert!(pie.is_at_rest());
        pie.enqueue(packet(1, 1_500, 0), at(1), &mut Verdicts::new());
        pie.dequeue(at(30), &mut Verdicts::new());
        assert!(!pie.is_at_rest());
    }
}
