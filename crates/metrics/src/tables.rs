//! Rows and columns of a run's tables.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, Float64Array, Int64Array, RecordBatch, StringViewArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType};
use narrows_record::Table;

use crate::distributions::{Distribution, ExactValues, Statistics};

/// Takes some rows of a table.
pub type TakeRows<'a> = &'a mut dyn FnMut(Rows<'_>) -> Result<(), ArrowError>;

/// The tables of a run, in memory or in files.
pub trait RunTables {
    /// Passes on the rows of a table in their order, some at a time and with these columns at least;
    /// none if the run lacks the table.
    ///
    /// # Errors
    /// If a row can't be read, and the errors of `take`.
    fn each(&self, table: &str, columns: &[&str], take: TakeRows<'_>) -> Result<(), ArrowError>;
}

impl RunTables for &[Table] {
    fn each(&self, table: &str, _: &[&str], take: TakeRows<'_>) -> Result<(), ArrowError> {
        let found = self.iter().find(|one| one.name == table);
        found.map_or(Ok(()), |found| take(Rows(&found.batch)))
    }
}

/// Some rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a>(pub &'a RecordBatch);

impl<'a> Rows<'a> {
    /// The number of rows.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.num_rows()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub(crate) fn numbers(self, name: &str) -> Result<Numbers<'a>, ArrowError> {
        let column = self.column(name)?;
        Ok(match column.data_type() {
            DataType::Float64 => Numbers::Float(column.as_primitive::<Float64Type>()),
            DataType::UInt32 => Numbers::Small(column.as_primitive::<UInt32Type>()),
            DataType::UInt64 => Numbers::Large(column.as_primitive::<UInt64Type>()),
            DataType::Int64 => Numbers::Signed(column.as_primitive::<Int64Type>()),
            DataType::Null => Numbers::Unknown,
            other => return Err(ArrowError::CastError(format!("{name} holds {other}"))),
        })
    }

    pub(crate) fn texts(self, name: &str) -> Result<&'a StringViewArray, ArrowError> {
        let column = self.column(name)?;
        let texts = column.as_string_view_opt();
        texts.ok_or_else(|| ArrowError::CastError(format!("{name} holds {}", column.data_type())))
    }

    fn column(self, name: &str) -> Result<&'a dyn Array, ArrowError> {
        let found = self.0.column_by_name(name);
        found.map(AsRef::as_ref).ok_or_else(|| ArrowError::SchemaError(name.to_owned()))
    }
}

/// A column of numbers, or of nulls alone.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers<'a> {
    Float(&'a Float64Array),
    Small(&'a UInt32Array),
    Large(&'a UInt64Array),
    Signed(&'a Int64Array),
    Unknown,
}

impl Numbers<'_> {
    /// The number in a row; NaN for a null.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
    pub(crate) fn at(self, row: usize) -> f64 {
        match self {
            Self::Float(values) if values.is_valid(row) => values.value(row),
            Self::Small(values) if values.is_valid(row) => f64::from(values.value(row)),
            Self::Large(values) if values.is_valid(row) => values.value(row) as f64,
            Self::Signed(values) if values.is_valid(row) => values.value(row) as f64,
            _ => f64::NAN,
        }
    }

    /// The number of a flow or link in a row.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "there are few")]
    pub(crate) fn key(self, row: usize) -> u32 {
        if let Self::Small(values) = self { values.value(row) } else { self.at(row) as u32 }
    }
}

/// Every distribution of a run.
#[derive(Debug)]
pub(crate) struct Distributions(BTreeMap<(String, u32), Vec<(f64, f64)>>);

impl Distributions {
    pub(crate) fn of(tables: &impl RunTables) -> Result<Self, ArrowError> {
        let mut found: BTreeMap<_, Vec<(f64, f64)>> = BTreeMap::new();
        tables.each("distributions", &["kind", "id", "value", "weight"], &mut |rows| {
            let (kinds, idents) = (rows.texts("kind")?, rows.numbers("id")?);
            let (values, weights) = (rows.numbers("value")?, rows.numbers("weight")?);
            let mut first = 0;
            while first < rows.len() {
                let (kind, ident) = (kinds.value(first), idents.key(first));
                let same = |&row: &usize| kinds.value(row) == kind && idents.key(row) == ident;
                let span = (first..rows.len()).take_while(same);
                let its = found.entry((kind.to_owned(), ident)).or_default();
                let before = its.len();
                its.extend(span.map(|row| (values.at(row), weights.at(row))));
                first += its.len() - before;
            }
            Ok(())
        })?;
        Ok(Self(found))
    }

    pub(crate) fn has(&self, kind: &str, ident: u32) -> bool {
        self.0.contains_key(&(kind.to_owned(), ident))
    }

    /// Statistics of a distribution such as "rtt_ms", times `scale`; unknown without its rows.
    pub(crate) fn statistics(
        &self,
        (kind, ident): (&str, u32),
        names: &[&'static str],
        scale: f64,
    ) -> Statistics {
        let Some(rows) = self.0.get(&(kind.to_owned(), ident)) else {
            return Statistics::unknown(names);
        };
        let exact = |name: &str| {
            let (what, unit) = kind.rsplit_once('_')?;
            Some(self.0.get(&(format!("{what}_{name}_{unit}"), ident))?.first()?.0)
        };
        let exact = ExactValues { mean: exact("mean"), min: exact("min"), max: exact("max") };
        Distribution::of(rows.clone()).with_exact(exact).statistics(names, scale)
    }
}
