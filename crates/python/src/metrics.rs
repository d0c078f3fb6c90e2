//! Metrics of a run, from columns of its tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringViewArray, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use narrows_metrics::completions::Transfer;
use narrows_metrics::counters::SampleCounters;
use narrows_metrics::distributions::{self, Distribution, Statistic};
use narrows_metrics::offered::{self, BatchRate};
use narrows_metrics::{classes, fairness, run};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pythonize::{depythonize, pythonize};
use serde::Serialize;
use serde_json::Value;

use crate::table::{ArrowTable, PythonTables, unreadable_rows};

/// The class of each flow of a scenario in JSON; `groups` has the name of each flow's entry, or
/// else its control. Raises ValueError unless there is one for each flow.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn flow_classes(scenario: &str, groups: Vec<String>) -> PyResult<Vec<String>> {
    let scenario: Value =
        serde_json::from_str(scenario).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let flows = scenario["flows"].as_array().map_or(0, Vec::len);
    if flows != groups.len() {
        let found = format!("found {} groups; one for each of {flows} flows", groups.len());
        return Err(PyValueError::new_err(format!("{found} would be right")));
    }
    Ok(classes::names(&scenario, &groups))
}

/// The readable name of a class named after its control; None for any other name.
#[pyfunction]
pub fn class_label(name: &str) -> Option<String> {
    narrows_metrics::label(name)
}

/// The metrics of a run that ended at `end_s` seconds.
///
/// `tables` has its tables by name, each an `ArrowTable` or any other table that gives an Arrow
/// stream; a table without rows may be left out. The methods raise `KeyError` for a missing
/// column, OSError for rows that can't be read.
#[pyclass(frozen, module = "narrows._native")]
pub struct RunMetrics(run::RunMetrics<PythonTables>);

#[pymethods]
impl RunMetrics {
    #[new]
    fn new(scenario: &Bound<'_, PyAny>, tables: PythonTables, end_s: f64) -> PyResult<Self> {
        Ok(Self(run::RunMetrics::new(depythonize(scenario)?, tables, end_s)))
    }

    /// The summaries of the links, by their numbers in the tables.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        summary(py, || self.0.links())
    }

    /// The summaries of every flow, and of every flow of a chain, in the order of ids and starts.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        summary(py, || self.0.flows())
    }

    /// The summaries of the transfers of each class with transfers that end; `groups` has the class
    /// of each flow.
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
    fn completions<'py>(
        &self,
        py: Python<'py>,
        groups: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        summary(py, || self.0.completions(&groups))
    }

    /// The transfers that count, by flow and start: `flow`, `class`, `name`, `start_s`, `size_bytes`,
    /// `fct_s`, `slowdown`, and `late`, which is 1 for a missed deadline, null without one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
    fn transfers(&self, py: Python<'_>, groups: Vec<String>) -> PyResult<ArrowTable> {
        let found = py.detach(|| self.0.transfers()).map_err(unreadable_rows)?;
        let names = self.0.flow_names();
        let floats = |read: fn(&Transfer) -> Option<f64>| -> ArrayRef {
            Arc::new(found.iter().map(read).collect::<Float64Array>())
        };
        let texts = |of: &dyn Fn(usize) -> String| -> ArrayRef {
            let texts = found.iter().map(|one| Some(of(one.flow as usize)));
            Arc::new(texts.collect::<StringViewArray>())
        };
        let flows: UInt32Array = found.iter().map(|one| Some(one.flow)).collect();
        let sizes: UInt64Array = found.iter().map(|one| Some(one.bytes as u64)).collect();
        let columns: [(&str, ArrayRef); 8] = [
            ("flow", Arc::new(flows)),
            ("class", texts(&|flow| groups[flow].clone())),
            ("name", texts(&|flow| names[flow].to_owned())),
            ("start_s", floats(|one| Some(one.start_s))),
            ("size_bytes", Arc::new(sizes)),
            ("fct_s", floats(|one| Some(one.fct_s))),
            ("slowdown", floats(|one| Some(one.slowdown))),
            ("late", floats(|one| one.late.map(|late| f64::from(u8::from(late))))),
        ];
        let batch = RecordBatch::try_from_iter(columns).map_err(unreadable_rows)?;
        Ok(batch.into())
    }

    /// The losses on the path; None if packets can be lost only at the bottleneck. `places` has
    /// the losses since the warm-up by place, if they are known.
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
    fn losses<'py>(
        &self,
        py: Python<'py>,
        places: Option<Vec<(String, i64)>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        summary(py, || self.0.losses(places.as_deref()))
    }
}

