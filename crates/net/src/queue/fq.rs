//! Fair queueing: every flow has its own queue, and all take turns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Duration, FlowId, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::{self, NamedDiscipline};
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{FRAME, Waiting, frame_bytes};
use crate::element::DropReason;

/// The parameters of `tc`'s fq; the defaults are Linux's (`fq_init`). Departure times set by a
/// sender aren't modelled here (the sender paces), nor are priority bands: all packets are in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqParams {
    /// Packets that may wait, of all flows.
    pub limit: u64,
    /// Packets that may wait of one flow.
    pub flow_limit: u64,
    /// Bytes of Ethernet frames that a flow may send in its turn.
    pub quantum: u32,
    /// Bytes of Ethernet frames that a flow may send in its first turn.
    pub initial_quantum: u32,
    /// The highest rate of one flow, of Ethernet frames.
    pub maxrate: Option<Rate>,
    /// Marks every packet that waited longer.
    pub ce_threshold: Option<Duration>,
    /// A flow that was idle for longer gets a quantum.
    pub refill_delay: Duration,
}

/// The default limit in packets, as in Linux.
const LIMIT: u64 = 10_000;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "fq",
    title: "FQ",
    family: "fair",
    summary: "a queue for each flow, in turns",
    source: "Linux net/sched/sch_fq.c",
    role: Role::Queue(LimitUnit::Packets(LIMIT)),
    parameters: &[
        Parameter::packets(
            "flow_limit",
            ParameterDefault::Whole(100),
            "packets of one flow that may wait",
        ),
        Parameter::whole(
            "quantum",
            ParameterDefault::Whole(2 * FRAME as u64),
            "bytes of Ethernet frames that a flow may send per turn",
        )
        .positive(),
        Parameter::whole(
            "initial_quantum",
            ParameterDefault::Whole(10 * FRAME as u64),
            "bytes of Ethernet frames that a flow may send in its first turn",
        ),
        Parameter::rate(
            "maxrate",
            ParameterDefault::Off,
            "the highest rate of one flow, of Ethernet frames",
        ),
        entry::CE_THRESHOLD,
        Parameter::duration(
            "refill_delay",
            ParameterDefault::ms(40),
            "a flow that was idle for longer gets a quantum",
        ),
    ],
};

impl FqParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        Self {
            limit: limit.packets(),
            flow_limit: values.packets("flow_limit"),
            quantum: values.whole("quantum"),
            initial_quantum: values.whole("initial_quantum"),
            maxrate: values.some_rate("maxrate"),
            ce_threshold: values.some_duration("ce_threshold"),
            refill_delay: values.duration("refill_delay"),
        }
    }
}

/// The registry's defaults, on a link of 10 Mbit/s.
impl Default for FqParams {
    fn default() -> Self {
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), Limit::Packets(LIMIT))
    }
}

impl NamedDiscipline for FqParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Fq<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, _random: Stream) -> Fq<B> {
        Fq::new(&Self::of(values, limit))
    }
}

/// At this rate or below a flow's packets are paced one by one
/// (`low_rate_threshold`).
const LOW_RATE: Rate = Rate::from_bps(550_000);
/// Packets that may pass without a separate queue (`fq_fastpath_check`).
const FAST_PATH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Empty since then.
    Detached(Time),
    Listed,
    /// Held back by `maxrate`.
    Throttled,
}

#[derive(Clone, Debug)]
struct Flow<B> {
    waiting: Waiting<B>,
    credit: i64,
    place: Place,
    /// When `maxrate` lets the next packet go.
    next_packet: Time,
}

/// Per-flow fair queueing (Linux `sch_fq.c`). Flows are distinguished exactly and remembered for
/// ever; Linux forgets one that was idle for 3 s if another needs its place.
#[derive(Clone, Debug)]
pub struct Fq<B> {
    params: FqParams,
    index: BTreeMap<FlowId, usize>,
    flows: Vec<Flow<B>>,
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    throttled: BTreeSet<(Time, usize)>,
    /// Packets that arrived while no flow had a queue.
    fast_path: Waiting<B>,
    /// Packets and bytes in the flows' queues.
    packets: usize,
    bytes: u64,
}

