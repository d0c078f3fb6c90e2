//! Small tables from Python's values.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::ArrowTable;

/// A table of columns, each with its name, its type ("float64", "int64" or "text") and its
/// values, of which None is null. Raises ValueError for another type, or columns of different
/// lengths; `TypeError` for a value that isn't of the type.
#[pyfunction]
pub fn table(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<ArrowTable> {
    let arrays: PyResult<Vec<_>> =
        columns.iter().map(|(name, data, values)| Ok((name, array(data, values)?, true))).collect();
    RecordBatch::try_from_iter_with_nullable(arrays?).map(ArrowTable::from).map_err(unfit)
}

fn array(data: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(match data {
        "float64" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
        "int64" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
        "text" => Arc::new(StringViewArray::from_iter(values.extract::<Vec<Option<String>>>()?)),
        other => return Err(PyValueError::new_err(format!("no type of columns: {other}"))),
    })
}

#[expect(clippy::needless_pass_by_value, reason = "what map_err gives")]
fn unfit(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
