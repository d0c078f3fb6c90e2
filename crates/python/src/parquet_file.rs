//! Tables as Parquet files.
//! A run of two seconds writes a hundred columns of a few rows each. Libraries for large tables
//! take longer for such a column than the simulator for a tenth of the run.

use std::fs::File;

use arrow_array::{RecordBatch, RecordBatchReader};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Statistics and dictionaries pay off only for more rows than this.
const FEW: usize = 5000;

/// A table as the content of a Parquet file, with Snappy, which every reader supports.
pub fn parquet(batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let many = batch.num_rows() > FEW;
    let statistics = if many { EnabledStatistics::Chunk } else { EnabledStatistics::None };
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(many)
        .set_statistics_enabled(statistics)
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options)?;
    writer.write(batch)?;
    writer.into_inner()
}

/// The table in a Parquet file; refuses compressions other than Snappy.
pub fn read(file: File) -> Result<RecordBatch, ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let mut batches = builder.with_batch_size(rows.max(1)).build()?;
    let empty = RecordBatch::new_empty(batches.schema());
    let batch = batches.next().transpose()?.unwrap_or(empty);
    if batch.num_rows() != rows {
        return Err(ParquetError::General(format!("{} of {rows} rows", batch.num_rows())));
    }
    Ok(batch)
}
