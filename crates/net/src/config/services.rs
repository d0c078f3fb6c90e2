//! How a link serves its queue, by name.

use narrows_base::{Bytes, Rate, Stream, Time};

use super::{Choice, Fallback, Fault, Info, Parameter, Role, SHORTEST_PERIOD, Unit, queue};
use crate::{
    AnyServed, Cellular, CellularParams, Limit, Link, Queue, QueueDiscipline as _, RateProcess,
    Served, Service, SteppedRate, Tbf, TbfParams, Trace, Wifi, WifiParams,
};

use Fallback::{LinkRate, Off, Required, Whole};

/// Every way to serve a queue, by name.
pub static SERVICES: &[&Info] = &[
    &Info {
        name: "constant",
        title: "Constant rate",
        family: "rate",
        summary: "one packet after the other at the link's rate",
        source: "the model of a serialiser; its fractions of a ns add up exactly",
        role: Role::Service,
        parameters: &[],
    },
    &Info {
        name: "steps",
        title: "Rate in steps",
        family: "rate",
        summary: "a rate that changes at given times, also within a packet",
        source: "crates/net/src/service/steps.rs",
        role: Role::Service,
        parameters: &[Parameter::new(
            "rates",
            Unit::Rates,
            Required,
            "times with the rate from then on; before, it is the link's; 0bit is an outage",
        )],
    },
    &Info {
        name: "trace",
        title: "Recorded trace",
        family: "rate",
        summary: "the delivery opportunities of a recorded link, over and over",
        source: "mahimahi's format and rule (src/frontend/link_queue.cc)",
        role: Role::Service,
        parameters: &[Parameter::new(
            "file",
            Unit::Opportunities,
            Required,
            "a line for each packet that may pass, with its ms; beside the specification",
        )],
    },
    &Info {
        name: "tbf",
        title: "Token bucket",
        family: "bucket",
        summary: "a token bucket in front of a faster device: bursts after idle times",
        source: "Linux net/sched/sch_tbf.c; rates and bytes are those of Ethernet frames",
        role: Role::Service,
        parameters: &[
            Parameter::new("rate", Unit::Rate, LinkRate, "the rate in the long run").positive(),
            Parameter::new("burst", Unit::Bytes, Required, "bytes that may leave at once"),
            Parameter::new("peakrate", Unit::Rate, Off, "the rate within a burst").positive(),
            Parameter::new("mtu", Unit::Bytes, Off, "the depth of the peak rate's bucket"),
            Parameter::new("device", Unit::Rate, Whole(1_000_000_000), "the rate of the device")
                .positive(),
        ],
    },
    &Info {
        name: "cellular",
        title: "Cellular slots",
        family: "radio",
        summary: "slots, with a grant of bytes in each that may depend on what waits",
        source: "3GPP TS 36.211 section 4 (subframes), TS 36.321 section 5.4.5 (buffer status)",
        role: Role::Service,
        parameters: &[
            Parameter::new("slot", Unit::Duration, Fallback::ms(1), "from one grant to the next")
                .at_least(SHORTEST_PERIOD),
            Parameter::new(
                "min_rate",
                Unit::Rate,
                Off,
                "the rate at an empty queue, growing to the link's; the link's, always, if none",
            )
            .positive(),
            Parameter::new(
                "full_backlog",
                Unit::Bytes,
                Whole(100_000),
                "what must wait for the full rate",
            )
            .positive(),
        ],
    },
    &Info {
        name: "wifi",
        title: "Wi-Fi batches",
        family: "radio",
        summary: "batches: access to the medium, then what waits up to a limit, all at once",
        source: "IEEE 802.11-2020 section 10.23 (EDCA) and 10.12 (A-MPDU); defaults: 802.11ac",
        role: Role::Service,
        parameters: &[
            Parameter::new("phy_rate", Unit::Rate, LinkRate, "the rate within a batch").positive(),
            Parameter::new(
                "access",
                Unit::Duration,
                Fallback::us(150),
                "what a batch costs besides its packets: waiting, preamble, acknowledgement",
            ),
            Parameter::new(
                "contention",
                Unit::Duration,
                Fallback::us(135),
                "at most, at random: backoff",
            ),
            Parameter::new("max_packets", Unit::Packets, Whole(64), "in a batch")
                .positive()
                .at_most(100_000),
            Parameter::new(
                "max_time",
                Unit::Duration,
                Fallback::ms(4),
                "no packet is added beyond",
            ),
            Parameter::new("overhead", Unit::Bytes, Whole(40), "of each packet, besides IP's")
                .at_most(10_000),
        ],
    },
];

