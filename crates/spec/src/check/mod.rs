//! Whether a scenario can be run.

mod workload;

use std::collections::BTreeMap;

use narrows_net::path::PathError;
use narrows_tcp::{PROFILES, profile};
use thiserror::Error;

use crate::scenario::{Flow, Scenario};
use workload::check_workload;

/// A scenario that can't be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: found {found}; {need}")]
pub struct ScenarioError {
    /// Where in the scenario.
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What would be right.
    pub need: String,
}

fn error(place: &str, found: impl ToString, need: &str) -> ScenarioError {
    ScenarioError { place: place.into(), found: found.to_string(), need: need.into() }
}

fn at(place: &str, fault: PathError) -> ScenarioError {
    let place = format!("{place}.{}", fault.place);
    ScenarioError { place, found: fault.found, need: fault.need }
}

fn above_zero(place: &str, value: u64, need: &str) -> Result<(), ScenarioError> {
    if value == 0 { Err(error(place, value, need)) } else { Ok(()) }
}

/// Checks a scenario. `own` says which controls the caller has beside those of the registry.
///
/// # Errors
/// The first thing that is wrong: the place, what was found and what would be right.
pub fn check(scenario: &Scenario, own: &dyn Fn(&str) -> bool) -> Result<(), ScenarioError> {
    scenario.path.check().map_err(|fault| at("path", fault))?;
    check_run(scenario)?;
    if scenario.flows.is_empty() {
        return Err(error("flows", "none", "at least one flow is needed"));
    }
    let mut names = BTreeMap::new();
    for flow in &scenario.flows {
        *names.entry(flow.name.as_str()).or_insert(0_u32) += 1;
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        check_flow(scenario, own, index, flow)?;
        check_names(&names, index, flow)?;
    }
    check_profile(&scenario.host.profile)
}

fn check_profile(name: &str) -> Result<(), ScenarioError> {
    profile(name).map(|_| ()).ok_or_else(|| {
        let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
        let need = format!("one of {} is needed", names.join(", "));
        error("host.profile", name, &need)
    })
}

fn check_run(scenario: &Scenario) -> Result<(), ScenarioError> {
    let run = &scenario.run;
    above_zero("run.duration_ns", run.duration_ns, "a duration above zero is needed")?;
    above_zero("run.sample_interval_ns", run.sample_interval_ns, "an interval is needed")?;
    if run.warmup_ns >= run.duration_ns {
        return Err(error("run.warmup_ns", run.warmup_ns, "it must end before the run does"));
    }
    let known = |name: &str| name == "all" || scenario.flows.iter().any(|flow| flow.name == name);
    match &run.stop_when {
        Some(name) if !known(name) => {
            Err(error("run.stop_when", name, "\"all\" or the name of a flow is needed"))
        }
        _ => Ok(()),
    }
}

fn check_flow(
    scenario: &Scenario,
    own: &dyn Fn(&str) -> bool,
    index: usize,
    flow: &Flow,
) -> Result<(), ScenarioError> {
    let place = |key: &str| format!("flows[{index}].{key}");
    if !own(&flow.cca) {
        let known = narrows_cc::validate(&flow.cca, &flow.options);
        known.map_err(|reason| error(&place("cca"), &flow.cca, &reason.to_string()))?;
    }
    if flow.size_bytes == Some(0) {
        return Err(error(&place("size_bytes"), 0, "a size above zero is needed"));
    }
    if flow.repeat_gap_ns.is_some() && flow.size_bytes.is_none() {
        return Err(error(&place("repeat_gap_ns"), "no size", "only a sized flow can repeat"));
    }
    if flow.stop_ns.is_some_and(|stop| stop <= flow.start_ns) {
        return Err(error(&place("stop_ns"), flow.start_ns, "it must come after the start"));
    }
    if let Some(workload) = &flow.workload {
        check_workload(flow, workload)
            .map_err(|(key, found, need)| error(&place(key), found, need))?;
    }
    scenario
        .path
        .check_way(flow.reverse, flow.links.as_deref())
        .map_err(|fault| at(&format!("flows[{index}]"), fault))
}

/// Checks the name of a flow and the one that it refers to, where `names` counts how many
/// flows have each.
fn check_names(
    names: &BTreeMap<&str, u32>,
    index: usize,
    flow: &Flow,
) -> Result<(), ScenarioError> {
    let place = |key: &str| format!("flows[{index}].{key}");
    if names[flow.name.as_str()] > 1 {
        return Err(error(&place("name"), &flow.name, "every flow needs its own name"));
    }
    match flow.while_flow.as_deref() {
        Some(name) if !names.contains_key(name) => {
            Err(error(&place("while"), name, "the name of another flow is needed"))
        }
        _ => Ok(()),
    }
}
