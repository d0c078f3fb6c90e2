//! The queue disciplines by name.

use narrows_base::{Bytes, Stream};

use super::{Choice, Fallback, Fault, Info, Parameter, Role, Room, SHORTEST_PERIOD, Unit};
use crate::{
    CoDel, CoDelParams, DocsisPie, DocsisPieParams, DropTail, DualPi2, DualPi2Params, Fq, FqCoDel,
    FqCoDelParams, FqParams, Limit, Pie, PieParams, Queue, Red, RedParams,
};

use Fallback::{LinkRate, Number, Off, Whole};

/// The largest Ethernet frame without its check sequence, which Linux counts by.
const FRAME: u64 = 1_514;
const CE_THRESHOLD: Parameter =
    Parameter::duration("ce_threshold", Off, "marks every ECN-capable packet that waited longer");
const TARGET: Parameter =
    Parameter::duration("target", Fallback::ms(5), "the delay that is acceptable");
const INTERVAL: Parameter = Parameter::duration(
    "interval",
    Fallback::ms(100),
    "how long the delay may be above the target",
)
.positive();
const MARKS: &str = "marks packets instead of dropping them, where their transport can read it";

/// Every queue discipline, by name.
pub static QUEUES: &[&Info] = &[
    &Info {
        name: "droptail",
        title: "Drop-tail",
        family: "fifo",
        summary: "first in, first out; what doesn't fit is dropped",
        source: "Linux bfifo and pfifo (net/sched/sch_fifo.c)",
        role: Role::Queue(Room::Either),
        parameters: &[],
    },
    &Info {
        name: "codel",
        title: "CoDel",
        family: "codel",
        summary: "drops when the delay has been above a target for an interval",
        source: "RFC 8289; Linux net/sched/sch_codel.c",
        role: Role::Queue(Room::Packets(1_000)),
        parameters: &[TARGET, INTERVAL, Parameter::flag("ecn", false, MARKS), CE_THRESHOLD],
    },
    &Info {
        name: "fq_codel",
        title: "FQ-CoDel",
        family: "codel",
        summary: "a queue for each flow, in turns; CoDel in each",
        source: "RFC 8290; Linux net/sched/sch_fq_codel.c",
        role: Role::Queue(Room::Packets(10_240)),
        parameters: &[
            Parameter::whole("flows", Whole(1_024), "queues that flows are hashed into")
                .positive()
                .at_most(65_536),
            Parameter::whole(
                "quantum",
                Whole(FRAME),
                "bytes of Ethernet frames that a flow may send a turn",
            )
            .positive(),
            TARGET,
            INTERVAL,
            Parameter::flag("ecn", true, MARKS),
            CE_THRESHOLD,
            Parameter::whole(
                "drop_batch",
                Whole(64),
                "packets that an overflow drops at most at a time",
            )
            .positive(),
        ],
    },
    &Info {
        name: "pie",
        title: "PIE",
        family: "pie",
        summary: "drops at random, by a controller that holds the delay at a target",
        source: "RFC 8033; Linux net/sched/sch_pie.c",
        role: Role::Queue(Room::Packets(1_000)),
        parameters: &[
            Parameter::duration("target", Fallback::ms(15), "the delay to hold"),
            Parameter::duration(
                "tupdate",
                Fallback::ms(15),
                "time between updates of the probability",
            )
            .at_least(SHORTEST_PERIOD),
            Parameter::whole(
                "alpha",
                Whole(2),
                "weight of the distance from the target, in 1/16 per second",
            )
            .at_most(32),
            Parameter::whole("beta", Whole(20), "weight of the delay's change, in 1/16 per second")
                .at_most(32),
            Parameter::flag(
                "ecn",
                false,
                "marks instead, as long as the probability is at most 10 %",
            ),
            Parameter::flag(
                "bytemode",
                false,
                "a packet's probability is in proportion to its size",
            ),
        ],
    },
    &Info {
        name: "docsis_pie",
        title: "DOCSIS-PIE",
        family: "pie",
        summary: "PIE for cable modems, which know the rate of their link",
        source: "RFC 8034 appendix A",
        role: Role::Queue(Room::Bytes(Some(256 << 10))),
        parameters: &[
            Parameter::rate(
                "max_sustained_rate",
                LinkRate,
                "the rate that is guaranteed in the long run",
            ),
            Parameter::rate("peak_rate", LinkRate, "the rate within the burst"),
            Parameter::bytes(
                "max_burst",
                Whole(0),
                "bytes that may pass at the peak rate after idle time",
            ),
            Parameter::duration("target", Fallback::ms(10), "the delay to hold (LATENCY_TARGET)"),
            Parameter::duration(
                "interval",
                Fallback::ms(16),
                "time between updates of the probability",
            )
            .at_least(SHORTEST_PERIOD),
            Parameter::duration(
                "burst_time",
                Fallback::ms(142),
                "how long the first burst passes (MAX_BURST)",
            ),
            Parameter::duration(
                "burst_reset",
                Fallback::ms(1_000),
                "quiet time after which it is granted again",
            ),
        ],
    },
    &Info {
        name: "red",
        title: "RED",
        family: "red",
        summary: "drops at random, more often the longer the queue was on average",
        source: "Floyd and Jacobson 1993; Linux net/sched/sch_red.c",
        role: Role::Queue(Room::Bytes(None)),
        parameters: &[
            Parameter::bytes(
                "min",
                Off,
                "the average from which on packets are dropped; a third of max",
            ),
            Parameter::bytes(
                "max",
                Off,
                "the average from which on all are dropped; a quarter of the limit",
            ),
            Parameter::bytes("avpkt", Whole(1_000), "the size of an average packet").positive(),
            Parameter::whole(
                "burst",
                Off,
                "average packets that may come at once; (2 min + max) / 3 avpkt",
            ),
            Parameter::new(
                "probability",
                Unit::Share,
                Number(0.02),
                "of a drop as the average nears max",
            ),
            Parameter::rate(
                "bandwidth",
                Whole(10_000_000),
                "the link's rate, for the decay over idle times",
            ),
            Parameter::flag("ecn", false, MARKS),
            Parameter::flag(
                "harddrop",
                false,
                "with ecn, packets beyond max are dropped all the same",
            ),
            Parameter::flag("nodrop", false, "with ecn, packets that can't be marked are spared"),
            Parameter::flag(
                "adaptive",
                false,
                "the probability adapts (Adaptive RED, Floyd and others 2001)",
            ),
        ],
    },
    &Info {
        name: "fq",
        title: "FQ",
        family: "fair",
        summary: "a queue for each flow, in turns",
        source: "Linux net/sched/sch_fq.c",
        role: Role::Queue(Room::Packets(10_000)),
        parameters: &[
            Parameter::new("flow_limit", Unit::Packets, Whole(100), "that may wait of one flow"),
            Parameter::whole(
                "quantum",
                Whole(2 * FRAME),
                "bytes of Ethernet frames that a flow may send a turn",
            )
            .positive(),
            Parameter::whole(
                "initial_quantum",
                Whole(10 * FRAME),
                "the same for a flow's first turn",
            ),
            Parameter::rate("maxrate", Off, "the highest rate of one flow, of Ethernet frames"),
            CE_THRESHOLD,
            Parameter::duration(
                "refill_delay",
                Fallback::ms(40),
                "a flow that was idle for longer gets a quantum",
            ),
        ],
    },
    &Info {
        name: "dualpi2",
        title: "DualPI2",
        family: "pie",
        summary: "a queue for L4S (ECT(1)) and one for the rest, coupled",
        source: "RFC 9332; Linux net/sched/sch_dualpi2.c",
        role: Role::Queue(Room::Packets(10_000)),
        parameters: &[
            Parameter::duration(
                "target",
                Fallback::ms(15),
                "the delay to hold in the classic queue",
            ),
            Parameter::duration(
                "tupdate",
                Fallback::ms(16),
                "time between updates of the probability",
            )
            .at_least(SHORTEST_PERIOD),
            Parameter::new(
                "alpha",
                Unit::Number,
                Number(0.16),
                "weight of the distance from the target, per second",
            ),
            Parameter::new("beta", Unit::Number, Number(3.2), "weight of its change, per second"),
            Parameter::whole(
                "coupling_factor",
                Whole(2),
                "times the base probability that marks L4S packets",
            )
            .positive()
            .at_most(255),
            Parameter::duration(
                "step_thresh",
                Fallback::ms(1),
                "L4S packets that waited longer are marked",
            ),
            Parameter::new(
                "min_qlen_step",
                Unit::Packets,
                Whole(0),
                "L4S packets that must wait before one for the step to apply to it; RFC 9332 has 1",
            ),
            Parameter::whole(
                "classic_protection",
                Whole(10),
                "the classic queue's least share, in %",
            )
            .at_most(100),
            Parameter::flag("drop_on_overload", true, "an overload drops L4S packets, too"),
            Parameter::flag(
                "drop_enqueue",
                false,
                "decisions are made at the enqueue, not the dequeue",
            ),
        ],
    },
];

