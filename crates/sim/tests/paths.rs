//! Paths of more than one link: topologies, services and impairments.
//!
//! Every run here also checks that no packet went missing: the engine panics if one did.

#![expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::{Log, MILLI, SECOND, bdp, run, run_watched, scenario};
use narrows_base::registry::{Bounds, Choice, LimitUnit, Parameter, Unit, Value, info};
use narrows_base::{Bytes, Rate, Stream};
use narrows_net::config::{IMPAIRMENTS, QUEUES, SERVICES};
use narrows_spec::scenario::{Direction, Impairment, ImpairmentPlace, Limit, LinkConfig, Scenario};

const MBPS: u64 = 10;
const RTT_MS: u64 = 20;

fn case(ccas: &[&str], seconds: u64) -> Scenario {
    let mut case = scenario(MBPS, RTT_MS, bdp(MBPS, RTT_MS, 100), ccas);
    case.run.duration_ns = seconds * SECOND;
    case.run.warmup_ns = 0;
    case
}

fn link(name: &str, mbps: u64) -> LinkConfig {
    LinkConfig {
        name: name.into(),
        rate_bps: mbps * 1_000_000,
        buffer: Limit::Bytes(Bytes::new(bdp(mbps, RTT_MS, 100))),
        queue: Choice::new("droptail"),
        service: Choice::new("constant"),
    }
}

fn impairment(kind: &str, direction: Direction, values: &[(&str, Value)]) -> Impairment {
    let entry = info(IMPAIRMENTS, kind).expect("a known impairment");
    let element = Choice::with_defaults(entry, Rate::from_bps(1));
    let element = values.iter().fold(element, |e, (key, value)| e.set(key, value.clone()));
    Impairment { direction, at: ImpairmentPlace::Behind, element }
}

/// Mean backlog of a link in packets.
fn queue(log: &Log, link: u32) -> f64 {
    let own = log.queues.iter().filter(|(_, sample)| sample.link == link);
    let depths: Vec<_> = own.map(|(_, sample)| sample.backlog_packets as f64).collect();
    depths.iter().sum::<f64>() / depths.len() as f64
}

fn forwarded_packets(log: &Log, link: u32) -> u64 {
    let own = log.queues.iter().rfind(|(_, sample)| sample.link == link);
    own.expect("a sample of the link").1.forwarded
}

#[test]
fn the_queue_stands_at_the_slowest_link() {
    let mut case = case(&["cubic"], 10);
    case.path.links = vec![link("narrow", 5), link("wide", 20)];
    let log = run(&case);
    assert!(queue(&log, 1) > 5.0 && queue(&log, 0) < 0.5 && queue(&log, 2) < 0.5);
    assert!((4.4..4.9).contains(&log.goodput(0, 0.0, 10.0)), "{}", log.goodput(0, 0.0, 10.0));
}

/// The long flow crosses both links, the others one each: it gets least.
#[test]
fn in_a_parking_lot_each_flow_crosses_the_links_that_it_names() {
    let mut case = case(&["reno", "reno", "reno"], 30);
    case.path.links = vec![link("second", MBPS)];
    case.flows[1].links = Some(vec!["bottleneck".into()]);
    case.flows[2].links = Some(vec!["second".into()]);
    let log = run(&case);
    let share = |flow| log.goodput(flow, 10.0, 30.0);
    for cross in [1, 2] {
        assert!((8.5..9.7).contains(&(share(0) + share(cross))), "{}", share(0) + share(cross));
        assert!(share(cross) > share(0), "{} {}", share(cross), share(0));
    }
}

