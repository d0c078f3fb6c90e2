//! A kind of element with the values of its parameters.

use std::collections::BTreeMap;

use narrows_base::{Bytes, Duration, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Fallback, Info, Unit};

/// A kind of element by name, and every parameter of it by its key (the name and
/// the unit, such as `target_ns`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The name of the kind.
    pub kind: String,
    /// All its parameters.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Value>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// What is off.
    Off,
    /// True or false.
    Flag(bool),
    /// A whole number, in the unit that the key names.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// Whole numbers.
    List(Vec<u64>),
    /// Whole numbers, two by two.
    Pairs(Vec<(u64, u64)>),
}

impl Choice {
    /// A kind without parameters.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.into(), parameters: BTreeMap::new() }
    }

    /// A kind with its defaults, on a link of this rate. Parameters that must be
    /// given are missing.
    #[must_use]
    pub fn with_defaults(info: &Info, link: Rate) -> Self {
        let value = |fallback| match fallback {
            Fallback::Required => None,
            Fallback::Off => Some(Value::Off),
            Fallback::LinkRate => Some(Value::Whole(link.as_bps())),
            Fallback::Whole(number) => Some(Value::Whole(number)),
            Fallback::Number(number) => Some(Value::Number(number)),
            Fallback::Flag(flag) => Some(Value::Flag(flag)),
            Fallback::Word(word) => Some(Value::Word(word.into())),
        };
        let known = info.parameters.iter();
        let parameters = known.filter_map(|p| Some((p.key(), value(p.fallback)?))).collect();
        Self { kind: info.name.into(), parameters }
    }

    /// The same with the parameter at `key` set.
    #[must_use]
    pub fn set(mut self, key: &str, value: Value) -> Self {
        self.parameters.insert(key.into(), value);
        self
    }

    fn value(&self, name: &str, unit: Unit) -> &Value {
        let key = super::Parameter::new("", unit, Fallback::Off, "").key();
        let value = self.parameters.get(&format!("{name}{key}"));
        value.unwrap_or_else(|| panic!("{} without its {name}: it wasn't checked", self.kind))
    }

    fn some_whole(&self, name: &str, unit: Unit) -> Option<u64> {
        match self.value(name, unit) {
            Value::Off => None,
            Value::Whole(number) => Some(*number),
            other => panic!("{} of {} is {other:?}: it wasn't checked", name, self.kind),
        }
    }

    pub(super) fn whole(&self, name: &str, unit: Unit) -> u64 {
        self.some_whole(name, unit).expect("the parameter was checked")
    }

    pub(super) fn small(&self, name: &str, unit: Unit) -> u32 {
        u32::try_from(self.whole(name, unit)).expect("the range was checked")
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        self.some_number(name).expect("the parameter was checked")
    }

    #[allow(clippy::cast_precision_loss)]
    pub(super) fn some_number(&self, name: &str) -> Option<f64> {
        match self.value(name, Unit::Number) {
            Value::Off => None,
            Value::Number(number) => Some(*number),
            Value::Whole(number) => Some(*number as f64),
            other => panic!("{} of {} is {other:?}: it wasn't checked", name, self.kind),
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.value(name, Unit::Flag), Value::Flag(true))
    }

    pub(super) fn duration(&self, name: &str) -> Duration {
        Duration::from_nanos(self.whole(name, Unit::Duration))
    }

    pub(super) fn some_duration(&self, name: &str) -> Option<Duration> {
        self.some_whole(name, Unit::Duration).map(Duration::from_nanos)
    }

    pub(super) fn rate(&self, name: &str) -> Rate {
        Rate::from_bps(self.whole(name, Unit::Rate))
    }

    pub(super) fn some_rate(&self, name: &str) -> Option<Rate> {
        self.some_whole(name, Unit::Rate).map(Rate::from_bps)
    }

    pub(super) fn bytes(&self, name: &str) -> Bytes {
        Bytes::new(self.whole(name, Unit::Bytes))
    }

    pub(super) fn some_bytes(&self, name: &str) -> Option<Bytes> {
        self.some_whole(name, Unit::Bytes).map(Bytes::new)
    }

    pub(super) fn word(&self, name: &str) -> &str {
        match self.value(name, Unit::Word(&[])) {
            Value::Word(word) => word,
            other => panic!("{} of {} is {other:?}: it wasn't checked", name, self.kind),
        }
    }

    pub(super) fn opportunities(&self) -> &[u64] {
        match self.parameters.get("opportunities_ms") {
            Some(Value::List(list)) => list,
            other => panic!("opportunities of {}: {other:?} wasn't checked", self.kind),
        }
    }

    /// Times and what belongs to them.
    pub(super) fn times(&self, name: &str) -> Vec<(Time, u64)> {
        match self.value(name, Unit::Rates) {
            Value::Pairs(pairs) => pairs.iter().map(|p| (Time::from_nanos(p.0), p.1)).collect(),
            _ => Vec::new(),
        }
    }
}
