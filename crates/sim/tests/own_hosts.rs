//! Flows whose own hosts differ from those of the others.

use std::ops::ControlFlow;

use crate::common::{SECOND, bdp, scenario};
use narrows_record::Digest;
use narrows_spec::scenario::Scenario;

const OLD: &str = "linux-4.9";

fn digest(scenario: &Scenario) -> String {
    let mut digest = Digest::default();
    narrows_sim::run(scenario, &mut digest, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    digest.to_string()
}

fn two_flows() -> Scenario {
    let mut case = scenario(20, 40, bdp(20, 40, 100), &["bbr", "cubic"]);
    case.run.duration_ns = 10 * SECOND;
    case.run.warmup_ns = SECOND;
    case
}

#[test]
fn settings_of_all_flows_equal_settings_of_the_hosts() {
    let usual = two_flows();
    let (mut by_hosts, mut by_flows) = (usual.clone(), usual.clone());
    (by_hosts.host.profile, by_hosts.host.fq) = (OLD.into(), true);
    for flow in &mut by_flows.flows {
        (flow.profile, flow.fq) = (Some(OLD.into()), Some(true));
    }
    assert_eq!(digest(&by_hosts), digest(&by_flows));
    assert_ne!(digest(&usual), digest(&by_flows));
}

#[test]
fn an_old_kernel_runs_beside_a_new_one() {
    let usual = two_flows();
    let mut mixed = usual.clone();
    mixed.flows[0].profile = Some(OLD.into());
    let mut old = usual.clone();
    old.host.profile = OLD.into();
    let found = [&usual, &mixed, &old].map(digest);
    assert!(found[0] != found[1] && found[1] != found[2] && found[0] != found[2], "{found:?}");
}

#[test]
fn settings_that_only_real_kernels_have_are_refused() {
    let mut case = two_flows();
    case.flows[1].kernel = Some("mine".into());
    (case.flows[0].server, case.flows[0].client) = (vec!["a".into()], vec!["b".into()]);
    case.flows[0].sysctls.insert("tcp_sack".into(), "0".into());
    let problems =
        narrows_sim::run(&case, &mut Digest::default(), &mut |_, _| ControlFlow::Continue(()));
    let message = problems.expect_err("no kernel is here").to_string();
    for place in ["flows[0].sysctls", "flows[0].server", "flows[1].kernel"] {
        assert!(message.contains(place), "{message}");
    }
}

#[test]
fn a_profile_has_to_be_known() {
    let mut case = two_flows();
    case.flows[1].profile = Some("linux-1.0".into());
    let problems =
        narrows_sim::run(&case, &mut Digest::default(), &mut |_, _| ControlFlow::Continue(()));
    assert!(problems.expect_err("unknown").to_string().contains("flows[1].profile"));
}
