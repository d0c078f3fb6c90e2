//! Checks whether a scenario can be run; there is no other check.

mod changes;
mod flows;
mod path;
mod workload;

use narrows_tcp::PROFILES;

use crate::limits::{MAX_DURATION_NS, MAX_ROWS};
use crate::names::Names;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::scenario::{Run, Scenario};
use crate::text::{one_of, quote};
use crate::units::format_duration;

/// The value of `stop_when` that ends a run when every flow with a size is done.
pub const ALL: &str = "all";

/// Checks a scenario. `own` says which unregistered controls the caller has.
///
/// # Errors
/// All problems, each with its place in the scenario.
pub fn check(scenario: &Scenario, own: &dyn Fn(&str) -> bool) -> Result<(), Problems> {
    let names = Names::of(&scenario.flows);
    let mut checker = Checker { scenario, own, names, problems: Vec::new() };
    checker.path();
    checker.flows();
    checker.run(&scenario.run);
    checker.profiles();
    checker.changes();
    if checker.problems.is_empty() { Ok(()) } else { Err(Problems(checker.problems)) }
}

/// Gathers the problems of a scenario.
struct Checker<'a> {
    scenario: &'a Scenario,
    own: &'a dyn Fn(&str) -> bool,
    names: Names<'a>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn wrong(&mut self, place: Place, found: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem::new(ProblemKind::Relation, place, found, remedy));
    }

    /// A nonzero duration.
    fn span(&mut self, place: Place, ns: u64) {
        if ns == 0 {
            self.wrong(place.clone(), "\"0s\"", "a duration above zero");
        }
        self.duration(place, ns);
    }

    fn duration(&mut self, place: Place, ns: u64) {
        if ns > MAX_DURATION_NS {
            let most = format_duration(MAX_DURATION_NS);
            self.wrong(place, format_ns(ns), format!("a duration of at most {most}"));
        }
    }

    fn run(&mut self, run: &Run) {
        let place = |key: &str| Place::default().key("run").key(key);
        self.span(place("duration_ns"), run.duration_ns);
        self.span(place("sample_interval_ns"), run.sample_interval_ns);
        let end = format_duration(run.duration_ns);
        if run.warmup_ns >= run.duration_ns {
            let remedy = format!("a warm-up shorter than the run (\"{end}\")");
            self.wrong(place("warmup_ns"), format_ns(run.warmup_ns), remedy);
        }
        let interval = run.sample_interval_ns;
        if interval > 0 && run.duration_ns / interval > MAX_ROWS {
            let least = format_duration(run.duration_ns.div_ceil(MAX_ROWS));
            let remedy = format!("at least \"{least}\" for a run of this length");
            self.wrong(place("sample_interval_ns"), format_ns(interval), remedy);
        }
        match run.stop_when.as_deref() {
            None => {}
            Some(ALL) if self.scenario.flows.iter().any(|flow| flow.size_bytes.is_some()) => {}
            Some(ALL) => {
                let found = "\"all\" without a flow that ends";
                self.wrong(place("stop_when"), found, "a flow with a size");
            }
            Some(name) => self.ends(place("stop_when"), name, None, &[ALL]),
        }
    }

    fn profiles(&mut self) {
        let scenario = self.scenario;
        self.profile(Place::default().key("host").key("profile"), &scenario.host.profile);
        for (index, flow) in scenario.flows.iter().enumerate() {
            if let Some(name) = &flow.profile {
                self.profile(Place::default().key("flows").index(index).key("profile"), name);
            }
        }
    }

    fn profile(&mut self, place: Place, name: &str) {
        if !PROFILES.iter().any(|profile| profile.name == name) {
            let remedy = one_of(name, PROFILES.iter().map(|profile| profile.name));
            self.wrong(place, format!("{}, which is not a profile", quote(name)), remedy);
        }
    }
}

/// A duration as it would be written.
fn format_ns(ns: u64) -> String {
    quote(&format_duration(ns))
}
