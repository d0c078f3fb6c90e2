//! Runs in steps: they give the same as runs at once, whatever is changed in their course.

use std::ops::ControlFlow;

use crate::common::{MILLI, SECOND, bdp, scenario};
use narrows_base::{Bytes, Rate, Stream, Time};
use narrows_cc::Setting;
use narrows_net::config::Choice;
use narrows_record::{NullObserver, Recorder};
use narrows_sim::{Controls, Simulation};
use narrows_spec::scenario::{Change, Flow, Level, LinkConfig, Scenario};

fn recorder(scenario: &Scenario) -> Recorder {
    Recorder::new(scenario.run.record, Time::from_nanos(scenario.run.warmup_ns))
}

fn at_once(scenario: &Scenario) -> String {
    let mut recorder = recorder(scenario);
    narrows_sim::run(scenario, &mut recorder, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    recorder.digest().to_string()
}

fn begin(scenario: &Scenario) -> Simulation<Recorder> {
    let made = Simulation::new(scenario.clone(), Controls::new(), recorder(scenario));
    made.unwrap_or_else(|problems| panic!("{problems}"))
}

/// The scenario with all changes, and the digest.
fn end(simulation: Simulation<Recorder>) -> (Scenario, String) {
    let (scenario, _, recorder) = simulation.finish();
    (scenario, recorder.digest().to_string())
}

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * MILLI)
}

/// Paths with late and punctual links, loss, jitter, and data both ways.
fn cases() -> Vec<Scenario> {
    let mut cases = Vec::new();
    for level in [Level::Summary, Level::Samples, Level::Packets] {
        let mut plain = scenario(10, 20, bdp(10, 20, 100), &["cubic", "bbr", "fixed"]);
        plain.run.record = level;
        plain.run.duration_ns = 4 * SECOND;
        plain.run.warmup_ns = SECOND;
        let mut noisy = plain.clone();
        noisy.path.loss = 0.002;
        noisy.path.reverse = Some(LinkConfig {
            name: "reverse".into(),
            rate_bps: 5_000_000,
            buffer: plain.path.buffer,
            queue: Choice::new("droptail"),
            service: Choice::new("constant"),
        });
        noisy.flows[1].reverse = true;
        noisy.flows[1].rtt_ns = Some(35 * MILLI);
        noisy.host.jitter_ns = 20_000;
        cases.extend([plain, noisy]);
    }
    cases
}

#[test]
fn steps_change_nothing() {
    for case in cases() {
        let (mut stepped, mut random) = (begin(&case), Stream::new(1, "steps"));
        while !stepped.is_over() {
            let step = Time::from_nanos(stepped.now().as_nanos() + random.below(300 * MILLI));
            stepped.run_until(step);
            let _ = stepped.queue(0);
        }
        assert_eq!(end(stepped).1, at_once(&case), "{:?}", case.run.record);
    }
}

fn changes() -> Vec<(u64, Change)> {
    let change = Change::default;
    vec![
        (500, Change { rate_bps: Some(3_000_001), ..change() }),
        (777, Change { rtt_ns: Some(50 * MILLI + 1), loss: Some(0.01), ..change() }),
        (777, Change { rate_bps: Some(12_000_000), rtt_ns: Some(10 * MILLI), ..change() }),
        (
            1_500,
            Change {
                flow: Some("fixed-3".into()),
                window_packets: Some(40),
                pacing_rate_bps: Some(2_000_000),
                ..change()
            },
        ),
        (2_000, Change { flow: Some("cubic-1".into()), stop: true, ..change() }),
        (2_500, Change { loss: Some(0.0), ..change() }),
    ]
}

/// Changes in the course of a run are recorded, and a run of the record repeats them.
#[test]
fn a_changed_run_is_repeated_from_its_scenario() {
    for case in cases() {
        let mut stepped = begin(&case);
        for (ms, change) in changes() {
            stepped.run_until(at(ms));
            stepped.change(change).unwrap_or_else(|problems| panic!("{problems}"));
        }
        stepped.run_until(at(2_750));
        stepped.set(2, Setting { window: Some(5), pacing_rate: None });
        stepped.run_until(at(3_000));
        let (scenario, digest) = end(stepped);
        assert_eq!(scenario.changes.len(), changes().len() + 2, "the last one ends the run");
        assert_eq!(scenario.run.duration_ns, 4 * SECOND);
        assert_eq!(digest, at_once(&scenario), "{:?}", case.run.record);
        assert_ne!(digest, at_once(&Scenario { changes: Vec::new(), ..scenario }));
    }
}