#[test]
fn a_slow_reverse_path_queues_acknowledgements() {
    let mut case = case(&["cubic"], 10);
    case.path.reverse = Some(link("reverse", 1));
    // 10 Mbit/s of data make 417 ACKs of 52 bytes a second, a fifth of a Mbit/s.
    case.path.reverse.as_mut().expect("it was set").rate_bps = 100_000;
    case.path.reverse.as_mut().expect("it was set").buffer = Limit::Packets(20);
    let log = run(&case);
    assert!(queue(&log, 1) > 10.0, "{}", queue(&log, 1));
    let last = log.flow(0).last().expect("a sample").1;
    let dropped_acks = log.queues.last().expect("a sample").1.dropped;
    assert!(dropped_acks > 100, "{dropped_acks}");
    let dropped_data = log.queues.iter().rfind(|(_, s)| s.link == 0).expect("one").1.dropped;
    assert_eq!(last.dropped, dropped_data, "a flow's drops are those of its data");
}

#[test]
fn two_way_traffic_shares_each_link_with_the_other_ways_acknowledgements() {
    let mut case = case(&["reno", "reno"], 20);
    case.path.reverse = Some(link("reverse", MBPS));
    case.flows[1].reverse = true;
    let log = run(&case);
    for (flow, link) in [(0, 0), (1, 1)] {
        let goodput = log.goodput(flow, 5.0, 20.0);
        assert!((6.0..9.3).contains(&goodput), "{goodput}");
        let data = log.flow(flow).last().expect("a sample").1.sent;
        assert!(
            forwarded_packets(&log, link) > data + data / 4,
            "ACKs of the other flow pass, too"
        );
    }
}

#[test]
fn impairments_of_one_direction_leave_the_other_alone() {
    let loss = |direction| {
        let mut case = case(&["cubic"], 10);
        let values = [("probability", Value::Number(0.02))];
        case.path.impairments = vec![impairment("loss", direction, &values)];
        run(&case).flow(0).last().expect("a sample").1
    };
    let (data, acks) = (loss(Direction::Forward), loss(Direction::Backward));
    assert!(data.retransmitted > 30, "{}", data.retransmitted);
    // Lost ACKs are made good by later ones; only the queue drops data.
    assert!(acks.received > data.received && acks.dropped < data.dropped);
}

#[test]
fn ack_thinning_leaves_one_of_many() {
    let acks = |max| {
        let mut case = case(&["cubic"], 5);
        let values = [("max_packets", Value::Whole(max)), ("hold_ns", Value::Whole(20 * MILLI))];
        case.path.impairments = vec![impairment("ack_thinning", Direction::Backward, &values)];
        crate::common::acknowledgements(&case).len()
    };
    let (all, few) = (acks(1), acks(200));
    // At least one for two packets of 1.2 ms, and at most one in 20 ms.
    assert!(all > 2_000 && few <= 250 && few > 100, "{few} of {all}");
}

#[test]
fn copies_are_counted_and_do_no_harm() {
    let mut case = case(&["cubic"], 5);
    let values = [("probability", Value::Number(0.05))];
    case.path.impairments = vec![
        impairment("duplicate", Direction::Forward, &values),
        impairment("duplicate", Direction::Backward, &values),
    ];
    assert!(run(&case).goodput(0, 1.0, 5.0) > 9.0);
}

#[test]
fn an_outage_stops_everything_for_its_time() {
    let mut case = case(&["reno"], 10);
    let values = [("outages", Value::Pairs(vec![(4 * SECOND, SECOND)]))];
    case.path.impairments = vec![impairment("outage", Direction::Forward, &values)];
    let log = run(&case);
    assert!(log.goodput(0, 4.1, 5.0) < 0.001, "{}", log.goodput(0, 4.1, 5.0));
    assert!(log.goodput(0, 7.0, 10.0) > 8.0, "{}", log.goodput(0, 7.0, 10.0));
}

