//! CAKE: a shaper, a queue for each flow, and COBALT in each.

mod cobalt;
mod diffserv;
mod pace;
mod tin;
mod turns;
mod ways;

use narrows_base::registry::{Info, LimitUnit, Parameter, ParameterDefault, Role, Values};
use narrows_base::{Bytes, Dscp, Duration, Packet, Rate, Stream, Time};

use super::discipline::QueueDiscipline;
use super::entry::NamedDiscipline;
use super::flow_hash::FlowHash;
use super::limit::Limit;
use super::verdicts::Verdicts;
use super::waiting::{FRAME, frame_bytes};
use crate::element::DropReason;
use cobalt::Head;
pub use diffserv::Diffserv;
use pace::Shaper;
pub use pace::{Cells, Framing};
use tin::{Flow, Tin, in_turn, next_shaped};
use ways::QUEUES;

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
/// A packet's tin follows from the DSCP of its flow. `ack-filter`, `autorate-ingress`, `nat`, `wash`,
/// `fwmark` and the isolation of several hosts aren't modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeParams {
    /// Bytes of memory that packets may occupy (`memlimit`).
    pub limit: Bytes,
    /// The shaper's rate, counted as `framing` says; none leaves it to the link.
    pub bandwidth: Option<Rate>,
    /// The time in which senders react: CoDel's interval.
    pub rtt: Duration,
    /// How packets are divided into tins.
    pub diffserv: Diffserv,
    /// Which packets share a queue.
    pub isolation: Isolation,
    /// How a packet's bytes are counted.
    pub framing: Framing,
    /// True if dropped packets count as sent, as behind a bottleneck.
    pub ingress: bool,
}

/// The memory of a packet: a receive buffer of half a page and the kernel's own data on it, as most
/// drivers have them. Linux's limits count memory (`truesize`).
const PACKET_MEMORY: u64 = 2_304;
/// Linux's limit without a bandwidth: 10,240 full frames.
const LIMIT: u64 = 10_240 * FRAME as u64;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "cake",
    title: "CAKE",
    family: "fq",
    summary: "a shaper over tins of classes, with a queue for each flow, in turns; COBALT in each; of its \
              limit, which is memory, a packet takes 2,304 bytes",
    source: "Høiland-Jørgensen, Täht and Morton, LANMAN 2018; Linux net/sched/sch_cake.c",
    role: Role::Queue(LimitUnit::Bytes(Some(LIMIT))),
    parameters: &[
        Parameter::rate(
            "bandwidth",
            ParameterDefault::Off,
            "the shaper's rate, in bytes as counted here; none leaves it to the link",
        ),
        Parameter::duration(
            "rtt",
            ParameterDefault::ms(100),
            "the time in which senders react; the acceptable delay is 5 % of it",
        )
        .at_least(20_000)
        .at_most(4_000_000_000),
        Parameter::word(
            "diffserv",
            Diffserv::WORDS,
            "diffserv3",
            "how the DSCP of a flow decides on its tin: three, four or eight by the traffic's class, \
             eight by precedence, or one",
        ),
        Parameter::word(
            "isolation",
            &["triple-isolate", "flows", "flowblind"],
            "triple-isolate",
            "the unit that has its own queue; with triple-isolate the flows of a host share a quantum",
        ),
        Parameter::bytes(
            "overhead",
            ParameterDefault::Off,
            "bytes counted with each IP packet; 14 (Ethernet) if none",
        )
        .at_most(256),
        Parameter::bytes("mpu", ParameterDefault::Whole(0), "the least bytes counted for a packet")
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
            diffserv: Diffserv::from_name(values.word("diffserv")),
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

impl NamedDiscipline for CakeParams {
    const INFO: &'static Info = &INFO;

    type Discipline<B: Send + 'static> = Cake<B>;

    fn build<B: Send + 'static>(values: &Values, limit: Limit, random: Stream) -> Cake<B> {
        Cake::new(&Self::of(values, limit), random)
    }
}

