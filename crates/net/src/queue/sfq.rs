//! Stochastic fairness queueing: each flow has its own short queue, in turns.

use narrows_base::registry::{Fault, Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Packet, Rate, Stream, Time};

use super::contents::Contents;
use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::flow_hash::FlowHash;
use super::limit::Limit;
use super::turns::Turns;
use super::verdicts::Verdicts;
use super::waiting::Waiting;
use crate::element::DropReason;

/// The parameters of `tc`'s `sfq`; the defaults are Linux's (`sfq_init`). Its `perturb`, off by
/// default, and its RED aren't modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqParams {
    /// Packets that may wait, of all flows.
    pub limit: u64,
    /// Flows that may have packets at a time.
    pub flows: u32,
    /// Packets of one flow that may wait.
    pub depth: u32,
    /// Buckets that flows are hashed into.
    pub divisor: u32,
    /// Bytes of Ethernet frames that a flow may send in its turn.
    pub quantum: u32,
    /// True if a full queue drops from the head of the longest flow instead of its tail.
    pub headdrop: bool,
}

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 127;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "sfq",
    title: "SFQ",
    family: "fq",
    summary: "a short queue for each flow, in turns; a full one drops from the longest",
    source: "McKenney, INFOCOM 1990; Linux net/sched/sch_sfq.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        Parameter::whole(
            "flows",
            ParameterDefault::Whole(128),
            "flows that may have packets at a time",
        )
        .positive()
        .at_most(65_408),
        Parameter::packets(
            "depth",
            ParameterDefault::Whole(127),
            "packets of one flow that may wait",
        )
        .positive()
        .at_most(127),
        Parameter::whole(
            "divisor",
            ParameterDefault::Whole(1_024),
            "buckets that flows are hashed into",
        )
        .positive()
        .at_most(65_536),
        entry::QUANTUM.positive(),
        Parameter::flag("headdrop", false, "drops from the head of a flow instead of its tail"),
    ],
};

impl SfqParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            flows: values.whole("flows"),
            depth: values.packets("depth"),
            divisor: values.whole("divisor"),
            quantum: values.whole("quantum"),
            headdrop: values.flag("headdrop"),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for SfqParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for SfqParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Sfq<B>;

    fn fits(values: &Values, _: Limit) -> Result<(), Fault> {
        let divisor: u32 = values.whole("divisor");
        if divisor.is_power_of_two() {
            return Ok(());
        }
        Err(Fault::new("divisor", divisor.to_string(), "a power of two".to_owned()))
    }

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> Sfq<B> {
        Sfq::new(&Self::of(values, limit), random)
    }
}

#[derive(Clone, Debug)]
struct Slot<B> {
    waiting: Waiting<B>,
    /// When its length changed last: of the longest slots the latest one loses a packet.
    changed: u64,
}

/// SFQ (Linux `sch_sfq.c`).
#[derive(Clone, Debug)]
pub struct Sfq<B> {
    params: SfqParams,
    hash: FlowHash,
    slots: Vec<Slot<B>>,
    /// Of the buckets with packets.
    turns: Turns,
    contents: Contents,
    changes: u64,
}

impl<B> Sfq<B> {
    /// Empty queues with these parameters. The hash of the flows is drawn from `random`, once.
    ///
    /// # Panics
    /// If there are no buckets or no quantum.
    #[must_use]
    pub fn new(params: &SfqParams, mut random: Stream) -> Self {
        let slot = || Slot { waiting: Waiting::new(), changed: 0 };
        Self {
            params: *params,
            hash: FlowHash::new(params.divisor, &mut random),
            slots: std::iter::repeat_with(slot).take(params.divisor as usize).collect(),
            turns: Turns::new(params.divisor, params.quantum),
            contents: Contents::default(),
            changes: 0,
        }
    }

    fn push(&mut self, index: usize, packet: Packet<B>, now: Time) {
        self.contents.add(&packet);
        self.slots[index].waiting.push(packet, now);
        self.note_change(index);
    }

    /// Takes a packet out of a slot, from its head or its tail.
    fn pop(&mut self, index: usize, from_head: bool) -> Option<Packet<B>> {
        let waiting = &mut self.slots[index].waiting;
        let packet =
            if from_head { waiting.pop().map(|(_, packet)| packet) } else { waiting.pop_last() }?;
        self.contents.remove(&packet);
        self.note_change(index);
        Some(packet)
    }

    fn note_change(&mut self, index: usize) {
        self.changes += 1;
        self.slots[index].changed = self.changes;
    }

