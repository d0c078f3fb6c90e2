//! What a path does to packets besides queueing and delay, by name.

use narrows_base::{Bytes, Duration, Packet, Stream, Time};

use super::services::{bucket_fits, peakrate};
use super::{Choice, Fallback, Fault, Info, Parameter, Role, Unit};
use crate::{
    Duplication, Element, Filter, GilbertElliott, GilbertElliottParams, Jitter, Netem, NetemParams,
    Outage, OutageMode, Overtaking, Policer, PolicerParams, RandomLoss, Route, Thinning,
    ThinningParams,
};

use Fallback::{Number, Off, Required, Whole, Word};

/// Every impairment, by name.
pub static IMPAIRMENTS: &[&Info] = &[
    &Info {
        name: "loss",
        title: "Random loss",
        family: "loss",
        summary: "loses every packet with the same probability",
        source: "Linux netem loss random (net/sched/sch_netem.c)",
        role: Role::Impairment,
        parameters: &[Parameter::share("probability", Required, "of losing a packet")],
    },
    &Info {
        name: "gilbert_elliott",
        title: "Gilbert-Elliott loss",
        family: "loss",
        summary: "loses packets in bursts, by a chain of a good and a bad state",
        source: "Gilbert 1960, Elliott 1963; Linux netem loss gemodel (loss_gilb_ell)",
        role: Role::Impairment,
        parameters: &[
            Parameter::share("p", Required, "for each packet, of turning from good to bad"),
            Parameter::share("r", Off, "for each packet, of turning back; 1 - p if none"),
            Parameter::share("loss_bad", Number(1.0), "of a loss in the bad state: tc's 1-h"),
            Parameter::share("loss_good", Number(0.0), "of a loss in the good state: tc's 1-k"),
        ],
    },
    &Info {
        name: "jitter",
        title: "Jitter",
        family: "delay",
        summary: "noise in the delay that keeps the order",
        source: "crates/net/src/impairment/jitter.rs",
        role: Role::Impairment,
        parameters: &[Parameter::duration("max", Required, "uniform from zero to this")],
    },
    &Info {
        name: "netem",
        title: "netem delay",
        family: "delay",
        summary: "a delay with noise that reorders, and packets sent ahead",
        source: "Linux netem delay and reorder (net/sched/sch_netem.c)",
        role: Role::Impairment,
        parameters: &[
            Parameter::duration("delay", Whole(0), "one way, besides the path's"),
            Parameter::duration(
                "jitter",
                Whole(0),
                "the delay is uniform from less this to plus this",
            ),
            Parameter::share(
                "reorder",
                Number(0.0),
                "of a packet being sent at once, ahead of those delayed",
            ),
            Parameter::new(
                "gap",
                Unit::Whole,
                Whole(0),
                "only every so many packets; 0: every one",
            )
            .at_most(u32::MAX as u64),
        ],
    },
    &Info {
        name: "duplicate",
        title: "Duplication",
        family: "copies",
        summary: "sends a copy right behind a packet",
        source: "Linux netem duplicate (net/sched/sch_netem.c)",
        role: Role::Impairment,
        parameters: &[Parameter::share("probability", Required, "of a copy")],
    },
    &Info {
        name: "route",
        title: "Route changes",
        family: "delay",
        summary: "a delay, besides the path's, that changes at given times",
        source: "crates/net/src/impairment/route.rs",
        role: Role::Impairment,
        parameters: &[
            Parameter::duration("delay", Whole(0), "at first, one way"),
            Parameter::new("delays", Unit::Delays, Off, "times with the delay from then on"),
            Parameter::duration("every", Off, "instead, a new delay at every multiple of this")
                .at_least(1_000_000),
            Parameter::duration(
                "spread",
                Whole(0),
                "with `every`: uniform from `delay` to that plus this",
            ),
            Parameter::new(
                "overtaking",
                Unit::Word(&["allowed", "never"]),
                Word("allowed"),
                "whether a packet may arrive before one that set out earlier",
            ),
        ],
    },
    &Info {
        name: "outage",
        title: "Outages",
        family: "loss",
        summary: "times in which nothing gets through",
        source: "crates/net/src/impairment/outage.rs",
        role: Role::Impairment,
        parameters: &[
            Parameter::new("outages", Unit::Spans, Off, "times with how long each lasts"),
            Parameter::duration("every", Off, "instead, one at every multiple of this")
                .at_least(1_000_000),
            Parameter::duration("lasts", Whole(0), "with `every`: how long"),
            Parameter::new(
                "mode",
                Unit::Word(&["drop", "hold"]),
                Word("drop"),
                "what becomes of packets: lost, or all leave at the end",
            ),
        ],
    },
    &Info {
        name: "policer",
        title: "Policer",
        family: "bucket",
        summary: "drops what exceeds a rate and a burst; nothing waits",
        source: "Linux act_police (net/sched/act_police.c), conform-exceed drop",
        role: Role::Impairment,
        parameters: &[
            Parameter::new("rate", Unit::Rate, Required, "the rate in the long run").positive(),
            Parameter::new("burst", Unit::Bytes, Required, "bytes that may pass at once"),
            Parameter::new("peakrate", Unit::Rate, Off, "the rate within a burst").positive(),
            Parameter::new("mtu", Unit::Bytes, Off, "the depth of the peak rate's bucket"),
            Parameter::new("overhead", Unit::Bytes, Whole(0), "of each packet, besides IP's")
                .at_most(10_000),
        ],
    },
    &Info {
        name: "ack_thinning",
        title: "ACK thinning",
        family: "acks",
        summary: "holds acknowledgements and merges those of a flow into one",
        source: "RFC 3449 section 5.2 (decimation, ACK filtering)",
        role: Role::Impairment,
        parameters: &[
            Parameter::new("max", Unit::Packets, Required, "that become one; up to 200 were seen")
                .positive()
                .at_most(100_000),
            Parameter::duration("hold", Required, "how long one is held for others to come"),
        ],
    },
];

