//! Writes a document as TOML, for the record of what ran.

use super::node::{Node, Table, Value};
use crate::canonical;

/// The document; tables and lists of tables follow the single values.
pub(super) fn to_toml(document: &Table) -> String {
    let plain: Vec<_> = document.0.iter().filter(|entry| !is_section(&entry.node)).collect();
    let mut blocks = Vec::new();
    if !plain.is_empty() {
        blocks.push(plain.iter().map(|entry| pair(&entry.key, &entry.node)).collect());
    }
    for entry in &document.0 {
        let name = key(&entry.key);
        match &entry.node.value {
            Value::Table(table) => blocks.push(format!("[{name}]\n{}", pairs(table))),
            Value::List(list) if is_section(&entry.node) => {
                let tables = list.iter().filter_map(Node::table);
                blocks.extend(tables.map(|table| format!("[[{name}]]\n{}", pairs(table))));
            }
            _ => {}
        }
    }
    blocks.join("\n")
}

/// A single value as TOML writes it.
#[must_use]
pub fn inline(node: &Node) -> String {
    match &node.value {
        Value::Table(table) => {
            let pair = |entry: &super::node::TableEntry| {
                format!("{} = {}", key(&entry.key), inline(&entry.node))
            };
            format!("{{{}}}", table.0.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Value::List(list) => {
            format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Text(text) => quote(text),
        Value::Whole(number) => number.to_string(),
        Value::Float(number) => canonical::float(*number),
        Value::Flag(flag) => flag.to_string(),
        Value::Other(_, text) => text.clone(),
    }
}

fn is_section(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::List(list) => !list.is_empty() && list.iter().all(|node| node.table().is_some()),
        _ => false,
    }
}

fn pairs(table: &Table) -> String {
    table.0.iter().map(|entry| pair(&entry.key, &entry.node)).collect()
}

fn pair(name: &str, node: &Node) -> String {
    format!("{} = {}\n", key(name), inline(node))
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain = !name.is_empty() && name.chars().all(bare) && name.contains(char::is_alphanumeric);
    if plain { name.into() } else { quote(name) }
}

fn quote(text: &str) -> String {
    let json = serde_json::to_string(text).expect("a text can be written");
    json.replace('\u{7f}', "\\u007f")
}