    /// Drops a packet of the longest slot (`sfq_drop`); if all have a single one, of the next in
    /// turn.
    fn drop_from_longest(&mut self, now: Time, verdicts: &mut Verdicts<B>) {
        let length = |index: &usize| {
            let slot = &self.slots[*index];
            (slot.waiting.len(), slot.changed)
        };
        let Some(longest) = self.turns.iter().max_by_key(length) else { return };
        let victim = if self.slots[longest].waiting.len() > 1 {
            longest
        } else {
            let next = self.turns.next().unwrap_or(longest);
            self.turns.end();
            next
        };
        if let Some(packet) = self.pop(victim, self.params.headdrop) {
            verdicts.drop(packet, now, DropReason::Overflow);
        }
    }
}

impl<B> QueueDiscipline<B> for Sfq<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let index = self.hash.bucket(packet.flow);
        let length = self.slots[index].waiting.len();
        if length == 0 && self.turns.iter().len() >= self.params.flows as usize {
            return verdicts.drop(packet, now, DropReason::Overflow);
        }
        if length >= self.params.depth as usize {
            if !self.params.headdrop {
                return verdicts.drop(packet, now, DropReason::Overflow);
            }
            if let Some(head) = self.pop(index, true) {
                verdicts.drop(head, now, DropReason::Overflow);
            }
        } else if length == 0 {
            self.turns.join_last(index);
        }
        self.push(index, packet, now);
        if self.contents.occupancy() > self.params.limit {
            self.drop_from_longest(now, verdicts);
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut Verdicts<B>) -> Option<Packet<B>> {
        let slots = &mut self.slots;
        let served = self.turns.serve(|flow| slots[flow].waiting.pop().map(|(_, packet)| packet));
        let (index, packet) = served?;
        self.contents.remove(&packet);
        self.note_change(index);
        if self.slots[index].waiting.len() == 0 {
            self.turns.end();
        }
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
}

#[cfg(test)]
mod tests {
    use super::super::testing::{dropped_bodies, leaving, packet};
    use super::*;

    fn queue(params: SfqParams) -> Sfq<u32> {
        Sfq::new(&params, Stream::new(1, "hash"))
    }

    #[test]
    fn flows_take_turns_by_frame_bytes_and_a_new_one_goes_last() {
        let mut queue = queue(SfqParams::default());
        let mut verdicts = Verdicts::new();
        for (flow, size, bodies) in [(1, 1_500, 10..13), (2, 743, 20..24), (3, 1_500, 30..31)] {
            for body in bodies {
                queue.enqueue(packet(flow, size, body), Time::ZERO, &mut verdicts);
            }
        }
        assert_eq!(leaving(&mut queue).1, [10, 20, 21, 30, 11, 22, 23, 12]);
    }

    #[test]
    fn a_full_queue_drops_the_newest_of_the_longest_flow() {
        let mut queue = queue(SfqParams { limit: 5, ..SfqParams::default() });
        let mut verdicts = Verdicts::new();
        for (flow, body) in [(1, 10), (1, 11), (1, 12), (2, 20), (2, 21), (2, 22)] {
            queue.enqueue(packet(flow, 1_500, body), Time::ZERO, &mut verdicts);
        }
        assert_eq!(
            dropped_bodies(&mut verdicts),
            [22],
            "of two of three packets the one that grew last"
        );
        queue.enqueue(packet(3, 1_500, 30), Time::ZERO, &mut verdicts);
        assert_eq!(dropped_bodies(&mut verdicts), [12]);
        assert_eq!((queue.len(), queue.backlog()), (5, Bytes::new(7_500)));
    }

    #[test]
    fn flows_of_one_packet_each_lose_the_next_in_turn() {
        let mut queue = queue(SfqParams { limit: 2, ..SfqParams::default() });
        let mut verdicts = Verdicts::new();
        for flow in 1..=3 {
            queue.enqueue(packet(flow, 1_500, flow), Time::ZERO, &mut verdicts);
        }
        assert_eq!((dropped_bodies(&mut verdicts), leaving(&mut queue).1), (vec![1], vec![2, 3]));
    }

    #[test]
    fn a_flow_at_its_depth_loses_its_newest_or_its_oldest() {
        for (headdrop, lost) in [(false, 2), (true, 0)] {
            let mut queue = queue(SfqParams { depth: 2, headdrop, ..SfqParams::default() });
            let mut verdicts = Verdicts::new();
            (0..3).for_each(|body| queue.enqueue(packet(1, 99, body), Time::ZERO, &mut verdicts));
            assert_eq!(dropped_bodies(&mut verdicts), [lost], "headdrop {headdrop}");
        }
    }

    #[test]
    fn more_flows_than_it_has_room_for_lose_their_packets() {
        let mut queue = queue(SfqParams { flows: 2, ..SfqParams::default() });
        let mut verdicts = Verdicts::new();
        (1..=3).for_each(|n| queue.enqueue(packet(n, 99, n), Time::ZERO, &mut verdicts));
        assert_eq!(dropped_bodies(&mut verdicts), [3]);
    }
}
