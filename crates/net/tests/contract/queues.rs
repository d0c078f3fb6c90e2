//! The crate's queue disciplines with random parameters, so small that a few hundred packets
//! exercise all of their rules.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use narrows_base::{Bytes, Duration, Rate, Stream};
use narrows_net::{
    CoDel, CoDelParams, DocsisPie, DocsisPieParams, DualPi2, DualPi2Params, Fq, FqCoDel,
    FqCoDelParams, FqParams, Limit, Pie, PieParams, Queue, Red, RedParams, SquareRoot, Tbf,
    TbfParams,
};

use crate::contract::Body;
use crate::contract::elements::rate;
use crate::contract::traffic::{TICK, pick};

/// Which discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    CoDel,
    FqCoDel,
    Pie,
    DocsisPie,
    Red,
    Fq,
    DualPi2,
    Tbf,
    TbfOverPie,
}

/// A discipline of this kind.
pub fn queue(discipline: Discipline, noise: Stream, random: &mut Stream) -> Queue<Body> {
    match discipline {
        Discipline::CoDel => CoDel::new(&codel(random)).into(),
        Discipline::FqCoDel => FqCoDel::new(&fq_codel(random), noise).into(),
        Discipline::Pie => Pie::new(&pie(random), noise).into(),
        Discipline::DocsisPie => DocsisPie::new(&docsis(random), noise).into(),
        Discipline::Red => Red::new(&red(random), noise).into(),
        Discipline::Fq => Fq::new(&fq(random)).into(),
        Discipline::Tbf => Tbf::new(&tbf(random)).into(),
        Discipline::TbfOverPie => {
            Tbf::with_queue(&tbf(random), Pie::new(&pie(random), noise)).into()
        }
        Discipline::DualPi2 => DualPi2::new(&dualpi2(random), noise).into(),
    }
}

/// 1 to `most` ticks.
fn ticks(random: &mut Stream, most: u64) -> Duration {
    Duration::from_nanos(TICK * (1 + random.below(most)))
}

fn limit(random: &mut Stream) -> u64 {
    [0, 5, 30, 1_000][pick(random, 4)]
}

fn codel(random: &mut Stream) -> CoDelParams {
    CoDelParams {
        limit: limit(random),
        target: ticks(random, 4),
        interval: ticks(random, 20),
        ecn: random.chance(0.5),
        ce_threshold: [None, Some(ticks(random, 9))][pick(random, 2)],
        square_root: [SquareRoot::Newton, SquareRoot::Exact][pick(random, 2)],
        ..CoDelParams::default()
    }
}

fn fq_codel(random: &mut Stream) -> FqCoDelParams {
    FqCoDelParams {
        limit: limit(random),
        flows: [1, 2, 1_024][pick(random, 3)],
        quantum: [300, 1_514, 9_000][pick(random, 3)],
        target: ticks(random, 4),
        interval: ticks(random, 20),
        ecn: random.chance(0.5),
        ce_threshold: [None, Some(ticks(random, 9))][pick(random, 2)],
        drop_batch: [1, 64][pick(random, 2)],
    }
}

fn pie(random: &mut Stream) -> PieParams {
    PieParams {
        limit: limit(random),
        target: ticks(random, 4),
        tupdate: ticks(random, 4),
        alpha: 20_000,
        beta: 200_000,
        ecn: random.chance(0.5),
        bytemode: random.chance(0.5),
        burst: ticks(random, 20),
        first_update: ticks(random, 20),
    }
}

fn docsis(random: &mut Stream) -> DocsisPieParams {
    DocsisPieParams {
        buffer: Bytes::new([3_000, 15_000, 45_000][pick(random, 3)]),
        // The second rate is so low that the predicted delay causes drops at once.
        max_sustained_rate: [rate(random), Rate::from_bps(100_000)][pick(random, 2)],
        peak_rate: rate(random),
        max_burst_bytes: Bytes::new(random.below(9_000)),
        target: ticks(random, 4),
        interval: ticks(random, 2),
        max_burst: ticks(random, 9),
        burst_reset: ticks(random, 20),
    }
}

fn red(random: &mut Stream) -> RedParams {
    RedParams {
        limit: Bytes::new([3_000, 15_000, 45_000][pick(random, 3)]),
        min: Some(Bytes::new(1_500)),
        max: Some(Bytes::new([3_000, 9_000][pick(random, 2)])),
        burst: Some(3),
        probability: [0.02, 0.5, 1.0][pick(random, 3)],
        bandwidth: rate(random),
        ecn: random.chance(0.5),
        harddrop: random.chance(0.5),
        nodrop: random.chance(0.5),
        adaptive: random.chance(0.5),
        adaptation: ticks(random, 9),
        ..RedParams::default()
    }
}

fn fq(random: &mut Stream) -> FqParams {
    FqParams {
        limit: limit(random),
        flow_limit: [2, 10, 100][pick(random, 3)],
        quantum: [300, 3_028][pick(random, 2)],
        initial_quantum: [300, 15_140][pick(random, 2)],
        maxrate: [None, Some(rate(random)), Some(Rate::from_bps(100_000_000))][pick(random, 3)],
        ce_threshold: [None, Some(ticks(random, 9))][pick(random, 2)],
        refill_delay: ticks(random, 20),
    }
}

fn tbf(random: &mut Stream) -> TbfParams {
    let burst = Bytes::new([1_514, 4_000, 20_000][pick(random, 3)]);
    let limit = Limit::Bytes(Bytes::new([1_514, 9_000, 45_000][pick(random, 3)]));
    let peak = (rate(random), Bytes::new(1_600));
    TbfParams {
        peakrate: [None, Some(peak)][pick(random, 2)],
        ..TbfParams::new(rate(random), burst, limit)
    }
}

fn dualpi2(random: &mut Stream) -> DualPi2Params {
    DualPi2Params {
        limit: limit(random),
        target: ticks(random, 4),
        tupdate: ticks(random, 4),
        alpha: 200.0,
        beta: 4_000.0,
        coupling_factor: 1 + pick(random, 3) as u32,
        step_thresh: ticks(random, 4),
        min_qlen_step: random.below(3),
        classic_protection: [0, 10, 50, 100][pick(random, 4)],
        drop_on_overload: random.chance(0.5),
        drop_enqueue: random.chance(0.5),
    }
}