/// CAKE (Linux `sch_cake.c`).
#[derive(Clone, Debug)]
pub struct Cake<B> {
    params: CakeParams,
    tins: Vec<Tin<B>>,
    /// The tin that was served last.
    current: usize,
    /// The tin of each flow whose DSCP isn't the default one.
    flows: Vec<usize>,
    shaper: Shaper,
    hash: FlowHash,
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
        let by_host = params.isolation == Isolation::Triple;
        let hash = FlowHash::new(QUEUES, &mut random);
        let seed = random.next_u64();
        let rounding = |tin: usize| match tin {
            0 => Stream::new(seed, "quantum"),
            tin => Stream::new(seed, &format!("quantum/{tin}")),
        };
        let shares = params.diffserv.shares(params.bandwidth).into_iter().enumerate();
        let tins: Vec<_> = shares
            .map(|(number, share)| Tin::new(share, params.rtt, by_host, rounding(number)))
            .collect();
        Self {
            params: *params,
            shaper: Shaper::new(tins[0].pace()),
            tins,
            current: 0,
            flows: Vec::new(),
            hash,
            random,
            packets: 0,
            bytes: 0,
            ready: None,
        }
    }

    fn queue_of(&mut self, tin: usize, packet: &Packet<B>) -> usize {
        if self.params.isolation == Isolation::FlowBlind {
            return 0;
        }
        let hash = self.hash.hash(packet.flow);
        self.tins[tin].queue(hash)
    }

    fn shaper_bytes(&self, packet: &Packet<B>) -> u64 {
        self.params.framing.bytes(packet.size.into(), frame_bytes(packet))
    }

    fn pop(&mut self, tin: usize, flow: usize) -> Option<(Time, Packet<B>)> {
        let (since, packet) = self.tins[tin].pop(flow)?;
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
        Some((since, packet))
    }

    /// Drops from the head of the queue with the most bytes (`cake_drop`).
    fn drop_from_longest(&mut self, now: Time, verdicts: &mut Verdicts<B>) {
        let of = |(number, tin)| Tin::turns_of(tin).map(move |flow| (number, flow));
        let length =
            |&(tin, flow): &(usize, usize)| self.tins[tin].flows[flow].waiting.frame_bytes();
        let longest = self.tins.iter().enumerate().flat_map(of).max_by_key(length);
        let Some((number, flow)) = longest else { return };
        let Some((_, packet)) = self.pop(number, flow) else { return };
        let tin = &mut self.tins[number];
        tin.flows[flow].control.on_overflow(&tin.params, now);
        self.count_drop(number, &packet, now);
        verdicts.drop(packet, now, DropReason::Overflow);
    }

    /// Lets the shaper count a dropped packet in ingress mode; returns the bytes that it counted.
    fn count_drop(&mut self, tin: usize, packet: &Packet<B>, now: Time) -> u64 {
        if !self.params.ingress {
            return 0;
        }
        self.count(tin, packet, now, true)
    }

    /// Counts a packet that leaves, or is dropped in ingress mode; returns the bytes counted.
    fn count(&mut self, tin: usize, packet: &Packet<B>, now: Time, dropped: bool) -> u64 {
        let bytes = self.shaper_bytes(packet);
        self.shaper.count(bytes, dropped);
        self.tins[tin].count(bytes, now);
        bytes
    }

    /// A flow's next packet that isn't dropped; its last one never is. In ingress mode the first drop
    /// is its turn.
    fn dequeue_flow(
        &mut self,
        number: usize,
        flow: usize,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> TurnOutcome<B> {
        while let Some((since, mut packet)) = self.pop(number, flow) {
            let tin = &mut self.tins[number];
            let bulk = if self.params.ingress { tin.turns.bulk() } else { 0 };
            let Flow { waiting, control } = &mut tin.flows[flow];
            let mark = || verdicts.mark(&mut packet);
            let head = Head { since, now, bulk };
            let drops = control.drops(&tin.params, head, &mut self.random, mark);
            if !drops || waiting.len() == 0 {
                return TurnOutcome::Packet(packet);
            }
            let bytes = self.count_drop(number, &packet, now);
            self.tins[number].spend(flow, bytes);
            verdicts.drop(packet, now, DropReason::Early);
            if self.params.ingress {
                return TurnOutcome::Dropped;
            }
        }
        TurnOutcome::Nothing
    }

    /// Serves a tin until it gives a packet or a flow's turn ends without one. With `decaying`, a flow
    /// without packets may go first, which lets it fade.
    fn serve(
        &mut self,
        tin: usize,
        mut decaying: bool,
        now: Time,
        verdicts: &mut Verdicts<B>,
    ) -> Option<Packet<B>> {
        loop {
            let flow = self.tins[tin].current(decaying)?;
            decaying = false;
            match self.dequeue_flow(tin, flow, now, verdicts) {
                TurnOutcome::Packet(packet) => {
                    let bytes = self.count(tin, &packet, now, false);
                    self.tins[tin].spend(flow, bytes);
                    return Some(packet);
                }
                TurnOutcome::Dropped => {}
                TurnOutcome::Nothing => {
                    self.tins[tin].end_turn(flow, now);
                    return None;
                }
            }
        }
    }

    fn choose(&mut self, now: Time) -> Option<usize> {
        match self.params.bandwidth {
            Some(_) => next_shaped(&self.tins, now),
            None => in_turn(&mut self.tins, self.current),
        }
    }
}

/// The outcome of a flow's turn.
enum TurnOutcome<B> {
    Packet(Packet<B>),
    /// A drop that counts as sent.
    Dropped,
    Nothing,
}

impl<B> QueueDiscipline<B> for Cake<B> {
    fn enqueue(&mut self, packet: Packet<B>, now: Time, verdicts: &mut Verdicts<B>) {
        let tin = self.flows.get(packet.flow.index()).copied().unwrap_or_default();
        let flow = self.queue_of(tin, &packet);
        if self.packets == 0 {
            self.shaper.begin(now);
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.tins[tin].push(flow, packet, now);
        while self.packets as u64 * PACKET_MEMORY > self.params.limit.get() {
            self.drop_from_longest(now, verdicts);
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<B>) -> Option<Packet<B>> {
        let mut decaying = true;
        while self.packets > 0 {
            self.ready = self.shaper.held_until(now);
            if self.ready.is_some() {
                return None;
            }
            self.current = self.choose(now)?;
            let packet = self.serve(self.current, decaying, now, verdicts);
            decaying = false;
            if packet.is_some() {
                return packet;
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

    fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        let scheme = self.params.diffserv;
        self.flows = of_flows.iter().map(|dscp| scheme.tin(dscp.bits())).collect();
    }
}

#[cfg(test)]
mod tests;
