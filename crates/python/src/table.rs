//! Tables for Python through the Arrow C stream interface.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use narrows_metrics::tables::{Rows, RunTables, TakeRows};
use narrows_record::columns::{Column, TABLES, TableInfo};
use parquet::errors::ParquetError;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::column::{ColumnParts, plain, type_name};
use crate::long_table::{LongTable, ROWS, unreadable};
use crate::parquet_file::{StoredTable, parquet, read};

/// The name that the Arrow PyCapsule interface gives to a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// A table that any Arrow library reads, without a copy if it is in memory.
#[pyclass(frozen, module = "narrows._native")]
pub struct ArrowTable(Storage);

/// The place of a table: memory or a file.
#[derive(Clone)]
enum Storage {
    Memory(RecordBatch),
    File(Arc<LongTable>),
}

impl From<RecordBatch> for ArrowTable {
    fn from(batch: RecordBatch) -> Self {
        Self(Storage::Memory(batch))
    }
}

impl From<Arc<LongTable>> for ArrowTable {
    fn from(table: Arc<LongTable>) -> Self {
        Self(Storage::File(table))
    }
}

impl ArrowTable {
    fn schema(&self) -> SchemaRef {
        match &self.0 {
            Storage::Memory(batch) => batch.schema(),
            Storage::File(table) => table.schema(),
        }
    }
}

/// The tables of a run by name, each in parts.
pub struct PythonTables(BTreeMap<String, Vec<Storage>>);

impl PythonTables {
    /// One table.
    pub fn single(name: &str, table: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(BTreeMap::from([(name.to_owned(), parts(table)?)])))
    }
}

impl FromPyObject<'_, '_> for PythonTables {
    type Error = PyErr;

    fn extract(tables: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let tables = tables.cast::<PyDict>()?.iter();
        tables
            .map(|(name, table)| Ok((name.extract()?, parts(&table)?)))
            .collect::<PyResult<_>>()
            .map(Self)
    }
}

/// A table of ours, or the batches of any table that gives an Arrow stream.
fn parts(table: &Bound<'_, PyAny>) -> PyResult<Vec<Storage>> {
    if let Ok(own) = table.cast::<ArrowTable>() {
        return Ok(vec![own.get().0.clone()]);
    }
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: the Arrow PyCapsule interface promises a stream under this name.
    #[expect(unsafe_code, reason = "the stream is a pointer")]
    let batches = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
    let batches = batches.map_err(unreadable_rows)?;
    batches.map(|batch| batch.map(Storage::Memory).map_err(unreadable_rows)).collect()
}

impl RunTables for PythonTables {
    fn each(&self, table: &str, columns: &[&str], take: TakeRows<'_>) -> Result<(), ArrowError> {
        self.0.get(table).into_iter().flatten().try_for_each(|part| match part {
            Storage::Memory(batch) => take(Rows(batch)),
            Storage::File(table) => {
                table.rows_of(columns)?.try_for_each(|batch| take(Rows(&batch?)))
            }
        })
    }
}

/// The error of rows that can't be read: `KeyError` for a missing column.
pub fn unreadable_rows(error: ArrowError) -> PyErr {
    match error {
        ArrowError::SchemaError(column) => PyKeyError::new_err(column),
        ArrowError::CastError(_) => PyValueError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

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
        let stream = match &self.0 {
            Storage::Memory(batch) => {
                let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
                FFI_ArrowArrayStream::new(Box::new(batches))
            }
            Storage::File(table) => {
                let batches = table.read(ROWS).map_err(unreadable)?;
                FFI_ArrowArrayStream::new(Box::new(batches))
            }
        };
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    /// The names of the columns, each with that of its type.
    fn columns(&self) -> Vec<(String, &'static str)> {
        let schema = self.schema();
        let fields = schema.fields().iter();
        fields.map(|f| (f.name().clone(), type_name(f.data_type()).unwrap_or(""))).collect()
    }

    /// The numbers of rows of the groups that a table in a file consists of; None if the table is
    /// in memory.
    fn groups(&self) -> Option<Vec<usize>> {
        match &self.0 {
            Storage::Memory(_) => None,
            Storage::File(table) => Some(table.groups()),
        }
    }

    /// A column: the name of its type, its values as bytes, a byte for each row that is 1 where
    /// the value is null (None without nulls), and the texts whose numbers the values are (None for
    /// numbers). With a `group` of a table in a file, only the rows of that group. Raises `KeyError`
    /// for a column that the table doesn't have, `IndexError` for a group.
    #[pyo3(signature = (name, group=None))]
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        group: Option<usize>,
    ) -> PyResult<ColumnParts<'py>> {
        let schema = self.schema();
        let (index, field) =
            schema.column_with_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        match &self.0 {
            Storage::Memory(_) if group.is_some() => {
                Err(PyIndexError::new_err("a table in memory has no groups"))
            }
            Storage::Memory(batch) => {
                let whole = Arc::clone(batch.column(index));
                plain(py, field.data_type(), batch.num_rows(), [Ok(whole)].into_iter())
            }
            Storage::File(table) => {
                let rows = rows(table, group)?;
                let values = table.column(index, group).map_err(unreadable)?;
                plain(py, field.data_type(), rows, values)
            }
        }
    }

    /// The table as the content of a Parquet file; fast for few rows.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let content = py.detach(|| match &self.0 {
            Storage::Memory(batch) => parquet(batch).map_err(bad),
            Storage::File(table) => Ok(table.piece(0, usize::MAX)?),
        })?;
        Ok(PyBytes::new(py, &content))
    }

    /// Up to `most` bytes, from `offset` on, of the Parquet file in which the table is; none at its
    /// end. None if the table is in memory.
    fn piece<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        most: usize,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Storage::File(table) = &self.0 else { return Ok(None) };
        let piece = py.detach(|| table.piece(offset, most))?;
        Ok(Some(PyBytes::new(py, &piece)))
    }

    fn __len__(&self) -> usize {
        match &self.0 {
            Storage::Memory(batch) => batch.num_rows(),
            Storage::File(table) => table.rows(),
        }
    }
}

/// The number of rows of a table in a file, or of one of its groups.
fn rows(table: &LongTable, group: Option<usize>) -> PyResult<usize> {
    let Some(group) = group else { return Ok(table.rows()) };
    let groups = table.groups();
    let none = || PyIndexError::new_err(format!("group {group} of {}", groups.len()));
    groups.get(group).copied().ok_or_else(none)
}

#[expect(clippy::needless_pass_by_value, reason = "what map_err gives")]
fn bad(error: ParquetError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The table in a Parquet file that `ArrowTable.parquet` wrote; of a large one only the needed parts
/// are read. Raises `OSError` if it can't be opened, `ValueError` for a file of another kind or
/// compression.
#[pyfunction]
pub fn read_parquet(py: Python<'_>, path: PathBuf) -> PyResult<ArrowTable> {
    let file = File::open(path)?;
    Ok(match py.detach(|| read(file)).map_err(bad)? {
        StoredTable::Short(batch) => batch.into(),
        StoredTable::Long(table) => Arc::new(table).into(),
    })
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