/// What an impairment must know of the packets' bodies to merge acknowledgements.
pub struct Acks<B> {
    /// Whether a packet is nothing but an acknowledgement.
    pub is_ack: fn(&Packet<B>) -> bool,
    /// Whether the second, newer one says all that the first says; it may take over what
    /// it lacks.
    pub merge: fn(&Packet<B>, &mut Packet<B>) -> bool,
}

/// Whether the parameters of a checked impairment go together.
///
/// # Errors
/// The fault.
pub fn impairment_fits(choice: &Choice) -> Result<(), Fault> {
    let periodic = |list: &str| match (
        choice.parameters.some_duration("every"),
        choice.parameters.times(list),
    ) {
        (Some(_), times) if !times.is_empty() => {
            Err(Fault::new("every_ns", format!("both {list} and every"), "one of the two"))
        }
        (None, times) if times.is_empty() => {
            Err(Fault::new(list, "nothing", format!("{list} or every")))
        }
        _ => Ok(()),
    };
    match choice.kind.as_str() {
        "route" => periodic("delays"),
        "outage" => {
            periodic("outages")?;
            let every = choice.parameters.some_duration("every");
            if every.is_some_and(|every| choice.parameters.duration("lasts") >= every) {
                return Err(Fault::new("lasts_ns", "no less than every", "less than every"));
            }
            let outages = choice.parameters.times("outages");
            let overlap =
                outages.windows(2).any(|w| w[0].0.as_nanos() + w[0].1 > w[1].0.as_nanos());
            if overlap {
                return Err(Fault::new("outages", "outages that overlap", "one after the other"));
            }
            Ok(())
        }
        "policer" => bucket_fits(choice, 1_500),
        _ => Ok(()),
    }
}

/// Builds an impairment that was checked and fits. What happens again and again goes on
/// until `end`.
///
/// # Panics
/// If it wasn't.
#[must_use]
pub fn impairment<B: Clone + Send + 'static>(
    choice: &Choice,
    mut random: Stream,
    end: Time,
    acks: &Acks<B>,
) -> Box<dyn Element<B> + Send> {
    match choice.kind.as_str() {
        "loss" => {
            Box::new(Filter::new(RandomLoss::new(choice.parameters.number("probability"), random)))
        }
        "gilbert_elliott" => {
            Box::new(Filter::new(GilbertElliott::new(&gilbert_elliott(choice), random)))
        }
        "jitter" => Box::new(Jitter::new(choice.parameters.duration("max"), random)),
        "netem" => Box::new(Netem::new(&netem(choice), random)),
        "duplicate" => Box::new(Duplication::new(choice.parameters.number("probability"), random)),
        "route" => Box::new(route(choice, &mut random, end)),
        "outage" => Box::new(Filter::new(outage(choice, end))),
        "policer" => Box::new(Filter::new(Policer::new(&policer(choice)))),
        "ack_thinning" => {
            let max = choice.parameters.packets("max");
            let params = ThinningParams { max, hold: choice.parameters.duration("hold") };
            Box::new(Thinning::new(&params, Box::new(acks.merge)).only(acks.is_ack))
        }
        other => panic!("an impairment {other}: it wasn't checked"),
    }
}

fn gilbert_elliott(choice: &Choice) -> GilbertElliottParams {
    GilbertElliottParams {
        p: choice.parameters.number("p"),
        r: choice.parameters.some_number("r"),
        loss_bad: choice.parameters.number("loss_bad"),
        loss_good: choice.parameters.number("loss_good"),
    }
}

fn netem(choice: &Choice) -> NetemParams {
    NetemParams {
        delay: choice.parameters.duration("delay"),
        jitter: choice.parameters.duration("jitter"),
        reorder: choice.parameters.number("reorder"),
        gap: choice.parameters.whole("gap"),
    }
}

/// The multiples of a period up to `end`, without zero.
fn multiples(every: Duration, end: Time) -> impl Iterator<Item = Time> {
    let every = every.as_nanos();
    (1..=end.as_nanos() / every).map(move |n| Time::from_nanos(n * every))
}

