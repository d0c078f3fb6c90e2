//! The same scenario and seed give the same digest: in any build, in any order,
//! on any thread.

use std::ops::ControlFlow;

use crate::common::{SECOND, bdp, scenario};
use narrows_base::{Level, Time};
use narrows_record::Recorder;
use narrows_spec::scenario::Scenario;

fn digest(scenario: &Scenario) -> String {
    let mut recorder = Recorder::new(Level::Packets, Time::from_nanos(scenario.run.warmup_ns));
    narrows_sim::run(scenario, &mut recorder, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    recorder.digest().to_string()
}

fn cases() -> Vec<(String, Scenario)> {
    let mut cases = Vec::new();
    for (index, ccas) in [&["cubic"][..], &["bbr", "cubic"], &["reno", "bbr", "cubic", "bbr"]]
        .into_iter()
        .enumerate()
    {
        for seed in [1, 2] {
            let mut case = scenario(20, 30, bdp(20, 30, 75), ccas);
            case.name = format!("pinned-{index}-{seed}");
            case.seed = seed;
            case.path.loss = 0.001;
            case.host.jitter_ns = 20_000;
            case.run.duration_ns = 5 * SECOND;
            case.run.warmup_ns = SECOND;
            case.run.record = Level::Packets;
            case.flows[0].rtt_ns = Some(45_000_000);
            cases.push((case.name.clone(), case));
        }
    }
    cases
}

/// Digests that every build must give: the tests of the Python package hold the
/// release build to the same snapshot. If they change, results change: say so
/// in CHANGELOG.md.
#[test]
fn digests_are_pinned() {
    let found: String = cases()
        .iter()
        .map(|(name, case)| {
            let json = serde_json::to_string(case).expect("a scenario is plain data");
            format!("{name} {} {json}\n", digest(case))
        })
        .collect();
    insta::assert_snapshot!(found);
}

#[test]
fn order_and_threads_do_not_matter() {
    let forward: Vec<_> = cases().iter().map(|(_, case)| digest(case)).collect();
    let mut backward: Vec<_> = cases().iter().rev().map(|(_, case)| digest(case)).collect();
    backward.reverse();
    assert_eq!(forward, backward);
    let threads: Vec<_> =
        cases().into_iter().map(|(_, case)| std::thread::spawn(move || digest(&case))).collect();
    let parallel: Vec<_> = threads.into_iter().map(|t| t.join().expect("a run")).collect();
    assert_eq!(forward, parallel);
}

#[test]
fn different_cases_have_different_digests() {
    let digests: std::collections::BTreeSet<_> =
        cases().iter().map(|(_, case)| digest(case)).collect();
    assert_eq!(digests.len(), cases().len());
}

/// Adding a flow that starts as the run ends leaves the others as they were.
#[test]
fn another_flow_does_not_disturb_the_random_streams() {
    let alone = scenario(20, 30, bdp(20, 30, 75), &["bbr"]);
    let mut joined = scenario(20, 30, bdp(20, 30, 75), &["bbr", "cubic"]);
    joined.flows[1].start_ns = joined.run.duration_ns - 1;
    let last = |case: &Scenario| crate::common::run(case).flow(0).last().expect("a sample").1;
    assert_eq!(last(&alone), last(&joined));
}