impl<B> Fq<B> {
    /// Empty queues with these parameters.
    ///
    /// # Panics
    /// If the quantum or the highest rate is zero.
    #[must_use]
    pub fn new(params: &FqParams) -> Self {
        assert!(params.quantum > 0, "fq needs a quantum above zero");
        assert!(params.maxrate.is_none_or(|r| r.as_bps() > 0), "fq needs a maxrate above zero");
        Self {
            params: *params,
            index: BTreeMap::new(),
            flows: Vec::new(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            throttled: BTreeSet::new(),
            fast_path: Waiting::new(),
            packets: 0,
            bytes: 0,
        }
    }

    fn takes_fast_path(&self) -> bool {
        self.params.maxrate.is_none() && self.packets == 0 && self.fast_path.len() < FAST_PATH
    }

    fn flow_index(&mut self, flow: FlowId) -> usize {
        let (flows, credit) = (&mut self.flows, i64::from(self.params.initial_quantum));
        *self.index.entry(flow).or_insert_with(|| {
            flows.push(Flow {
                waiting: Waiting::new(),
                credit,
                place: Place::Detached(Time::ZERO),
                next_packet: Time::ZERO,
            });
            flows.len() - 1
        })
    }

    fn list(&mut self, index: usize, now: Time) {
        let flow = &mut self.flows[index];
        if let Place::Detached(since) = flow.place {
            if now - since > self.params.refill_delay {
                flow.credit = flow.credit.max(i64::from(self.params.quantum));
            }
            flow.place = Place::Listed;
            self.new_flows.push_back(index);
        }
    }

    /// Lists again the flows that may send from `now` on (`fq_check_throttled`).
    fn release(&mut self, now: Time) {
        while let Some(&(due, index)) = self.throttled.first().filter(|first| first.0 <= now) {
            self.throttled.remove(&(due, index));
            self.flows[index].place = Place::Listed;
            self.old_flows.push_back(index);
        }
    }

    /// Serves the head of a list: returns its packet, or `None` if it has to wait and the list has
    /// moved on.
    fn serve(&mut self, was_new: bool, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        let list = if was_new { &mut self.new_flows } else { &mut self.old_flows };
        let index = *list.front()?;
        let flow = &mut self.flows[index];
        if flow.credit <= 0 {
            flow.credit += i64::from(self.params.quantum);
            list.pop_front();
            self.old_flows.push_back(index);
            return None;
        }
        let Some(since) = flow.waiting.head_since() else {
            list.pop_front();
            self.retire(index, was_new, now);
            return None;
        };
        let due = since.max(flow.next_packet);
        if now < due {
            list.pop_front();
            flow.next_packet = due;
            flow.place = Place::Throttled;
            self.throttled.insert((due, index));
            return None;
        }
        let packet = self.take(index, due, now, verdicts)?;
        Some(packet)
    }

    fn retire(&mut self, index: usize, was_new: bool, now: Time) {
        if was_new {
            self.old_flows.push_back(index);
        } else {
            self.flows[index].place = Place::Detached(now);
        }
    }

    fn take(
        &mut self,
        index: usize,
        due: Time,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        let (_, mut packet) = self.flows[index].waiting.pop()?;
        if self.params.ce_threshold.is_some_and(|threshold| now - due > threshold) {
            let _ = verdicts.mark(&mut packet);
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        self.flows[index].credit -= frame_bytes(&packet).cast_signed();
        if let Some(rate) = self.params.maxrate {
            self.pace(index, rate, frame_bytes(&packet), now);
        }
        Some(packet)
    }

    /// When the flow may send again: after a quantum's time once its credit is
    /// used up, or after each packet at a low rate.
    fn pace(&mut self, index: usize, rate: Rate, frame: u64, now: Time) {
        let flow = &mut self.flows[index];
        let mut bytes = frame;
        if rate <= LOW_RATE {
            flow.credit = 0;
        } else {
            bytes = bytes.max(u64::from(self.params.quantum));
            if flow.credit > 0 {
                return;
            }
        }
        let span = rate.time_to_send(Bytes::new(bytes)).min(Duration::from_secs(1));
        let drift = if flow.next_packet == Time::ZERO {
            Duration::ZERO
        } else {
            now.saturating_since(flow.next_packet).min(span / 2)
        };
        flow.next_packet = now + (span - drift);
    }
}

impl<B> QueueDiscipline<B> for Fq<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        if self.packets as u64 >= self.params.limit {
            return verdicts.drop(packet, now, DropReason::Overflow);
        }
        if self.takes_fast_path() {
            return self.fast_path.push(packet, now);
        }
        let index = self.flow_index(packet.flow);
        if self.flows[index].waiting.len() as u64 >= self.params.flow_limit {
            return verdicts.drop(packet, now, DropReason::Overflow);
        }
        self.list(index, now);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.flows[index].waiting.push(packet, now);
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        if let Some((_, packet)) = self.fast_path.pop() {
            return Some(packet);
        }
        self.release(now);
        while self.packets > 0 {
            let was_new = !self.new_flows.is_empty();
            if !was_new && self.old_flows.is_empty() {
                return None;
            }
            let served = self.serve(was_new, now, verdicts);
            if served.is_some() {
                return served;
            }
        }
        None
    }

