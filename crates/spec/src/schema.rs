//! A JSON Schema of specifications and studies, for editors that complete and check TOML.
//!
//! It is made from the declared keys and the registries. Only reading finds problems that a schema
//! can't express (relations between values, files, names of flows).

use narrows_base::registry::{Bounds, Info, LimitUnit, Parameter, ParameterDefault, Unit};
use narrows_cc::CONTROLS;
use serde_json::{Map, Value, json};

use crate::keys::{self, Elements, Key, KeyKind, SPECIFICATION, SWEEP, Section};
use crate::limits::{MAX_NAME, MAX_POINTS};
use crate::read::presets;
use crate::scenario::NO_CONTROL;
use crate::units::{DURATION_UNITS, RATE_UNITS, SIZE_UNITS};
use crate::workloads::{DISTRIBUTIONS, WORKLOADS};

/// The schema, as JSON.
#[must_use]
pub fn schema() -> Value {
    let mut whole = section(&SPECIFICATION);
    whole["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    whole["title"] = "A specification or a study of narrows".into();
    whole["properties"]["sweep"] = section(&SWEEP);
    let complete = complete(&mut whole["properties"]);
    whole["if"] =
        json!({ "required": ["sweep"], "properties": { "sweep": { "required": ["cases"] } } });
    whole["else"] = complete;
    // The name of the file replaces a missing name.
    whole["required"] = json!([]);
    whole["$defs"] = json!({ "range": range() });
    whole
}

/// Moves out of the sections' schemas what they need where no case adds to them.
fn complete(sections: &mut Value) -> Value {
    let mut parts = Map::new();
    for (name, section) in sections.as_object_mut().into_iter().flatten() {
        let mut needs = Map::new();
        for key in ["required", "anyOf"] {
            let found = section.as_object_mut().and_then(|section| section.remove(key));
            needs.extend(found.map(|found| (key.to_owned(), found)));
        }
        parts.insert(name.clone(), needs.into());
    }
    json!({ "required": ["path", "flows"], "properties": parts })
}

fn section(section: &Section) -> Value {
    let properties: Map<_, _> =
        section.keys.iter().map(|key| (key.name.to_owned(), describe(key))).collect();
    let required: Vec<_> = section
        .keys
        .iter()
        .filter(|key| key.default == keys::KeyDefault::Required)
        .map(|key| key.name)
        .collect();
    let mut made = json!({
        "type": "object",
        "description": section.what,
        "properties": properties,
        "additionalProperties": false,
    });
    if section.key("preset").is_some() {
        // A preset may supply all the others.
        made["anyOf"] = json!([{ "required": ["preset"] }, { "required": required }]);
    } else {
        made["required"] = json!(required);
    }
    if section.key("options").is_some() {
        made["allOf"] = CONTROLS.iter().map(|entry| options(&entry.info)).collect();
    }
    made
}

fn describe(key: &Key) -> Value {
    let mut made = kind(key);
    let takes = key.kind.expects(key.name);
    let takes = format!("Takes {}.", takes.trim_end_matches(','));
    let description = if key.what.is_empty() { takes } else { format!("{} {takes}", key.what) };
    made["description"] = description.into();
    match key.default {
        keys::KeyDefault::Text(text) => made["default"] = text.into(),
        keys::KeyDefault::Whole(number) => made["default"] = number.into(),
        keys::KeyDefault::Number(number) => made["default"] = number.into(),
        keys::KeyDefault::Flag(flag) => made["default"] = flag.into(),
        keys::KeyDefault::Required | keys::KeyDefault::Off | keys::KeyDefault::Empty => {}
    }
    made
}

fn kind(key: &Key) -> Value {
    let one = match key.kind {
        KeyKind::Table(inner) => return section(inner),
        KeyKind::Tables(inner) => {
            let least = usize::from(key.default == keys::KeyDefault::Required);
            return json!({ "type": "array", "items": section(inner), "minItems": least });
        }
        KeyKind::Impairments => {
            let one = element(Elements::Impairment);
            return json!({ "type": "array", "items": one });
        }
        KeyKind::Command => {
            let words = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
            return words;
        }
        KeyKind::Names(..) => return json!({ "type": "array", "items": { "type": "string" } }),
        KeyKind::Options | KeyKind::Sysctls | KeyKind::Where | KeyKind::Axes => {
            return json!({ "type": "object" });
        }
        KeyKind::Cases => {
            let case = json!({ "type": "object", "required": ["name"] });
            return json!({ "type": "array", "items": case });
        }
        KeyKind::Zip => {
            let places = json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 });
            return json!({ "type": "array", "items": places });
        }
        KeyKind::Within => return json!({ "type": ["number", "string"] }),
        KeyKind::Rate => quantity(RATE_UNITS),
        KeyKind::Duration | KeyKind::Span => quantity(DURATION_UNITS),
        KeyKind::Room => quantity(SIZE_UNITS),
        KeyKind::Volume => quantity(BYTE_UNITS),
        KeyKind::Probability => {
            part(json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1 }))
        }
        KeyKind::Number => json!({ "type": "number" }),
        KeyKind::Flag => json!({ "type": "boolean" }),
        KeyKind::Name => name(key),
        KeyKind::Whole(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        KeyKind::Word(words) => json!({ "enum": (words.known)() }),
        KeyKind::Control => control(),
        KeyKind::Element(elements) => element(elements),
        KeyKind::Workload => workload(),
    };
    axis(one)
}