#[test]
fn a_route_change_is_felt_at_once() {
    let mut case = case(&["vegas"], 10);
    let values = [("delays", Value::Pairs(vec![(5 * SECOND, 30 * MILLI)]))];
    case.path.impairments = vec![impairment("route", Direction::Backward, &values)];
    let log = run(&case);
    let rtt = |at: f64| {
        let row = log.flow(0).into_iter().find(|(time, _)| *time >= at).expect("a row").1;
        row.rtt.expect("an RTT").as_secs_f64() * 1e3
    };
    assert!((20.0..40.0).contains(&rtt(4.5)), "{}", rtt(4.5));
    assert!((50.0..75.0).contains(&rtt(6.0)), "{}", rtt(6.0));
}

/// BBR's long-term estimate (`bbr_lt_bw_sampling`) finds what a policer lets through:
/// 5 Mbit/s of IP bytes are 4.83 Mbit/s of payload. How long a run uses it depends on the phases
/// that BBR draws (45 to 78 % of the time with 32 seeds, 70 % in the mean), so eight count together.
#[test]
fn bbr_finds_the_rate_of_a_policer() {
    let mut case = case(&["bbr"], 20);
    case.path.rate_bps = 50_000_000;
    case.path.buffer = Limit::Bytes(Bytes::new(bdp(50, RTT_MS, 200)));
    let values = [("rate_bps", Value::Whole(5_000_000)), ("burst_bytes", Value::Whole(100_000))];
    case.path.impairments = vec![impairment("policer", Direction::Forward, &values)];
    let (mut found, mut samples) = (Vec::new(), 0);
    for seed in 1..9 {
        case.seed = seed;
        let log = run(&case);
        let named = |name| log.internals.iter().filter(move |i| i.2 == name).map(|i| i.3);
        samples += named("lt_use_bw").count();
        let rates = named("lt_bw_mbps").zip(named("lt_use_bw"));
        found.extend(rates.filter(|(_, used)| *used > 0.0).map(|(rate, _)| rate));
    }
    assert!(found.len() * 2 > samples, "in use in {} of {samples} samples", found.len());
    let expected = 5.0 * 1448.0 / 1500.0;
    for rate in found {
        assert!((rate / expected - 1.0).abs() < 0.02, "{rate} of {expected} Mbit/s");
    }
}

/// 50 packets come after 5 s of silence: those that the full bucket pays for pass at the
/// device's rate, the others at the bucket's.
#[test]
fn a_token_bucket_lets_a_burst_pass_after_an_idle_time() {
    let mut case = case(&["reno"], 12);
    case.flows[0].size_bytes = Some(14_000);
    case.flows[0].repeat_gap_ns = Some(5 * SECOND);
    let ends = |service: Choice| {
        let mut case = case.clone();
        case.path.service = service;
        crate::common::completions(&case)
    };
    let bucket = Choice::with_defaults(info(SERVICES, "tbf").unwrap(), Rate::from_bps(1_000_000));
    let with_burst = ends(bucket.clone().set("burst_bytes", Value::Whole(20_000)));
    let without = ends(bucket.set("burst_bytes", Value::Whole(1_514)));
    assert!(with_burst.len() >= 2 && without.len() >= 2);
    for (fast, slow) in with_burst.iter().zip(&without) {
        // Two round trips of 20 ms, against 14 kB at 1 Mbit/s.
        assert!((0.040..0.045).contains(fast), "{fast} s");
        assert!((0.140..0.175).contains(slow), "{slow} s");
    }
}

/// Any of the registry's queues, services and impairments, anywhere: the engine counts
/// every packet, and the same seed gives the same run, whether or not each packet is looked at.
#[test]
fn random_paths_lose_sight_of_no_packet() {
    for seed in 0..60 {
        let case = random_case(seed);
        let (once, again) = (run(&case), run_watched(&case));
        assert!(once.queues == again.queues && once.flows == again.flows, "seed {seed}");
        assert!(forwarded_packets(&once, 0) > 10, "seed {seed} carried nothing: {case:?}");
    }
}