fn summary<'py, S: Serialize + Send>(
    py: Python<'py>,
    compute: impl FnOnce() -> Result<S, ArrowError> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(compute).map_err(unreadable_rows)?;
    Ok(pythonize(py, &found)?)
}

/// The capacity of a link.
#[pyclass(frozen, module = "narrows._native")]
pub struct OfferedCapacity(offered::OfferedCapacity);

#[pymethods]
impl OfferedCapacity {
    /// True if the rate ever changes.
    #[getter]
    fn varies(&self) -> bool {
        self.0.varies()
    }

    /// The bytes offered from time 0 to each time in ns, as the bytes of an array.
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
    fn bytes_until<'py>(
        &self,
        py: Python<'py>,
        times_ns: PyBuffer<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let times = times_ns.to_vec(py)?.into_iter();
        Ok(array(py, times.map(|time_ns| self.0.until(time_ns))))
    }

    /// How long after each time in s a backlog in bytes has left the link, in ms, as the bytes of an
    /// array.
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
    fn drain_ms<'py>(
        &self,
        py: Python<'py>,
        times_s: PyBuffer<f64>,
        backlog: PyBuffer<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let pairs = times_s.to_vec(py)?.into_iter().zip(backlog.to_vec(py)?);
        Ok(array(py, pairs.map(|(time_s, backlog)| self.0.drain_ms(time_s, backlog))))
    }
}

fn array(py: Python<'_>, values: impl Iterator<Item = f64>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &values.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>())
}

/// The capacity of each link of a scenario, by the links' numbers in the tables.
#[pyfunction]
pub fn offers(scenario: &Bound<'_, PyAny>) -> PyResult<Vec<OfferedCapacity>> {
    let found = offered::offers(&depythonize(scenario)?, BatchRate::Sustained);
    Ok(found.into_iter().map(OfferedCapacity).collect())
}

/// The path's two-way delay without queueing in ns: the times from which its values count, and the
/// values.
#[pyfunction]
pub fn two_way_ns(scenario: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<f64>)> {
    Ok(offered::two_way_ns(&depythonize(scenario)?).into_columns())
}

/// The growth of the counters `names` of a table of samples from `start_s` to `end_s`, by `key`:
/// "flow" or "link"; None for a value that isn't known.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn growth(
    table: &Bound<'_, PyAny>,
    key: &str,
    names: Vec<String>,
    start_s: f64,
    end_s: f64,
) -> PyResult<BTreeMap<u32, Vec<Option<i64>>>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let table = PythonTables::single("samples", table)?;
    let found = SampleCounters::of(&table, ("samples", key), &names, (start_s, end_s));
    let found = found.map_err(unreadable_rows)?;
    let grown = |key| (key, names.iter().map(|name| found.growth(key, name)).collect());
    Ok(found.keys().map(grown).collect())
}

/// The smallest of some values that at least `percent` percent of them don't exceed; None without
/// any.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn percentile(py: Python<'_>, values: PyBuffer<f64>, percent: usize) -> PyResult<Option<f64>> {
    Ok(distributions::percentile(&values.to_vec(py)?, percent))
}

/// Statistics of ascending values with their weights; None if nothing has weight.
///
/// A name is "min", "mean", "max", or "p" with a percentile: "p95". Raises ValueError for another
/// name.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn weighted_statistics(
    py: Python<'_>,
    values: PyBuffer<f64>,
    weights: PyBuffer<f64>,
    names: Vec<String>,
) -> PyResult<Vec<Option<f64>>> {
    let found = Distribution::ascending(&values.to_vec(py)?, &weights.to_vec(py)?);
    let statistic = |name: &String| {
        let unknown =
            || PyValueError::new_err(format!("found {name:?}; min, mean, max or p95 is right"));
        Ok(found.statistic(Statistic::parse(name).ok_or_else(unknown)?))
    };
    names.iter().map(statistic).collect()
}

/// The smallest of ascending values that at least `share` (0 to 1) of the weight doesn't exceed.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn weighted_quantile(
    py: Python<'_>,
    values: PyBuffer<f64>,
    weights: PyBuffer<f64>,
    share: f64,
) -> PyResult<Option<f64>> {
    let found = Distribution::ascending(&values.to_vec(py)?, &weights.to_vec(py)?);
    Ok(found.statistic(Statistic::Quantile(share)))
}

/// Jain's index of amounts, from 1/n to 1; None if nothing was shared.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn jain(values: Vec<f64>) -> Option<f64> {
    fairness::jain(&values)
}

/// Each amount as a part of their sum; None where it is unknown or all are zero.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn shares(amounts: Vec<Option<f64>>) -> Vec<Option<f64>> {
    fairness::shares(&amounts)
}
