//! Flow queueing with CoDel: each flow has its own queue.

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::contents::Contents;
use super::control_law::{Control, Head, Law};
use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::flow_hash::FlowHash;
use super::limit::Limit;
use super::turns::Turns;
use super::verdicts::Verdicts;
use super::waiting::{FRAME, Waiting, frame_bytes};
use crate::element::DropReason;

/// The parameters of `tc`'s `fq_codel`; the defaults are Linux's
/// (`fq_codel_init`). Its `memory_limit` isn't modelled: 32 MB are more than
/// `limit` full packets take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelParams {
    /// Packets that may wait, of all flows.
    pub limit: u64,
    /// Queues that flows are hashed into.
    pub flows: u32,
    /// Bytes of Ethernet frames that a flow may send in its turn. A
    /// packet counts with 14 bytes of header, as in Linux.
    pub quantum: u32,
    /// The acceptable delay.
    pub target: Duration,
    /// How long the delay may be above it.
    pub interval: Duration,
    /// True if packets are marked instead of dropped where they can be.
    pub ecn: bool,
    /// Marks every packet that waited longer.
    pub ce_threshold: Option<Duration>,
    /// The most packets that an overflow drops at a time.
    pub drop_batch: u32,
}

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 10_240;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "fq_codel",
    title: "FQ-CoDel",
    family: "codel",
    summary: "a queue for each flow, in turns; CoDel in each",
    source: "RFC 8290; Linux net/sched/sch_fq_codel.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        entry::FLOWS,
        entry::QUANTUM.positive(),
        entry::TARGET,
        entry::INTERVAL,
        Parameter::flag("ecn", true, entry::MARKS),
        entry::CE_THRESHOLD,
        Parameter::whole(
            "drop_batch",
            ParameterDefault::Whole(64),
            "the most packets that an overflow drops at a time",
        )
        .positive(),
    ],
};

impl FqCoDelParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            flows: values.whole("flows"),
            quantum: values.whole("quantum"),
            target: values.duration("target"),
            interval: values.duration("interval"),
            ecn: values.flag("ecn"),
            ce_threshold: values.some_duration("ce_threshold"),
            drop_batch: values.whole("drop_batch"),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for FqCoDelParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for FqCoDelParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = FqCoDel<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> FqCoDel<B> {
        FqCoDel::new(&Self::of(values, limit), random)
    }
}

#[derive(Clone, Debug)]
struct Flow<B> {
    waiting: Waiting<B>,
    control: Control,
}

/// FQ-CoDel (RFC 8290; Linux `sch_fq_codel.c`).
///
/// As in Linux, CoDel never drops while the backlog of all flows is small; the flow's own backlog
/// doesn't count.
#[derive(Clone, Debug)]
pub struct FqCoDel<B> {
    params: FqCoDelParams,
    law: Law,
    hash: FlowHash,
    flows: Vec<Flow<B>>,
    turns: Turns,
    contents: Contents,
}

impl<B> FqCoDel<B> {
    /// Empty queues with these parameters. The hash of the flows is drawn from
    /// `random`, once.
    ///
    /// # Panics
    /// If there are no flows or no quantum.
    #[must_use]
    pub fn new(params: &FqCoDelParams, mut random: Stream) -> Self {
        let empty = || Flow { waiting: Waiting::new(), control: Control::default() };
        Self {
            params: *params,
            law: Law::new(params.target, params.interval, params.ecn, FRAME)
                .with_ce_threshold(params.ce_threshold),
            hash: FlowHash::new(params.flows, &mut random),
            flows: std::iter::repeat_with(empty).take(params.flows as usize).collect(),
            turns: Turns::new(params.flows, params.quantum),
            contents: Contents::default(),
        }
    }

    /// Drops from the head of the flow with the most bytes, up to half of them
    /// (`fq_codel_drop`).
    fn drop_from_fattest(&mut self, now: Time, verdicts: &mut Verdicts<B>) {
        let backlog = |flow: &Flow<B>| flow.waiting.frame_bytes();
        let most = self.flows.iter().map(backlog).max().unwrap_or(0);
        let Some(fattest) = self.flows.iter().position(|flow| backlog(flow) == most) else {
            return;
        };
        let (mut dropped, mut count) = (0, 0);
        while count < self.params.drop_batch.max(1) && (count == 0 || dropped < most / 2) {
            let Some((_, packet)) = self.flows[fattest].waiting.pop() else { break };
            dropped += frame_bytes(&packet);
            count += 1;
            self.contents.remove(&packet);
            verdicts.drop(packet, now, DropReason::Overflow);
        }
        let control = &mut self.flows[fattest].control;
        control.count = control.count.wrapping_add(count);
    }
}

impl<B> QueueDiscipline<B> for FqCoDel<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let index = self.hash.bucket(packet.flow);
        self.contents.add(&packet);
        self.flows[index].waiting.push(packet, now);
        self.turns.join(index);
        if self.contents.occupancy() > self.params.limit {
            self.drop_from_fattest(now, verdicts);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        let (flows, contents, law) = (&mut self.flows, &mut self.contents, &self.law);
        let served = self.turns.serve(|flow| {
            let Flow { waiting, control } = &mut flows[flow];
            control.dequeue(law, now, verdicts, || {
                let (since, packet) = waiting.pop()?;
                contents.remove(&packet);
                Some(Head { since, packet, backlog: contents.frame_bytes() })
            })
        });
        served.map(|(_, packet)| packet)
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
    use super::super::testing::{dropped_bodies, leaving, packet, seven_packets};
    use super::*;

    fn queue(params: FqCoDelParams) -> FqCoDel<u32> {
        FqCoDel::new(&params, Stream::new(1, "hash"))
    }

    #[test]
    fn flows_take_turns_by_frame_bytes() {
        let mut queue = queue(FqCoDelParams::default());
        seven_packets(&mut queue);
        assert_eq!(leaving(&mut queue).0, [1, 2, 2, 1, 2, 2, 1]);
    }

    #[test]
    fn a_new_flow_goes_first_once() {
        let mut queue = queue(FqCoDelParams::default());
        let mut verdicts = Verdicts::new();
        for body in 0..5 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        let _ = queue.dequeue(Time::ZERO, &mut verdicts);
        for body in 0..2 {
            queue.enqueue(packet(2, 1_500, body), Time::ZERO, &mut verdicts);
        }
        assert_eq!(leaving(&mut queue).0, [2, 1, 2, 1, 1, 1]);
    }

    #[test]
    fn overflow_drops_half_of_the_fattest_flow_from_its_head() {
        let mut queue = queue(FqCoDelParams { limit: 10, ..FqCoDelParams::default() });
        let mut verdicts = Verdicts::new();
        queue.enqueue(packet(2, 1_500, 100), Time::ZERO, &mut verdicts);
        for body in 0..10 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        assert_eq!(dropped_bodies(&mut verdicts), [0, 1, 2, 3, 4]);
        assert_eq!((queue.len(), queue.backlog()), (6, Bytes::new(9_000)));
    }
}