/// Links that only lines follow are polled late if nobody looks at each packet: flows of
/// different round trips share one, and each row is what it is where links take every turn.
/// Rows are far apart, since each of them has the links polled.
#[test]
fn nobody_notices_a_link_that_is_polled_late() {
    let mut case = case(&["cubic", "bbr", "reno"], 4);
    case.flows[0].rtt_ns = Some(7_000_000);
    case.flows[1].rtt_ns = Some(90_000_000);
    case.run.sample_interval_ns = 130_000_000;
    for queue in ["droptail", "codel", "pie"] {
        let entry = info(QUEUES, queue).expect("a known queue");
        case.path.queue = Choice::with_defaults(entry, Rate::from_bps(MBPS * 1_000_000));
        case.path.buffer = match entry.limit_unit() {
            Some(LimitUnit::Packets(_)) => Limit::Packets(40),
            _ => Limit::Bytes(Bytes::new(60_000)),
        };
        let (late, each) = (run(&case), run_watched(&case));
        assert!(late.flows.len() >= 90);
        assert!(late.queues == each.queues && late.flows == each.flows, "{queue}");
    }
}

fn random_case(seed: u64) -> Scenario {
    let mut random = Stream::new(seed, "paths");
    let mut case = case(&["cubic", "bbr", "reno"], 3);
    case.seed = seed;
    let rate = Rate::from_bps(MBPS * 1_000_000);
    let extra = random.below(3);
    case.path.links = (0..extra).map(|n| link(&format!("link {n}"), 5 + n * 10)).collect();
    let reverse = random.chance(0.5);
    case.path.reverse = reverse.then(|| link("reverse", 5));
    case.flows[1].reverse = reverse;
    if extra > 0 {
        case.flows[2].links = Some(vec!["link 0".into()]);
    }
    let path = &mut case.path;
    (path.queue, path.buffer) = random_queue(&mut random, rate);
    path.service = random_service(&mut random, rate);
    for link in path.links.iter_mut().chain(&mut path.reverse) {
        (link.queue, link.buffer) = random_queue(&mut random, rate);
        link.service = random_service(&mut random, rate);
    }
    path.loss = [0.0, 0.01][random.below(2) as usize];
    path.impairments = (0..random.below(5)).map(|_| random_impairment(&mut random)).collect();
    case
}

fn random_queue(random: &mut Stream, rate: Rate) -> (Choice, Limit) {
    let entry = QUEUES[random.below(QUEUES.len() as u64) as usize];
    let room = match entry.limit_unit() {
        Some(LimitUnit::Bytes(_)) => Limit::Bytes(Bytes::new(30_000)),
        _ => Limit::Packets(5 + random.below(30)),
    };
    (Choice::with_defaults(entry, rate), room)
}

fn random_service(random: &mut Stream, rate: Rate) -> Choice {
    complete_service(SERVICES[random.below(SERVICES.len() as u64) as usize].name, rate)
}

/// A service with what it needs.
fn complete_service(kind: &str, rate: Rate) -> Choice {
    let choice = Choice::with_defaults(info(SERVICES, kind).expect("a known service"), rate);
    let rates = Value::Pairs(vec![(SECOND, 0), (SECOND * 3 / 2, 20_000_000)]);
    match kind {
        "steps" => choice.set("rates", rates),
        "trace" => choice.set("opportunities_ms", Value::List(vec![1, 1, 2, 5, 5, 9])),
        "tbf" => choice.set("burst_bytes", Value::Whole(5_000)),
        "cellular" => choice.set("min_rate_bps", Value::Whole(1_000_000)),
        _ => choice,
    }
}

fn random_impairment(random: &mut Stream) -> Impairment {
    let kind = IMPAIRMENTS[random.below(IMPAIRMENTS.len() as u64) as usize].name;
    let direction = [Direction::Forward, Direction::Backward][random.below(2) as usize];
    let at = [ImpairmentPlace::Before, ImpairmentPlace::Behind][random.below(2) as usize];
    Impairment { at, ..complete_impairment(kind, direction) }
}

