//! Parameters of the registries as written in a specification.

use narrows_base::registry::{Bounds, Fallback, Parameter, Room, Unit};

use crate::units::{format_bytes, format_duration, format_rate};

/// The default of a parameter as written in a specification.
#[must_use]
pub fn default(parameter: &Parameter) -> String {
    match (parameter.fallback, parameter.unit) {
        (Fallback::Required, _) => "required".into(),
        (Fallback::Off, _) => "none".into(),
        (Fallback::LinkRate, _) => "the link's rate".into(),
        (Fallback::Flag(flag), _) => flag.to_string(),
        (Fallback::Word(word), _) => word.into(),
        (Fallback::Number(number), _) => number.to_string(),
        (Fallback::Whole(ns), Unit::Duration | Unit::Durations) => format_duration(ns),
        (Fallback::Whole(bps), Unit::Rate) => format_rate(bps),
        (Fallback::Whole(bytes), Unit::Bytes) => format_bytes(bytes),
        (Fallback::Whole(number), _) => number.to_string(),
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
pub fn room(room: Room) -> String {
    match room {
        Room::Either => "bytes or packets".into(),
        Room::Packets(packets) => format!("packets, default {packets}"),
        Room::Bytes(None) => "bytes".into(),
        Room::Bytes(Some(bytes)) => format!("bytes, default {bytes}"),
    }
}
