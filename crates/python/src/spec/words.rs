//! Quantities, places and words for Python, which writes them in messages and figures, too.

use narrows_base::registry;
use narrows_spec::keys::{KeyDefault, KeyKind, SPECIFICATION, SWEEP, Section};
use narrows_spec::units::{Quantity, Size, SizeUnit};
use narrows_spec::{Node, Place, inline, text, units};
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::error::spec_error;

/// The kind of a quantity ("rate", "duration", "b", "pkt" or "bdp") and its number in bit/s, ns,
/// bytes, packets or products; None if the text isn't one.
#[pyfunction]
pub fn quantity(text: &str) -> Option<(&'static str, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "for figures and comparisons")]
    let number = |whole: u64| whole as f64;
    Some(match units::quantity(text)? {
        Quantity::Rate(bps) => ("rate", number(bps)),
        Quantity::Duration(ns) => ("duration", number(ns)),
        Quantity::Size(size) => (size_unit(&size), size.amount()),
    })
}

fn size_unit(size: &Size) -> &'static str {
    match size.unit {
        SizeUnit::Bytes => "b",
        SizeUnit::Packets => "pkt",
        SizeUnit::Bdp => "bdp",
    }
}

/// A duration in ns in its usual spelling.
#[pyfunction]
pub fn format_duration(ns: u64) -> String {
    units::format_duration(ns)
}

/// A place in its usual spelling, such as "flows[0].cca"; None if the text isn't one.
#[pyfunction]
pub fn parse_place(text: &str) -> Option<String> {
    Place::parse(text).map(|place| place.to_string())
}

/// `text` in double quotes, shortened and with control characters escaped.
#[pyfunction]
#[pyo3(signature = (text, most=64))]
pub fn quote(text: &str, most: usize) -> String {
    text::quote_within(text, most)
}

/// The known word closest to `word`, ignoring case; None if none is close.
#[pyfunction]
pub fn nearest(word: &str, known: Vec<String>) -> Option<String> {
    registry::nearest(word, known.iter().map(String::as_str)).map(str::to_owned)
}

/// A document, given as JSON, as TOML; with `inline`, a single value.
#[pyfunction]
#[pyo3(signature = (document, inline=false))]
pub fn to_toml(document: &str, inline: bool) -> PyResult<String> {
    let node = Node::from_json(document).map_err(spec_error)?;
    Ok(if inline { narrows_spec::inline(&node) } else { node.to_toml() })
}

/// Every single value of a TOML document, as a JSON table of places.
#[pyfunction]
pub fn leaves(text: &str) -> PyResult<String> {
    let document = Node::from_toml(text).map_err(spec_error)?;
    let leaves = document.leaves().into_iter();
    let leaves: serde_json::Map<_, _> =
        leaves.map(|(place, node)| (place.to_string(), node.to_json())).collect();
    Ok(narrows_spec::canonical_json(&leaves))
}

/// A name, a summary, a source, and keys with their values.
type NamedPath = (String, String, String, Vec<(String, String)>);

/// The named paths: name, summary, source, and keys with their values as TOML.
#[pyfunction]
pub fn presets() -> Vec<NamedPath> {
    let one = |preset: &narrows_spec::Preset| {
        let keys = preset.path.entries().map(|(key, node)| (key.to_owned(), inline(node)));
        let (name, summary) = (preset.name.clone(), preset.summary.clone());
        (name, summary, preset.source.clone(), keys.collect())
    };
    narrows_spec::presets().iter().map(one).collect()
}

/// A JSON Schema of specifications and studies.
#[pyfunction]
pub fn schema() -> String {
    narrows_spec::schema().to_string()
}

/// The sections of a specification and their keys, as JSON.
#[pyfunction]
pub fn sections() -> String {
    json!([section(&SPECIFICATION), section(&SWEEP)]).to_string()
}

fn section(section: &Section) -> Value {
    let keys: Vec<_> = section
        .keys
        .iter()
        .map(|key| {
            let inner = match key.kind {
                KeyKind::Table(inner) | KeyKind::Tables(inner) => self::section(inner),
                _ => Value::Null,
            };
            json!({
                "name": key.name,
                "kind": key.kind.name(),
                "expects": key.kind.expects(key.name),
                "required": key.default == KeyDefault::Required,
                "scenario": key.scenario,
                "nullable": key.may_be_none(),
                "what": key.what,
                "section": inner,
            })
        })
        .collect();
    json!({"title": section.title, "what": section.what, "keys": keys})
}