/// What a link is made of.
#[derive(Clone, Copy, Debug)]
pub struct LinkChoice<'a> {
    /// Its rate in bit/s.
    pub rate: Rate,
    /// How it serves its queue.
    pub service: &'a Choice,
    /// The queue discipline.
    pub queue: &'a Choice,
    /// Its room.
    pub limit: Limit,
}

/// A link that was built: the common kind without a dynamic call.
pub enum AnyLink<B> {
    /// One packet after the other.
    Link(Link<B>),
    /// In batches or slots.
    Served(AnyServed<B>),
}

/// Whether the parameters of a checked service go together.
///
/// # Errors
/// The fault.
pub fn service_fits(choice: &Choice) -> Result<(), Fault> {
    match choice.kind.as_str() {
        "steps" => match choice.parameters.times("rates").last() {
            Some((_, 0)) => Err(Fault::new("rates", "an outage without end", "a last rate")),
            _ => Ok(()),
        },
        "tbf" => bucket_fits(choice, FRAME),
        _ => Ok(()),
    }
}

/// A frame of a full packet.
const FRAME: u64 = 1_514;

/// In s; larger buckets are never empty.
const LONGEST_BURST: u128 = 10_000;

/// Whether a bucket lets a full packet of `least` bytes pass, and a peak rate has its depth.
pub(super) fn bucket_fits(choice: &Choice, least: u64) -> Result<(), Fault> {
    let need = || format!("room for a full packet of {least} bytes");
    let peak = choice.parameters.some_rate("peakrate");
    for (rate, bytes, key) in [
        (
            Some(choice.parameters.rate("rate")),
            Some(choice.parameters.bytes("burst")),
            "burst_bytes",
        ),
        (peak, choice.parameters.some_bytes("mtu"), "mtu_bytes"),
    ] {
        let Some((rate, bytes)) = rate.zip(bytes) else { continue };
        if u128::from(bytes.get()) * 8 > u128::from(rate.as_bps()) * LONGEST_BURST {
            let need = "no more than the rate earns in 10,000 s";
            return Err(Fault::new(key, bytes.get().to_string(), need));
        }
    }
    match (
        choice.parameters.bytes("burst").get(),
        choice.parameters.some_bytes("mtu").map(Bytes::get),
    ) {
        (burst, _) if burst < least => Err(Fault::new("burst_bytes", burst.to_string(), need())),
        (_, Some(mtu)) if mtu < least => Err(Fault::new("mtu_bytes", mtu.to_string(), need())),
        (_, mtu) if mtu.is_some() != peak.is_some() => {
            Err(Fault::new("peakrate_bps", "one of peakrate and mtu", "both or none"))
        }
        _ => Ok(()),
    }
}

pub(super) fn peakrate(choice: &Choice) -> Option<(Rate, Bytes)> {
    choice.parameters.some_rate("peakrate").zip(choice.parameters.some_bytes("mtu"))
}

/// Builds a link of choices that were checked and fit. `name` is what its random streams
/// are called by.
///
/// # Panics
/// If they weren't.
#[must_use]
pub fn link<B: Send + 'static>(parts: LinkChoice<'_>, seed: u64, name: &str) -> AnyLink<B> {
    let random = |part| Stream::new(seed, &format!("{name}/{part}"));
    let waiting = queue(parts.queue, parts.limit, random("queue"));
    let simple = |waiting: Queue<B>, rate| AnyLink::Link(Link::new(waiting, rate));
    let served = |waiting, service: Box<dyn Service<B> + Send>| {
        AnyLink::Served(Served::with(waiting, service))
    };
    match parts.service.kind.as_str() {
        "constant" => simple(waiting, RateProcess::constant(parts.rate)),
        "steps" => simple(waiting, steps(parts).into()),
        "trace" => {
            let opportunities = parts.service.parameters.opportunities().to_vec();
            simple(waiting, Trace::new(opportunities).expect("the trace was checked").into())
        }
        "tbf" => AnyLink::Link(tbf(parts, random("queue"))),
        "cellular" => served(waiting, Box::new(Cellular::new(&slots(parts)))),
        "wifi" => {
            let params = batches(parts.service);
            served(waiting, Box::new(Wifi::new(&params, random("service"))))
        }
        other => panic!("a service {other}: it wasn't checked"),
    }
}

fn steps(parts: LinkChoice<'_>) -> SteppedRate {
    let rates = parts.service.parameters.times("rates").into_iter();
    let mut rates: Vec<_> = rates.map(|(at, bps)| (at, Rate::from_bps(bps))).collect();
    let from_start = rates.first().filter(|first| first.0 == Time::ZERO).map(|first| first.1);
    if from_start.is_some() {
        rates.remove(0);
    }
    SteppedRate::new(from_start.unwrap_or(parts.rate), rates)
}

