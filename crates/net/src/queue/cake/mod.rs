//! CAKE: a shaper, a queue for each flow, and COBALT in each.

mod cobalt;
mod pace;
mod turns;
mod ways;

use narrows_base::registry::{Fallback, Info, Parameter, Role, Room, Values};
use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::Registered;
use super::flow_hash::FlowHash;
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{Waiting, frame_bytes};
use crate::DropReason;
use cobalt::{Control, Head, Law};
pub use pace::{Cells, Framing};
use pace::{Pace, Shaper};
use turns::Turns;
use ways::{QUEUES, Ways};

/// Which packets share a queue, and which flows a quantum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// All packets are one flow.
    FlowBlind,
    /// Each flow has its queue and its quantum.
    Flows,
    /// Besides, the flows of a host share one quantum. In a scenario all flows of a link are of one
    /// pair of hosts.
    Triple,
}

/// The parameters of `tc`'s `cake`; the defaults are Linux's (`cake_init`).
///
/// Packets carry no DSCP, so all are of one tin (`besteffort`). `ack-filter`, `autorate-ingress`,
/// `nat`, `wash`, `fwmark` and the isolation of several hosts aren't modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeParams {
    /// Bytes of memory that packets may occupy (`memlimit`).
    pub limit: Bytes,
    /// The shaper's rate, counted as `framing` says; none leaves it to the link.
    pub bandwidth: Option<Rate>,
    /// The time in which senders react: CoDel's interval.
    pub rtt: Duration,
    /// Which packets share a queue.
    pub isolation: Isolation,
    /// How a packet's bytes are counted.
    pub framing: Framing,
    /// Whether dropped packets count as sent, as behind a bottleneck.
    pub ingress: bool,
}

/// The memory of a packet: a receive buffer of half a page and the kernel's own data on it, as most
/// drivers have them. Linux's limits count memory (`truesize`).
const PACKET_MEMORY: u64 = 2_304;
/// What Linux allows without a bandwidth: 10,240 full frames.
const LIMIT: u64 = 10_240 * 1_514;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "cake",
    title: "CAKE",
    family: "fq",
    summary: "a shaper over a queue for each flow, in turns; COBALT in each; of its limit, which is memory, \
              a packet takes 2,304 bytes",
    source: "Høiland-Jørgensen, Täht and Morton, LANMAN 2018; Linux net/sched/sch_cake.c",
    role: Role::Queue(Room::Bytes(Some(LIMIT))),
    parameters: &[
        Parameter::rate(
            "bandwidth",
            Fallback::Off,
            "the shaper's rate, in bytes as counted here; none leaves it to the link",
        ),
        Parameter::duration(
            "rtt",
            Fallback::ms(100),
            "the time in which senders react; the acceptable delay is a twentieth of it",
        )
        .at_least(20_000)
        .at_most(4_000_000_000),
        Parameter::word(
            "isolation",
            &["triple-isolate", "flows", "flowblind"],
            "triple-isolate",
            "what has a queue of its own; with triple-isolate the flows of a host share a quantum",
        ),
        Parameter::bytes(
            "overhead",
            Fallback::Off,
            "bytes counted with each IP packet; 14 (Ethernet) if none",
        )
        .at_most(256),
        Parameter::bytes("mpu", Fallback::Whole(0), "the least bytes counted for a packet")
            .at_most(256),
        Parameter::word(
            "atm",
            &["noatm", "atm", "ptm"],
            "noatm",
            "cells of the link, whose bytes are counted",
        ),
        Parameter::flag("ingress", false, "counts dropped packets as sent, too"),
    ],
};

impl CakeParams {
    /// The parameters that a scenario gives.
    fn of(values: &Values, limit: Limit) -> Self {
        let isolation = match values.word("isolation") {
            "flowblind" => Isolation::FlowBlind,
            "flows" => Isolation::Flows,
            _ => Isolation::Triple,
        };
        let cells = match values.word("atm") {
            "atm" => Cells::Atm,
            "ptm" => Cells::Ptm,
            _ => Cells::None,
        };
        Self {
            limit: limit.bytes(),
            bandwidth: values.some_rate("bandwidth"),
            rtt: values.duration("rtt"),
            isolation,
            framing: Framing {
                overhead: values.some_bytes("overhead").map(Bytes::get),
                mpu: values.bytes("mpu").get(),
                cells,
            },
            ingress: values.flag("ingress"),
        }
    }
}

