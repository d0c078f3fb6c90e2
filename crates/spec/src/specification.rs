//! A specification that was read and checked: scenarios and checks of their results.

use std::collections::BTreeMap;

use narrows_base::Stream;
use serde::Serialize;

use crate::build::{BuiltScenario, build};
use crate::canonical::canonical_json;
use crate::check::check;
use crate::document::{Assignment, Node, override_all};
use crate::inputs::{Inputs, Module};
use crate::keys::SPECIFICATION;
use crate::limits::MAX_FLOWS;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::read::{Reader, Values, expand, is_own};
use crate::result_check::ResultCheck;
use crate::scenario::Scenario;

/// A specification as given: a document with assignments.
#[derive(Clone, Debug)]
pub struct Source {
    /// The document, with the assignments and a name.
    document: Node,
    changed: bool,
    assignments: Vec<Assignment>,
    file: Option<String>,
}

/// The complete contents of a specification.
#[derive(Clone, Debug)]
pub struct Specification {
    /// Its name.
    pub name: String,
    /// The number of runs, with consecutive seeds.
    pub trials: u64,
    /// The first run, in which every flow starts at its `start`, without its spread.
    pub scenario: Scenario,
    /// How much later than that each flow can start, in ns.
    pub start_spreads: Vec<u64>,
    /// The class of each flow, by id: flows of a class are shown as one in figures.
    pub groups: Vec<String>,
    /// The modules of own controls, by their names in flows.
    pub modules: BTreeMap<String, Module>,
    /// The checks of the results.
    pub checks: Vec<ResultCheck>,
}

impl Source {
    /// A document with assignments; `name` replaces a missing name, `file` is its file.
    ///
    /// # Errors
    /// If the place of an assignment doesn't exist.
    pub fn new(
        document: &Node,
        assignments: Vec<Assignment>,
        name: &str,
        file: Option<&str>,
    ) -> Result<Self, Problems> {
        let mut changed = override_all(document, &assignments)?;
        if let crate::document::Value::Table(table) = &mut changed.value
            && !table.has("name")
        {
            let entry = crate::document::TableEntry {
                key: "name".into(),
                at: None,
                node: Node::text(name),
            };
            table.0.insert(0, entry);
        }
        let same = changed == *document;
        Ok(Self { document: changed, changed: !same, assignments, file: file.map(str::to_owned) })
    }

    /// An equivalent TOML text, if the original text isn't one.
    #[must_use]
    pub fn renewed_text(&self) -> Option<String> {
        self.changed.then(|| self.to_toml())
    }

    /// The document with its assignments, as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    /// The document with its assignments.
    pub(crate) fn document(&self) -> &Node {
        &self.document
    }

    pub(crate) fn assignments(&self) -> &[Assignment] {
        &self.assignments
    }

    /// Applies the assignments of this document to another one.
    pub(crate) fn with(&self, document: Node) -> Self {
        Self { document, ..self.clone() }
    }

    /// Reads and checks a specification.
    ///
    /// # Errors
    /// All its problems.
    pub fn read(&self, inputs: &dyn Inputs) -> Result<Specification, Problems> {
        read(&self.document, inputs).map_err(|problems| self.locate(problems))
    }

    /// Adds the origin of each problem: the file or an option, and the line.
    pub(crate) fn locate(&self, problems: Vec<Problem>) -> Problems {
        let mut reported: Vec<Problem> = Vec::new();
        for mut problem in problems {
            let assignments = self.assignments.iter().rev();
            let mut causes = assignments.filter(|one| problem.place.touches(&one.place));
            let cause = causes.next().and_then(|one| one.origin.clone());
            if problem.origin.is_none() && cause.is_none() {
                let of_key = problem.kind == ProblemKind::UnknownKey;
                let here = || self.document.position(&problem.place, of_key);
                problem.at = problem.at.or_else(here);
            }
            problem.origin = problem.origin.or(cause).or_else(|| self.file.clone());
            if !reported.contains(&problem) {
                reported.push(problem);
            }
        }
        Problems(reported)
    }
}

impl Specification {
    /// The problem if not all trials have a seed.
    pub(crate) fn seeds(&self, trials: u64) -> Option<Problem> {
        let (seed, more) = (self.scenario.seed, trials - 1);
        seed.checked_add(more).is_none().then(|| {
            let place = Place::default().key("run").key("seed");
            let remedy = format!("a seed of at most {}", u64::MAX - more);
            Problem::new(ProblemKind::Relation, place, seed.to_string(), remedy)
        })
    }

    /// Returns `true` if a flow has this own control.
    fn owns(&self, cca: &str) -> bool {
        self.modules.contains_key(cca)
    }

