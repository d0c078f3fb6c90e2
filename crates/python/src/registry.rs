//! The registries of the engine, for Python.

use std::collections::BTreeMap;

use narrows_base::Bytes;
use narrows_base::registry::{
    Bounds, EcnNeed, FormerNumbers, Info, LimitUnit, Parameter, ParameterDefault, Role, Unit,
};
use narrows_cc::CONTROLS;
use narrows_net::{RedParams, config};
use narrows_spec::{DISTRIBUTIONS, WORKLOADS, shown};
use narrows_tcp::PROFILES;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The congestion controls: dicts like those of [`queues`], with `ecn` and `paces` instead of
/// `room`: the ECN that a control needs ("dctcp", "l4s" or None), and whether it sets the pacing
/// rate itself.
#[pyfunction]
pub fn ccas(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    CONTROLS.iter().map(|control| entry(py, &control.info)).collect()
}

/// The queue disciplines: dicts of `name`, `title`, `family`, `summary`, `source`, `room` and
/// `parameters`.
///
/// `room` is how its limit is counted and the default: "packets", "bytes" or "either",
/// and a number or None. A parameter is a dict of `name`, `key`, `unit`, `words`,
/// `required`, `default`, `least`, `most`, `step` and `what`; the default "rate" is the link's,
/// and numbers that needn't be whole have no step. `former` is its spelling before it had a unit,
/// if there was one: the name, and the numbers of its words or the unit of its numbers.
#[pyfunction]
pub fn queues(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, config::QUEUES)
}

/// The services of links: dicts like those of [`queues`], without `room`.
#[pyfunction]
pub fn services(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, config::SERVICES)
}

/// The impairments of a path: dicts like those of [`queues`], without `room`.
#[pyfunction]
pub fn impairments(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, config::IMPAIRMENTS)
}

/// The workloads of a flow: dicts like those of [`queues`], without `room`.
#[pyfunction]
pub fn workloads(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, WORKLOADS)
}

/// The distributions of sizes and durations: dicts like those of [`queues`], without `room`.
#[pyfunction]
pub fn distributions(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    elements(py, DISTRIBUTIONS)
}

fn elements<'py>(py: Python<'py>, registry: &[&Info]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    registry.iter().map(|info| entry(py, info)).collect()
}

fn entry<'py>(py: Python<'py>, info: &Info) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", info.name)?;
    entry.set_item("title", info.title)?;
    entry.set_item("family", info.family)?;
    entry.set_item("summary", info.summary)?;
    entry.set_item("source", info.source)?;
    let all: PyResult<Vec<_>> = info.parameters.iter().map(|p| parameter(py, p)).collect();
    entry.set_item("parameters", all?)?;
    if let Role::Control { ecn, paces } = info.role {
        let need = ecn.map(|need| match need {
            EcnNeed::Dctcp => "dctcp",
            EcnNeed::L4s => "l4s",
        });
        entry.set_item("ecn", need)?;
        entry.set_item("paces", paces)?;
    } else {
        let (counted, default) = match info.limit_unit() {
            None => (None, None),
            Some(LimitUnit::Either) => (Some("either"), None),
            Some(LimitUnit::Packets(packets)) => (Some("packets"), Some(packets)),
            Some(LimitUnit::Bytes(bytes)) => (Some("bytes"), bytes),
        };
        entry.set_item("room", (counted, default))?;
        entry.set_item("limit", info.limit_unit().map(shown::room))?;
    }
    Ok(entry)
}

fn parameter<'py>(py: Python<'py>, info: &Parameter) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", info.name)?;
    entry.set_item("key", info.key())?;
    let (unit, words) = unit(info.unit);
    entry.set_item("unit", unit)?;
    entry.set_item("words", words)?;
    if let Unit::Tables(own) = info.unit {
        let all: PyResult<Vec<_>> = own.iter().map(|p| parameter(py, p)).collect();
        entry.set_item("parameters", all?)?;
    }
    entry.set_item("required", info.default == ParameterDefault::Required)?;
    match info.default {
        ParameterDefault::Required | ParameterDefault::Off => {
            entry.set_item("default", py.None())?;
        }
        ParameterDefault::LinkRate => entry.set_item("default", "rate")?,
        ParameterDefault::Whole(number) => entry.set_item("default", number)?,
        ParameterDefault::Number(number) => entry.set_item("default", number)?,
        ParameterDefault::Flag(flag) => entry.set_item("default", flag)?,
        ParameterDefault::Word(word) => entry.set_item("default", word)?,
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
    entry.set_item("shown", shown::default(info))?;
    entry.set_item("values", shown::values(info))?;
    entry.set_item("what", info.what)?;
    entry.set_item("former", info.former.map(|former| (former.name, numbers(former.numbers))))?;
    Ok(entry)
}

/// The meaning of the numbers of a former spelling: words and their numbers, or a unit.
fn numbers(numbers: FormerNumbers) -> (Option<BTreeMap<&'static str, u8>>, Option<&'static str>) {
    match numbers {
        FormerNumbers::Words(words) => {
            (Some(words.iter().map(|(number, word)| (*word, *number)).collect()), None)
        }
        FormerNumbers::Unit(unit) => (None, Some(unit)),
    }
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
        Unit::RateList => ("list of rates", &[]),
        Unit::Delays => ("delays", &[]),
        Unit::Spans => ("spans", &[]),
        Unit::Opportunities => ("opportunities", &[]),
        Unit::Frequency => ("frequency", &[]),
        Unit::Durations => ("duration or distribution", &[]),
        Unit::Sizes => ("size or distribution", &[]),
        Unit::Distributed => ("duration or size", &[]),
        Unit::Quantiles => ("pairs", &[]),
        Unit::QuantileFile => ("file", &[]),
        Unit::Tables(_) => ("tables", &[]),
    }
}

/// The edges of BBR's state machine, by the names of its states.
#[pyfunction]
pub fn bbr_transitions() -> Vec<(&'static str, &'static str)> {
    narrows_cc::bbr_transitions()
}

/// The differentiated-services code points with names, and their six bits.
#[pyfunction]
pub fn code_points() -> Vec<(&'static str, u8)> {
    narrows_base::Dscp::all().map(|dscp| (dscp.name(), dscp.bits())).collect()
}

/// RED's lower and upper threshold in bytes and its burst in packets, where a scenario may leave
/// each of them to the discipline.
#[pyfunction]
pub fn red_thresholds(
    limit: u64,
    lower: Option<u64>,
    upper: Option<u64>,
    avpkt: u64,
    burst: Option<u32>,
) -> (u64, u64, u64) {
    let params = RedParams {
        limit: Bytes::new(limit),
        min: lower.map(Bytes::new),
        max: upper.map(Bytes::new),
        avpkt: Bytes::new(avpkt),
        burst,
        ..RedParams::default()
    };
    let (lower, upper) = params.thresholds();
    (lower, upper, params.burst_packets())
}

/// The kernels whose TCP the hosts can have.
#[pyfunction]
pub fn profiles() -> Vec<&'static str> {
    PROFILES.iter().map(|profile| profile.name).collect()
}