fn tbf<B: Send + 'static>(parts: LinkChoice<'_>, random: Stream) -> Link<B> {
    let service = parts.service;
    let (rate, burst) = (service.parameters.rate("rate"), service.parameters.bytes("burst"));
    let limit = match parts.limit {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(_) => Bytes::ZERO,
    };
    let params = TbfParams { rate, burst, limit, peakrate: peakrate(service) };
    let plain = parts.queue.kind == "droptail" && limit > Bytes::ZERO;
    let bucket = if plain {
        Tbf::new(&params)
    } else {
        Tbf::with_queue(&params, queue(parts.queue, parts.limit, random))
    };
    debug_assert!(bucket.is_empty());
    Link::new(bucket, RateProcess::constant(service.parameters.rate("device")))
}

fn slots(parts: LinkChoice<'_>) -> CellularParams {
    CellularParams {
        rate: parts.rate,
        slot: parts.service.parameters.duration("slot"),
        min_rate: parts.service.parameters.some_rate("min_rate").map(|rate| rate.min(parts.rate)),
        full_backlog: parts.service.parameters.bytes("full_backlog"),
    }
}

fn batches(choice: &Choice) -> WifiParams {
    WifiParams {
        rate: choice.parameters.rate("phy_rate"),
        access: choice.parameters.duration("access"),
        contention: choice.parameters.duration("contention"),
        max_packets: choice.parameters.packets("max_packets"),
        max_time: choice.parameters.duration("max_time"),
        overhead: u32::try_from(choice.parameters.bytes("overhead").get()).expect("bounded"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element as _;
    use crate::config::{QUEUES, Room, Value, check, info};

    const RATE: Rate = Rate::from_bps(50_000_000);

    fn defaults(name: &str) -> Choice {
        let choice = Choice::with_defaults(info(SERVICES, name).unwrap(), RATE);
        match name {
            "steps" => choice.set("rates", Value::Pairs(vec![(0, 1_000), (5, 2_000)])),
            "trace" => choice.set("opportunities_ms", Value::List(vec![1, 2, 2])),
            "tbf" => choice.set("burst_bytes", Value::Whole(5_000)),
            _ => choice,
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_elements() {
        let rate = RATE;
        assert_eq!(batches(&defaults("wifi")), WifiParams { rate, ..WifiParams::default() });
        let cellular = defaults("cellular");
        let droptail = Choice::new("droptail");
        let limit = Limit::Packets(9);
        let parts = LinkChoice { rate: RATE, service: &cellular, queue: &droptail, limit };
        assert_eq!(slots(parts), CellularParams::default());
    }

    #[test]
    fn every_service_is_checked_and_built_over_every_queue() {
        for service in SERVICES {
            let choice = defaults(service.name);
            assert_eq!(check(SERVICES, &choice).map(|i| i.name), Ok(service.name));
            assert_eq!(service_fits(&choice), Ok(()));
            for info in QUEUES {
                let discipline = Choice::with_defaults(info, RATE);
                let limit = match info.room() {
                    Some(Room::Bytes(_)) => Limit::Bytes(Bytes::new(400_000)),
                    _ => Limit::Packets(100),
                };
                let parts = LinkChoice { rate: RATE, service: &choice, queue: &discipline, limit };
                let held = match link::<()>(parts, 1, "path") {
                    AnyLink::Link(link) => link.held(),
                    AnyLink::Served(link) => link.held(),
                };
                assert_eq!(held, 0);
            }
        }
    }

    #[test]
    fn what_doesnt_go_together_is_refused() {
        let endless = Value::Pairs(vec![(0, 1_000), (5, 0)]);
        assert_eq!(
            service_fits(&defaults("steps").set("rates", endless)).unwrap_err().key,
            "rates"
        );
        let small = defaults("tbf").set("burst_bytes", Value::Whole(1_500));
        assert_eq!(service_fits(&small).unwrap_err().key, "burst_bytes");
        let peak = defaults("tbf").set("peakrate_bps", Value::Whole(1_500));
        assert_eq!(service_fits(&peak).unwrap_err().key, "peakrate_bps");
        let unsorted = Value::Pairs(vec![(5, 1_000), (4, 2_000)]);
        assert_eq!(
            check(SERVICES, &defaults("steps").set("rates", unsorted)).unwrap_err().key,
            "rates"
        );
    }
}
