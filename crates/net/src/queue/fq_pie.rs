//! Flow queueing with PIE: each flow has its own queue and its own controller.

use std::collections::{BTreeMap, VecDeque};

use narrows_base::registry::{Fallback, Info, Parameter, Role, Room, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::{self, Registered};
use super::flow_hash::FlowHash;
use super::limit::Limit;
use super::pie::{MAX_PROB, Pie, PieParams};
use super::verdicts::Verdicts;
use super::waiting::{FRAME, frame_bytes};

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
    role: Role::Queue(Room::Packets(LIMIT)),
    parameters: &[
        Parameter::whole("flows", Fallback::Whole(1_024), "queues that flows are hashed into")
            .positive()
            .at_most(65_536),
        Parameter::whole(
            "quantum",
            Fallback::Whole(FRAME as u64),
            "bytes of Ethernet frames that a flow may send per turn",
        )
        .at_least(256)
        .at_most(1 << 20),
        Parameter::duration("target", Fallback::ms(15), "the delay to hold"),
        Parameter::duration("tupdate", Fallback::ms(15), "time between updates of the probability")
            .at_least(entry::SHORTEST_PERIOD),
        Parameter::whole(
            "alpha",
            Fallback::Whole(2),
            "weight of the distance from the target, in 1/16 per second",
        )
        .at_most(32),
        Parameter::whole(
            "beta",
            Fallback::Whole(20),
            "weight of the delay's change, in 1/16 per second",
        )
        .at_most(32),
        Parameter::flag("ecn", false, entry::MARKS),
        Parameter::whole("ecn_prob", Fallback::Whole(10), "probability up to which it marks, in %")
            .at_most(100),
        Parameter::flag("bytemode", false, "a packet's probability is proportional to its size"),
    ],
};

impl FqPieParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            flows: values.whole("flows"),
            quantum: values.whole("quantum"),
            pie: PieParams {
                limit: u64::MAX,
                target: values.duration("target"),
                tupdate: values.duration("tupdate"),
                alpha: values.whole("alpha"),
                beta: values.whole("beta"),
                ecn: values.flag("ecn"),
                bytemode: values.flag("bytemode"),
                ..PieParams::default()
            },
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

impl Registered for FqPieParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = FqPie<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> FqPie<B> {
        FqPie::new(&Self::of(values, limit), random)
    }
}

#[derive(Clone, Debug)]
struct Flow<B> {
    pie: Pie<B>,
    deficit: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

/// FQ-PIE (Linux `sch_fq_pie.c`).
///
/// Linux updates the controllers of at most 2048 flows at a time; here all are updated together.
#[derive(Clone, Debug)]
pub struct FqPie<B> {
    params: FqPieParams,
    hash: FlowHash,
    seed: u64,
    /// Those that ever had a packet: of thousands of queues few are in use, and the controllers of
    /// the others rest.
    flows: BTreeMap<usize, Flow<B>>,
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    packets: usize,
    bytes: u64,
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
            flows: BTreeMap::new(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            packets: 0,
            bytes: 0,
            next_update: Time::ZERO + Duration::from_millis(500),
        }
    }

    /// Moves a flow that is out of credit behind the others, or retires an empty one: a new one
    /// first waits its turn among the old ones, so that it can't starve them by returning.
    fn next_turn(&mut self, index: usize, was_new: bool, is_empty: bool) {
        let list = if was_new { &mut self.new_flows } else { &mut self.old_flows };
        list.pop_front();
        let retires = !was_new || self.old_flows.is_empty();
        if is_empty && retires {
            if let Some(flow) = self.flows.get_mut(&index) {
                flow.listed = false;
            }
        } else {
            self.old_flows.push_back(index);
        }
    }
}

impl<B> QueueDiscipline<B> for FqPie<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let index = self.hash.bucket(packet.flow);
        let (pie, seed) = (&self.params.pie, self.seed);
        let flow = self.flows.entry(index).or_insert_with(|| {
            let random = Stream::new(seed, &format!("fq_pie/{index}"));
            Flow { pie: Pie::new(pie, random), deficit: 0, listed: false }
        });
        if self.packets as u64 >= self.params.limit {
            return flow.pie.overflow(packet, now, verdicts);
        }
        let size = packet.size;
        let most_marked = MAX_PROB / 100 * i64::from(self.params.ecn_prob);
        if !flow.pie.admit(packet, now, verdicts, most_marked) {
            return;
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = i64::from(self.params.quantum);
            self.new_flows.push_back(index);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        loop {
            let was_new = !self.new_flows.is_empty();
            let list = if was_new { &self.new_flows } else { &self.old_flows };
            let index = *list.front()?;
            let flow = self.flows.get_mut(&index).expect("a listed flow had a packet");
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.params.quantum);
                self.next_turn(index, was_new, false);
                continue;
            }
            if let Some(packet) = flow.pie.dequeue(now, verdicts) {
                flow.deficit -= frame_bytes(&packet).cast_signed();
                self.packets -= 1;
                self.bytes -= u64::from(packet.size);
                return Some(packet);
            }
            self.next_turn(index, was_new, true);
        }
    }

    fn backlog(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn next_deadline(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        let pies = self.flows.values_mut().map(|flow| &mut flow.pie);
        pies.filter(|pie| !pie.is_at_rest()).for_each(Pie::update);
        self.next_update = due + self.params.pie.tupdate;
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;

    fn packet(flow: u32, size: u32) -> Packet<()> {
        Packet { flow: FlowId(flow), size, ecn: Ecn::NotEct, body: () }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn flows_take_turns_by_frame_bytes_and_a_new_one_goes_first() {
        let mut queue = FqPie::new(&FqPieParams::default(), Stream::new(1, "hash"));
        let mut verdicts = Verdicts::new();
        (0..3).for_each(|_| queue.enqueue(packet(1, 1_500), Time::ZERO, &mut verdicts));
        (0..4).for_each(|_| queue.enqueue(packet(2, 743), Time::ZERO, &mut verdicts));
        let mut next = || queue.dequeue(Time::ZERO, &mut verdicts).map(|packet| packet.flow.0);
        let order: Vec<u32> = std::iter::from_fn(&mut next).collect();
        assert_eq!(order, [1, 2, 2, 1, 2, 2, 1]);
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
            queue.enqueue(packet(1, 1_500), at(ms), &mut verdicts);
            if ms % 4 == 0 {
                queue.enqueue(packet(2, 1_500), at(ms), &mut verdicts);
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
        let mut pie = Pie::<()>::new(&FqPieParams::default().pie, Stream::new(1, "pie"));
        assert!(pie.is_at_rest());
        pie.update();
        assert!(pie.is_at_rest());
        pie.enqueue(packet(1, 1_500), at(1), &mut Verdicts::new());
        pie.dequeue(at(30), &mut Verdicts::new());
        assert!(!pie.is_at_rest());
    }
}