/// Whether a checked queue discipline can have this room, and its parameters go
/// together.
///
/// # Errors
/// The fault; the key `limit` stands for the room.
pub fn fits(info: &Info, choice: &Choice, limit: Limit) -> Result<(), Fault> {
    let fault = |found: u64, unit, need: &str| {
        Err(Fault::new("limit", format!("{found} {unit}"), format!("{need} for {}", info.name)))
    };
    match (info.room(), limit) {
        (Some(Room::Packets(_)), Limit::Bytes(bytes)) => fault(bytes.get(), "bytes", "packets"),
        (Some(Room::Bytes(_)), Limit::Packets(packets)) => fault(packets, "packets", "bytes"),
        _ if info.name == "red" => red_fits(&red(choice, limit)),
        _ => Ok(()),
    }
}

/// What `tc` refuses (`tc_red_eval_ewma`) or nobody can mean.
fn red_fits(params: &RedParams) -> Result<(), Fault> {
    let (min, max) = params.thresholds();
    if min >= max {
        return Err(Fault::new("min_bytes", min.to_string(), format!("less than max ({max})")));
    }
    if !params.burst_fits() {
        let need = "more packets than min / avpkt, and min above avpkt";
        return Err(Fault::new("burst", params.burst_packets().to_string(), need));
    }
    Ok(())
}