/// The units of bytes, which come first, and that of packets.
const BYTE_UNITS: &[(&str, u64)] = SIZE_UNITS.split_at(7).0;
const PACKET_UNIT: &[(&str, u64)] = SIZE_UNITS.split_at(7).1.split_at(1).0;
/// Parameters of workloads whose quantity isn't that of a distribution.
const ANY: Forms = Forms { distributed: &Value::Bool(true), counts: false };
/// Parameters of elements and controls.
const COUNTS: Forms = Forms { counts: true, ..ANY };

/// The forms that values of parameters have in a table.
#[derive(Clone, Copy)]
struct Forms<'a> {
    /// A value of the distributed quantity.
    distributed: &'a Value,
    /// True if a plain number counts packets or bytes.
    counts: bool,
}

fn name(key: &Key) -> Value {
    if key.name == "preset" {
        let names: Vec<_> = presets().iter().map(|preset| preset.name.as_str()).collect();
        return json!({ "enum": names });
    }
    json!({ "type": "string", "minLength": 1, "maxLength": MAX_NAME })
}

/// One value, or several in a study.
fn axis(one: Value) -> Value {
    let several = json!({ "type": "array", "items": one, "minItems": 1 });
    json!({ "anyOf": [one, several, { "$ref": "#/$defs/range" }] })
}

fn range() -> Value {
    let end = json!({ "type": ["number", "string"] });
    json!({
        "type": "object",
        "description": "In a study, a range of values by their number or by steps.",
        "properties": {
            "from": end,
            "to": end,
            "step": end,
            "count": { "type": "integer", "minimum": 2 },
            "scale": { "enum": ["linear", "log"] },
        },
        "required": ["from", "to"],
        "additionalProperties": false,
    })
}

/// A number with one of these units.
fn quantity(units: &[(&str, u64)]) -> Value {
    let units: Vec<_> = units.iter().map(|unit| unit.0).collect();
    let pattern = format!(r"^\s*([0-9]+(\.[0-9]+)?|\.[0-9]+) ?({})\s*$", units.join("|"));
    json!({ "type": "string", "pattern": pattern })
}

/// A number, or the same in per cent.
fn part(number: Value) -> Value {
    let text = json!({ "type": "string", "pattern": r"^\s*([0-9]+(\.[0-9]+)?|\.[0-9]+) ?%\s*$" });
    json!({ "anyOf": [number, text] })
}

/// A registered control, or a module and a class in it.
fn control() -> Value {
    let names = CONTROLS.iter().map(|entry| {
        json!({
            "const": entry.info.name,
            "description": entry.info.summary,
        })
    });
    let own = json!({ "type": "string", "pattern": "^([^:]+:[^:]+|.+\\.([co]|rs))$" });
    let none = json!({ "const": NO_CONTROL, "description": "that of datagrams" });
    json!({ "anyOf": names.chain([none, own]).collect::<Vec<_>>() })
}

/// The options of a flow with this control.
fn options(info: &Info) -> Value {
    json!({
        "if": {
            "properties": { "cca": { "const": info.name } },
            "required": ["cca"],
            "not": { "required": ["stack"] },
        },
        "then": { "properties": { "options": parameters(info.parameters, &[], COUNTS) } },
    })
}

fn element(elements: Elements) -> Value {
    let alone =
        |info: &&&Info| info.parameters.iter().all(|one| one.default != ParameterDefault::Required);
    let names: Vec<_> = elements.registry().iter().filter(alone).map(|info| info.name).collect();
    let table = |info: &&Info| {
        let mut further = vec![("kind", json!({ "const": info.name }))];
        if let Some(room) = info.limit_unit() {
            further.push(("limit", axis(limit(room))));
        }
        if elements == Elements::Impairment {
            further.push(("direction", axis(json!({ "enum": ["forward", "backward"] }))));
            further.push(("at", axis(json!({ "enum": ["behind", "before"] }))));
        }
        let mut made = parameters(info.parameters, &further, COUNTS);
        made["description"] = info.summary.into();
        made
    };
    let tables: Vec<_> = elements.registry().iter().map(table).collect();
    if elements == Elements::Impairment {
        return json!({ "anyOf": tables });
    }
    let all: Vec<_> = std::iter::once(json!({ "enum": names })).chain(tables).collect();
    json!({ "anyOf": all })
}

/// The limit of a queue; a plain number only if the discipline has its own unit.
fn limit(room: LimitUnit) -> Value {
    match room {
        LimitUnit::Either => quantity(SIZE_UNITS),
        _ => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, quantity(SIZE_UNITS)] }),
    }
}

