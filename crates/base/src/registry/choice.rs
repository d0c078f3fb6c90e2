//! An entry with the values of its parameters.

use std::collections::BTreeMap;
use std::ops::{Bound, Deref, DerefMut};

use serde::{Deserialize, Serialize};

use super::info::Info;
use super::parameter::Unit;
use super::value::Value;
use crate::quantity::{Bytes, Rate};
use crate::time::{Duration, Time};

/// An entry by its name, and every parameter of it by its key (the name and the
/// unit, such as `target_ns`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The name of the entry.
    pub kind: String,
    /// All its parameters.
    #[serde(flatten)]
    pub parameters: Values,
}

/// The values of parameters by their keys.
///
/// The methods return the value of the parameter called `name`; they panic if it is missing or has
/// another unit, which a check has ruled out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(pub BTreeMap<String, Value>);

impl Choice {
    /// An entry without parameters.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.into(), parameters: Values::default() }
    }

    /// An entry with its defaults, on a link of this rate. Parameters that must be
    /// given are missing.
    #[must_use]
    pub fn with_defaults(info: &Info, link: Rate) -> Self {
        Self { kind: info.name.into(), parameters: Values::defaults(info, link) }
    }

    /// Sets the parameter at `key`.
    #[must_use]
    pub fn set(mut self, key: &str, value: Value) -> Self {
        self.parameters.insert(key.into(), value);
        self
    }
}

impl Deref for Values {
    type Target = BTreeMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Values {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<(String, Value)> for Values {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Values {
    /// The defaults of an entry, on a link of this rate. Parameters that must be given are
    /// missing.
    #[must_use]
    pub fn defaults(info: &Info, link: Rate) -> Self {
        let known = info.parameters.iter();
        known.filter_map(|p| Some((p.key(), p.default(link.as_bps())?))).collect()
    }

    fn value(&self, name: &str, unit: Unit) -> &Value {
        // The key begins with the name, so it is the first one from there on, or close behind it.
        let mut from = self.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        let value = from.find_map(|(key, value)| {
            (key.strip_prefix(name) == Some(unit.suffix())).then_some(value)
        });
        value.unwrap_or_else(|| panic!("{name} is missing: it wasn't checked"))
    }

    fn some_whole_of(&self, name: &str, unit: Unit) -> Option<u64> {
        match self.value(name, unit) {
            Value::Off => None,
            Value::Whole(number) => Some(*number),
            other => panic!("{name} is {other:?}: it wasn't checked"),
        }
    }

    fn whole_of(&self, name: &str, unit: Unit) -> u64 {
        self.some_whole_of(name, unit).expect("the parameter was checked")
    }

    /// A whole number, in the type that its bounds fit.
    #[must_use]
    pub fn whole<T: TryFrom<u64>>(&self, name: &str) -> T {
        self.some_whole(name).expect("the parameter was checked")
    }

    /// A whole number, unless it is off.
    #[must_use]
    pub fn some_whole<T: TryFrom<u64>>(&self, name: &str) -> Option<T> {
        self.some_whole_of(name, Unit::Whole).map(within)
    }

    /// A number of packets, in the type that its bounds fit.
    #[must_use]
    pub fn packets<T: TryFrom<u64>>(&self, name: &str) -> T {
        within(self.whole_of(name, Unit::Packets))
    }

    /// A number of packets, unless it is off.
    #[must_use]
    pub fn some_packets<T: TryFrom<u64>>(&self, name: &str) -> Option<T> {
        self.some_whole_of(name, Unit::Packets).map(within)
    }

    /// A share or a number.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.some_number(name).expect("the parameter was checked")
    }

    /// A share or a number, unless it is off.
    #[expect(clippy::cast_precision_loss, reason = "a person wrote this number")]
    #[must_use]
    pub fn some_number(&self, name: &str) -> Option<f64> {
        match self.value(name, Unit::Number) {
            Value::Off => None,
            Value::Number(number) => Some(*number),
            Value::Whole(number) => Some(*number as f64),
            other => panic!("{name} is {other:?}: it wasn't checked"),
        }
    }

    /// Returns `true` if the flag is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name, Unit::Flag), Value::Flag(true))
    }

    /// A duration.
    #[must_use]
    pub fn duration(&self, name: &str) -> Duration {
        Duration::from_nanos(self.whole_of(name, Unit::Duration))
    }

    /// A duration, unless it is off.
    #[must_use]
    pub fn some_duration(&self, name: &str) -> Option<Duration> {
        self.some_whole_of(name, Unit::Duration).map(Duration::from_nanos)
    }

    /// A rate.
    #[must_use]
    pub fn rate(&self, name: &str) -> Rate {
        Rate::from_bps(self.whole_of(name, Unit::Rate))
    }

    /// A rate, unless it is off.
    #[must_use]
    pub fn some_rate(&self, name: &str) -> Option<Rate> {
        self.some_whole_of(name, Unit::Rate).map(Rate::from_bps)
    }

    /// A number of bytes.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Bytes {
        Bytes::new(self.whole_of(name, Unit::Bytes))
    }

    /// A number of bytes, unless it is off.
    #[must_use]
    pub fn some_bytes(&self, name: &str) -> Option<Bytes> {
        self.some_whole_of(name, Unit::Bytes).map(Bytes::new)
    }

    /// A word.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        match self.value(name, Unit::Word(&[])) {
            Value::Word(word) => word,
            other => panic!("{name} is {other:?}: it wasn't checked"),
        }
    }

    /// The ms of a trace's delivery opportunities.
    #[must_use]
    pub fn opportunities(&self) -> &[u64] {
        match self.get("opportunities_ms") {
            Some(Value::List(list)) => list,
            other => panic!("the opportunities are {other:?}: they weren't checked"),
        }
    }

    /// Tables with their values; none if it is off.
    #[must_use]
    pub fn tables(&self, name: &str) -> Vec<Self> {
        match self.get(name) {
            Some(Value::Tables(tables)) => tables.iter().cloned().map(Self).collect(),
            _ => Vec::new(),
        }
    }

    /// A word, unless it is off.
    #[must_use]
    pub fn some_word(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Times with their values; nothing if it is off.
    #[must_use]
    pub fn times(&self, name: &str) -> Vec<(Time, u64)> {
        match self.value(name, Unit::Rates) {
            Value::Pairs(pairs) => pairs.iter().map(|p| (Time::from_nanos(p.0), p.1)).collect(),
            _ => Vec::new(),
        }
    }
}

fn within<T: TryFrom<u64>>(number: u64) -> T {
    T::try_from(number).ok().expect("the range was checked")
}
