//! Long tables of a run go to files while it lasts, so that its memory doesn't grow with them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use arrow_array::RecordBatch;
use narrows_record::columns::TableInfo;
use narrows_record::{Recorder, SpillStore};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::control::FirstError;
use crate::long_table::LongTable;
use crate::parquet_file::writer;

/// Bytes of rows that the recorder gathers of each table before they go to its file.
const CHUNK: usize = 8 << 20;
/// Chunks that may wait for the thread that writes them.
const WAITING: usize = 2;

type Chunk = (&'static TableInfo, RecordBatch);
type Files = BTreeMap<&'static str, File>;

/// The files of a run's long tables, without names: nothing remains of them if the process ends. A
/// thread writes them as Parquet while the run continues.
#[derive(Clone, Debug)]
pub struct Spill(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    first_error: Arc<FirstError>,
    state: Mutex<SpillState>,
}

#[derive(Debug)]
enum SpillState {
    /// No table is long yet.
    Idle,
    Writing(SyncSender<Chunk>, JoinHandle<Result<Files, ParquetError>>),
    Written(BTreeMap<&'static str, Arc<LongTable>>),
    /// Reported as the first error.
    Failed,
}

impl Spill {
    /// Files in `directory`, as soon as there are long tables; `first_error` gets what fails.
    pub fn new(directory: PathBuf, first_error: Arc<FirstError>) -> Self {
        Self(Arc::new(Inner { directory, first_error, state: Mutex::new(SpillState::Idle) }))
    }

    /// A recorder that puts its long tables here.
    pub fn under(&self, recorder: Recorder) -> Recorder {
        recorder.with_spill(Box::new(self.clone()), CHUNK)
    }

    /// Completes the files of the recorder's tables.
    pub fn finish(&self, recorder: &mut Recorder) {
        recorder.close();
        let mut state = self.state();
        if let SpillState::Writing(chunks, thread) =
            std::mem::replace(&mut *state, SpillState::Failed)
        {
            drop(chunks);
            match tables(thread) {
                Ok(tables) => *state = SpillState::Written(tables),
                Err(error) => self.note_failure(error),
            }
        } else {
            *state = SpillState::Written(BTreeMap::new());
        }
    }

    /// A table that is in a file.
    pub fn table(&self, name: &str) -> Option<Arc<LongTable>> {
        match &*self.state() {
            SpillState::Written(tables) => tables.get(name).map(Arc::clone),
            _ => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, SpillState> {
        self.0.state.lock().expect("no panic while it is held")
    }

    fn note_failure(&self, error: ParquetError) {
        self.0.first_error.note(os_error(error, &self.0.directory));
    }
}

impl SpillStore for Spill {
    fn put(&mut self, table: &'static TableInfo, chunk: RecordBatch) {
        let mut state = self.state();
        if matches!(*state, SpillState::Idle) {
            let (sender, chunks) = sync_channel(WAITING);
            let directory = self.0.directory.clone();
            *state = SpillState::Writing(sender, thread::spawn(move || write(&directory, &chunks)));
        }
        let SpillState::Writing(chunks, _) = &*state else { return };
        if chunks.send((table, chunk)).is_ok() {
            return;
        }
        if let SpillState::Writing(_, thread) = std::mem::replace(&mut *state, SpillState::Failed)
            && let Err(error) = join(thread)
        {
            self.note_failure(error);
        }
    }

    fn each(&self, table: &'static TableInfo, take: &mut dyn FnMut(&RecordBatch)) {
        let Some(table) = self.table(table.name) else { return };
        if let Err(error) = table.each(take) {
            self.note_failure(error);
        }
    }
}

/// Writes chunks until there are no more.
fn write(directory: &Path, chunks: &Receiver<Chunk>) -> Result<Files, ParquetError> {
    let mut writers: BTreeMap<&'static str, ArrowWriter<File>> = BTreeMap::new();
    for (table, chunk) in chunks {
        if !writers.contains_key(table.name) {
            let file = tempfile::tempfile_in(directory)?;
            writers.insert(table.name, writer(file, chunk.schema(), true)?);
        }
        let writer = writers.get_mut(table.name).expect("it is there now");
        writer.write(&chunk)?;
        writer.flush()?;
    }
    writers.into_iter().map(|(name, writer)| Ok((name, writer.into_inner()?))).collect()
}

fn join(thread: JoinHandle<Result<Files, ParquetError>>) -> Result<Files, ParquetError> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn tables(
    thread: JoinHandle<Result<Files, ParquetError>>,
) -> Result<BTreeMap<&'static str, Arc<LongTable>>, ParquetError> {
    let files = join(thread)?.into_iter();
    files.map(|(name, file)| Ok((name, Arc::new(LongTable::open(file)?)))).collect()
}

/// An error of a file as `OSError`, with its number and where it happened.
fn os_error(error: ParquetError, directory: &Path) -> PyErr {
    let text = error.to_string();
    let number = match error {
        ParquetError::External(inner) => {
            inner.downcast::<io::Error>().ok().and_then(|error| error.raw_os_error())
        }
        _ => None,
    };
    match number {
        Some(number) => {
            let text = io::Error::from_raw_os_error(number).to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, directory.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(text),
    }
}