/// The registry's defaults.
impl Default for CakeParams {
    fn default() -> Self {
        let limit = Limit::Bytes(Bytes::new(LIMIT));
        Self::of(&Values::defaults(&INFO, Rate::from_bps(10_000_000)), limit)
    }
}

impl Registered for CakeParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Cake<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> Cake<B> {
        Cake::new(&Self::of(values, limit), random)
    }
}

#[derive(Clone, Debug)]
struct Flow<B> {
    waiting: Waiting<B>,
    control: Control,
}

/// CAKE with one tin (Linux `sch_cake.c`).
#[derive(Clone, Debug)]
pub struct Cake<B> {
    params: CakeParams,
    law: Law,
    shaper: Shaper,
    hash: FlowHash,
    ways: Ways,
    flows: Vec<Flow<B>>,
    turns: Turns,
    /// BLUE's dice.
    random: Stream,
    packets: usize,
    bytes: u64,
    /// When the shaper lets the next packet go, if it held one.
    ready: Option<Time>,
}

impl<B> Cake<B> {
    /// Empty queues with these parameters. The hash of the flows is drawn from `random`, which also
    /// decides BLUE's drops and how quanta are rounded.
    #[must_use]
    pub fn new(params: &CakeParams, mut random: Stream) -> Self {
        let pace = params.bandwidth.map(Pace::new);
        let empty = || Flow { waiting: Waiting::new(), control: Control::default() };
        let quantum = params
            .bandwidth
            .map_or(1_514, |rate| (rate.as_bytes_per_sec() >> 12).clamp(300, 1_514));
        let by_host = params.isolation == Isolation::Triple;
        let hash = FlowHash::new(QUEUES, &mut random);
        let rounding = Stream::new(random.next_u64(), "quantum");
        Self {
            params: *params,
            law: Law::new(params.rtt, pace),
            shaper: Shaper::new(pace),
            hash,
            ways: Ways::new(),
            flows: std::iter::repeat_with(empty).take(QUEUES as usize).collect(),
            turns: Turns::new(QUEUES as usize, quantum, by_host, rounding),
            random,
            packets: 0,
            bytes: 0,
            ready: None,
        }
    }

    fn queue_of(&mut self, packet: &Packet<B>) -> usize {
        if self.params.isolation == Isolation::FlowBlind {
            return 0;
        }
        let (turns, hash) = (&self.turns, self.hash.hash(packet.flow));
        self.ways.queue(hash, |queue| turns.holds(queue))
    }

    fn counted(&self, packet: &Packet<B>) -> u64 {
        self.params.framing.bytes(packet.size.into(), frame_bytes(packet))
    }

    fn pop(&mut self, flow: usize) -> Option<(Time, Packet<B>)> {
        let (since, packet) = self.flows[flow].waiting.pop()?;
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        Some((since, packet))
    }

    /// Drops from the head of the queue with the most bytes (`cake_drop`).
    fn drop_from_longest(&mut self, now: Time, verdicts: &mut Verdicts<B>) {
        let longest =
            self.turns.active().max_by_key(|&flow| self.flows[flow].waiting.frame_bytes());
        let Some(flow) = longest else { return };
        let Some((_, packet)) = self.pop(flow) else { return };
        self.flows[flow].control.overflowed(&self.law, now);
        self.count_drop(&packet);
        verdicts.drop(packet, now, DropReason::Overflow);
    }

    /// Lets the shaper count a dropped packet in ingress mode; returns the bytes that it counted.
    fn count_drop(&mut self, packet: &Packet<B>) -> u64 {
        if !self.params.ingress {
            return 0;
        }
        let bytes = self.counted(packet);
        self.shaper.count(bytes, true);
        bytes
    }