    /// The scenario of the trial with this number, from 1 on, as canonical text.
    #[must_use]
    pub fn canonical(&self, trial: u64) -> String {
        #[derive(Serialize)]
        struct CanonicalForm<'a> {
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            controls: &'a BTreeMap<String, Module>,
            #[serde(flatten)]
            scenario: &'a Scenario,
        }
        let scenario = &self.scenario_of(trial);
        canonical_json(&CanonicalForm { controls: &self.modules, scenario })
    }

    /// The scenario of the trial with this number, from 1 on.
    #[must_use]
    pub fn scenario_of(&self, trial: u64) -> Scenario {
        let mut scenario = Scenario { seed: self.seed(trial), ..self.scenario.clone() };
        for (flow, &spread_ns) in scenario.flows.iter_mut().zip(&self.start_spreads) {
            if spread_ns > 0 {
                let name = format!("start of {}", flow.name);
                flow.start_ns += Stream::new(scenario.seed, &name).below(spread_ns);
            }
        }
        scenario
    }

    /// The scenario with the latest starts that any seed can draw.
    fn with_latest_starts(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        for (flow, &spread_ns) in scenario.flows.iter_mut().zip(&self.start_spreads) {
            flow.start_ns = flow.start_ns.saturating_add(spread_ns);
        }
        scenario
    }

    /// The seed of the trial with this number, from 1 on.
    #[must_use]
    pub fn seed(&self, trial: u64) -> u64 {
        self.scenario.seed + (trial - 1)
    }
}

fn read(document: &Node, inputs: &dyn Inputs) -> Result<Specification, Vec<Problem>> {
    let table = document.table().cloned().unwrap_or_default();
    let table = expand(&table).map_err(|problems| problems.0)?;
    let mut reader = Reader::new(inputs);
    let values = reader.section(&SPECIFICATION, &table, &Place::default());
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let count: u64 = values.tables("flows").iter().map(|flow| flow.whole("count")).sum();
    if count > MAX_FLOWS {
        let (place, found) = (Place::default().key("flows"), format!("{count} flows in all"));
        let remedy = format!("at most {MAX_FLOWS}");
        return Err(vec![Problem::new(ProblemKind::Relation, place, found, remedy)]);
    }
    build_and_check(&values, inputs)
}

/// Builds the scenario, and checks relations between values.
fn build_and_check(values: &Values, inputs: &dyn Inputs) -> Result<Specification, Vec<Problem>> {
    let (modules, mut problems) = modules(values, inputs);
    let run = values.table("run");
    let mut built = build(values);
    problems.append(&mut built.problems);
    let samples = run.text("record") != "summary";
    let (checks, wrong) = result_checks(values, samples);
    problems.extend(wrong);
    let specification = Specification {
        name: values.text("name"),
        trials: run.whole("trials"),
        scenario: built.scenario.clone(),
        start_spreads: built.start_spreads(),
        groups: built.groups.clone(),
        modules,
        checks,
    };
    let known = |cca: &str| specification.owns(cca) || is_own(cca) || inputs.knows(cca);
    if let Err(wrong) = check(&specification.with_latest_starts(), &known) {
        problems.extend(wrong.0.into_iter().map(|problem| built.as_written(problem)));
    }
    problems.extend(specification.seeds(specification.trials));
    if problems.is_empty() { Ok(specification) } else { Err(problems) }
}

/// The checks of results and their problems; a run with `samples` has series.
fn result_checks(values: &Values, samples: bool) -> (Vec<ResultCheck>, Vec<Problem>) {
    let place = Place::default().key("check");
    let tables = values.tables("check");
    let all = tables.iter().enumerate();
    let (found, wrong): (_, Vec<_>) =
        all.map(|(index, table)| ResultCheck::new(table, &place.index(index), samples)).unzip();
    (found, wrong.into_iter().flatten().collect())
}

/// The modules of all own controls, and their problems.
fn modules(values: &Values, inputs: &dyn Inputs) -> (BTreeMap<String, Module>, Vec<Problem>) {
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for (index, flow) in values.tables("flows").iter().enumerate() {
        let (cca, place) = (flow.text("cca"), Place::default().key("flows").index(index));
        if !is_own(&cca) {
            continue;
        }
        match inputs.control(&cca, &flow.options("options")) {
            Ok(module) => drop(found.insert(cca, module)),
            Err(faults) => problems.extend(faults.into_iter().map(|fault| {
                let key = if fault.of_options { "options" } else { "cca" };
                let (kind, place) = (ProblemKind::Value, place.key(key));
                Problem::new(kind, place, fault.found, fault.remedy)
            })),
        }
    }
    (found, problems)
}

impl BuiltScenario {
    /// A problem of the scenario as one of its specification.
    fn as_written(&self, problem: Problem) -> Problem {
        let (place, found) = self.in_document(&problem.place, problem.found);
        Problem { place, found, ..problem }
    }
}
