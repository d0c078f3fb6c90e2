//! Edits of a specification's text that keep its comments and order.

use narrows_spec::{Place, Step};
use serde::Deserialize;
use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

/// Keys for which a name stands for a table with that `kind`.
const ELEMENTS: [&str; 2] = ["queue", "service"];

/// A value for a place; null removes the current one.
///
/// An index behind the last entry of a list appends one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    place: String,
    value: Json,
}

/// The text after the edits; the error says why one can't be made.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("no TOML: {error}"))?;
    for edit in edits {
        let place = Place::parse(&edit.place);
        let place = place.ok_or_else(|| format!("\"{}\" is not a place", edit.place))?;
        put(document.as_item_mut(), &place.0, &edit.value)
            .ok_or_else(|| format!("nothing can be put at {}", edit.place))?;
    }
    Ok(document.to_string())
}

/// Puts a value at the end of the steps; none if they lead through a single value.
fn put(here: &mut Item, steps: &[Step], value: &Json) -> Option<()> {
    let (step, further) = steps.split_first()?;
    if let (Step::Key(key), []) = (step, further) {
        return set(here, key, value);
    }
    let next = match step {
        Step::Key(key) => child(here, key, further)?,
        Step::Index(index) => return entry(here, *index, further, value),
    };
    put(next, further, value)
}

/// The item of a key, made if there is none; a bare kind such as `queue = "codel"` becomes a
/// table if further steps follow.
fn child<'a>(here: &'a mut Item, key: &str, further: &[Step]) -> Option<&'a mut Item> {
    let table = here.as_table_like_mut()?;
    if table.get(key).is_none() {
        let made = match further.first() {
            Some(Step::Index(_)) => Item::ArrayOfTables(ArrayOfTables::new()),
            _ => Item::Table(Table::new()),
        };
        table.insert(key, made);
    }
    let item = table.get_mut(key)?;
    if let (Some(kind), Some(Step::Key(_)), true) =
        (item.as_str(), further.first(), ELEMENTS.contains(&key))
    {
        let mut element = InlineTable::new();
        element.insert("kind", kind.into());
        *item = Item::Value(Value::InlineTable(element));
    }
    Some(item)
}

/// The place further in the list's entry with this number.
fn entry(here: &mut Item, index: usize, further: &[Step], value: &Json) -> Option<()> {
    if let Item::ArrayOfTables(tables) = here {
        if further.is_empty() {
            return table_entry(tables, index, value);
        }
        let mut inner = Item::Table(std::mem::take(tables.get_mut(index)?));
        let done = put(&mut inner, further, value);
        *tables.get_mut(index)? = inner.into_table().ok()?;
        return done;
    }
    let list = here.as_array_mut()?;
    match (value, further.is_empty()) {
        (Json::Null, true) => drop((index < list.len()).then(|| list.remove(index))?),
        (_, true) if index == list.len() => list.push(of_json(value)?),
        (_, true) => drop(list.replace(index, of_json(value)?)),
        (_, false) => {
            let mut inner = Item::Value(list.get(index)?.clone());
            put(&mut inner, further, value)?;
            list.replace(index, inner.into_value().ok()?);
        }
    }
    Some(())
}

fn table_entry(tables: &mut ArrayOfTables, index: usize, value: &Json) -> Option<()> {
    match value {
        Json::Null => {
            tables.get(index)?;
            tables.remove(index);
        }
        Json::Object(pairs) => {
            let mut table = Table::new();
            for (key, value) in pairs {
                table.insert(key, Item::Value(of_json(value)?));
            }
            if index == tables.len() {
                table.decor_mut().set_prefix("\n");
                tables.push(table);
            } else {
                *tables.get_mut(index)? = table;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Sets a key of a table, and keeps the comment of an old value.
fn set(here: &mut Item, key: &str, value: &Json) -> Option<()> {
    let table = here.as_table_like_mut()?;
    if value.is_null() {
        table.remove(key);
        return Some(());
    }
    let mut value = of_json(value)?;
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(value));
    Some(())
}

fn of_json(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(list) => Value::Array(list.iter().map(of_json).collect::<Option<Array>>()?),
        Json::Object(pairs) => {
            let pair = |(key, value): (&String, &Json)| Some((key.clone(), of_json(value)?));
            Value::InlineTable(pairs.iter().map(pair).collect::<Option<InlineTable>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "# Two flows.\n[path]\nrate = \"20mbit\" # a link\nqueue = \"codel\"\n\n\
                        [[flows]]\ncca = \"bbr\" # one\n\n[[flows]]\ncca = \"cubic\"\n";

    fn after(place: &str, value: Json) -> String {
        apply(TEXT, &[Edit { place: place.into(), value }]).unwrap()
    }

    #[test]
    fn a_value_changes_in_its_place() {
        assert_eq!(after("path.rate", json!("5mbit")), TEXT.replace("20mbit", "5mbit"));
        assert_eq!(after("flows.0.cca", json!("reno")), TEXT.replace("bbr", "reno"));
    }

    #[test]
    fn keys_and_entries_come_and_go() {
        let longer = after("flows.2", json!({ "cca": "vegas" }));
        assert_eq!(longer, format!("{TEXT}\n[[flows]]\ncca = \"vegas\"\n"));
        assert!(!after("flows.1", Json::Null).contains("cubic"));
        assert!(!after("path.rate", Json::Null).contains("rate"));
        assert!(after("run.duration", json!("5s")).ends_with("[run]\nduration = \"5s\"\n"));
    }

    #[test]
    fn a_bare_kind_becomes_a_table() {
        let text = after("path.queue.target", json!("1ms"));
        assert!(text.contains("queue = { kind = \"codel\", target = \"1ms\" }"), "{text}");
    }

    #[test]
    fn edits_of_missing_places_are_refused() {
        for place in ["path.rate.a", "flows.7", "flows.cca", "", "path..rate"] {
            let edit = Edit { place: place.into(), value: json!("x") };
            assert!(apply(TEXT, &[edit]).is_err(), "{place}");
        }
    }
}
