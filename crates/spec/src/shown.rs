//! Parameters of the registries as written in a specification.

use narrows_base::registry::{Bounds, LimitUnit, Parameter, ParameterDefault, Unit};

use crate::units::{format_bytes, format_duration, format_rate};

/// The default of a parameter as written in a specification.
#[must_use]
pub fn default(parameter: &Parameter) -> String {
    match (parameter.default, parameter.unit) {
        (ParameterDefault::Required, _) => "required".into(),
        (ParameterDefault::Off, _) => "none".into(),
        (ParameterDefault::LinkRate, _) => "the link's rate".into(),
        (ParameterDefault::Flag(flag), _) => flag.to_string(),
        (ParameterDefault::Word(word), _) => word.into(),
        (ParameterDefault::Number(number), _) => number.to_string(),
        (ParameterDefault::Whole(ns), Unit::Duration | Unit::Durations) => format_duration(ns),
        (ParameterDefault::Whole(bps), Unit::Rate) => format_rate(bps),
        (ParameterDefault::Whole(bytes), Unit::Bytes) => format_bytes(bytes),
        (ParameterDefault::Whole(number), _) => number.to_string(),
    }
}

/// The bounds of a parameter as written in a specification.
#[must_use]
pub fn values(parameter: &Parameter) -> String {
    match (parameter.unit, parameter.bounds) {
        (Unit::Flag, _) => "true or false".into(),
        (Unit::Word(words), _) => words.join(", "),
        (Unit::Tables(_), _) => "a list of tables".into(),
        (Unit::Duration, Bounds::Whole { least, most, .. }) => {
            format!("{} to {}", format_duration(least), format_duration(most))
        }
        (_, Bounds::Number { least, most }) => format!("{least} to {most}"),
        (unit, Bounds::Whole { least, most, .. }) => {
            let unit = if unit == Unit::Packets { "packets" } else { "whole" };
            format!("{unit}, {least} to {most}")
        }
    }
}

/// How the limit of a queue is counted, with its default.
#[must_use]
pub fn room(room: LimitUnit) -> String {
    match room {
        LimitUnit::Either => "bytes or packets".into(),
        LimitUnit::Packets(packets) => format!("packets, default {packets}"),
        LimitUnit::Bytes(None) => "bytes".into(),
        LimitUnit::Bytes(Some(bytes)) => format!("bytes, default {bytes}"),
    }
}
