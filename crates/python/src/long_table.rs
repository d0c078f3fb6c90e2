//! A table in a Parquet file, which is read where it is needed.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};
use pyo3::PyErr;
use pyo3::exceptions::PyOSError;

/// Rows that are in memory at a time.
pub const ROWS: usize = 1 << 16;

/// A table in a file.
#[derive(Debug)]
pub struct LongTable {
    file: SharedFile,
    metadata: ArrowReaderMetadata,
}

impl LongTable {
    /// The table in a Parquet file. Its texts become views, as in tables in memory.
    pub fn open(file: File) -> Result<Self> {
        let file = SharedFile(Arc::new(file));
        let plain = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
        let fields = plain.schema().fields().iter();
        let viewed = fields.map(|field| match field.data_type() {
            DataType::Utf8 => Arc::new(Field::clone(field).with_data_type(DataType::Utf8View)),
            _ => Arc::clone(field),
        });
        let schema = Arc::new(Schema::new(viewed.collect::<Vec<_>>()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options)?;
        Ok(Self { file, metadata })
    }

    pub fn schema(&self) -> SchemaRef {
        Arc::clone(self.metadata.schema())
    }

    pub fn rows(&self) -> usize {
        usize::try_from(self.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Takes all rows in their order.
    pub fn each(&self, take: &mut dyn FnMut(&RecordBatch)) -> Result<()> {
        for batch in self.read(ROWS)? {
            take(&batch?);
        }
        Ok(())
    }

    /// All rows in their order, at most this many at a time.
    pub fn read(&self, rows: usize) -> Result<ParquetRecordBatchReader> {
        self.reader(ProjectionMask::all(), rows).build()
    }

    /// The file's metadata.
    pub fn metadata(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    /// The numbers of rows of the file's groups.
    pub fn groups(&self) -> Vec<usize> {
        let groups = self.metadata().row_groups().iter();
        groups.map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    /// All rows in their order, some at a time, with the columns of these names.
    pub fn rows_of(&self, names: &[&str]) -> Result<ParquetRecordBatchReader> {
        let columns = self.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::columns(columns, names.iter().copied());
        self.reader(mask, ROWS).build()
    }

    /// The values of a column, in one of the file's groups or in all, some at a time.
    pub fn column(
        &self,
        index: usize,
        group: Option<usize>,
    ) -> Result<impl Iterator<Item = Result<ArrayRef>>> {
        let columns = self.metadata().file_metadata().schema_descr();
        let mut reader = self.reader(ProjectionMask::leaves(columns, [index]), ROWS);
        if let Some(group) = group {
            reader = reader.with_row_groups(vec![group]);
        }
        Ok(reader.build()?.map(|batch| Ok(Arc::clone(batch?.column(0)))))
    }

    /// A part of the file; empty at its end.
    pub fn piece(&self, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        let left = self.file.len().saturating_sub(offset);
        let mut piece = vec![0; usize::try_from(left).unwrap_or(most).min(most)];
        self.file.0.read_exact_at(&mut piece, offset)?;
        Ok(piece)
    }

    fn reader(
        &self,
        columns: ProjectionMask,
        rows: usize,
    ) -> ParquetRecordBatchReaderBuilder<SharedFile> {
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        reader.with_projection(columns).with_batch_size(rows.max(1))
    }
}

/// The error of a file that can't be read any more.
#[expect(clippy::needless_pass_by_value, reason = "what map_err gives")]
pub fn unreadable(error: ParquetError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// A file that several threads read, each at its own place.
#[derive(Clone, Debug)]
struct SharedFile(Arc<File>);

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.0.metadata().map_or(0, |file| file.len())
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<OffsetReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(OffsetReader { file: Arc::clone(&self.0), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut content = vec![0; length];
        self.0.read_exact_at(&mut content, start).map_err(ParquetError::from)?;
        Ok(content.into())
    }
}

/// Reads a file from an offset on.
#[derive(Debug)]
pub struct OffsetReader {
    file: Arc<File>,
    offset: u64,
}

impl Read for OffsetReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
