//! QUIC stacks in the simulator.

#![allow(clippy::cast_precision_loss, reason = "small numbers")]

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use narrows_base::registry::{Choice, Value, info};
use narrows_base::{Duration, FlowId, Heading, Packet, Point, Rate, Time};
use narrows_net::config::QUEUES;
use narrows_record::{FlowSample, NullObserver, Recorder, Tap};
use narrows_sim::{Controls, SimTap, Simulation, run_with};
use narrows_spec::scenario::{EcnMode, Limit, Scenario};
use narrows_stacks::{Logs, with_stacks};
use narrows_tcp::{Segment, SenderView};
use serde_json::json;

mod conservation;

/// BBR of quinn beside Linux's CUBIC for ten seconds at 20 Mbit/s with 30 ms of round trip and a
/// buffer of one BDP.
const BBR_BESIDE_CUBIC: &str = include_str!("bbr_beside_cubic.json");
/// The digests that every build must give, with quinn's BBR and with noq's; the tests of the Python
/// package hold the release build to the same. If they change, results change: say so in
/// CHANGELOG.md.
const DIGESTS: &str = include_str!("bbr_beside_cubic.digests");

/// The controls of each stack.
const CONTROLS: [(&str, &str); 6] = [
    ("quinn", "reno"),
    ("quinn", "cubic"),
    ("quinn", "bbr"),
    ("noq", "reno"),
    ("noq", "cubic"),
    ("noq", "bbr3"),
];
const STACKS: [(&str, &str); 2] = [("quinn", "bbr"), ("noq", "bbr3")];

/// The same path with one flow with this control.
fn case(stack: &str, cca: &str) -> Scenario {
    let mut case = beside(stack, cca);
    case.flows.remove(0);
    case
}

fn beside(stack: &str, cca: &str) -> Scenario {
    let mut case: Scenario = serde_json::from_str(BBR_BESIDE_CUBIC).expect("a scenario");
    (case.flows[1].stack, case.flows[1].cca) = (Some(stack.into()), cca.into());
    case
}

fn controls() -> Controls {
    with_stacks(Controls::new(), &Logs::default())
}

fn digest(case: &Scenario, tap: impl SimTap, logs: &Logs) -> String {
    let mut recorder = Recorder::new(case.run.record, Time::from_nanos(case.run.warmup_ns));
    let mut tap = tap;
    let controls = with_stacks(Controls::new(), logs);
    let mut go_on = |_, _| ControlFlow::Continue(());
    run_with(case, &controls, &mut recorder, &mut tap, &mut go_on).expect("it runs");
    recorder.digest().to_string()
}

/// The state of the first flow at the end; the run has counted every packet.
fn at_end(case: Scenario) -> FlowSample {
    let end = Time::from_nanos(case.run.duration_ns);
    let mut run = Simulation::new(case, controls(), NullObserver).expect("it runs");
    run.run_until(end);
    let sample = run.flow(0);
    run.finish();
    sample
}

#[test]
fn every_control_fills_the_link() {
    for (stack, cca) in CONTROLS {
        let sample = at_end(case(stack, cca));
        let mbps = sample.received.get() as f64 * 8.0 / 10.0 / 1e6;
        assert!((16.0..19.7).contains(&mbps), "{stack} {cca}: {mbps} Mbit/s");
        let srtt = sample.srtt.expect("it was measured").as_secs_f64();
        assert!((0.030..0.095).contains(&srtt), "{stack} {cca}: {srtt} s");
        let min = sample.min_rtt.expect("it was measured").as_secs_f64();
        assert!((0.030..0.034).contains(&min), "{stack} {cca}: {min} s");
        assert!(sample.cwnd > 20 && sample.delivered > 10_000, "{stack} {cca}: {sample:?}");
        assert!(sample.lost <= sample.dropped, "{stack} {cca}: {sample:?}");
        // Only noq's pacer follows a rate of its control.
        let mbps = sample.pacing_rate.map(|rate| rate.as_bps() / 1_000_000);
        assert_eq!(mbps.is_some(), cca == "bbr3", "{stack} {cca}");
        assert!(mbps.is_none_or(|mbps| (10..30).contains(&mbps)), "{stack} {cca}: {mbps:?}");
    }
}

/// Keeps a qlog.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no run panicked").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps what each packet had in it.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Tap<Packet<Segment>, SenderView> for Bytes {
    fn wants_packets(&self) -> bool {
        true
    }

    fn wants_senders(&self) -> bool {
        false
    }

    fn packet(&mut self, _: Point, _: Heading, _: Time, _: &Packet<Segment>) {}

    fn packet_of_bytes(
        &mut self,
        _: Point,
        _: Heading,
        _: Time,
        _: &Packet<Segment>,
        bytes: &[u8],
    ) {
        self.0.extend_from_slice(bytes);
    }

    fn packet_lost(&mut self, _: FlowId, _: Time, _: u32) {}

    fn sender(&mut self, _: FlowId, _: Time, _: &SenderView) {}
}

