//! Checks whether a registry allows a choice.

use std::collections::BTreeMap;

use super::choice::{Choice, Values};
use super::info::{Info, info};
use super::parameter::{Bounds, Parameter, ParameterDefault, Unit};
use super::value::Value;

/// A fault in a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, or `kind`.
    pub key: String,
    /// The value found.
    pub found: String,
    /// The value that would be right.
    pub need: String,
}

impl Fault {
    /// A fault at `key`.
    #[must_use]
    pub fn new(key: &str, found: impl Into<String>, need: impl Into<String>) -> Self {
        Self { key: key.into(), found: found.into(), need: need.into() }
    }
}

/// Checks that `registry` has the kind, and that the choice has all its parameters,
/// each in its range, and no other.
///
/// # Errors
/// The first fault.
pub fn check(registry: &[&'static Info], choice: &Choice) -> Result<&'static Info, Fault> {
    let Some(info) = info(registry, &choice.kind) else {
        let names: Vec<_> = registry.iter().map(|info| info.name).collect();
        return Err(Fault::new("kind", &choice.kind, format!("one of {}", names.join(", "))));
    };
    all_there(info.parameters, &choice.parameters)?;
    check_values(info, &choice.parameters)?;
    Ok(info)
}

fn all_there(parameters: &[Parameter], values: &BTreeMap<String, Value>) -> Result<(), Fault> {
    let missing = |parameter: &&Parameter| !values.contains_key(&parameter.key());
    match parameters.iter().find(missing) {
        Some(parameter) => Err(Fault::new(&parameter.key(), "nothing", expectation(parameter))),
        None => Ok(()),
    }
}

/// Checks that each value is in the range of its parameter, and that there is no other; missing
/// ones are no fault.
///
/// # Errors
/// The first fault.
pub fn check_values(info: &Info, values: &Values) -> Result<(), Fault> {
    check_parameters(info.parameters, values)
}

fn check_parameters(
    parameters: &[Parameter],
    values: &BTreeMap<String, Value>,
) -> Result<(), Fault> {
    for parameter in parameters {
        check_value(parameter, values)?;
    }
    let known = |key: &str| parameters.iter().any(|p| p.key() == key);
    match values.keys().find(|key| !known(key)) {
        Some(key) => Err(Fault::new(key, "an unknown key", "a parameter of its kind")),
        None => Ok(()),
    }
}

fn check_value(parameter: &Parameter, values: &BTreeMap<String, Value>) -> Result<(), Fault> {
    let key = parameter.key();
    let Some(value) = values.get(&key) else { return Ok(()) };
    let may_be_off = parameter.default == ParameterDefault::Off;
    if let (Unit::Tables(parameters), Value::Tables(tables)) = (parameter.unit, value) {
        return check_tables(&key, parameters, tables);
    }
    if fits(parameter, value) || (may_be_off && *value == Value::Off) {
        return Ok(());
    }
    Err(Fault::new(&key, describe(value), expectation(parameter)))
}

/// Each table has all its parameters; a fault's key is that of the tables, the place and the
/// table's own.
fn check_tables(
    key: &str,
    parameters: &[Parameter],
    tables: &[BTreeMap<String, Value>],
) -> Result<(), Fault> {
    for (place, table) in tables.iter().enumerate() {
        all_there(parameters, table)
            .and_then(|()| check_parameters(parameters, table))
            .map_err(|fault| Fault { key: format!("{key}[{place}].{}", fault.key), ..fault })?;
    }
    Ok(())
}

fn fits(parameter: &Parameter, value: &Value) -> bool {
    let within = |number: u64| parameter.bounds.contains(number);
    match (parameter.unit, value) {
        (Unit::Flag, Value::Flag(_)) => true,
        (Unit::Word(words), Value::Word(word)) => words.contains(&word.as_str()),
        (Unit::Share | Unit::Number, Value::Number(number)) => {
            parameter.bounds.hold_number(*number)
        }
        (Unit::Rates | Unit::Delays | Unit::Spans, Value::Pairs(pairs)) => {
            pairs.windows(2).all(|w| w[0].0 < w[1].0) && pairs.iter().all(|p| within(p.1))
        }
        (Unit::Rates | Unit::Delays | Unit::Spans, Value::List(list)) => list.is_empty(),
        (Unit::Opportunities, Value::List(list)) => {
            list.windows(2).all(|w| w[0] <= w[1]) && list.last().is_some_and(|&last| last > 0)
        }
        (
            Unit::Packets
            | Unit::Bytes
            | Unit::Duration
            | Unit::Rate
            | Unit::Share
            | Unit::Whole
            | Unit::Number,
            Value::Whole(number),
        ) => within(*number),
        _ => false,
    }
}

impl Bounds {
    /// Returns whether a whole number is within the bounds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "bounds of numbers are small")]
    pub const fn contains(self, number: u64) -> bool {
        match self {
            Self::Whole { least, most, step } => {
                least <= number && number <= most && number.is_multiple_of(step)
            }
            Self::Number { least, most } => least <= number as f64 && number as f64 <= most,
        }
    }

    /// Returns `true` if the number is finite and within the bounds.
    #[must_use]
    pub const fn hold_number(self, number: f64) -> bool {
        match self {
            Self::Whole { .. } => false,
            Self::Number { least, most } => least <= number && number <= most,
        }
    }
}

fn expectation(parameter: &Parameter) -> String {
    match (parameter.unit, parameter.bounds) {
        (Unit::Flag, _) => "true or false".into(),
        (Unit::Word(words), _) => format!("one of {}", words.join(", ")),
        (Unit::Rates | Unit::Delays | Unit::Spans, _) => "pairs whose times ascend".into(),
        (Unit::Tables(_), _) => "tables".into(),
        (Unit::Opportunities, _) => "ms that don't descend, the last above zero".into(),
        (_, Bounds::Number { least: 0.0, most: f64::MAX }) => "a number that isn't negative".into(),
        (_, Bounds::Number { least, most }) => format!("a number from {least} to {most}"),
        (_, Bounds::Whole { least, most, step }) => whole(least, most, step),
    }
}

fn whole(least: u64, most: u64, step: u64) -> String {
    let multiple = if step == 1 { String::new() } else { format!(", a multiple of {step}") };
    match (least, most) {
        (0, u64::MAX) => format!("a whole number{multiple}"),
        (least, u64::MAX) => format!("a whole number of at least {least}{multiple}"),
        (least, most) => format!("a whole number from {least} to {most}{multiple}"),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Off => "nothing".into(),
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Word(word) => format!("{word:?}"),
        Value::List(_) | Value::Pairs(_) | Value::Tables(_) => "a list".into(),
    }
}
