//! The rows of a table, and the place for those of long tables.

use std::fmt::Debug;
use std::ops::Deref;

use arrow_array::RecordBatch;
use narrows_base::Time;

use crate::builder::Table;
use crate::columns::TableInfo;

/// Up to this many ns, about 26 days, an instant can be told exactly from a float in seconds.
const EXACT: u64 = 1 << 51;

/// Keeps the rows of long tables as columns, chunk by chunk, so that the recorder's own memory
/// doesn't depend on how long a run is.
///
/// Errors are its owner's to report: the recorder doesn't learn of them.
pub trait Shelf: Debug + Send {
    /// Takes the next rows of a table.
    fn put(&mut self, table: &'static TableInfo, chunk: RecordBatch);

    /// Gives all rows of a table in their order, chunk by chunk.
    fn each(&self, table: &'static TableInfo, take: &mut dyn FnMut(&RecordBatch));
}

/// The rows of a table with their instants; earlier ones may be on the shelf.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    rows: Vec<(Time, T)>,
    most: usize,
    on_shelf: bool,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), most: usize::MAX, on_shelf: false }
    }
}

impl<T> Rows<T> {
    /// Sets how many bytes of rows are full.
    pub(crate) fn limit(&mut self, bytes: usize) {
        self.most = (bytes / size_of::<(Time, T)>()).max(1);
    }

    /// Adds a row; whether the rows must go to the shelf. They must not once their instants can't
    /// be told exactly from columns any more.
    pub(crate) fn push(&mut self, at: Time, row: T) -> bool {
        self.rows.push((at, row));
        self.rows.len() >= self.most && at.as_nanos() < EXACT
    }

    /// Whether rows are on the shelf.
    pub(crate) fn on_shelf(&self) -> bool {
        self.on_shelf
    }

    /// Puts the rows on the shelf as columns.
    pub(crate) fn shelve(&mut self, shelf: &mut dyn Shelf, table: fn(&[(Time, T)]) -> Table) {
        if self.rows.is_empty() {
            return;
        }
        let Table { info, batch, .. } = table(&self.rows);
        shelf.put(info, batch);
        self.rows.clear();
        self.on_shelf = true;
    }
}

impl<T> Deref for Rows<T> {
    type Target = [(Time, T)];

    fn deref(&self) -> &Self::Target {
        &self.rows
    }
}
