//! A specification as written: values, each with its position in the text.

mod assignment;
mod json;
mod node;
mod toml;
mod write;

pub use assignment::Assignment;
pub(crate) use assignment::{apply, override_all};
pub use node::Node;
pub(crate) use node::{Table, TableEntry, Value};
pub use write::inline;

use crate::limits::MAX_KEYS;
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, Problems};

impl Node {
    /// The document in a TOML text.
    ///
    /// # Errors
    /// Where the text isn't TOML, or a table has more keys than any could need.
    pub fn from_toml(text: &str) -> Result<Self, Problems> {
        toml::read(text)?.check_size()
    }

    /// The document in a JSON text written by a program; values have no positions.
    ///
    /// # Errors
    /// If the text isn't JSON, or a table has more keys than any could need.
    pub fn from_json(text: &str) -> Result<Self, Problems> {
        json::read(text)?.check_size()
    }

    /// The document, unless a table is so large that finding each of its keys would take too long.
    fn check_size(self) -> Result<Self, Problems> {
        let Some((place, keys)) = find_oversized(&self, &Place::default()) else { return Ok(self) };
        let (found, remedy) = (format!("{keys} keys"), format!("at most {MAX_KEYS} in a table"));
        let mut problem = Problem::new(ProblemKind::Relation, place, found, remedy);
        problem.at = self.position(&problem.place, false);
        Err(problem.into())
    }

    /// The document as TOML, which reads back as the same values.
    #[must_use]
    pub fn to_toml(&self) -> String {
        write::to_toml(self.table().unwrap_or(&Table::default()))
    }

    /// The value as JSON; values that JSON lacks become texts.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        json::write(self)
    }
}

/// The first table with too many keys, and their number.
fn find_oversized(node: &Node, place: &Place) -> Option<(Place, usize)> {
    match &node.value {
        Value::Table(table) if table.0.len() > MAX_KEYS => Some((place.clone(), table.0.len())),
        Value::Table(table) => {
            table.0.iter().find_map(|entry| find_oversized(&entry.node, &place.key(&entry.key)))
        }
        Value::List(list) => list
            .iter()
            .enumerate()
            .find_map(|(index, node)| find_oversized(node, &place.index(index))),
        _ => None,
    }
}
