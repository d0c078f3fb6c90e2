//! Tables as Parquet files.
//! A run of two seconds writes a hundred columns of a few rows each. Libraries for large tables
//! take longer for such a column than the simulator for a tenth of the run.

use std::fs::File;
use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::long_table::LongTable;

/// Of tables with more bytes than this in memory only the needed parts are read.
const LARGE: usize = 32 << 20;
/// The bytes of a value in memory.
const WIDTH: usize = 8;
/// Statistics and dictionaries pay off only for more rows than this.
const FEW: usize = 5000;

/// A table as the content of a Parquet file.
pub fn parquet(batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let mut writer = writer(Vec::new(), batch.schema(), batch.num_rows() > FEW)?;
    writer.write(batch)?;
    writer.into_inner()
}

/// A writer of a table with few or many rows, with Snappy, which every reader supports.
pub fn writer<W: Write + Send>(
    file: W,
    schema: SchemaRef,
    many: bool,
) -> Result<ArrowWriter<W>, ParquetError> {
    let statistics = if many { EnabledStatistics::Chunk } else { EnabledStatistics::None };
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(many)
        .set_statistics_enabled(statistics)
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    ArrowWriter::try_new_with_options(file, schema, options)
}

/// A table in a file.
pub enum StoredTable {
    /// It is in memory now.
    Short(RecordBatch),
    /// It is read where it is needed.
    Long(LongTable),
}

/// The table in a Parquet file; refuses compressions other than Snappy.
pub fn read(file: File) -> Result<StoredTable, ParquetError> {
    let table = LongTable::open(file)?;
    let groups = table.metadata().row_groups();
    let chunks = groups.iter().flat_map(RowGroupMetaData::columns);
    let other = chunks.map(ColumnChunkMetaData::compression).find(|compression| {
        !matches!(compression, Compression::SNAPPY | Compression::UNCOMPRESSED)
    });
    if let Some(other) = other {
        return Err(ParquetError::General(format!("the compression {other}")));
    }
    let rows = table.rows();
    // The file's own sizes are those of its encodings, which may be a hundredth of this.
    if rows.saturating_mul(table.schema().fields().len() * WIDTH) > LARGE {
        return Ok(StoredTable::Long(table));
    }
    let mut batches = table.read(rows)?;
    let batch = batches.next().transpose()?;
    let batch = batch.unwrap_or_else(|| RecordBatch::new_empty(table.schema()));
    if batch.num_rows() != rows {
        return Err(ParquetError::General(format!("{} of {rows} rows", batch.num_rows())));
    }
    Ok(StoredTable::Short(batch))
}
