//! The value of a parameter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::time::Duration;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// The parameter is off.
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
    /// Pairs of whole numbers.
    Pairs(Vec<(u64, u64)>),
    /// Tables, each with the values of its parameters by their keys.
    Tables(Vec<BTreeMap<String, Value>>),
}

macro_rules! from {
    ($($kind:ty => $variant:expr),* $(,)?) => {
        $(impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                $variant(value)
            }
        })*
    };
}
from!(
    bool => Self::Flag,
    u64 => Self::Whole,
    f64 => Self::Number,
    &str => |word: &str| Self::Word(word.into()),
    Duration => |span: Duration| Self::Whole(span.as_nanos()),
);