/// A table of parameters, with further keys.
fn parameters(parameters: &[Parameter], further: &[(&str, Value)], forms: Forms) -> Value {
    let mut properties: Map<_, _> =
        further.iter().map(|(key, made)| ((*key).to_owned(), made.clone())).collect();
    let mut required: Vec<&str> =
        further.iter().map(|(key, _)| *key).filter(|key| *key == "kind").collect();
    for parameter in parameters {
        let value = unit(parameter, forms);
        let is_list = matches!(parameter.unit, Unit::Tables(_) | Unit::RateList | Unit::Quantiles);
        let mut made = if is_list { value } else { axis(value) };
        made["description"] = parameter.what.into();
        properties.insert(parameter.name.into(), made);
        if parameter.default == ParameterDefault::Required {
            required.push(parameter.name);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn unit(parameter: &Parameter, forms: Forms) -> Value {
    let bounded = |kind: &str| match parameter.bounds {
        Bounds::Whole { least, most, .. } => {
            json!({ "type": kind, "minimum": least, "maximum": most })
        }
        Bounds::Number { least, most } => {
            json!({ "type": kind, "minimum": least, "maximum": most })
        }
    };
    match parameter.unit {
        Unit::Packets | Unit::Bytes => {
            let packets = parameter.unit == Unit::Packets;
            let text = quantity(if packets { PACKET_UNIT } else { BYTE_UNITS });
            if forms.counts { json!({ "anyOf": [bounded("integer"), text] }) } else { text }
        }
        Unit::Duration => quantity(DURATION_UNITS),
        Unit::Rate => quantity(RATE_UNITS),
        Unit::Share => part(bounded("number")),
        Unit::Number => bounded("number"),
        Unit::Whole => bounded("integer"),
        Unit::Flag => json!({ "type": "boolean" }),
        Unit::Word(words) => json!({ "enum": words }),
        Unit::Rates => steps_schema(quantity(RATE_UNITS)),
        Unit::Delays | Unit::Spans => steps_schema(quantity(DURATION_UNITS)),
        Unit::RateList => json!({ "type": "array", "items": quantity(RATE_UNITS), "minItems": 1 }),
        Unit::Opportunities | Unit::QuantileFile => json!({ "type": "string" }),
        Unit::Frequency => json!({ "type": "string", "pattern": FREQUENCY }),
        Unit::Durations => law(&quantity(DURATION_UNITS)),
        Unit::Sizes => law(&quantity(BYTE_UNITS)),
        Unit::Distributed => forms.distributed.clone(),
        Unit::Tables(own) => {
            json!({ "type": "array", "items": parameters(own, &[], forms), "minItems": 1 })
        }
        Unit::Quantiles => json!({
            "type": "array",
            "items": {
                "type": "array",
                "prefixItems": [forms.distributed, { "type": "number", "minimum": 0, "maximum": 1 }],
                "minItems": 2,
                "maxItems": 2,
            },
            "minItems": 1,
            "maxItems": MAX_POINTS,
        }),
    }
}

/// A number of flows in a time, such as "5/s".
const FREQUENCY: &str =
    r"^\s*\+?([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*/\s*(s|min|h)\s*$";

/// A table of times, each with a value.
fn steps_schema(one: Value) -> Value {
    json!({ "type": "object", "additionalProperties": one })
}

/// A quantity, or a distribution of it.
fn law(one: &Value) -> Value {
    let tables = DISTRIBUTIONS.iter().map(|info| kind_of(info, Forms { distributed: one, ..ANY }));
    json!({ "anyOf": std::iter::once(one.clone()).chain(tables).collect::<Vec<_>>() })
}

fn workload() -> Value {
    let tables = WORKLOADS.iter().map(|info| kind_of(info, ANY));
    json!({ "anyOf": tables.collect::<Vec<_>>() })
}

/// A table with a kind and its parameters.
fn kind_of(info: &Info, forms: Forms) -> Value {
    let mut made = parameters(info.parameters, &[("kind", json!({ "const": info.name }))], forms);
    made["description"] = info.summary.into();
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_every_name_is_in_it() {
        let text = schema().to_string();
        for section in [&SPECIFICATION, &SWEEP, &keys::PATH, &keys::FLOW, &keys::HOST, &keys::RUN] {
            for name in section.names() {
                assert!(text.contains(&format!("\"{name}\":")), "{name}");
            }
        }
        for info in WORKLOADS.iter().chain(DISTRIBUTIONS) {
            assert!(text.contains(&format!("\"{}\"", info.name)), "{}", info.name);
        }
        for elements in [Elements::Queue, Elements::Service, Elements::Impairment] {
            for info in elements.registry() {
                assert!(text.contains(&format!("\"{}\"", info.name)), "{}", info.name);
            }
        }
        for entry in CONTROLS {
            for parameter in entry.info.parameters {
                assert!(text.contains(&format!("\"{}\":", parameter.name)), "{}", parameter.name);
            }
        }
    }
}