#[test]
fn a_change_comes_before_a_later_one_that_was_planned() {
    let mut case = scenario(10, 20, bdp(10, 20, 100), &["reno"]);
    case.run = narrows_spec::scenario::Run { duration_ns: 2 * SECOND, warmup_ns: 0, ..case.run };
    let planned = Change { at_ns: SECOND, rate_bps: Some(1_000_000), ..Change::default() };
    case.changes = vec![planned];
    let mut stepped = begin(&case);
    stepped.run_until(at(400));
    stepped.change(Change { rate_bps: Some(20_000_000), ..Change::default() }).unwrap();
    stepped.run_until(at(2_000));
    let (scenario, digest) = end(stepped);
    let times: Vec<u64> = scenario.changes.iter().map(|change| change.at_ns / MILLI).collect();
    assert_eq!((times.as_slice(), digest), (&[400, 1_000][..], at_once(&scenario)));
}

#[test]
fn a_fork_goes_on_by_itself() {
    for case in cases() {
        let mut one = begin(&case);
        one.run_until(at(500));
        one.change(Change { rate_bps: Some(4_000_000), ..Change::default() }).unwrap();
        one.run_until(at(900));
        let mut other = one.fork(recorder(&case));
        assert_eq!((other.now(), other.flow(0)), (one.now(), one.flow(0)));
        other.change(Change { loss: Some(0.05), ..Change::default() }).unwrap();
        for run in [&mut one, &mut other] {
            run.run_until(at(2_000));
        }
        let ((one, first), (other, second)) = (end(one), end(other));
        assert_ne!(first, second);
        assert_eq!([first, second], [at_once(&one), at_once(&other)]);
    }
}

#[test]
fn a_flow_that_is_added_starts_now_and_leaves_the_past_as_it_was() {
    for case in cases() {
        let mut one = begin(&case);
        one.run_until(at(800));
        let before = (one.flow(0), one.flow(1), one.flow(2), one.queue(0).forwarded);
        let late = Flow { name: "late".into(), rtt_ns: Some(7 * MILLI), ..case.flows[0].clone() };
        let mut more = one.with(late, recorder(&case)).unwrap();
        let after = (more.flow(0), more.flow(1), more.flow(2), more.queue(0).forwarded);
        assert_eq!(after, before);
        assert_eq!(more.flow(3).sent, 0);
        more.run_until(at(1_500));
        assert!(more.flow(3).received > Bytes::new(20_000), "{:?}", more.flow(3));
        let (scenario, digest) = end(more);
        assert_eq!(digest, at_once(&scenario));
    }
}

#[test]
fn changes_have_their_effect_at_once() {
    let mut case = scenario(10, 40, bdp(10, 40, 100), &["cubic"]);
    case.run.duration_ns = 20 * SECOND;
    let mut run = Simulation::new(case, Controls::new(), NullObserver).unwrap();
    run.run_until(at(5_000));
    let bits = |run: &mut Simulation<NullObserver>, ms: u64| {
        let before = run.queue(0).forwarded_bytes;
        run.run_until(at(ms));
        (run.queue(0).forwarded_bytes - before).get() * 8
    };
    assert!((9_500_000..=10_012_000).contains(&bits(&mut run, 6_000)));
    run.change(Change { rate_bps: Some(2_500_000), ..Change::default() }).unwrap();
    assert!((2_488_000..=2_512_000).contains(&bits(&mut run, 7_000)));
    assert_eq!(run.flow(0).min_rtt.unwrap().as_micros() / 1_000, 40);
    let lost = run.flow(0).dropped;
    run.change(Change { rate_bps: Some(10_000_000), loss: Some(0.5), ..Change::default() })
        .unwrap();
    bits(&mut run, 8_000);
    assert!(run.flow(0).dropped > lost + 10);
    run.change(Change { loss: Some(0.0), rtt_ns: Some(10 * MILLI), ..Change::default() }).unwrap();
    bits(&mut run, 12_000);
    assert!(run.flow(0).min_rtt.unwrap().as_micros() < 20_000);
    run.change(Change { flow: Some("cubic-1".into()), stop: true, ..Change::default() }).unwrap();
    bits(&mut run, 13_000);
    assert_eq!(bits(&mut run, 14_000), 0, "the flow has stopped");
}