/// Builds a queue discipline that was checked and fits. `random` is its own chance.
///
/// # Panics
/// If it wasn't.
#[must_use]
pub fn queue<B: Send + 'static>(choice: &Choice, limit: Limit, random: Stream) -> Queue<B> {
    match choice.kind.as_str() {
        "droptail" => DropTail::new(limit).into(),
        "codel" => CoDel::new(&codel(choice, limit)).into(),
        "fq_codel" => FqCoDel::new(&fq_codel(choice, limit), random).into(),
        "pie" => Pie::new(&pie(choice, limit), random).into(),
        "docsis_pie" => DocsisPie::new(&docsis_pie(choice, limit), random).into(),
        "red" => Red::new(&red(choice, limit), random).into(),
        "fq" => Fq::new(&fq(choice, limit)).into(),
        "dualpi2" => DualPi2::new(&dualpi2(choice, limit), random).into(),
        other => panic!("a queue discipline {other}: it wasn't checked"),
    }
}

fn packets(limit: Limit) -> u64 {
    match limit {
        Limit::Packets(packets) => packets,
        Limit::Bytes(_) => panic!("a limit in bytes: it wasn't checked"),
    }
}

fn room_in_bytes(limit: Limit) -> Bytes {
    match limit {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(_) => panic!("a limit in packets: it wasn't checked"),
    }
}

fn codel(choice: &Choice, limit: Limit) -> CoDelParams {
    CoDelParams {
        limit: packets(limit),
        target: choice.parameters.duration("target"),
        interval: choice.parameters.duration("interval"),
        ecn: choice.parameters.flag("ecn"),
        ce_threshold: choice.parameters.some_duration("ce_threshold"),
        ..CoDelParams::default()
    }
}

fn fq_codel(choice: &Choice, limit: Limit) -> FqCoDelParams {
    FqCoDelParams {
        limit: packets(limit),
        flows: choice.parameters.whole("flows"),
        quantum: choice.parameters.whole("quantum"),
        target: choice.parameters.duration("target"),
        interval: choice.parameters.duration("interval"),
        ecn: choice.parameters.flag("ecn"),
        ce_threshold: choice.parameters.some_duration("ce_threshold"),
        drop_batch: choice.parameters.whole("drop_batch"),
    }
}

fn pie(choice: &Choice, limit: Limit) -> PieParams {
    PieParams {
        limit: packets(limit),
        target: choice.parameters.duration("target"),
        tupdate: choice.parameters.duration("tupdate"),
        alpha: choice.parameters.whole("alpha"),
        beta: choice.parameters.whole("beta"),
        ecn: choice.parameters.flag("ecn"),
        bytemode: choice.parameters.flag("bytemode"),
        ..PieParams::default()
    }
}

fn docsis_pie(choice: &Choice, limit: Limit) -> DocsisPieParams {
    DocsisPieParams {
        buffer: room_in_bytes(limit),
        max_sustained_rate: choice.parameters.rate("max_sustained_rate"),
        peak_rate: choice.parameters.rate("peak_rate"),
        max_burst_bytes: choice.parameters.bytes("max_burst"),
        target: choice.parameters.duration("target"),
        interval: choice.parameters.duration("interval"),
        max_burst: choice.parameters.duration("burst_time"),
        burst_reset: choice.parameters.duration("burst_reset"),
    }
}

fn red(choice: &Choice, limit: Limit) -> RedParams {
    RedParams {
        limit: room_in_bytes(limit),
        min: choice.parameters.some_bytes("min"),
        max: choice.parameters.some_bytes("max"),
        avpkt: choice.parameters.bytes("avpkt"),
        burst: choice.parameters.some_whole("burst"),
        probability: choice.parameters.number("probability"),
        bandwidth: choice.parameters.rate("bandwidth"),
        ecn: choice.parameters.flag("ecn"),
        harddrop: choice.parameters.flag("harddrop"),
        nodrop: choice.parameters.flag("nodrop"),
        adaptive: choice.parameters.flag("adaptive"),
        ..RedParams::default()
    }
}

