//! Small tables as Parquet files.
//! A run of two seconds writes a hundred columns of a few rows each. Libraries for large tables
//! take longer for such a column than the simulator for a tenth of the run.

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

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
