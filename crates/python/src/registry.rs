//! What the engine knows by name, for Python.

use narrows_base::registry::{Bounds, Fallback, Info, Parameter, Room, Unit};
use narrows_cc::{CONTROLS, EcnNeed, OptionInfo};
use narrows_net::config;
use narrows_tcp::PROFILES;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The congestion controls: dicts of `name`, `summary`, `source`, `options` and `ecn`:
/// what it needs of explicit congestion notification, "dctcp" or "l4s", or none.
///
/// An option is a dict of `name`, `default`, `min`, `max`, `whole` and `what`.
#[pyfunction]
pub fn ccas(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let control = |info: &narrows_cc::Info| {
        let entry = named(py, info.name, info.summary, info.source)?;
        let options: PyResult<Vec<_>> = info.options.iter().map(|o| option(py, o)).collect();
        entry.set_item("options", options?)?;
        let need = narrows_cc::ecn_need(info.name).map(|need| match need {
            EcnNeed::Dctcp => "dctcp",
            EcnNeed::L4s => "l4s",
        });
        entry.set_item("ecn", need)?;
        Ok(entry)
    };
    CONTROLS.iter().map(control).collect()
}

fn option<'py>(py: Python<'py>, info: &OptionInfo) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", info.name)?;
    entry.set_item("default", info.default)?;
    entry.set_item("min", info.range.start())?;
    entry.set_item("max", info.range.end())?;
    entry.set_item("whole", info.whole)?;
    entry.set_item("what", info.what)?;
    Ok(entry)
}

/// The queue disciplines: dicts of `name`, `title`, `family`, `summary`, `source`, `room` and
/// `parameters`.
///
/// `room` is how its limit is counted and the default: "packets", "bytes" or "either",
/// and a number or None. A parameter is a dict of `name`, `key`, `unit`, `words`,
/// `required`, `default`, `least`, `most`, `step` and `what`; the default "rate" is the link's,
/// and numbers that needn't be whole have no step.
#[pyfunction]
pub fn queues(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, config::QUEUES)
}

/// The ways in which a link serves its queue: dicts as of [`queues`], without a room.
#[pyfunction]
pub fn services(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, config::SERVICES)
}

/// The impairments of a path: dicts as of [`queues`], without a room.
#[pyfunction]
pub fn impairments(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, config::IMPAIRMENTS)
}

fn elements<'py>(py: Python<'py>, registry: &[&Info]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let element = |info: &&Info| {
        let entry = named(py, info.name, info.summary, info.source)?;
        let (counted, default) = match info.room() {
            None => (None, None),
            Some(Room::Either) => (Some("either"), None),
            Some(Room::Packets(packets)) => (Some("packets"), Some(packets)),
            Some(Room::Bytes(bytes)) => (Some("bytes"), bytes),
        };
        entry.set_item("title", info.title)?;
        entry.set_item("family", info.family)?;
        entry.set_item("room", (counted, default))?;
        let all: PyResult<Vec<_>> = info.parameters.iter().map(|p| parameter(py, p)).collect();
        entry.set_item("parameters", all?)?;
        Ok(entry)
    };
    registry.iter().map(element).collect()
}

fn parameter<'py>(py: Python<'py>, info: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", info.name)?;
    entry.set_item("key", info.key())?;
    let (unit, words) = unit(info.unit);
    entry.set_item("unit", unit)?;
    entry.set_item("words", words)?;
    entry.set_item("required", info.fallback == Fallback::Required)?;
    match info.fallback {
        Fallback::Required | Fallback::Off => entry.set_item("default", py.None())?,
        Fallback::LinkRate => entry.set_item("default", "rate")?,
        Fallback::Whole(number) => entry.set_item("default", number)?,
        Fallback::Number(number) => entry.set_item("default", number)?,
        Fallback::Flag(flag) => entry.set_item("default", flag)?,
        Fallback::Word(word) => entry.set_item("default", word)?,
    }
    match info.bounds {
        Bounds::Whole { least, most, step } => {
            entry.set_item("least", least)?;
            entry.set_item("most", most)?;
            entry.set_item("step", step)?;
        }
        Bounds::Number { least, most } => {
            entry.set_item("least", least)?;
            entry.set_item("most", most)?;
            entry.set_item("step", py.None())?;
        }
    }
    entry.set_item("what", info.what)?;
    Ok(entry)
}

fn unit(unit: Unit) -> (&'static str, &'static [&'static str]) {
    match unit {
        Unit::Packets => ("packets", &[]),
        Unit::Bytes => ("bytes", &[]),
        Unit::Duration => ("duration", &[]),
        Unit::Rate => ("rate", &[]),
        Unit::Share => ("share", &[]),
        Unit::Whole => ("whole", &[]),
        Unit::Number => ("number", &[]),
        Unit::Flag => ("flag", &[]),
        Unit::Word(words) => ("word", words),
        Unit::Rates => ("rates", &[]),
        Unit::Delays => ("delays", &[]),
        Unit::Spans => ("spans", &[]),
        Unit::Opportunities => ("opportunities", &[]),
        Unit::Frequency => ("frequency", &[]),
        Unit::Durations => ("durations", &[]),
        Unit::Sizes => ("sizes", &[]),
    }
}

/// The kernels whose TCP the hosts can have.
#[pyfunction]
pub fn profiles() -> Vec<&'static str> {
    PROFILES.iter().map(|profile| profile.name).collect()
}

fn named<'py>(
    py: Python<'py>,
    name: &str,
    summary: &str,
    source: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", name)?;
    entry.set_item("summary", summary)?;
    entry.set_item("source", source)?;
    Ok(entry)
}