/// An impairment with what it needs.
fn complete_impairment(kind: &str, direction: Direction) -> Impairment {
    let some = Value::Number(0.02);
    let span = |ms: u64| Value::Whole(ms * MILLI);
    let values: &[(&str, Value)] = match kind {
        "loss" | "duplicate" => &[("probability", some)],
        "gilbert_elliott" => &[("p", some), ("r", Value::Number(0.3))],
        "jitter" => &[("max_ns", span(3))],
        "netem" => &[("delay_ns", span(5)), ("jitter_ns", span(6)), ("reorder", some)],
        "route" => &[("every_ns", span(300)), ("spread_ns", span(20))],
        "outage" => &[("every_ns", span(500)), ("lasts_ns", span(60))],
        "policer" => &[("rate_bps", Value::Whole(4_000_000)), ("burst_bytes", Value::Whole(9_000))],
        "ack_thinning" => &[("max_packets", Value::Whole(10)), ("hold_ns", span(3))],
        _ => &[],
    };
    impairment(kind, direction, values)
}

/// Every parameter at its ends: refused by its place, or a run that ends.
#[test]
fn no_parameter_breaks_the_engine() {
    for (registry, place) in [(QUEUES, 0), (SERVICES, 1), (IMPAIRMENTS, 2)] {
        for (entry, parameter) in
            registry.iter().flat_map(|e| e.parameters.iter().map(move |p| (e, p)))
        {
            for value in extremes(parameter) {
                let name = format!("{} of {} at {value:?}", parameter.name, entry.name);
                let case = with_element(entry.name, place, &parameter.key(), value);
                match narrows_sim::run(&case, &mut Log::default(), &mut |_, _| {
                    std::ops::ControlFlow::Continue(())
                }) {
                    Ok(outcome) => assert_eq!(outcome.end.as_nanos(), SECOND / 2, "{name}"),
                    Err(problems) => assert!(
                        problems.0.iter().all(|p| p.place.to_string().starts_with("path.")),
                        "{name}: {problems}"
                    ),
                }
            }
        }
    }
}

fn extremes(parameter: &Parameter) -> Vec<Value> {
    const MOST: u64 = 1_000_000_000_000_000;
    let both = match parameter.bounds {
        Bounds::Whole { least, most, .. } => [least, most.min(MOST)],
        Bounds::Number { least, most } => {
            return [least, most.min(1e15)].map(Value::Number).to_vec();
        }
    };
    let value = |number: u64| match parameter.unit {
        Unit::Flag => Some(Value::Flag(number > 0)),
        Unit::Rates | Unit::Delays | Unit::Spans => Some(Value::Pairs(vec![(0, number)])),
        Unit::Opportunities => Some(Value::List(vec![number.clamp(1, 999_999_999_999)])),
        Unit::Word(_) => None,
        _ => Some(Value::Whole(number)),
    };
    both.into_iter().filter_map(value).collect()
}

fn with_element(kind: &str, place: usize, key: &str, value: Value) -> Scenario {
    let rate = Rate::from_bps(MBPS * 1_000_000);
    let mut case = case(&["cubic", "bbr"], 1);
    case.run.duration_ns = SECOND / 2;
    match place {
        0 => {
            let entry = info(QUEUES, kind).expect("a known queue");
            case.path.queue = Choice::with_defaults(entry, rate).set(key, value);
            case.path.buffer = match entry.limit_unit() {
                Some(LimitUnit::Bytes(_)) => Limit::Bytes(Bytes::new(100_000)),
                _ => Limit::Packets(20),
            };
        }
        1 => case.path.service = complete_service(kind, rate).set(key, value),
        _ => {
            let mut impairment = complete_impairment(kind, Direction::Forward);
            impairment.element = impairment.element.set(key, value);
            case.path.impairments = vec![impairment];
        }
    }
    case
}
