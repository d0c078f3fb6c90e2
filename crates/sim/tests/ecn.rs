//! Flows whose packets are marked instead of dropped.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::{Log, SECOND, bdp, run, scenario};
use narrows_base::Rate;
use narrows_net::config::{Choice, QUEUES, Value, info};
use narrows_spec::scenario::{EcnMode, Limit, Scenario};

const MBPS: u64 = 100;
const RTT_MS: u64 = 10;
/// Sojourn at which the queue marks, in ms: a fifth of the round trip, above the seventh that
/// DCTCP needs for a full link (Alizadeh and others 2011).
const STEP_MS: u64 = 2;

fn queue(kind: &str, values: &[(&str, Value)]) -> Choice {
    let known = info(QUEUES, kind).expect("a known queue");
    let plain = Choice::with_defaults(known, Rate::from_bps(MBPS * 1_000_000));
    values.iter().fold(plain, |choice, (key, value)| choice.set(key, value.clone()))
}

fn flows(ccas: &[&str], ecn: EcnMode, queue: Choice) -> Scenario {
    let mut case = scenario(MBPS, RTT_MS, bdp(MBPS, RTT_MS, 100), ccas);
    case.path.buffer = Limit::Packets(1_000);
    case.path.queue = queue;
    case.flows.iter_mut().for_each(|flow| flow.ecn = ecn);
    case.run.duration_ns = 12 * SECOND;
    case.run.warmup_ns = 2 * SECOND;
    case
}

/// CoDel that never drops, and marks by a step.
fn step() -> Choice {
    let step = Value::Whole(STEP_MS * crate::common::MILLI);
    queue("codel", &[("target_ns", Value::Whole(SECOND)), ("ce_threshold_ns", step)])
}

/// Goodput of all flows in Mbit/s, mean queueing delay in ms, packets dropped and marked.
fn outcome(log: &Log, flows: u32) -> (f64, f64, u64, u64) {
    let goodput = (0..flows).map(|flow| log.goodput(flow, 2.0, 12.0)).sum();
    let last = log.queues.last().expect("a sample").1;
    (goodput, log.mean_queue(2.0, 12.0) / (MBPS * 125) as f64, last.dropped, last.marked)
}

#[test]
fn dctcp_holds_its_queue_at_the_step() {
    for ccas in [&["dctcp"][..], &["dctcp"; 4]] {
        let log = run(&flows(ccas, EcnMode::Dctcp, step()));
        let flows = u32::try_from(ccas.len()).unwrap();
        let (goodput, delay, dropped, marked) = outcome(&log, flows);
        assert!(goodput > 94.0, "{goodput} Mbit/s");
        assert!((0.5..2.5).contains(&delay), "{delay} ms of queue");
        assert_eq!(dropped, 0);
        assert!(marked > 100, "{marked}");
    }
}

#[test]
fn dualpi2_starves_dctcp_where_a_packet_takes_longer_than_the_step() {
    // 1.2 ms of 1 ms: whatever waits behind another packet is marked, unless two must wait.
    let goodput = |values: &[(&str, Value)]| {
        let mut case = flows(&["dctcp"], EcnMode::L4s, queue("dualpi2", values));
        case.path.rate_bps = 10_000_000;
        case.path.rtt_ns = 20 * crate::common::MILLI;
        run(&case).goodput(0, 2.0, 12.0)
    };
    let (linux, rfc) = (goodput(&[]), goodput(&[("min_qlen_step_packets", Value::Whole(1))]));
    assert!(linux < 2.0, "{linux} Mbit/s with Linux's defaults");
    assert!(rfc > 8.5, "{rfc} Mbit/s with RFC 9332's Th_len");
}

#[test]
fn prague_holds_its_queue_at_the_marks() {
    // The L queue of DualPI2 marks what waited for 1 ms.
    for (queue, delays) in [(step(), 0.5..2.2), (queue("dualpi2", &[]), 0.2..1.0)] {
        for ccas in [&["prague"][..], &["prague"; 4]] {
            let log = run(&flows(ccas, EcnMode::L4s, queue.clone()));
            let flows = u32::try_from(ccas.len()).unwrap();
            let (goodput, delay, dropped, marked) = outcome(&log, flows);
            assert!(goodput > 88.0, "{goodput} Mbit/s");
            assert!(delays.contains(&delay), "{delay} ms of queue");
            assert_eq!(dropped, 0);
            assert!(marked > 1_000, "{marked}");
            let each = (0..flows).map(|flow| log.goodput(flow, 2.0, 12.0));
            assert!(each.clone().fold(0.0, f64::max) < 1.4 * each.fold(f64::MAX, f64::min));
        }
    }
}

#[test]
fn prague_and_cubic_share_behind_dualpi2() {
    let mut case = flows(&["prague", "cubic"], EcnMode::L4s, queue("dualpi2", &[]));
    case.flows[1].ecn = EcnMode::Off;
    let log = run(&case);
    let share = log.goodput(0, 2.0, 12.0) / log.goodput(1, 2.0, 12.0);
    assert!((0.6..1.7).contains(&share), "{share}");
}

#[test]
fn classic_flows_are_marked_and_lose_nothing() {
    for kind in ["codel", "pie", "fq_codel"] {
        let mut case =
            flows(&["cubic"; 2], EcnMode::Classic, queue(kind, &[("ecn", Value::Flag(true))]));
        let (goodput, delay, dropped, marked) = outcome(&run(&case), 2);
        case.flows.iter_mut().for_each(|flow| flow.ecn = EcnMode::Off);
        let (without, longer, drops, _) = outcome(&run(&case), 2);
        assert_eq!(dropped, 0, "{kind}");
        assert!(marked > 10 && drops > 10, "{kind}: {marked} marks, {drops} drops");
        assert!((goodput - without).abs() < 0.5, "{kind}: {goodput} and {without} Mbit/s");
        assert!((delay - longer).abs() < 1.0, "{kind}: {delay} and {longer} ms");
    }
}