fn route<B>(choice: &Choice, random: &mut Stream, end: Time) -> Route<B> {
    let delay = choice.parameters.duration("delay");
    let overtaking = match choice.parameters.word("overtaking") {
        "never" => Overtaking::Never,
        _ => Overtaking::Allowed,
    };
    let spread = choice.parameters.duration("spread").as_nanos();
    let mut draw = || delay + Duration::from_nanos(random.below(spread + 1));
    let Some(every) = choice.parameters.some_duration("every") else {
        let given = choice.parameters.times("delays").into_iter();
        let changes = given.map(|(at, delay)| (at, Duration::from_nanos(delay))).collect();
        return Route::new(delay, changes, overtaking);
    };
    let first = draw();
    let changes = multiples(every, end).map(|at| (at, draw())).collect();
    Route::new(first, changes, overtaking)
}

fn outage(choice: &Choice, end: Time) -> Outage {
    let lasts = choice.parameters.duration("lasts");
    let outages: Vec<_> = match choice.parameters.some_duration("every") {
        Some(every) => multiples(every, end).map(|at| (at, lasts)).collect(),
        None => {
            let given = choice.parameters.times("outages").into_iter();
            given.map(|(at, span)| (at, Duration::from_nanos(span))).collect()
        }
    };
    let mode =
        if choice.parameters.word("mode") == "hold" { OutageMode::Hold } else { OutageMode::Drop };
    Outage::new(&outages, mode)
}

fn policer(choice: &Choice) -> PolicerParams {
    PolicerParams {
        rate: choice.parameters.rate("rate"),
        burst: Bytes::new(choice.parameters.bytes("burst").get()),
        peakrate: peakrate(choice),
        overhead: u32::try_from(choice.parameters.bytes("overhead").get()).expect("bounded"),
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Rate;

    use super::*;
    use crate::config::{Value, check, info};

    fn acks() -> Acks<u32> {
        Acks { is_ack: |_| true, merge: |_, _| true }
    }

    fn example(name: &str) -> Choice {
        let info = info(IMPAIRMENTS, name).unwrap();
        let choice = Choice::with_defaults(info, Rate::from_bps(1_000_000));
        let number = |choice: Choice, key| choice.set(key, Value::Number(0.1));
        let span = |choice: Choice, key| choice.set(key, Value::Whole(5_000_000));
        match name {
            "loss" | "duplicate" => number(choice, "probability"),
            "gilbert_elliott" => number(choice, "p"),
            "jitter" => span(choice, "max_ns"),
            "route" | "outage" => span(choice, "every_ns"),
            "policer" => {
                let rate = Value::Whole(1_000_000);
                choice.set("rate_bps", rate).set("burst_bytes", Value::Whole(9_000))
            }
            "ack_thinning" => span(choice.set("max_packets", Value::Whole(200)), "hold_ns"),
            _ => choice,
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_elements() {
        assert_eq!(netem(&example("netem")), NetemParams::default());
        let expected = GilbertElliottParams { p: 0.1, ..GilbertElliottParams::default() };
        assert_eq!(gilbert_elliott(&example("gilbert_elliott")), expected);
        let expected = PolicerParams::new(Rate::from_bps(1_000_000), Bytes::new(9_000));
        assert_eq!(policer(&example("policer")), expected);
    }

    #[test]
    fn every_impairment_is_checked_and_built() {
        for entry in IMPAIRMENTS {
            let choice = example(entry.name);
            assert_eq!(check(IMPAIRMENTS, &choice).map(|i| i.name), Ok(entry.name));
            assert_eq!(impairment_fits(&choice), Ok(()));
            let end = Time::from_nanos(100_000_000);
            let built = impairment(&choice, Stream::new(1, "impairment"), end, &acks());
            assert_eq!((built.held(), built.made()), (0, 0), "{}", entry.name);
        }
    }

    #[test]
    fn what_doesnt_go_together_is_refused() {
        let fault = |choice: Choice| impairment_fits(&choice).unwrap_err().key;
        assert_eq!(fault(example("route").set("every_ns", Value::Off)), "delays");
        assert_eq!(fault(example("outage").set("every_ns", Value::Off)), "outages");
        assert_eq!(fault(example("outage").set("lasts_ns", Value::Whole(5_000_000))), "lasts_ns");
        let pairs = Value::Pairs(vec![(0, 20), (10, 5)]);
        let both = example("outage").set("outages", pairs.clone());
        assert_eq!(fault(both.clone()), "every_ns");
        assert_eq!(fault(both.set("every_ns", Value::Off)), "outages");
        assert_eq!(
            fault(example("policer").set("burst_bytes", Value::Whole(1_000))),
            "burst_bytes"
        );
    }

    #[test]
    fn a_period_goes_on_until_the_end() {
        let every = Duration::from_nanos(10);
        let times: Vec<_> = multiples(every, Time::from_nanos(30)).map(Time::as_nanos).collect();
        assert_eq!(times, [10, 20, 30]);
    }
}
