//! A study: a specification in which some places have several values.
//!
//! A list anywhere in a specification is an axis, and so is a range; the study is every
//! combination, unless `[sweep]` says otherwise:
//!
//! ```toml
//! [sweep]
//! design = "lhs"                      # or "random"; "grid" by default
//! budget = 200                        # combinations of a random or Latin-hypercube design
//! seed = 1                            # of the design, not of the runs
//! zip = [["path.rate", "path.rtt"]]   # these go together, value by value
//!
//! until = { metric = "bbr.share", within = 0.02, max_trials = 30 }   # more trials as needed
//!
//! [sweep.axes]                        # axes that don't fit in their place
//! "path.loss" = {from = 1e-5, to = 0.1, count = 9, scale = "log"}
//!
//! [[sweep.cases]]                     # named cases, which together are the axis `case`
//! name = "deep"
//! path = { buffer = "8bdp" }
//! ```

mod axes;
mod cases;
mod design;
mod groups;
mod range;

use crate::document::{Assignment, Node, Table, Value, apply};
use crate::inputs::{Files, Inputs};
use crate::keys::SWEEP;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::read::{Reader, Values};
use crate::result_check::Until;
use crate::specification::{Source, Specification};
use cases::Case;

pub use axes::Axis;
pub use design::{Design, DesignPoint};

/// A specification with axes.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// The axes; zipped ones are together.
    pub groups: Vec<Vec<Axis>>,
    /// The choice of combinations.
    pub design: Design,
    /// The seed of the design.
    pub seed: u64,
    /// The rule for enough trials.
    pub until: Option<Until>,
    cases: Vec<Case>,
    base: Source,
}

impl Study {
    /// The study in a document. The values themselves are checked when combinations are made
    /// of them.
    ///
    /// # Errors
    /// All problems of its axes.
    pub fn read(source: &Source) -> Result<Self, Problems> {
        read(source).map_err(|problems| source.locate(problems))
    }

    /// The combinations in a fixed order, each once. In a grid the last axis varies fastest.
    ///
    /// # Errors
    /// If there are too many.
    pub fn points(&self) -> Result<Vec<DesignPoint>, Problems> {
        design::points(&self.groups, self.design, self.seed)
            .map_err(|problems| self.base.locate(problems.0))
    }

    /// The assignments of a combination, those of its case first.
    fn assignments(&self, point: &DesignPoint) -> Vec<Assignment> {
        let (mut chosen, mut values) = (Vec::new(), Vec::new());
        for (place, value) in point.iter().cloned() {
            let case = cases::of_case(&self.cases, &value).filter(|_| place == cases::place());
            match case {
                Some(assignments) => chosen.extend_from_slice(assignments),
                None => values.push(Assignment { place, value, origin: None }),
            }
        }
        chosen.extend(values);
        chosen
    }

    /// The specification of a combination.
    ///
    /// # Errors
    /// The reasons why it can't run.
    pub fn specification(
        &self,
        point: &DesignPoint,
        inputs: &dyn Inputs,
    ) -> Result<Specification, Problems> {
        let chosen = self.assignments(point);
        let located = |problems: Problems| self.base.locate(problems.0);
        let document = apply(self.base.document(), &chosen).map_err(located)?;
        let base = self.base.with(document);
        let read = base.read(inputs)?;
        // More trials may follow, each with its seed.
        let most = self.until.as_ref().map_or(read.trials, |until| until.max_trials);
        match read.seeds(most) {
            Some(problem) => Err(base.locate(vec![problem])),
            None => Ok(read),
        }
    }
}

fn read(source: &Source) -> Result<Study, Vec<Problem>> {
    let whole = source.document().table().cloned().unwrap_or_default();
    let (sweep, values, mut problems) = sweep(&whole)?;
    let (design, wrong) = design(&values, &sweep);
    problems.extend(wrong);
    let rest = whole.0.into_iter().filter(|entry| entry.key != "sweep");
    let base = Table(rest.collect());
    let elsewhere = values.some_raw("axes");
    let (cases, wrong) = cases::read(values.some_raw("cases").as_ref());
    problems.extend(wrong);
    let (axes, wrong) = axes::read(&base, elsewhere.as_ref(), source.assignments());
    problems.extend(wrong);
    let axes: Vec<_> = cases::axis(&cases).into_iter().chain(axes).collect();
    problems.extend(axes.iter().filter_map(|axis| undrawn(axis, design)));
    let (groups, wrong) = groups::read(axes, values.some_raw("zip").as_ref());
    problems.extend(wrong);
    if !problems.is_empty() {
        return Err(problems);
    }
    let name = base.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
    let seed = values.whole("seed");
    let until = values.some_table("until").map(|until| Until::new(&until));
    let base = source.with(Node { value: Value::Table(base), at: source.document().at });
    Ok(Study { name, groups, design, seed, until, cases, base })
}

/// The table `[sweep]`, its values, and their problems.
fn sweep(whole: &Table) -> Result<(Table, Values, Vec<Problem>), Vec<Problem>> {
    let place = Place::default().key("sweep");
    let empty = Table::default();
    let sweep = match whole.get("sweep") {
        None => &empty,
        Some(node) => node.table().ok_or_else(|| {
            let found = node.describe();
            vec![Problem::new(ProblemKind::Value, place.clone(), found, "a table, [sweep],")]
        })?,
    };
    let files = Files::default();
    let mut reader = Reader::new(&files);
    let values = reader.section(&SWEEP, sweep, &place);
    Ok((sweep.clone(), values, reader.problems))
}

/// The problem if a design needs values and an axis has none.
fn undrawn(axis: &Axis, design: Design) -> Option<Problem> {
    (design == Design::Grid && axis.values.is_empty()).then(|| {
        let remedy = "a `count` or a `step` (or `sweep.design = \"lhs\"` and a budget)";
        Problem::value(&axis.place, "a range without values", remedy)
    })
}

fn design(values: &Values, sweep: &Table) -> (Design, Option<Problem>) {
    let place = Place::default().key("sweep").key("budget");
    let wrong =
        |kind, found: &str, remedy: &str| Some(Problem::new(kind, place.clone(), found, remedy));
    let budget = values.some_whole("budget");
    let design = match values.some_text("design").as_deref() {
        Some("random") => Design::Random(budget.unwrap_or(1)),
        Some("lhs") => Design::LatinHypercube(budget.unwrap_or(1)),
        _ => Design::Grid,
    };
    let problem = match (design, sweep.has("budget")) {
        (Design::Grid, true) => {
            let remedy = "`design = \"lhs\"` or \"random\"";
            wrong(ProblemKind::Relation, "a budget for a grid", remedy)
        }
        (Design::Random(_) | Design::LatinHypercube(_), false) => {
            let remedy = "the number of combinations, such as 100,";
            wrong(ProblemKind::Missing, "nothing", remedy)
        }
        _ => None,
    };
    (design, problem)
}
