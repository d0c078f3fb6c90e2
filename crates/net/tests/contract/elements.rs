//! Random elements.

use narrows_base::{Bytes, Duration, Packet, Rate, Stream, Time};
use narrows_net::{
    Cellular, CellularParams, CopyLine, DropTail, Duplication, Element, Filter, GilbertElliott,
    GilbertElliottParams, Jitter, Limit, Line, Link, Merge, Netem, NetemParams, Outage, OutageMode,
    Overtaking, Pipe, Policer, PolicerParams, Queue, QueueDiscipline, RandomLoss, RateProcess,
    Route, ServedLink, SteppedRate, Thinning, ThinningParams, Trace, Wifi, WifiParams,
};

use crate::contract::Body;
use crate::contract::queues::{Discipline, queue};
use crate::contract::stack::Stack;
use crate::contract::test_queues::{Gate, ManagedQueue};
use crate::contract::traffic::{TICK, pick};

/// At this rate a full packet takes one [`TICK`].
pub const RATE: u64 = 1_000_000_000;

/// The kind of an element.
#[derive(Clone, Copy, Debug)]
pub enum ElementKind {
    Line,
    CopyLine,
    Jitter,
    Loss,
    GilbertElliott,
    Netem,
    Duplication,
    Route,
    Outage,
    Policer,
    Thinning,
    BatchLink,
    ManagedBatchLink,
    SlottedLink,
    ManagedSlottedLink,
    DropTailLink,
    Pipe,
    /// Its rate changes: by steps, with outages, or by a trace.
    VaryingLink,
    ManagedLink,
    GatedLink,
    /// A link with a discipline of this crate.
    Link(Discipline),
    /// Of elements that keep the order.
    OrderedStack,
    Stack,
}

pub const KINDS: [ElementKind; 31] = [
    ElementKind::Line,
    ElementKind::CopyLine,
    ElementKind::Jitter,
    ElementKind::Loss,
    ElementKind::GilbertElliott,
    ElementKind::Netem,
    ElementKind::Duplication,
    ElementKind::Route,
    ElementKind::Outage,
    ElementKind::Policer,
    ElementKind::Thinning,
    ElementKind::BatchLink,
    ElementKind::ManagedBatchLink,
    ElementKind::SlottedLink,
    ElementKind::ManagedSlottedLink,
    ElementKind::DropTailLink,
    ElementKind::Pipe,
    ElementKind::VaryingLink,
    ElementKind::ManagedLink,
    ElementKind::GatedLink,
    ElementKind::Link(Discipline::CoDel),
    ElementKind::Link(Discipline::FqCoDel),
    ElementKind::Link(Discipline::Pie),
    ElementKind::Link(Discipline::DocsisPie),
    ElementKind::Link(Discipline::Red),
    ElementKind::Link(Discipline::Fq),
    ElementKind::Link(Discipline::DualPi2),
    ElementKind::Link(Discipline::Tbf),
    ElementKind::Link(Discipline::TbfOverPie),
    ElementKind::OrderedStack,
    ElementKind::Stack,
];

impl ElementKind {
    /// Returns `true` if packets leave in the order of their arrival.
    pub fn keeps_order(self) -> bool {
        !matches!(
            self,
            Self::Thinning
                | Self::Netem
                | Self::Duplication
                | Self::Route
                | Self::Link(Discipline::FqCoDel | Discipline::Fq | Discipline::DualPi2)
                | Self::Stack
        )
    }
}

