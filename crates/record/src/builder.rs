//! Builds the declared tables from columns of values.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringViewArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{Field, Schema};

use crate::columns::{Column, TableInfo};

/// A named table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name, the same for every back end.
    pub name: &'static str,
    /// Its declaration.
    pub info: &'static TableInfo,
    /// Its columns.
    pub batch: RecordBatch,
}

/// Makes a table, column by column in the order in which they are declared.
///
/// Every method panics if its column isn't the next one of the table, or has another type, which is
/// a bug and never depends on the data.
#[derive(Debug)]
pub struct TableBuilder {
    info: &'static TableInfo,
    arrays: Vec<ArrayRef>,
}

impl TableBuilder {
    /// A table without columns yet.
    #[must_use]
    pub fn of(info: &'static TableInfo) -> Self {
        Self { info, arrays: Vec::with_capacity(info.columns.len()) }
    }

    fn push(&mut self, name: &str, array: impl Array + 'static) {
        let next = self.info.columns.get(self.arrays.len());
        let expected = next.map(|column| (column.name, column.data.arrow()));
        assert_eq!(expected, Some((name, array.data_type().clone())), "of {}", self.info.name);
        self.arrays.push(Arc::new(array));
    }

    /// Numbers with a fraction.
    pub fn floats(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.push(name, Float64Array::from_iter_values(values));
    }

    /// Numbers with a fraction, or nulls.
    pub fn optional_floats(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        self.push(name, Float64Array::from_iter(values));
    }

    /// Whole numbers of 32 bits.
    pub fn small(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        self.push(name, UInt32Array::from_iter_values(values));
    }

    /// Whole numbers of 32 bits, or nulls.
    pub fn optional_small(&mut self, name: &str, values: impl Iterator<Item = Option<u32>>) {
        self.push(name, UInt32Array::from_iter(values));
    }

    /// Whole numbers of 64 bits.
    pub fn large(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.push(name, UInt64Array::from_iter_values(values));
    }

    /// Whole numbers of 64 bits, or nulls.
    pub fn optional_large(&mut self, name: &str, values: impl Iterator<Item = Option<u64>>) {
        self.push(name, UInt64Array::from_iter(values));
    }

    /// Words.
    pub fn texts(&mut self, name: &str, values: impl Iterator<Item = &'static str>) {
        self.push(name, StringViewArray::from_iter_values(values));
    }

    /// True or false.
    pub fn flags(&mut self, name: &str, values: impl Iterator<Item = bool>) {
        self.push(name, BooleanArray::from_iter(values.map(Some)));
    }

    /// The table.
    ///
    /// # Panics
    /// If a column is missing, has a different number of rows from the first one, or holds a null
    /// although it is declared without nulls.
    #[must_use]
    pub fn finish(self) -> Table {
        let columns = self.info.columns;
        assert_eq!(self.arrays.len(), columns.len(), "columns of {}", self.info.name);
        let field =
            |column: &Column| Field::new(column.name, column.data.arrow(), column.null.is_some());
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, self.arrays).expect("columns as declared");
        Table { name: self.info.name, info: self.info, batch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{INTERNALS, TABLES};

    #[test]
    fn names_are_unique_and_everything_is_said() {
        for table in TABLES {
            assert!(!table.row.is_empty(), "{}", table.name);
            for (at, column) in table.columns.iter().enumerate() {
                let place = format!("{}.{}", table.name, column.name);
                assert!(table.columns[..at].iter().all(|c| c.name != column.name), "{place}");
                assert!(!column.meaning.is_empty(), "{place}");
                assert!(column.null.is_none_or(|when| !when.is_empty()), "{place}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "of internals")]
    fn a_column_out_of_order_is_refused() {
        let mut builder = TableBuilder::of(&INTERNALS);
        builder.small("flow", [1].into_iter());
    }

    #[test]
    #[should_panic(expected = "columns of internals")]
    fn a_table_that_lacks_a_column_is_refused() {
        let mut builder = TableBuilder::of(&INTERNALS);
        builder.floats("time_s", [1.0].into_iter());
        let _ = builder.finish();
    }
}
