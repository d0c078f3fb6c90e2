//! The named cases of a study, each with its own values for some places.
//!
//! ```toml
//! [[sweep.cases]]
//! name = "deep"
//! path = { buffer = "8bdp" }      # keys of a section join those of the file
//! flows = [{ cca = "bbr" }]       # any other value replaces the file's
//! ```

use super::axes::Axis;
use crate::document::{Assignment, Node, Table};
use crate::keys::KeyKind;
use crate::place::Place;
use crate::problem::{Problem, Problems};

/// A name with the values of its places.
#[derive(Clone, Debug)]
pub(super) struct Case {
    name: Node,
    /// The values, the name among them.
    pub assignments: Vec<Assignment>,
}

/// The place of the axis that the cases are.
pub(super) fn place() -> Place {
    Place::default().key("case")
}

/// The cases of `[[sweep.cases]]`, and their problems.
pub(super) fn read(tables: Option<&Node>) -> (Vec<Case>, Vec<Problem>) {
    let place = Place::default().key("sweep").key("cases");
    let (mut cases, mut problems): (Vec<Case>, _) = (Vec::new(), Vec::new());
    let Some(node) = tables else { return (cases, problems) };
    let Some(list) = node.list() else {
        let expects = KeyKind::Cases.expects("cases");
        problems.push(at_line_of(Problem::value(&place, node.describe(), expects), node));
        return (cases, problems);
    };
    for (index, entry) in list.iter().enumerate() {
        match case(&place.index(index), entry) {
            Ok(found) if cases.iter().any(|known| known.name.value == found.name.value) => {
                let second = format!("{} a second time", found.name.describe());
                let place = place.index(index).key("name");
                problems
                    .push(at_line_of(Problem::value(&place, second, "another name"), &found.name));
            }
            Ok(found) => cases.push(found),
            Err(wrong) => problems.extend(wrong.0.into_iter().map(|one| at_line_of(one, entry))),
        }
    }
    (cases, problems)
}

fn case(place: &Place, entry: &Node) -> Result<Case, Problems> {
    let remedy = "a table with a name, such as { name = \"deep\", path = { buffer = \"8bdp\" } },";
    let table = entry.table().ok_or_else(|| Problem::value(place, entry.describe(), remedy))?;
    let name = table.get("name").filter(|name| name.as_text().is_some()).cloned();
    let unnamed = || Problem::value(&place.key("name"), describe_name(table), "a name of its own");
    Ok(Case { name: name.ok_or_else(unnamed)?, assignments: assignments(table) })
}

fn describe_name(table: &Table) -> String {
    table.get("name").map_or_else(|| "nothing".into(), Node::describe)
}

fn at_line_of(mut problem: Problem, node: &Node) -> Problem {
    problem.at = node.at;
    problem
}

/// An assignment for each key of a section, and for each other value.
fn assignments(table: &Table) -> Vec<Assignment> {
    let mut found = Vec::new();
    for entry in &table.0 {
        let place = Place::default().key(&entry.key);
        match entry.node.table() {
            Some(section) => found.extend(section.0.iter().map(|inner| Assignment {
                place: place.key(&inner.key),
                value: inner.node.clone(),
                origin: None,
            })),
            None => found.push(Assignment { place, value: entry.node.clone(), origin: None }),
        }
    }
    found
}

/// The axis of the cases' names, if there are cases.
pub(super) fn axis(cases: &[Case]) -> Option<Axis> {
    let values: Vec<Node> = cases.iter().map(|case| case.name.clone()).collect();
    (!values.is_empty()).then(|| Axis { place: place(), values, range: None })
}

/// The assignments of the case with this name.
pub(super) fn of_case<'a>(cases: &'a [Case], name: &Node) -> Option<&'a [Assignment]> {
    let case = cases.iter().find(|case| case.name.value == name.value);
    case.map(|case| case.assignments.as_slice())
}