    /// A flow's next packet that isn't dropped; its last one never is. `None` if it has no packet,
    /// or if a drop counted as its turn.
    fn dequeue_flow(&mut self, flow: usize, now: Time, verdicts: &mut Verdicts<B>) -> Taken<B> {
        let bulk = if self.params.ingress { self.turns.bulk() } else { 0 };
        while let Some((since, mut packet)) = self.pop(flow) {
            let Flow { waiting, control } = &mut self.flows[flow];
            let mark = || verdicts.mark(&mut packet);
            let head = Head { since, now, bulk };
            let drops = control.drops(&self.law, head, &mut self.random, mark);
            if !drops || waiting.len() == 0 {
                return Taken::Packet(packet);
            }
            let bytes = self.count_drop(&packet);
            self.turns.spend(flow, bytes);
            verdicts.drop(packet, now, DropReason::Early);
            if self.params.ingress {
                return Taken::Dropped;
            }
        }
        Taken::Nothing
    }

    fn end_turn(&mut self, flow: usize, now: Time) {
        let control = &mut self.flows[flow].control;
        control.emptied(&self.law, now);
        self.turns.end(flow, control.is_at_rest(now));
    }
}

/// What a flow's turn gave.
enum Taken<B> {
    Packet(Packet<B>),
    /// A drop that counts as sent.
    Dropped,
    Nothing,
}