#[test]
fn a_window_and_a_rate_are_set() {
    let mut case = scenario(10, 40, bdp(10, 40, 200), &["fixed"]);
    case.run.duration_ns = 20 * SECOND;
    let mut run = Simulation::new(case, Controls::new(), NullObserver).unwrap();
    let setting = Setting { window: Some(20), pacing_rate: Some(Rate::from_bps(100_000_000)) };
    // Before the handshake ends it holds for the control that will be made.
    run.run_until(at(1));
    run.set(0, setting);
    run.run_until(at(1_000));
    let flow = run.flow(0);
    assert_eq!((flow.cwnd, (17..=20).contains(&flow.in_flight)), (20, true), "{flow:?}");
    run.set(0, Setting { window: Some(2_000), pacing_rate: Some(Rate::from_bps(2_896_000)) });
    run.run_until(at(2_000));
    let before = run.flow(0).delivered;
    run.run_until(at(3_000));
    assert!((248..=252).contains(&(run.flow(0).delivered - before)), "250 packets of 1448 bytes");
}

#[test]
fn impossible_changes_are_refused_and_leave_no_trace() {
    let mut case = scenario(10, 40, bdp(10, 40, 100), &["cubic", "reno"]);
    case.flows[1].rtt_ns = Some(40 * MILLI);
    let mut run = begin(&case);
    run.run_until(at(100));
    let nothing = Change::default;
    let flow = |name: &str| Some(name.to_owned());
    for (change, place, found) in [
        (nothing(), "changes[0]", "a change of nothing"),
        (
            Change { link: flow("x"), rate_bps: Some(1), ..nothing() },
            "changes[0].link",
            "not a link",
        ),
        (Change { rate_bps: Some(0), ..nothing() }, "changes[0].rate_bps", "0"),
        (Change { rtt_ns: Some(1), ..nothing() }, "changes[0].rtt_ns", "same delay"),
        (Change { stop: true, ..nothing() }, "changes[0].flow", "nothing"),
        (Change { flow: flow("cubic"), ..nothing() }, "changes[0].flow", "without a change"),
        (Change { flow: flow("bbr"), stop: true, ..nothing() }, "changes[0].flow", "not a flow"),
        (
            Change { flow: flow("cubic-1"), window_packets: Some(1), ..nothing() },
            "changes[0].flow",
            "control \"cubic\"",
        ),
    ] {
        let problems = run.change(change.clone()).expect_err("it is refused");
        let problem = &problems.0[0];
        assert_eq!(problem.place.to_string(), place, "{change:?}");
        assert!(problem.found.contains(found), "{change:?}: {}", problem.found);
        assert!(run.scenario().changes.is_empty());
    }
    run.run_until(at(60_000));
    assert!(run.is_over());
    let late = run.change(Change { loss: Some(0.1), ..nothing() }).expect_err("it is over");
    assert!(late.to_string().contains("after the end of the run"));
}

/// Without a step the instant 0 hasn't happened yet, and a change comes after it.
#[test]
fn a_change_before_the_first_step_counts() {
    for case in cases() {
        for change in [
            Change { flow: Some("fixed-3".into()), window_packets: Some(40), ..Change::default() },
            Change { flow: Some("cubic-1".into()), stop: true, ..Change::default() },
            Change { rate_bps: Some(3_000_001), ..Change::default() },
        ] {
            let mut stepped = begin(&case);
            stepped.change(change).unwrap_or_else(|problems| panic!("{problems}"));
            stepped.run_until(at(2_000));
            let (scenario, digest) = end(stepped);
            assert_eq!(scenario.changes[0].at_ns, 0);
            assert_eq!(digest, at_once(&scenario), "{:?}", case.run.record);
        }
    }
}

/// A run can be ended before its warm-up, before a flow starts, or at once; and what happens at one
/// instant happens in the same order again.
#[test]
fn a_run_that_is_ended_at_any_time_is_repeated_from_its_scenario() {
    for case in cases() {
        let mut case = case;
        case.flows[1].start_ns = 3 * SECOND;
        for ms in [0, 500, 1_000, 2_999, 3_000] {
            let mut stepped = begin(&case);
            stepped.run_until(at(ms));
            stepped.set(2, Setting { window: Some(40), pacing_rate: None });
            stepped.set(2, Setting { window: Some(3), pacing_rate: None });
            stepped.change(Change { loss: Some(0.5), ..Change::default() }).unwrap();
            let (scenario, digest) = end(stepped);
            assert_eq!(digest, at_once(&scenario), "{ms} ms, {:?}", case.run.record);
        }
    }
}
