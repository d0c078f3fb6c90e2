//! Reads a document from a JSON text written by a program.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::node::{Node, Table, TableEntry, Value};
use crate::place::Place;
use crate::problem::{Problem, ProblemKind, Problems};

/// The document in `text`.
pub(super) fn read(text: &str) -> Result<Node, Problems> {
    serde_json::from_str(text).map_err(|error| {
        let found = format!("no JSON ({error})");
        Problem::new(ProblemKind::Syntax, Place::default(), found, "a JSON object").into()
    })
}

/// A value as JSON.
pub(super) fn write(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Text(text) | Value::Other(_, text) => text.clone().into(),
        Value::Whole(number) => i64::try_from(*number)
            .map(serde_json::Value::from)
            .or_else(|_| u64::try_from(*number).map(serde_json::Value::from))
            .unwrap_or_else(|_| number.to_string().into()),
        Value::Float(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(list) => list.iter().map(write).collect(),
        Value::Table(table) => {
            table.0.iter().map(|entry| (entry.key.clone(), write(&entry.node))).collect()
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self::new)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a specification")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other("nothing", "null".into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut table, mut seen) = (Table::default(), BTreeSet::new());
        while let Some((key, node)) = map.next_entry::<String, Node>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the key {key:?} twice")));
            }
            table.0.push(TableEntry { key, at: None, node });
        }
        Ok(Value::Table(table))
    }
}
