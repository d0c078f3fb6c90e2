//! Changes of single values in a document, as with `--set path.buffer=4bdp`.

use super::node::{Node, Table, Value};
use crate::place::{Place, Step};
use crate::problem::{Problem, ProblemKind, Problems};
use crate::text::quote;

/// Keys for which a name stands for a table with that `kind`.
const ELEMENTS: [&str; 2] = ["queue", "service"];
const EXAMPLE: &str = "PLACE=VALUE, such as path.buffer=4bdp,";
/// The remedy for a place with an asterisk.
const SINGLE: &str = "a single place, such as flows[0].count,";

/// A value, its place, and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Its place.
    pub place: Place,
    /// The value.
    pub value: Node,
    /// The option that gave it; none if it belongs to the file.
    pub origin: Option<String>,
}

impl Assignment {
    /// Reads `flows.0.cca=reno`; a value that isn't TOML is a text, and texts separated by commas
    /// without spaces are a list.
    ///
    /// # Errors
    /// If there is no place or no value.
    pub fn parse(text: &str, origin: &str) -> Result<Self, Problems> {
        let wrong = |found: String, remedy: &str| {
            let problem = Problem::new(ProblemKind::Change, Place::default(), found, remedy);
            Problems::from(problem.from(Some(origin)))
        };
        let (written, value) = text.split_once('=').ok_or_else(|| wrong(quote(text), EXAMPLE))?;
        let place = Place::parse(written).ok_or_else(|| {
            let remedy = if written.contains('*') { SINGLE } else { EXAMPLE };
            wrong(format!("the place {}", quote(written)), remedy)
        })?;
        Ok(Self { place, value: value_of(value.trim()), origin: Some(origin.into()) })
    }
}

/// `1bdp,2bdp` as a list; anything else as a single value.
fn value_of(text: &str) -> Node {
    let parts: Vec<&str> = text.split(',').collect();
    let plain = |part: &&str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "\"'[]{}".contains(c))
    };
    if parts.len() > 1 && parts.iter().all(plain) {
        return Node::new(Value::List(parts.into_iter().map(single_value).collect()));
    }
    single_value(text)
}

/// Numbers, booleans, quoted texts, lists and tables as in TOML; anything else is a text.
fn single_value(text: &str) -> Node {
    let document = Node::from_toml(&format!("value = {text}"));
    let single = document.ok().and_then(|document| match document.value {
        Value::Table(table) if table.0.len() == 1 => table.0.into_iter().next(),
        _ => None,
    });
    match single.map(|entry| entry.node) {
        Some(node) if !matches!(node.value, Value::Other(..)) => strip_positions(node),
        _ => Node::text(text),
    }
}

/// Removes the positions of a node, which would be those of the option.
fn strip_positions(mut node: Node) -> Node {
    node.at = None;
    match &mut node.value {
        Value::List(list) => {
            *list = std::mem::take(list).into_iter().map(strip_positions).collect();
        }
        Value::Table(Table(entries)) => {
            for entry in entries {
                entry.at = None;
                entry.node = strip_positions(std::mem::replace(&mut entry.node, Node::text("")));
            }
        }
        _ => {}
    }
    node
}

/// The document with the values changed.
pub(crate) fn apply(document: &Node, assignments: &[Assignment]) -> Result<Node, Problems> {
    let mut changed = document.clone();
    for assignment in assignments {
        put(&mut changed, assignment)?;
    }
    Ok(changed)
}

/// The document with the values changed, in each case of a study as well that sets the same place.
pub(crate) fn override_all(document: &Node, assignments: &[Assignment]) -> Result<Node, Problems> {
    let mut changed = document.clone();
    for assignment in assignments {
        let mut set_by_all = false;
        if let Some(Value::List(cases)) = cases_of(&mut changed) {
            let count = cases.len();
            let setting: Vec<_> =
                cases.iter_mut().filter(|case| sets(case, &assignment.place)).collect();
            set_by_all = count > 0 && setting.len() == count;
            setting.into_iter().try_for_each(|case| put(case, assignment))?;
        }
        if !set_by_all {
            put(&mut changed, assignment)?;
        }
    }
    Ok(changed)
}

/// The value of `sweep.cases`, if there is one.
fn cases_of(document: &mut Node) -> Option<&mut Value> {
    let mut here = document;
    for key in ["sweep", "cases"] {
        let Value::Table(Table(entries)) = &mut here.value else { return None };
        here = entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)?;
    }
    Some(&mut here.value)
}

/// Returns `true` if a case sets the value at `place`, or one that contains it. Its name doesn't
/// count.
fn sets(case: &Node, place: &Place) -> bool {
    let [Step::Key(first), rest @ ..] = place.0.as_slice() else { return false };
    let node = case.table().and_then(|table| table.get(first)).filter(|_| first != "name");
    match (node, rest) {
        (None, _) => false,
        (Some(node), [Step::Key(key), ..]) => node.table().is_none_or(|table| table.has(key)),
        _ => true,
    }
}

fn put(document: &mut Node, assignment: &Assignment) -> Result<(), Problems> {
    let steps = &assignment.place.0;
    let mut here = document;
    for (number, step) in steps.iter().enumerate() {
        let absent = match steps.get(number + 1) {
            None => assignment.value.clone(),
            Some(Step::Index(_)) => Node::new(Value::List(Vec::new())),
            Some(Step::Key(_)) => Node::new(Value::Table(Table::default())),
        };
        here = enter(here, step, absent, number + 1 < steps.len()).map_err(|(found, remedy)| {
            let place = assignment.place.clone();
            let problem = Problem::new(ProblemKind::Change, place, found, remedy);
            Problems::from(problem.from(assignment.origin.as_deref()))
        })?;
    }
    *here = assignment.value.clone();
    Ok(())
}

/// The node at `step`; tables grow on demand, lists don't.
fn enter<'a>(
    here: &'a mut Node,
    step: &Step,
    absent: Node,
    further: bool,
) -> Result<&'a mut Node, (String, String)> {
    match (&mut here.value, step) {
        (Value::Table(table), Step::Key(key)) => {
            let node = table.or_insert(key, absent);
            if further && ELEMENTS.contains(&key.as_str()) {
                as_table(node);
            }
            Ok(node)
        }
        (Value::List(list), Step::Index(index)) => {
            let count = list.len();
            list.get_mut(*index).ok_or_else(|| {
                let range = format!("a number from 0 to {}", count.saturating_sub(1));
                let first = "an entry in the file first".into();
                (format!("entry {index} of {count}"), if count > 0 { range } else { first })
            })
        }
        (Value::List(_), Step::Key(key)) => {
            let remedy = "the number of an entry, such as flows.0.cca,";
            Err((quote(key), remedy.into()))
        }
        (_, step) => {
            let step = match step {
                Step::Key(key) => key.clone(),
                Step::Index(index) => index.to_string(),
            };
            Err((format!("the step {} into no table", quote(&step)), "a known key".into()))
        }
    }
}

/// A name of an element as the table that it stands for.
fn as_table(node: &mut Node) {
    if let Value::Text(_) = node.value {
        let kind = node.clone();
        let mut table = Table::default();
        table.or_insert("kind", kind);
        node.value = Value::Table(table);
    }
}