fn fq(choice: &Choice, limit: Limit) -> FqParams {
    FqParams {
        limit: packets(limit),
        flow_limit: choice.parameters.packets("flow_limit"),
        quantum: choice.parameters.whole("quantum"),
        initial_quantum: choice.parameters.whole("initial_quantum"),
        maxrate: choice.parameters.some_rate("maxrate"),
        ce_threshold: choice.parameters.some_duration("ce_threshold"),
        refill_delay: choice.parameters.duration("refill_delay"),
    }
}

fn dualpi2(choice: &Choice, limit: Limit) -> DualPi2Params {
    DualPi2Params {
        limit: packets(limit),
        target: choice.parameters.duration("target"),
        tupdate: choice.parameters.duration("tupdate"),
        alpha: choice.parameters.number("alpha"),
        beta: choice.parameters.number("beta"),
        coupling_factor: choice.parameters.whole("coupling_factor"),
        step_thresh: choice.parameters.duration("step_thresh"),
        min_qlen_step: choice.parameters.packets("min_qlen_step"),
        classic_protection: choice.parameters.whole("classic_protection"),
        drop_on_overload: choice.parameters.flag("drop_on_overload"),
        drop_enqueue: choice.parameters.flag("drop_enqueue"),
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Rate;

    use super::*;
    use crate::QueueDiscipline as _;
    use crate::config::{Value, check, info};

    fn defaults(name: &str) -> (Choice, Limit) {
        let info = info(QUEUES, name).unwrap();
        let limit = match info.room() {
            Some(Room::Packets(packets)) => Limit::Packets(packets),
            Some(Room::Bytes(bytes)) => Limit::Bytes(Bytes::new(bytes.unwrap_or(400_000))),
            Some(Room::Either) | None => Limit::Packets(100),
        };
        (Choice::with_defaults(info, Rate::from_bps(10_000_000)), limit)
    }

    #[test]
    fn the_defaults_are_those_of_the_disciplines() {
        macro_rules! same {
            ($name:ident, $params:ty) => {
                let (choice, limit) = defaults(stringify!($name));
                assert_eq!($name(&choice, limit), <$params>::default());
            };
        }
        same!(codel, CoDelParams);
        same!(fq_codel, FqCoDelParams);
        same!(pie, PieParams);
        same!(red, RedParams);
        same!(fq, FqParams);
        same!(dualpi2, DualPi2Params);
        let (choice, limit) = defaults("docsis_pie");
        let peak_rate = Rate::from_bps(10_000_000);
        let expected = DocsisPieParams { peak_rate, ..DocsisPieParams::default() };
        assert_eq!(docsis_pie(&choice, limit), expected);
    }

    #[test]
    fn every_discipline_is_checked_and_built() {
        for info in QUEUES {
            let (choice, limit) = defaults(info.name);
            assert_eq!(check(QUEUES, &choice).map(|i| i.name), Ok(info.name));
            assert_eq!(fits(info, &choice, limit), Ok(()));
            let built = queue::<()>(&choice, limit, Stream::new(1, "queue"));
            assert_eq!(built.len(), 0, "{}", info.name);
        }
    }

    #[test]
    fn faults_name_their_key() {
        let (codel, packets) = defaults("codel");
        let of = |choice: &Choice| check(QUEUES, choice).unwrap_err();
        let zero = of(&codel.clone().set("interval_ns", Value::Whole(0)));
        assert_eq!((zero.key.as_str(), zero.found.as_str()), ("interval_ns", "0"));
        assert_eq!(of(&codel.clone().set("quantum", Value::Whole(1))).key, "quantum");
        assert_eq!(of(&codel.clone().set("ecn", Value::Whole(1))).key, "ecn");
        assert_eq!(of(&codel.clone().set("target_ns", Value::Off)).found, "nothing");
        assert_eq!(of(&Choice::new("cake")).key, "kind");
        assert_eq!(of(&Choice::new("codel")).key, "target_ns");
        let bytes = Limit::Bytes(Bytes::new(1_500));
        assert_eq!(fits(QUEUES[1], &codel, bytes).unwrap_err().key, "limit");
        let (red, bytes) = defaults("red");
        let info = info(QUEUES, "red").unwrap();
        assert_eq!(fits(info, &red, packets).unwrap_err().key, "limit");
        let wide = red.clone().set("min_bytes", Value::Whole(100_000));
        assert_eq!(
            fits(info, &wide.set("max_bytes", Value::Whole(9)), bytes).unwrap_err().key,
            "min_bytes"
        );
        let short = red.set("burst", Value::Whole(2));
        assert_eq!(fits(info, &short, bytes).unwrap_err().key, "burst");
    }
}