/// An element of this kind with random parameters; the same for the same seed.
pub fn element(kind: ElementKind, seed: u64) -> Box<dyn Element<Body>> {
    let mut random = Stream::new(seed, "element");
    let noise = Stream::new(seed, "noise");
    match kind {
        ElementKind::Line => Box::new(Line::new(delay(&mut random))),
        ElementKind::CopyLine => Box::new(CopyLine::new(delay(&mut random))),
        ElementKind::Jitter => Box::new(Jitter::new(delay(&mut random), noise)),
        ElementKind::Loss => Box::new(Filter::new(RandomLoss::new(
            [0.0, 0.02, 0.5, 1.0][pick(&mut random, 4)],
            noise,
        ))),
        ElementKind::GilbertElliott => {
            Box::new(Filter::new(GilbertElliott::new(&gilbert_elliott(&mut random), noise)))
        }
        ElementKind::Netem => Box::new(Netem::new(&netem(&mut random), noise)),
        ElementKind::Duplication => {
            Box::new(Duplication::new([0.0, 0.1, 1.0][pick(&mut random, 3)], noise))
        }
        ElementKind::Route => Box::new(route(&mut random)),
        ElementKind::Outage => Box::new(Filter::new(outage(&mut random))),
        ElementKind::Policer => Box::new(Filter::new(Policer::new(&policer(&mut random)))),
        ElementKind::Thinning => Box::new(thinning(&mut random)),
        ElementKind::BatchLink => {
            let queue = DropTail::new(limit(&mut random));
            Box::new(ServedLink::with(queue, Wifi::new(&batch(&mut random), noise)))
        }
        ElementKind::ManagedBatchLink => {
            let queue = managed_queue(&noise, &mut random);
            Box::new(ServedLink::with(queue, Wifi::new(&batch(&mut random), noise)))
        }
        ElementKind::SlottedLink => {
            let queue = DropTail::new(limit(&mut random));
            Box::new(ServedLink::with(queue, Cellular::new(&slots(&mut random))))
        }
        ElementKind::ManagedSlottedLink => {
            let queue = managed_queue(&noise, &mut random);
            Box::new(ServedLink::with(queue, Cellular::new(&slots(&mut random))))
        }
        ElementKind::VaryingLink => {
            let queue = DropTail::new(limit(&mut random));
            Box::new(Link::new(queue, rate_process(&mut random)))
        }
        ElementKind::DropTailLink => Box::new(link(DropTail::new(limit(&mut random)), &mut random)),
        ElementKind::Pipe => {
            let link = link(DropTail::new(limit(&mut random)), &mut random);
            Box::new(Pipe::of(&link, &CopyLine::new(delay(&mut random))).expect("a plain link"))
        }
        ElementKind::ManagedLink => Box::new(custom(ManagedQueue::new(noise), &mut random)),
        ElementKind::GatedLink => Box::new(custom(Gate::new(noise), &mut random)),
        ElementKind::Link(discipline) => {
            Box::new(link(queue(discipline, noise, &mut random), &mut random))
        }
        ElementKind::OrderedStack => Box::new(stack(seed, &mut random, ElementKind::keeps_order)),
        ElementKind::Stack => Box::new(stack(seed, &mut random, |_| true)),
    }
}

fn gilbert_elliott(random: &mut Stream) -> GilbertElliottParams {
    GilbertElliottParams {
        p: [0.0, 0.1, 1.0][pick(random, 3)],
        r: [None, Some(0.2)][pick(random, 2)],
        loss_bad: [0.3, 1.0][pick(random, 2)],
        loss_good: [0.0, 0.1][pick(random, 2)],
    }
}

fn netem(random: &mut Stream) -> NetemParams {
    NetemParams {
        delay: delay(random),
        jitter: [Duration::ZERO, delay(random)][pick(random, 2)],
        reorder: [0.0, 0.1, 1.0][pick(random, 3)],
        gap: [0, 1, 5][pick(random, 3)],
        limit: [None, Some(3)][pick(random, 2)],
    }
}

fn route(random: &mut Stream) -> Route<Body> {
    let overtaking = [Overtaking::Allowed, Overtaking::Never][pick(random, 2)];
    let change = |n: u64| Time::from_nanos(n * 9 * TICK);
    let changes = (1..20).map(|n| (change(n), delay(random))).collect();
    Route::new(delay(random), changes, overtaking)
}

fn outage(random: &mut Stream) -> Outage {
    let span = |random: &mut Stream| Duration::from_nanos(TICK * random.below(9));
    let outages: Vec<_> = (0..20).map(|n| (Time::from_nanos(n * 9 * TICK), span(random))).collect();
    Outage::new(&outages, [OutageMode::Drop, OutageMode::Hold][pick(random, 2)])
}

fn thinning(random: &mut Stream) -> Thinning<Body> {
    let hold = Duration::from_nanos(TICK * random.below(20));
    let params = ThinningParams { max: [1, 2, 5, 200][pick(random, 4)], hold };
    let merge: Merge<Body> =
        Box::new(|held, newer| held.size == newer.size && !newer.body.is_multiple_of(7));
    let all: fn(&Packet<Body>) -> bool = |_| true;
    let some: fn(&Packet<Body>) -> bool = |packet| !packet.body.is_multiple_of(3);
    Thinning::new(&params, merge).only([all, some][pick(random, 2)])
}

