//! Small tables as Parquet files.
//! A run of two seconds writes a hundred columns of a few rows each. Libraries for large tables
//! take longer for such a column than the simulator for a tenth of the run.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::ArrowTable;

/// A table as the content of a Parquet file: with Snappy, which every reader supports, without
/// statistics and dictionaries, which pay off only for many rows.
pub fn parquet(batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options)?;
    writer.write(batch)?;
    writer.into_inner()
}

/// A table of columns, each with its name, its type ("float64", "int64" or "text") and its
/// values, of which None is null. Raises ValueError for another type, or columns of different
/// lengths; `TypeError` for a value that isn't of the type.
#[pyfunction]
pub fn table(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<ArrowTable> {
    let arrays: PyResult<Vec<_>> =
        columns.iter().map(|(name, data, values)| Ok((name, array(data, values)?, true))).collect();
    RecordBatch::try_from_iter_with_nullable(arrays?).map(ArrowTable).map_err(unfit)
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
