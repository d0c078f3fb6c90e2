//! The rows of a table, and the place for those of long tables.

use std::fmt::Debug;
use std::ops::Deref;

use arrow_array::RecordBatch;
use narrows_base::Time;

use crate::builder::Table;
use crate::columns::TableInfo;

/// Up to this many ns, about 26 days, a float in seconds gives the exact instant.
const EXACT: u64 = 1 << 51;

/// Keeps the rows of long tables as columns, chunk by chunk, so that the recorder's own memory
/// doesn't depend on how long a run is.
///
/// Errors are its owner's to report: the recorder doesn't learn of them.
pub trait SpillStore: Debug + Send {
    /// Takes the next rows of a table.
    fn put(&mut self, table: &'static TableInfo, chunk: RecordBatch);

    /// Gives all rows of a table in their order, chunk by chunk.
    fn each(&self, table: &'static TableInfo, take: &mut dyn FnMut(&RecordBatch));
}

/// The rows of a table with their instants; earlier ones may have been spilled.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    rows: Vec<(Time, T)>,
    most: usize,
    has_spilled: bool,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), most: usize::MAX, has_spilled: false }
    }
}

impl<T> Rows<T> {
    /// Sets how many bytes of rows are full.
    pub(crate) fn limit(&mut self, bytes: usize) {
        self.most = (bytes / size_of::<(Time, T)>()).max(1);
    }

    /// Adds a row; returns whether to spill the rows. False once columns can't hold their instants
    /// exactly any more.
    pub(crate) fn push(&mut self, at: Time, row: T) -> bool {
        self.rows.push((at, row));
        self.rows.len() >= self.most && at.as_nanos() < EXACT
    }

    /// Returns `true` if rows were spilled.
    pub(crate) fn has_spilled(&self) -> bool {
        self.has_spilled
    }

    /// Moves the rows to the store as columns.
    pub(crate) fn spill(&mut self, store: &mut dyn SpillStore, table: fn(&[(Time, T)]) -> Table) {
        if self.rows.is_empty() {
            return;
        }
        let Table { info, batch, .. } = table(&self.rows);
        store.put(info, batch);
        self.rows.clear();
        self.has_spilled = true;
    }
}

impl<T> Deref for Rows<T> {
    type Target = [(Time, T)];

    fn deref(&self) -> &Self::Target {
        &self.rows
    }
}