impl<B> QueueDiscipline<B> for Cake<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let flow = self.queue_of(&packet);
        if self.packets == 0 {
            self.shaper.begin(now);
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.flows[flow].waiting.push(packet, now);
        self.turns.join(flow);
        while self.packets as u64 * PACKET_MEMORY > self.params.limit.get() {
            self.drop_from_longest(now, verdicts);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        let (mut decaying, mut resumes) = (true, false);
        while self.packets > 0 {
            self.ready = self.shaper.held_until(now).filter(|_| !resumes);
            if self.ready.is_some() {
                return None;
            }
            let flows = &self.flows;
            let flow = self.turns.current(decaying, |flow| flows[flow].waiting.len() > 0)?;
            decaying = false;
            match self.dequeue_flow(flow, now, verdicts) {
                Taken::Packet(packet) => {
                    let bytes = self.counted(&packet);
                    self.shaper.count(bytes, false);
                    self.turns.spend(flow, bytes);
                    return Some(packet);
                }
                Taken::Dropped => resumes = true,
                Taken::Nothing => {
                    self.end_turn(flow, now);
                    resumes = false;
                }
            }
        }
        self.ready = None;
        None
    }

    fn backlog(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn next_deadline(&self) -> Option<Time> {
        self.ready
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<B>) {
        self.ready = self.ready.filter(|&ready| ready > due);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{dropped, leaving, packet, seven_packets};
    use super::*;

    fn cake(params: CakeParams) -> Cake<u32> {
        Cake::new(&params, Stream::new(1, "cake"))
    }

    /// When packets leave if the queue is asked whenever it wants to be.
    fn times(queue: &mut Cake<u32>, from: u64) -> Vec<u64> {
        let (mut now, mut verdicts) = (Time::from_nanos(from), Verdicts::new());
        let mut times = Vec::new();
        while queue.len() > 0 {
            if queue.dequeue(now, &mut verdicts).is_some() {
                times.push(now.as_nanos() / 1_000);
            } else {
                now = queue.next_deadline().expect("packets wait for something");
                queue.on_deadline(now, &mut verdicts);
            }
        }
        times
    }

    fn shaped(framing: Framing) -> Cake<u32> {
        let bandwidth = Some(Rate::from_bps(12_112_000));
        cake(CakeParams { bandwidth, framing, ..CakeParams::default() })
    }

    #[test]
    fn flows_take_turns_by_frame_bytes() {
        let mut queue = cake(CakeParams { isolation: Isolation::Flows, ..CakeParams::default() });
        seven_packets(&mut queue);
        assert_eq!(leaving(&mut queue).0, [1, 2, 2, 1, 2, 2, 1]);
        let mut blind =
            cake(CakeParams { isolation: Isolation::FlowBlind, ..CakeParams::default() });
        seven_packets(&mut blind);
        assert_eq!(leaving(&mut blind).0, [1, 1, 1, 2, 2, 2, 2]);
    }

    /// 1,514 bytes at 12.112 Mbit/s take a millisecond; an idle time gives no credit.
    #[test]
    fn the_shaper_lets_packets_go_at_its_rate() {
        let plain = CakeParams::default().framing;
        let mut queue = shaped(plain);
        for from in [0, 50_000_000] {
            let mut verdicts = Verdicts::new();
            for body in 0..4 {
                queue.enqueue(packet(1, 1_500, body), Time::from_nanos(from), &mut verdicts);
            }
            let us = from / 1_000;
            let expected = [us, us + 1_000, us + 2_000, us + 3_000];
            let found = times(&mut queue, from);
            assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1), "{found:?}");
        }
        // 1,500 bytes and 48 are 33 cells: 1.155 times as long.
        let mut cells = shaped(Framing { overhead: Some(48), cells: Cells::Atm, ..plain });
        for body in 0..3 {
            cells.enqueue(packet(1, 1_500, body), Time::ZERO, &mut Verdicts::new());
        }
        assert_eq!(times(&mut cells, 0)[2], 2 * 33 * 53 * 1_000 / 1_514);
    }

    /// At 12.112 Mbit/s a quantum is 369 bytes, so a bulk flow has no two packets in a row.
    #[test]
    fn a_new_flow_goes_first() {
        let mut queue = cake(CakeParams::default());
        let mut verdicts = Verdicts::new();
        for body in 0..5 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        let _ = queue.dequeue(Time::ZERO, &mut verdicts);
        let _ = queue.dequeue(Time::ZERO, &mut verdicts);
        queue.enqueue(packet(2, 100, 0), Time::ZERO, &mut verdicts);
        assert_eq!(leaving(&mut queue).0, [2, 1, 1, 1]);
    }

    #[test]
    fn overflow_drops_from_the_head_of_the_longest() {
        let limit = Bytes::new(10 * PACKET_MEMORY);
        let mut queue = cake(CakeParams { limit, ..CakeParams::default() });
        let mut verdicts = Verdicts::new();
        queue.enqueue(packet(2, 1_500, 100), Time::ZERO, &mut verdicts);
        for body in 0..12 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        assert_eq!(dropped(&mut verdicts), [0, 1, 2]);
        assert_eq!((queue.len(), queue.backlog()), (10, Bytes::new(15_000)));
    }

    /// A flow alone keeps its last packet, however long it waited.
    #[test]
    fn the_last_packet_of_a_flow_is_never_dropped() {
        let mut queue = cake(CakeParams::default());
        let mut verdicts = Verdicts::new();
        for body in 0..40 {
            queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut verdicts);
        }
        let left: Vec<_> = (0..40)
            .filter_map(|n| {
                queue.dequeue(Time::from_nanos((1_000 + 100 * n) * 1_000_000), &mut verdicts)
            })
            .map(|packet| packet.body)
            .collect();
        assert_eq!(left.last(), Some(&39));
        assert_eq!(left.len() + dropped(&mut verdicts).len(), 40);
        assert!(left.len() < 30, "{left:?}");
    }

    /// In ingress mode a drop uses up the rate of the packet.
    #[test]
    fn drops_count_as_sent_behind_a_bottleneck() {
        let spans = [false, true].map(|ingress| {
            let bandwidth = Some(Rate::from_bps(12_112_000));
            let mut queue = cake(CakeParams { bandwidth, ingress, ..CakeParams::default() });
            for body in 0..300 {
                queue.enqueue(packet(1, 1_500, body), Time::ZERO, &mut Verdicts::new());
            }
            let times = times(&mut queue, 0);
            (times.len() as u64, times[times.len() - 1] / 1_000)
        });
        let [(sent, span), (less, as_long)] = spans;
        assert!(sent < 299 && span.abs_diff(sent - 1) <= 1, "{spans:?}");
        assert!(less < 299 && as_long > less + (299 - less) / 3, "{spans:?}");
    }
}
