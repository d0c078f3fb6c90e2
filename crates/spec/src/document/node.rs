//! Values with their positions in a text.

use crate::place::{Place, Step};
use crate::problem::Position;
use crate::text::quote;
use crate::units::parse_percent;

/// A value, and the beginning of its text, if any.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) value: Value,
    pub(crate) at: Option<Position>,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Whole(i128),
    Float(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
    /// A value that no specification has: its description, and its text.
    Other(&'static str, String),
}

/// Keys with their values, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<TableEntry>);

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct TableEntry {
    pub(crate) key: String,
    pub(crate) at: Option<Position>,
    pub(crate) node: Node,
}

impl Node {
    /// The keys of a table with their values; nothing if it isn't a table.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        let entries = self.table().map_or(&[][..], |table| &table.0);
        entries.iter().map(|entry| (entry.key.as_str(), &entry.node))
    }

    pub(crate) fn new(value: Value) -> Self {
        Self { value, at: None }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::new(Value::Text(text.into()))
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number, as a float.
    #[expect(clippy::cast_precision_loss, reason = "TOML's whole numbers become floats here")]
    pub(crate) fn as_float(&self) -> Option<f64> {
        match self.value {
            Value::Whole(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => None,
        }
    }

    /// A number, or a part in per cent: "1%" is 0.01.
    pub(crate) fn as_part(&self) -> Option<f64> {
        self.as_text().map_or_else(|| self.as_float(), parse_percent)
    }

    /// A whole number that isn't negative.
    pub(crate) fn as_whole(&self) -> Option<u64> {
        match self.value {
            Value::Whole(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// The value in the words of a message.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => quote(text),
            Value::Whole(number) if number.unsigned_abs() >= 10_u128.pow(24) => {
                "a huge number".into()
            }
            Value::Whole(number) => number.to_string(),
            Value::Float(number) => crate::canonical::float(*number),
            Value::Flag(flag) => flag.to_string(),
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
            Value::Other(words, _) => (*words).into(),
        }
    }

    /// Every single value by its place.
    #[must_use]
    pub fn leaves(&self) -> Vec<(Place, &Self)> {
        let mut found = Vec::new();
        gather(self, &Place::default(), &mut found);
        found
    }

    /// Where the value at `place` or its key begins; for a missing one, the table that lacks it.
    /// None if a program wrote it.
    pub(crate) fn position(&self, place: &Place, of_key: bool) -> Option<Position> {
        let mut here = self;
        let mut at = Some(Position { line: 1, column: 1 });
        for (number, step) in place.0.iter().enumerate() {
            let last = of_key && number + 1 == place.0.len();
            let (node, key) = match (&here.value, step) {
                (Value::Table(table), Step::Key(key)) => match table.entry(key) {
                    Some(entry) => (&entry.node, entry.at),
                    None => return at,
                },
                (Value::List(list), Step::Index(index)) => match list.get(*index) {
                    Some(node) => (node, None),
                    None => return at,
                },
                _ => return at,
            };
            at = if last { key.or(node.at) } else { node.at };
            here = node;
        }
        at
    }
}

fn gather<'a>(node: &'a Node, place: &Place, found: &mut Vec<(Place, &'a Node)>) {
    match &node.value {
        Value::Table(table) => {
            for entry in &table.0 {
                gather(&entry.node, &place.key(&entry.key), found);
            }
        }
        Value::List(list) => {
            for (index, node) in list.iter().enumerate() {
                gather(node, &place.index(index), found);
            }
        }
        _ => found.push((place.clone(), node)),
    }
}

impl Table {
    pub(crate) fn entry(&self, key: &str) -> Option<&TableEntry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.key.as_str())
    }

    /// The value at `key`, inserted if missing.
    pub(crate) fn or_insert(&mut self, key: &str, node: Node) -> &mut Node {
        let index = self.0.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            self.0.push(TableEntry { key: key.into(), at: None, node });
            self.0.len() - 1
        });
        &mut self.0[index].node
    }
}

/// Compares the values, not the positions.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// Compares in any order.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let same = |entry: &TableEntry| other.get(&entry.key) == Some(&entry.node);
        self.0.len() == other.0.len() && self.0.iter().all(same)
    }
}