fn batch(random: &mut Stream) -> WifiParams {
    WifiParams {
        rate: rate(random),
        access: Duration::from_nanos(TICK * random.below(5)),
        contention: [Duration::ZERO, Duration::from_nanos(TICK * 2)][pick(random, 2)],
        max_packets: [1, 4, 64][pick(random, 3)],
        max_time: Duration::from_nanos(TICK * random.below(20)),
        overhead: [0, 40][pick(random, 2)],
    }
}

fn managed_queue(noise: &Stream, random: &mut Stream) -> Queue<Body> {
    let queue: Box<dyn QueueDiscipline<Body> + Send> = if random.chance(0.5) {
        Box::new(ManagedQueue::new(noise.clone()))
    } else {
        Box::new(Gate::new(noise.clone()))
    };
    Queue::Custom(queue)
}

fn slots(random: &mut Stream) -> CellularParams {
    let rate = rate(random);
    CellularParams {
        rate,
        slot: Duration::from_nanos(TICK * (1 + random.below(6))),
        min_rate: [None, Some(Rate::from_bps(rate.as_bps() / 3))][pick(random, 2)],
        full_backlog: Bytes::new([1, 9_000][pick(random, 2)]),
    }
}

fn policer(random: &mut Stream) -> PolicerParams {
    PolicerParams {
        peakrate: [None, Some((rate(random), Bytes::new(3_000)))][pick(random, 2)],
        overhead: [0, 14][pick(random, 2)],
        ..PolicerParams::new(rate(random), Bytes::new([1_000, 1_514, 9_000][pick(random, 3)]))
    }
}

fn stack(seed: u64, random: &mut Stream, fits: fn(ElementKind) -> bool) -> Stack {
    let parts: Vec<_> = KINDS[..KINDS.len() - 2].iter().filter(|&&kind| fits(kind)).collect();
    let height = 2 + random.below(4);
    let kind = |random: &mut Stream| *parts[pick(random, parts.len() as u64)];
    let part = |n| element(kind(random), seed.wrapping_mul(31).wrapping_add(n));
    Stack((0..height).map(part).collect())
}

fn custom(
    discipline: impl QueueDiscipline<Body> + Send + 'static,
    random: &mut Stream,
) -> Link<Body> {
    link(Queue::Custom(Box::new(discipline)), random)
}

fn link(queue: impl Into<Queue<Body>>, random: &mut Stream) -> Link<Body> {
    Link::new(queue, RateProcess::constant(rate(random)))
}

/// Mostly a constant rate; steps with outages; a trace at about 12 Mbit/s, which
/// is slow here.
fn rate_process(random: &mut Stream) -> RateProcess {
    match random.below(8) {
        0 | 1 => {
            let step = |n: u64, random: &mut Stream| {
                let outage = random.chance(0.2) && n < 20;
                let rate = if outage { Rate::from_bps(0) } else { rate(random) };
                (Time::from_nanos(n * 7 * TICK), rate)
            };
            let steps = (1..=20).map(|n| step(n, random)).collect();
            SteppedRate::new(rate(random), steps).into()
        }
        2 => {
            let mut at = 0;
            let mut line = || {
                at += random.below(3);
                at
            };
            let mut lines: Vec<u64> = (0..20).map(|_| line()).collect();
            lines.push(60);
            Trace::new(lines).unwrap().into()
        }
        _ => RateProcess::constant(rate(random)),
    }
}

/// Around [`RATE`], often exactly that.
pub fn rate(random: &mut Stream) -> Rate {
    let odd = RATE / 2 + random.below(2 * RATE);
    Rate::from_bps([RATE, RATE, RATE / 2, odd][pick(random, 4)])
}

/// Up to some full packets, often a round number of them, sometimes none.
pub fn limit(random: &mut Stream) -> Limit {
    let packets = random.below(12);
    let bytes = [packets * 1_500, random.below(18_000)][pick(random, 2)];
    [Limit::Packets(packets), Limit::Bytes(Bytes::new(bytes))][pick(random, 2)]
}

/// Up to 80 ticks, often a whole number of them, sometimes nothing.
pub fn delay(random: &mut Stream) -> Duration {
    let ticks = random.below(80) * TICK;
    Duration::from_nanos([0, TICK, ticks, random.below(80 * TICK)][pick(random, 4)])
}
