//! Metrics of a run, from columns of its tables.

use std::collections::BTreeMap;

use narrows_metrics::counters;
use narrows_metrics::distributions::{self, Distribution, ExactValues, Statistic};
use narrows_metrics::{classes, fairness};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

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

/// The row of each key's latest sample up to a time in s; of equal times the last.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn latest_rows(
    py: Python<'_>,
    keys: PyBuffer<u32>,
    times_s: PyBuffer<f64>,
    bound_s: f64,
) -> PyResult<BTreeMap<u32, usize>> {
    Ok(counters::latest_rows(&keys.to_vec(py)?, &times_s.to_vec(py)?, bound_s))
}

/// The sum of numbers, always added in the same order, so that it is the same on any processor.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn total(py: Python<'_>, values: PyBuffer<f64>) -> PyResult<f64> {
    Ok(distributions::total(&values.to_vec(py)?))
}

/// Statistics of ascending values with their weights; None if nothing has weight.
///
/// A name is "min", "mean", "max", or "p" with a percentile: "p95". `exact` has the exact mean,
/// minimum and maximum if they are known. Raises ValueError for another name.
#[pyfunction]
#[pyo3(signature = (values, weights, names, exact=(None, None, None)))]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn weighted_statistics(
    py: Python<'_>,
    values: PyBuffer<f64>,
    weights: PyBuffer<f64>,
    names: Vec<String>,
    exact: (Option<f64>, Option<f64>, Option<f64>),
) -> PyResult<Vec<Option<f64>>> {
    let (mean, min, max) = exact;
    let found = Distribution::ascending(&values.to_vec(py)?, &weights.to_vec(py)?)
        .with_exact(ExactValues { mean, min, max });
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
