//! Whether a choice can be built.

use super::{Choice, Info, Parameter, Unit, Value, info};

/// What is wrong with a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key, or `kind`.
    pub key: String,
    /// What stands there.
    pub found: String,
    /// What would be right.
    pub need: String,
}

impl Fault {
    pub(super) fn new(key: &str, found: impl Into<String>, need: impl Into<String>) -> Self {
        Self { key: key.into(), found: found.into(), need: need.into() }
    }
}

/// Checks that `registry` has the kind, and that the choice has all its parameters,
/// each in its range, and no other.
///
/// # Errors
/// The first fault.
pub fn check(registry: &'static [Info], choice: &Choice) -> Result<&'static Info, Fault> {
    let Some(info) = info(registry, &choice.kind) else {
        let names: Vec<_> = registry.iter().map(|info| info.name).collect();
        return Err(Fault::new("kind", &choice.kind, format!("one of {}", names.join(", "))));
    };
    for parameter in info.parameters {
        check_parameter(parameter, choice)?;
    }
    let known = |key: &str| info.parameters.iter().any(|p| p.key() == key);
    match choice.parameters.keys().find(|key| !known(key)) {
        Some(key) => Err(Fault::new(key, "an unknown key", "a parameter of its kind")),
        None => Ok(info),
    }
}

fn check_parameter(parameter: &Parameter, choice: &Choice) -> Result<(), Fault> {
    let key = parameter.key();
    let Some(value) = choice.parameters.get(&key) else {
        return Err(Fault::new(&key, "nothing", expectation(parameter)));
    };
    let may_be_off = parameter.fallback == super::Fallback::Off;
    if fits(parameter, value) || (may_be_off && *value == Value::Off) {
        return Ok(());
    }
    Err(Fault::new(&key, describe(value), expectation(parameter)))
}

fn fits(parameter: &Parameter, value: &Value) -> bool {
    let within = |number: u64| (parameter.least..=parameter.most).contains(&number);
    match (parameter.unit, value) {
        (Unit::Flag, Value::Flag(_)) => true,
        (Unit::Word(words), Value::Word(word)) => words.contains(&word.as_str()),
        (Unit::Probability, Value::Number(number)) => (0.0..=1.0).contains(number),
        (Unit::Number, Value::Number(number)) => number.is_finite() && *number >= 0.0,
        (Unit::Probability, Value::Whole(number)) => *number <= 1,
        (Unit::Number, Value::Whole(_)) => true,
        (Unit::Flag | Unit::Word(_), _) => false,
        (Unit::Rates | Unit::Delays | Unit::Spans, Value::Pairs(pairs)) => {
            pairs.windows(2).all(|w| w[0].0 < w[1].0) && pairs.iter().all(|p| within(p.1))
        }
        (Unit::Rates | Unit::Delays | Unit::Spans, Value::List(list)) => list.is_empty(),
        (Unit::Opportunities, Value::List(list)) => {
            list.windows(2).all(|w| w[0] <= w[1]) && list.last().is_some_and(|&last| last > 0)
        }
        (
            Unit::Packets | Unit::Bytes | Unit::Duration | Unit::Rate | Unit::Whole,
            Value::Whole(number),
        ) => within(*number),
        _ => false,
    }
}

fn expectation(parameter: &Parameter) -> String {
    match parameter.unit {
        Unit::Flag => "true or false".into(),
        Unit::Word(words) => format!("one of {}", words.join(", ")),
        Unit::Probability => "a number from 0 to 1".into(),
        Unit::Number => "a number that isn't negative".into(),
        Unit::Rates | Unit::Delays | Unit::Spans => "pairs whose times ascend".into(),
        Unit::Opportunities => "ms that don't descend, the last above zero".into(),
        _ => match (parameter.least, parameter.most) {
            (0, u64::MAX) => "a whole number".into(),
            (least, u64::MAX) => format!("a whole number of at least {least}"),
            (least, most) => format!("a whole number from {least} to {most}"),
        },
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Off => "nothing".into(),
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Word(word) => format!("{word:?}"),
        Value::List(_) | Value::Pairs(_) => "a list".into(),
    }
}
