//! What the engine knows by name, for Python.

use narrows_cc::{CONTROLS, OptionInfo};
use narrows_sim::scenario::Queue;
use narrows_tcp::PROFILES;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The congestion controls: dicts of `name`, `summary`, `source` and `options`.
///
/// An option is a dict of `name`, `default`, `min`, `max`, `whole` and `what`.
#[pyfunction]
pub fn ccas(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let control = |info: &narrows_cc::Info| {
        let entry = named(py, info.name, info.summary, info.source)?;
        let options: PyResult<Vec<_>> = info.options.iter().map(|o| option(py, o)).collect();
        entry.set_item("options", options?)?;
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

/// The queue disciplines: dicts of `name`, `summary` and `source`.
#[pyfunction]
pub fn queues(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let known = [Queue::Droptail {}];
    let describe = |queue| match queue {
        Queue::Droptail {} => named(
            py,
            "droptail",
            "first in, first out; what doesn't fit is dropped",
            "Linux bfifo and pfifo (net/sched/sch_fifo.c)",
        ),
    };
    known.into_iter().map(describe).collect()
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
