//! The services of links, by name.

use narrows_base::{Bytes, Dscp, Rate, Stream, Time};

use super::{Choice, Fault, Info};
use crate::link::{AnyServedLink, Link, ServedLink};
use crate::queue::htb::Htb;
use crate::queue::queue;
use crate::queue::tbf::{Tbf, TbfParams};
use crate::queue::{Limit, Queue, QueueDiscipline as _};
use crate::queue::{htb, tbf as bucket};
use crate::service;
use crate::service::cellular::{Cellular, CellularParams};
use crate::service::steps::SteppedRate;
use crate::service::trace::Trace;
use crate::service::wifi::{Wifi, WifiParams};
use crate::service::{RateProcess, Service};

/// Every service, by name.
pub static SERVICES: &[&Info] = &[
    &service::constant::INFO,
    &service::steps::INFO,
    &service::trace::INFO,
    &bucket::INFO,
    &htb::SERVICE,
    &service::cellular::INFO,
    &service::wifi::INFO,
];

/// The configuration of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkChoice<'a> {
    /// Its rate in bit/s.
    pub rate: Rate,
    /// How it serves its queue.
    pub service: &'a Choice,
    /// The queue discipline.
    pub queue: &'a Choice,
    /// Its capacity.
    pub limit: Limit,
}

/// A built link; the common kind works without dynamic calls.
pub enum AnyLink<B> {
    /// One packet after the other.
    Link(Link<B>),
    /// In batches or slots.
    Served(AnyServedLink<B>),
}

impl<B> AnyLink<B> {
    /// Tells its queue the DSCP of each flow's packets, before the first arrives.
    pub fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        match self {
            Self::Link(link) => link.learn_dscps(of_flows),
            Self::Served(link) => link.learn_dscps(of_flows),
        }
    }
}

/// Checks whether the parameters of a checked service fit together.
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

/// Fails unless a bucket lets a full packet of `least` bytes pass, and a peak rate has its depth.
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

/// Builds a link of choices that were checked and fit. `name` names its random streams.
///
/// # Panics
/// If they weren't.
#[must_use]
pub fn link<B: Send + 'static>(parts: LinkChoice<'_>, seed: u64, name: &str) -> AnyLink<B> {
    let random = |part| Stream::new(seed, &format!("{name}/{part}"));
    let waiting = queue(parts.queue, parts.limit, random("queue"));
    let simple = |waiting: Queue<B>, rate| AnyLink::Link(Link::new(waiting, rate));
    let served = |waiting, service: Box<dyn Service<B> + Send>| {
        AnyLink::Served(ServedLink::with(waiting, service))
    };
    match parts.service.kind.as_str() {
        "constant" => simple(waiting, RateProcess::constant(parts.rate)),
        "steps" => simple(waiting, steps(parts).into()),
        "trace" => {
            let opportunities = parts.service.parameters.opportunities().to_vec();
            simple(waiting, Trace::new(opportunities).expect("the trace was checked").into())
        }
        "tbf" => AnyLink::Link(tbf(parts, random("queue"))),
        "htb" => {
            let shaper = Htb::over(&htb::single(parts.service), 1, waiting);
            simple(shaper.into(), RateProcess::constant(parts.service.parameters.rate("device")))
        }
        "cellular" => served(
            waiting,
            Box::new(Cellular::new(&CellularParams::of(&parts.service.parameters, parts.rate))),
        ),
        "wifi" => {
            let params = WifiParams::of(&parts.service.parameters);
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
    let params = TbfParams { rate, burst, limit: parts.limit, peakrate: peakrate(service) };
    let bucket = if parts.queue.kind == "droptail" {
        Tbf::new(&params)
    } else {
        Tbf::with_queue(&params, queue(parts.queue, parts.limit, random))
    };
    debug_assert!(bucket.is_empty());
    Link::new(bucket, RateProcess::constant(service.parameters.rate("device")))
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId, Packet};

    use super::*;
    use crate::Element as _;
    use crate::config::{LimitUnit, QUEUES, Value, check, info};

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
    fn every_service_is_checked_and_built_over_every_queue() {
        for service in SERVICES {
            let choice = defaults(service.name);
            assert_eq!(check(SERVICES, &choice).map(|i| i.name), Ok(service.name));
            assert_eq!(service_fits(&choice), Ok(()));
            for info in QUEUES {
                let discipline = Choice::with_defaults(info, RATE);
                let limit = match info.limit_unit() {
                    Some(LimitUnit::Bytes(_)) => Limit::Bytes(Bytes::new(400_000)),
                    _ => Limit::Packets(100),
                };
                let parts = LinkChoice { rate: RATE, service: &choice, queue: &discipline, limit };
                let held = match link::<()>(parts, 1, "path") {
                    AnyLink::Link(link) => link.packet_count(),
                    AnyLink::Served(link) => link.packet_count(),
                };
                assert_eq!(held, 0);
            }
        }
    }

    /// The packet that waits for tokens counts, too. Not in what fq and CAKE limit: a band's packets
    /// and memory, which a packet leaves when it is dequeued.
    #[test]
    fn a_bucket_holds_no_packet_beyond_the_limit_of_a_discipline() {
        for info in QUEUES.iter().filter(|info| !["fq", "cake"].contains(&info.name)) {
            let (service, queue) = (defaults("tbf"), Choice::with_defaults(info, RATE));
            let limit = match info.limit_unit() {
                Some(LimitUnit::Bytes(_)) => Limit::Bytes(Bytes::new(60_000)),
                _ => Limit::Packets(20),
            };
            let parts = LinkChoice { rate: RATE, service: &service, queue: &queue, limit };
            let AnyLink::Link(mut link) = link::<u32>(parts, 1, "path") else {
                panic!("a bucket is not a service of one packet after the other")
            };
            let mut send = |packets: u32, at: u64| {
                for body in 0..packets {
                    let packet = Packet { flow: FlowId(0), size: 1_500, ecn: Ecn::NotEct, body };
                    link.receive(packet, Time::from_nanos(at));
                }
                let _ = link.poll(Time::from_nanos(at + 1_000));
                (link.backlog(), link.backlog_packets())
            };
            send(5, 0);
            let (bytes, packets) = send(60, 100_000);
            let fits = match limit {
                Limit::Bytes(most) => bytes <= most,
                Limit::Packets(most) => packets as u64 <= most,
            };
            let name = info.name;
            assert!(fits, "{name}: {packets} packets, {bytes:?}; `count_ahead` has one of them");
            assert!(packets > 10, "{name}: {packets} packets");
        }
    }

    #[test]
    fn contradicting_parameters_are_refused() {
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
