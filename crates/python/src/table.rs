//! Tables for Python through the Arrow C stream interface.

use std::ffi::CStr;
use std::fs::File;
use std::path::PathBuf;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use narrows_record::columns::{Column, TABLES, TableInfo};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::column::{Plain, plain, type_name};
use crate::parquet_file::{parquet, read};

/// The name that the Arrow PyCapsule interface gives to a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// A table that any Arrow library reads without a copy.
#[pyclass(frozen, module = "narrows._native")]
pub struct ArrowTable(pub RecordBatch);

#[pymethods]
impl ArrowTable {
    /// The table as a capsule of an `ArrowArrayStream`; may be called again.
    ///
    /// A schema requested by the caller is ignored, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    /// The names of the columns, each with that of its type.
    fn columns(&self) -> Vec<(String, &'static str)> {
        let schema = self.0.schema();
        let fields = schema.fields().iter();
        fields.map(|f| (f.name().clone(), type_name(f.data_type()).unwrap_or(""))).collect()
    }

    /// A column: the name of its type, its values as bytes, a byte for each row that is 1 where
    /// the value is null (None without nulls), and the texts whose numbers the values are (None for
    /// numbers). Raises `KeyError` for a column that the table doesn't have.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Plain<'py>> {
        let array = self.0.column_by_name(name);
        plain(py, array.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?)
    }

    /// The table as the content of a Parquet file; fast for few rows.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let content = py.detach(|| parquet(&self.0));
        let content = content.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &content))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

/// The table in a Parquet file that `ArrowTable.parquet` wrote. Raises `OSError` if it can't be
/// opened, ValueError for a file of another kind or compression.
#[pyfunction]
pub fn read_parquet(py: Python<'_>, path: PathBuf) -> PyResult<ArrowTable> {
    let file = File::open(path)?;
    let table = py.detach(|| read(file));
    table.map(ArrowTable).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The tables that back ends write: dicts of `name`, `row` (what a row is) and `columns`.
///
/// A column is a dict of `name`, `type` ("float64", "uint32", "uint64", "text" or "flag"),
/// `unit`, `null` (where it is null, or None) and `meaning`.
#[pyfunction]
pub fn tables(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    TABLES.iter().map(|info| table(py, info)).collect()
}

fn table<'py>(py: Python<'py>, info: &TableInfo) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", info.name)?;
    entry.set_item("row", info.row)?;
    let columns: PyResult<Vec<_>> = info.columns.iter().map(|c| column(py, c)).collect();
    entry.set_item("columns", columns?)?;
    Ok(entry)
}

fn column<'py>(py: Python<'py>, info: &Column) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", info.name)?;
    entry.set_item("type", info.data.name())?;
    entry.set_item("unit", info.unit)?;
    entry.set_item("null", info.null)?;
    entry.set_item("meaning", info.meaning)?;
    Ok(entry)
}
