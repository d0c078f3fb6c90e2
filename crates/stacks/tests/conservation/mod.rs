//! Every datagram that a host offers is delivered, dropped or on its way: counted one by one, apart
//! from the engine's own sums.

use std::collections::BTreeMap;

use narrows_base::registry::{Choice, LimitUnit, Value, info};
use narrows_base::{Bytes, Rate, Time};
use narrows_net::config::{IMPAIRMENTS, QUEUES};
use narrows_record::{Event, EventKind, Observer, PacketEvent, PacketKind};
use narrows_sim::{Outcome, Simulation};
use narrows_spec::scenario::{
    Change, Direction, Flow, Impairment, ImpairmentPlace, Limit, Scenario, Workload,
};

use super::{beside, controls};

const RATE: u64 = 8_000_000;
const MILLI: u64 = 1_000_000;
const TCP: u32 = 0;
/// Sources stop here.
const STOP: u64 = 1_200 * MILLI;
/// By then nothing is on its way.
const END: u64 = 20_000 * MILLI;

/// The fates of a flow's numbered packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Fate {
    offered: u64,
    delivered: u64,
    dropped: u64,
}

impl Fate {
    fn finished_packets(self) -> u64 {
        self.delivered + self.dropped
    }
}

/// The fates of all packets, by flow and number; both ways of a flow have numbers of their own, so
/// that a number stands for a packet of each.
#[derive(Clone, Default)]
struct Ledger {
    fates: BTreeMap<(u32, u64), Fate>,
    /// Drops of queues and policers, and of thinners.
    dropped: u64,
    /// Losses of the medium.
    lost: u64,
}

impl Observer for Ledger {
    fn wants(&self, kind: EventKind) -> bool {
        kind == EventKind::Packet
    }

    fn on(&mut self, _at: Time, event: &Event) {
        let Event::Packet(PacketEvent { kind, flow, seq, .. }) = *event else { return };
        let fate = self.fates.entry((flow.0, seq)).or_default();
        match kind {
            PacketKind::Sent | PacketKind::AckSent => fate.offered += 1,
            PacketKind::Received | PacketKind::AckReceived => fate.delivered += 1,
            PacketKind::Dropped => {
                (self.dropped, fate.dropped) = (self.dropped + 1, fate.dropped + 1);
            }
            PacketKind::Lost => (self.lost, fate.dropped) = (self.lost + 1, fate.dropped + 1),
            PacketKind::Forwarded => {}
        }
    }
}

impl Ledger {
    /// Packets on their way, if no element makes copies.
    fn in_flight(&self) -> u64 {
        self.fates.values().map(|fate| fate.offered - fate.finished_packets()).sum()
    }

    /// Packets of a flow that the fate tells of.
    fn of(&self, flow: u32, count: impl Fn(Fate) -> u64) -> u64 {
        self.fates.range((flow, 0)..=(flow, u64::MAX)).map(|(_, fate)| count(*fate)).sum()
    }

    /// The first packet with more ends than beginnings, or fewer if nothing should be on its way.
    /// An element that makes copies may double a packet.
    fn fault(&self, copies: bool, arrived: bool) -> Option<String> {
        let wrong = |fate: &Fate| {
            let most = if copies { 2 * fate.offered } else { fate.offered };
            fate.finished_packets() > most || arrived && fate.finished_packets() < fate.offered
        };
        let found = self.fates.iter().find(|(_, fate)| wrong(fate));
        found.map(|((flow, number), fate)| format!("flow {flow}, packet {number}: {fate:?}"))
    }
}

/// CUBIC of Linux, quinn, noq, a source of UDP and probes, which stop early.
fn case() -> Scenario {
    let mut case = beside("quinn", "cubic");
    let noq = Flow { stack: Some("noq".into()), cca: "bbr3".into(), ..case.flows[1].clone() };
    let plain = case.flows[0].clone();
    let udp = Workload::Udp { rate_bps: RATE / 4, size_bytes: 1_000, burst: 3 };
    let ping = Workload::Ping { interval_ns: 10 * MILLI, size_bytes: 64 };
    case.flows.push(noq);
    for workload in [udp, ping] {
        case.flows.push(Flow { workload: Some(workload), cca: "none".into(), ..plain.clone() });
    }
    for (number, flow) in case.flows.iter_mut().enumerate() {
        (flow.name, flow.stop_ns) = (format!("flow-{number}"), Some(STOP));
    }
    case.path.rate_bps = RATE;
    case.path.buffer = Limit::Bytes(Bytes::new(24_000));
    (case.run.duration_ns, case.run.warmup_ns) = (END, 0);
    case
}

/// Runs a case to its end, looks at the ledger on the way, and returns it with the bottleneck's drops.
fn run_with_ledger(case: Scenario, copies: bool, what: &str) -> (Ledger, Outcome, u64) {
    let mut run = Simulation::new(case, controls(), Ledger::default()).expect("it runs");
    for at_ms in (20..1_200).step_by(59) {
        run.run_until(Time::from_nanos(at_ms * MILLI));
        // The bottleneck works at most a packet ahead, and tells it when asked.
        run.queue(0);
        assert_eq!(run.observer().fault(copies, false), None, "{what} at {at_ms} ms");
        assert!(copies || at_ms < 100 || run.observer().in_flight() > 0, "{what} at {at_ms} ms");
    }
    run.run_until(Time::from_nanos(END));
    let dropped = run.queue(0).dropped;
    let (_, outcome, ledger) = run.finish();
    assert_eq!(ledger.fault(copies, true), None, "{what} at the end");
    for flow in 0..5 {
        assert!(ledger.of(flow, |fate| fate.delivered) > 50, "{what}: flow {flow} was starved");
    }
    (ledger, outcome, dropped)
}