#[test]
fn bbr_beside_the_kernels_cubic_repeats_itself_byte_by_byte() {
    for (stack, cca) in STACKS {
        let case = beside(stack, cca);
        let run = || {
            let (mut tap, written) = (Bytes::default(), SharedBuffer::default());
            let mine = written.clone();
            let logs = Logs::default().with_qlog(move |_| Box::new(mine.clone()));
            let digest = digest(&case, &mut tap, &logs);
            let qlog = written.0.lock().expect("no run panicked").clone();
            (digest, tap.0, logs.keys.text(), qlog)
        };
        let first = run();
        assert!(first == run(), "another run of {stack} has other bytes");
        let pinned = DIGESTS.lines().find_map(|line| line.strip_prefix(stack)).map(str::trim);
        assert_eq!(Some(&*first.0), pinned, "{stack}");
        let labels: Vec<_> = first.2.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(labels.contains(&"CLIENT_TRAFFIC_SECRET_0") && labels.len() == 5, "{labels:?}");
        let losses = String::from_utf8(first.3).expect("a text").matches("packet_lost").count();
        assert!(losses > 10, "{stack}: {losses} in its qlog");
    }
}

#[test]
fn the_seed_decides_when_bbr_of_noq_probes() {
    // Its draws decide nothing before the first probe for bandwidth.
    let received = |seed| {
        let mut case = case("noq", "bbr3");
        case.seed = seed;
        at_end(case).received
    };
    assert_ne!(received(1), received(2));
}

#[test]
fn another_seed_gives_other_bytes() {
    for (stack, _) in STACKS {
        let bytes = |seed| {
            let mut case = case(stack, "cubic");
            (case.seed, case.run.duration_ns) = (seed, 100_000_000);
            case.run.warmup_ns = 0;
            let mut tap = Bytes::default();
            digest(&case, &mut tap, &Logs::default());
            tap.0
        };
        assert!(bytes(1) == bytes(1) && bytes(1) != bytes(2), "{stack}");
    }
}

#[test]
fn a_size_is_completed_and_a_stop_ends_it() {
    for (stack, _) in STACKS {
        let mut sized = case(stack, "cubic");
        sized.flows[0].size_bytes = Some(1_000_000);
        sized.run.stop_when = Some("all".into());
        let mut run = Simulation::new(sized, controls(), NullObserver).expect("it runs");
        run.run_until(Time::from_nanos(10_000_000_000));
        assert_eq!(run.flow(0).received.get(), 1_000_000);
        let end = run.now().as_secs_f64();
        assert!((0.45..1.5).contains(&end), "1 MB takes 0.4 s at the link's rate: {end} s");

        let mut stopped = case(stack, "cubic");
        stopped.flows[0].stop_ns = Some(2_000_000_000);
        let mut run = Simulation::new(stopped, controls(), NullObserver).expect("it runs");
        run.run_until(Time::from_nanos(2_200_000_000));
        let received = run.flow(0).received.get();
        assert!((4_000_000..5_500_000).contains(&received), "{received}");
        run.run_until(Time::from_nanos(9_000_000_000));
        assert_eq!(run.flow(0).received.get(), received, "nothing more arrives");
    }
}

#[test]
fn a_receive_window_limits_it() {
    for (stack, _) in STACKS {
        let mut limited = case(stack, "cubic");
        limited.flows[0].receive_window_bytes = Some(30_000);
        let mbps = at_end(limited).received.get() as f64 * 8.0 / 10.0 / 1e6;
        // 30 kB in a round trip of 30 ms are 8 Mbit/s.
        assert!((5.0..8.1).contains(&mbps), "{mbps} Mbit/s");
    }
}

#[test]
fn marks_reduce_its_window_only_if_the_flow_uses_ecn() {
    for (stack, _) in STACKS {
        let dropped = |ecn| {
            let mut case = case(stack, "cubic");
            case.flows[0].ecn = ecn;
            let codel = info(QUEUES, "codel").expect("a known queue");
            let codel = Choice::with_defaults(codel, Rate::from_bps(20_000_000));
            case.path.buffer = Limit::Packets(1_000);
            case.path.queue = codel.set("ecn", Value::Flag(true));
            at_end(case).dropped
        };
        assert!(dropped(EcnMode::Off) > 5);
        let marked = dropped(EcnMode::Classic);
        assert_eq!(marked, 0, "marks instead of drops");
    }
}

#[test]
fn it_survives_loss_copies_and_reordering() {
    for (stack, _) in STACKS {
        let mut case = case(stack, "reno");
        case.path.loss = 0.01;
        case.path.impairments = serde_json::from_value(json!([
            {"direction": "forward", "at": "before", "kind": "duplicate", "probability": 0.02},
            {"direction": "backward", "at": "before", "kind": "duplicate", "probability": 0.02}
        ]))
        .expect("impairments");
        let sample = at_end(case);
        assert!(sample.lost > 20 && sample.received.get() > 2_000_000, "{sample:?}");
        assert!(sample.min_rtt.is_some_and(|rtt| rtt >= Duration::from_millis(30)));
    }
}
