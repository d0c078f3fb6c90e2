//! The axes of a study: places with several values.

use super::range::{Range, is_range};
use crate::document::{Assignment, Node, Table, Value};
use crate::place::{Place, Step};
use crate::problem::Problem;
use crate::text::quote;

/// A place with its values; if there are none, they are drawn from a range.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The place of the values.
    pub place: Place,
    /// The values.
    pub values: Vec<Node>,
    pub(super) range: Option<Range>,
}

/// The axes in their places, in the order of the file, then those of `[sweep.axes]`.
pub(super) fn read(
    base: &Table,
    sweep_axes: Option<&Node>,
    assignments: &[Assignment],
) -> (Vec<Axis>, Vec<Problem>) {
    let mut found = Vec::new();
    gather(base, &mut found);
    let mut problems = Vec::new();
    match sweep_axes.map(|node| (node, node.table())) {
        Some((_, Some(table))) => {
            problems.extend(gather_sweep_axes(table, assignments, &mut found));
        }
        Some((node, None)) => {
            let place = Place::default().key("sweep").key("axes");
            problems.push(Problem::value(&place, node.describe(), "a table, [sweep.axes],"));
        }
        None => {}
    }
    let mut axes = Vec::new();
    for (place, node) in found {
        match axis(place, &node) {
            Ok(axis) => axes.push(axis),
            Err(wrong) => problems.extend(wrong),
        }
    }
    (axes, problems)
}

/// Adds the axes of `[sweep.axes]`, except those that an option fixes.
fn gather_sweep_axes(
    table: &Table,
    assignments: &[Assignment],
    found: &mut Vec<(Place, Node)>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let above = Place::default().key("sweep").key("axes");
    for (place, node, written) in leaves(table, &Place::default(), &above) {
        let at = |mut problem: Problem| {
            problem.at = node.at;
            problem
        };
        let known = |place: &Place| found.iter().any(|axis| axis.0 == *place);
        match place.filter(|place| matches!(place.0.first(), Some(Step::Key(_)))) {
            None => {
                let key = written.0.last().map_or_else(String::new, |step| match step {
                    Step::Key(key) => key.clone(),
                    Step::Index(index) => index.to_string(),
                });
                let remedy = "a place such as path.rate or flows[0].cca";
                problems.push(at(Problem::value(&written, quote(&key), remedy)));
            }
            Some(place) if known(&place) => {
                let second = format!("a second axis at {place}");
                problems.push(at(Problem::value(&written, second, "one of the two")));
            }
            Some(place) if assignments.iter().any(|one| one.place == place) => {}
            Some(place) => {
                let several = node.list().is_some() || is_range(node);
                let single = || Node { value: Value::List(vec![node.clone()]), at: node.at };
                found.push((place, if several { node.clone() } else { single() }));
            }
        }
    }
    problems
}

/// The axes of `[sweep.axes]`, whether written `"path.rate" = ...` or `path.rate = ...`: their
/// places, their values, and where they are written.
fn leaves<'a>(
    table: &'a Table,
    way: &Place,
    above: &Place,
) -> Vec<(Option<Place>, &'a Node, Place)> {
    let mut found = Vec::new();
    for entry in &table.0 {
        let place = Place::parse(&entry.key).map(|inner| way.join(&inner));
        let written = above.key(&entry.key);
        match (place, entry.node.table()) {
            (Some(place), Some(inner)) if !is_range(&entry.node) => {
                found.extend(leaves(inner, &place, &written));
            }
            (place, _) => found.push((place, &entry.node, written)),
        }
    }
    found
}

/// Every list and range of a document; `flows` and `changes` themselves are always lists.
fn gather(base: &Table, found: &mut Vec<(Place, Node)>) {
    for entry in &base.0 {
        let place = Place::default().key(&entry.key);
        match (&entry.node.value, entry.key.as_str()) {
            (Value::List(tables), "flows" | "changes") => {
                for (index, table) in tables.iter().enumerate() {
                    gather_below(table, &place.index(index), found);
                }
            }
            (Value::List(_), "name") => found.push((place, entry.node.clone())),
            _ => gather_below(&entry.node, &place, found),
        }
    }
}

fn gather_below(node: &Node, way: &Place, found: &mut Vec<(Place, Node)>) {
    for entry in node.table().map_or(&[][..], |table| &table.0) {
        let place = way.key(&entry.key);
        match &entry.node.value {
            Value::List(list) if is_plain_list(&place) => {
                for (index, inner) in list.iter().enumerate() {
                    gather_below(inner, &place.index(index), found);
                }
            }
            Value::List(_) => found.push((place, entry.node.clone())),
            Value::Table(_) if is_range(&entry.node) => found.push((place, entry.node.clone())),
            _ => gather_below(&entry.node, &place, found),
        }
    }
}

/// The keys of flows that are lists.
const OF_FLOWS: [&str; 3] = [".links", ".server", ".client"];
/// The parameters of workloads that are lists.
const LISTS: [&str; 2] = [".bitrates", ".points"];

/// Returns `true` if a list is the value of this place, not an axis.
fn is_plain_list(place: &Place) -> bool {
    let text = place.to_string();
    let of_flow = text.starts_with("flows[")
        && (place.0.len() == 3 && OF_FLOWS.iter().any(|list| text.ends_with(list))
            || text.contains("].workload.") && LISTS.iter().any(|list| text.ends_with(list)));
    let classes = text.starts_with("path.") && text.ends_with(".queue.classes");
    of_flow || classes || text == "path.links" || text == "path.impairments"
}

/// The remedy for a list at a place that has one value in all combinations.
fn single(place: &Place) -> Option<&'static str> {
    match place.to_string().as_str() {
        "name" => Some("one name"),
        "run.trials" => Some("one number of trials for every combination"),
        _ => None,
    }
}

fn axis(place: Place, node: &Node) -> Result<Axis, Vec<Problem>> {
    let at = |mut problem: Problem, node: &Node| {
        problem.at = problem.at.or(node.at);
        problem
    };
    if let Some(remedy) = single(&place) {
        return Err(vec![at(Problem::value(&place, node.describe(), remedy), node)]);
    }
    let Some(list) = node.list() else {
        let range = Range::read(node, &place)
            .map_err(|wrong| wrong.into_iter().map(|one| at(one, node)).collect::<Vec<_>>())?;
        return Ok(Axis { place, values: range.values(), range: Some(range) });
    };
    let mut problems = Vec::new();
    if list.is_empty() {
        problems.push(at(Problem::value(&place, "an empty list", "at least one value"), node));
    }
    for (index, value) in list.iter().enumerate() {
        if matches!(value.value, Value::List(_) | Value::Table(_)) {
            let found = value.describe();
            problems.push(at(Problem::value(&place.index(index), found, "a single value"), value));
        }
    }
    if problems.is_empty() {
        Ok(Axis { place, values: list.to_vec(), range: None })
    } else {
        Err(problems)
    }
}