fn example(kind: &str) -> Vec<(&'static str, Value)> {
    let (some, span) = (Value::Number(0.02), |ms: u64| Value::Whole(ms * MILLI));
    match kind {
        "loss" | "duplicate" => vec![("probability", some)],
        "gilbert_elliott" => vec![("p", some), ("r", Value::Number(0.3))],
        "jitter" => vec![("max_ns", span(3))],
        "netem" => vec![("delay_ns", span(5)), ("jitter_ns", span(6)), ("reorder", some)],
        "route" => vec![("every_ns", span(300)), ("spread_ns", span(20))],
        "outage" => vec![("every_ns", span(500)), ("lasts_ns", span(60))],
        "policer" => {
            vec![("rate_bps", Value::Whole(4_000_000)), ("burst_bytes", Value::Whole(9_000))]
        }
        "ack_thinning" => vec![("max_packets", Value::Whole(10)), ("hold_ns", span(3))],
        other => panic!("no example of {other}"),
    }
}

fn impaired_scenario(kind: &str, direction: Direction) -> Scenario {
    let entry = info(IMPAIRMENTS, kind).expect("a known impairment");
    let element = Choice::with_defaults(entry, Rate::from_bps(RATE));
    let element = example(kind).into_iter().fold(element, |e, (key, value)| e.set(key, value));
    let mut case = case();
    case.path.impairments = vec![Impairment { direction, at: ImpairmentPlace::Behind, element }];
    case
}

#[test]
fn every_queue_accounts_for_each_datagram() {
    for entry in QUEUES {
        let mut case = case();
        case.path.queue = Choice::with_defaults(entry, Rate::from_bps(RATE));
        if !matches!(entry.limit_unit(), Some(LimitUnit::Bytes(_))) {
            case.path.buffer = Limit::Packets(16);
        }
        let (ledger, _, dropped) = run_with_ledger(case, false, entry.name);
        assert_eq!((ledger.dropped, ledger.lost), (dropped, 0), "{}", entry.name);
        assert!(dropped > 10, "{}: {dropped} drops", entry.name);
    }
}

#[test]
fn every_impairment_accounts_for_each_datagram() {
    for entry in IMPAIRMENTS {
        let copies = entry.name == "duplicate";
        let (ledger, outcome, dropped) =
            run_with_ledger(impaired_scenario(entry.name, Direction::Forward), copies, entry.name);
        let own = outcome.impairments_dropped[0];
        let policed = if entry.name == "policer" { own } else { 0 };
        let found = (ledger.dropped, ledger.lost);
        assert_eq!(found, (dropped + policed, own - policed), "{}", entry.name);
        let drops = ["loss", "gilbert_elliott", "outage", "policer"].contains(&entry.name);
        assert_eq!(own > 5, drops, "{} dropped {own}", entry.name);
        let (offered, ended) = (|f: Fate| f.offered, Fate::finished_packets);
        let doubled = (0..5).map(|flow| ledger.of(flow, ended) - ledger.of(flow, offered));
        assert!(doubled.into_iter().all(|more| (more > 0) == copies), "{}", entry.name);
    }
}

/// A thinner takes the ACKs of TCP alone; other elements of the way back drop what they drop.
#[test]
fn the_reverse_path_accounts_for_each_datagram() {
    for entry in IMPAIRMENTS {
        let copies = entry.name == "duplicate";
        let back = impaired_scenario(entry.name, Direction::Backward);
        let (ledger, _, dropped) = run_with_ledger(back, copies, entry.name);
        if entry.name == "ack_thinning" {
            let merged = ledger.dropped - dropped;
            assert!((20..=ledger.of(TCP, |fate| fate.dropped)).contains(&merged), "{merged}");
        }
    }
}

#[test]
fn changes_of_the_path_account_for_each_datagram() {
    let mut case = case();
    let at = |ms: u64| Change { at_ns: ms * MILLI, ..Change::default() };
    case.changes = vec![
        Change { rate_bps: Some(RATE / 4), ..at(300) },
        Change { rtt_ns: Some(90 * MILLI), ..at(500) },
        Change { loss: Some(0.05), rate_bps: Some(2 * RATE), ..at(700) },
        Change { rtt_ns: Some(10 * MILLI), ..at(900) },
    ];
    let (ledger, outcome, dropped) = run_with_ledger(case, false, "changes");
    assert_eq!((ledger.dropped, ledger.lost), (dropped, outcome.path_lost));
    assert!(dropped > 10 && outcome.path_lost > 5, "{dropped} {}", outcome.path_lost);
}

/// A count that is one too many or one too few is found.
#[test]
fn a_wrong_count_is_found() {
    let (right, ..) = run_with_ledger(case(), false, "droptail");
    for flow in 0..5 {
        let place = right.fates.iter().find(|((of, _), _)| *of == flow).expect("it sent").0;
        for plant in [
            |fate: &mut Fate| fate.offered += 1,
            |fate: &mut Fate| fate.delivered += 1,
            |fate: &mut Fate| fate.dropped += 1,
        ] {
            let mut wrong = right.clone();
            plant(wrong.fates.get_mut(place).expect("it was found"));
            assert!(wrong.fault(false, true).is_some(), "flow {flow}");
        }
    }
}
