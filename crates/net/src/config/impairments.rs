//! The impairments of a path besides queueing and delay, by name.

use narrows_base::{Bytes, Duration, Packet, Stream, Time};

use super::services::{bucket_fits, peakrate};
use super::{Choice, Fault, Info};
use crate::element::Element;
use crate::impairment;
use crate::impairment::Filter;
use crate::impairment::duplication::Duplication;
use crate::impairment::gilbert_elliott::{GilbertElliott, GilbertElliottParams};
use crate::impairment::jitter::Jitter;
use crate::impairment::loss::RandomLoss;
use crate::impairment::netem::{Netem, NetemParams};
use crate::impairment::outage::{Outage, OutageMode};
use crate::impairment::policer::{Policer, PolicerParams};
use crate::impairment::route::{Overtaking, Route};
use crate::impairment::thinning::{Thinning, ThinningParams};

/// Every impairment, by name.
pub static IMPAIRMENTS: &[&Info] = &[
    &impairment::loss::INFO,
    &impairment::gilbert_elliott::INFO,
    &impairment::jitter::INFO,
    &impairment::netem::INFO,
    &impairment::duplication::INFO,
    &impairment::route::INFO,
    &impairment::outage::INFO,
    &impairment::policer::INFO,
    &impairment::thinning::INFO,
];

/// How an impairment recognises and merges acknowledgements in packets' bodies.
pub struct AckHooks<B> {
    /// Returns true if a packet is a pure acknowledgement.
    pub is_ack: fn(&Packet<B>) -> bool,
    /// Returns true if the second, newer one has all the information of the first, perhaps after
    /// taking over what it lacked.
    pub merge: fn(&Packet<B>, &mut Packet<B>) -> bool,
}

/// Checks whether the parameters of a checked impairment fit together.
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

/// Builds an impairment that was checked and fits. Periodic events continue until `end`.
///
/// # Panics
/// If it wasn't.
#[must_use]
pub fn impairment<B: Clone + Send + 'static>(
    choice: &Choice,
    mut random: Stream,
    end: Time,
    acks: &AckHooks<B>,
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
        limit: choice.parameters.some_packets("limit"),
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

    fn acks() -> AckHooks<u32> {
        AckHooks { is_ack: |_| true, merge: |_, _| true }
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
            assert_eq!((built.packet_count(), built.copies()), (0, 0), "{}", entry.name);
        }
    }

    #[test]
    fn contradicting_parameters_are_refused() {
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
