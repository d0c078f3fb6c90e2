//! Random elements.

use narrows_base::{Bytes, Duration, Rate, Stream};
use narrows_net::{DropTail, Jitter, Limit, Line, Link, Queue, RandomLoss, RateProcess};

use crate::queues::{Discipline, queue};
use crate::stack::Stack;
use crate::test_queues::{Gate, Managed};
use crate::traffic::{TICK, pick};
use crate::{Body, Holds};

/// At this rate a full packet takes one [`TICK`].
pub const RATE: u64 = 1_000_000_000;

macro_rules! holds {
    ($($element:ident),*) => {
        $(impl Holds for $element<Body> {
            fn held(&self) -> usize {
                $element::held(self)
            }
        })*
    };
}
holds!(Jitter, Line, Link, RandomLoss);

/// What kind of element.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Line,
    Jitter,
    Loss,
    DropTailLink,
    ManagedLink,
    GatedLink,
    /// A link with a discipline of this crate.
    Link(Discipline),
    Stack,
}

pub const KINDS: [Kind; 16] = [
    Kind::Line,
    Kind::Jitter,
    Kind::Loss,
    Kind::DropTailLink,
    Kind::ManagedLink,
    Kind::GatedLink,
    Kind::Link(Discipline::CoDel),
    Kind::Link(Discipline::FqCoDel),
    Kind::Link(Discipline::Pie),
    Kind::Link(Discipline::DocsisPie),
    Kind::Link(Discipline::Red),
    Kind::Link(Discipline::Fq),
    Kind::Link(Discipline::DualPi2),
    Kind::Link(Discipline::Tbf),
    Kind::Link(Discipline::TbfOverPie),
    Kind::Stack,
];

impl Kind {
    /// Whether packets leave in the order of their arrival.
    pub fn keeps_order(self) -> bool {
        !matches!(
            self,
            Self::Link(Discipline::FqCoDel | Discipline::Fq | Discipline::DualPi2) | Self::Stack
        )
    }
}

/// An element of this kind with random parameters; the same for the same seed.
pub fn element(kind: Kind, seed: u64) -> Box<dyn Holds> {
    let mut random = Stream::new(seed, "element");
    let noise = Stream::new(seed, "noise");
    match kind {
        Kind::Line => Box::new(Line::new(delay(&mut random))),
        Kind::Jitter => Box::new(Jitter::new(delay(&mut random), noise)),
        Kind::Loss => Box::new(RandomLoss::new([0.0, 0.02, 0.5, 1.0][pick(&mut random, 4)], noise)),
        Kind::DropTailLink => Box::new(link(DropTail::new(limit(&mut random)), &mut random)),
        Kind::ManagedLink => Box::new(custom(Managed::new(noise), &mut random)),
        Kind::GatedLink => Box::new(custom(Gate::new(noise), &mut random)),
        Kind::Link(discipline) => {
            Box::new(link(queue(discipline, noise, &mut random), &mut random))
        }
        Kind::Stack => Box::new(stack(seed, &mut random)),
    }
}

fn stack(seed: u64, random: &mut Stream) -> Stack {
    let height = 2 + random.below(4);
    let most = KINDS.len() as u64 - 1;
    let part = |n| element(KINDS[pick(random, most)], seed.wrapping_mul(31).wrapping_add(n));
    Stack((0..height).map(part).collect())
}

fn custom(
    discipline: impl narrows_net::QueueDiscipline<Body> + Send + 'static,
    random: &mut Stream,
) -> Link<Body> {
    link(Queue::Custom(Box::new(discipline)), random)
}

fn link(queue: impl Into<Queue<Body>>, random: &mut Stream) -> Link<Body> {
    Link::new(queue, RateProcess::constant(rate(random)), delay(random))
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