    fn backlog(&self) -> Bytes {
        self.fast_path.bytes() + Bytes::new(self.bytes)
    }

    fn len(&self) -> usize {
        self.fast_path.len() + self.packets
    }

    fn next_deadline(&self) -> Option<Time> {
        self.throttled.first().map(|first| first.0)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        self.release(due);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leaving, packet};
    use super::*;

    /// Fills the fast path with packets of flow 9, so that the rest queues.
    fn queue(params: &FqParams) -> (Fq<u32>, Verdicts<u32>) {
        let (mut queue, mut verdicts) = (Fq::new(params), Verdicts::new());
        for body in 0..8 {
            queue.enqueue(packet(9, 1_500, body), Time::ZERO, &mut verdicts);
        }
        (queue, verdicts)
    }

    #[test]
    fn flows_take_turns_of_two_packets_after_a_first_turn_of_ten() {
        let (mut queue, mut verdicts) = queue(&FqParams::default());
        for body in 0..14 {
            for flow in [1, 2] {
                queue.enqueue(packet(flow, 1_500, body), Time::ZERO, &mut verdicts);
            }
        }
        let order = leaving(&mut queue).0;
        let mut expected = vec![9; 8];
        for (flow, turn) in [(1, 10), (2, 10), (1, 2), (2, 2), (1, 2), (2, 2)] {
            expected.extend(std::iter::repeat_n(flow, turn));
        }
        assert_eq!(order, expected);
    }

    #[test]
    fn a_flow_holds_a_hundred_packets() {
        let (mut queue, mut verdicts) = queue(&FqParams::default());
        for body in 0..150 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        assert_eq!((queue.len(), verdicts.dropped_packets()), (108, 50));
    }

    /// 12.112 Mbit/s are 1,000 frames of 1,514 bytes a second.
    #[test]
    fn a_flow_sends_at_its_highest_rate_after_its_first_credit() {
        let maxrate = Some(Rate::from_bps(12_112_000));
        let mut queue = Fq::new(&FqParams { maxrate, ..FqParams::default() });
        let mut verdicts = Verdicts::new();
        for body in 0..30 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        let (mut now, mut times) = (Time::ZERO, Vec::new());
        loop {
            match queue.dequeue(now, &mut verdicts) {
                Some(_) => times.push(now.as_nanos() / 1_000),
                None => match queue.next_deadline() {
                    Some(due) => {
                        now = due;
                        queue.on_deadline(due, &mut verdicts);
                    }
                    None => break,
                },
            }
        }
        assert_eq!(times[..10], [0; 10]);
        assert_eq!(times[10..14], [2_000, 2_000, 4_000, 4_000]);
        assert_eq!(times.last(), Some(&20_000));
    }
}
