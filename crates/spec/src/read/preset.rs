//! Paths by name: `[path] preset = "lte"`, in which every field can be overridden.

use std::sync::OnceLock;

use crate::document::{Node, Table, Value};
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::text::one_of;

/// A path that has a name.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// A one-line description.
    pub summary: String,
    /// The source of its numbers.
    pub source: String,
    /// The path as in a specification.
    pub path: Node,
}

/// Every preset, in the order of the list.
pub fn presets() -> &'static [Preset] {
    static PRESETS: OnceLock<Vec<Preset>> = OnceLock::new();
    PRESETS.get_or_init(|| {
        let document = Node::from_toml(include_str!("../presets.toml")).expect("it is TOML");
        let Value::Table(table) = document.value else { unreachable!("a document is a table") };
        table.0.into_iter().map(|entry| preset(entry.key, &entry.node)).collect()
    })
}

fn preset(name: String, node: &Node) -> Preset {
    let get = |key: &str| node.table().and_then(|table| table.get(key)).expect("it is complete");
    let text = |key: &str| get(key).as_text().expect("it is a text").to_owned();
    Preset { name, summary: text("summary"), source: text("source"), path: get("path").clone() }
}

/// The document with its preset's fields where its own are missing.
pub(crate) fn expand(document: &Table) -> Result<Table, Problems> {
    let path = document.get("path").and_then(Node::table);
    let Some((path, name)) = path.and_then(|path| Some((path, path.get("preset")?))) else {
        return Ok(document.clone());
    };
    let known = presets().iter().find(|preset| name.as_text() == Some(&preset.name));
    let base = known.and_then(|preset| preset.path.table()).ok_or_else(|| {
        let place = Place::default().key("path").key("preset");
        let word = name.as_text().unwrap_or_default();
        let found = format!("{}, which is not a preset", name.describe());
        let remedy = one_of(word, presets().iter().map(|preset| preset.name.as_str()));
        Problems::from(Problem::new(ProblemKind::Value, place, found, remedy))
    })?;
    let mut whole = path.clone();
    let queue = path.get("queue").and_then(Node::table);
    let limited = queue.is_some_and(|queue| queue.has("limit"));
    for entry in &base.0 {
        if !(limited && entry.key == "buffer") {
            whole.or_insert(&entry.key, strip_positions(entry.node.clone()));
        }
    }
    let mut expanded = document.clone();
    expanded.or_insert("path", Node::text("")).value = Value::Table(whole);
    Ok(expanded)
}

/// Removes the positions of a node, which would be those in the list of presets.
fn strip_positions(node: Node) -> Node {
    Node { at: None, ..node }
}
