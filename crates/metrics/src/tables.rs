//! Columns of a run's tables.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use narrows_record::Table;

use crate::distributions::{Distribution, ExactValues, Statistic};

/// The columns of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a>(&'a RecordBatch);

impl<'a> Columns<'a> {
    /// The table called `name`.
    ///
    /// # Panics
    /// If it isn't there.
    pub(crate) fn of(tables: &'a [Table], name: &str) -> Self {
        let table = tables.iter().find(|table| table.name == name);
        Self(&table.unwrap_or_else(|| panic!("a run has the table {name}")).batch)
    }

    pub(crate) fn rows(self) -> std::ops::Range<usize> {
        0..self.0.num_rows()
    }

    /// Numbers with a fraction, or counts; NaN where the value is null.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
    pub(crate) fn floats(self, name: &str) -> Vec<f64> {
        let column = &self.0[name];
        if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
            return floats.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        }
        let counts = column.as_primitive::<UInt64Type>().iter();
        counts.map(|count| count.map_or(f64::NAN, |count| count as f64)).collect()
    }

    /// Numbers of flows or links.
    pub(crate) fn numbers(self, name: &str) -> &'a [u32] {
        self.0[name].as_primitive::<UInt32Type>().values()
    }

    /// The text of a row.
    pub(crate) fn text(self, name: &str, row: usize) -> &'a str {
        let texts = self.0[name].as_string_view();
        if texts.is_null(row) { "" } else { texts.value(row) }
    }
}

/// Every distribution by its kind and the number of its flow or link.
#[derive(Debug)]
pub(crate) struct Distributions<'a>(BTreeMap<(&'a str, u32), Vec<(f64, f64)>>);

impl<'a> Distributions<'a> {
    pub(crate) fn of(tables: &'a [Table]) -> Self {
        let table = Columns::of(tables, "distributions");
        let (idents, values, weights) =
            (table.numbers("id"), table.floats("value"), table.floats("weight"));
        let mut found: BTreeMap<_, Vec<(f64, f64)>> = BTreeMap::new();
        for row in table.rows() {
            let rows = found.entry((table.text("kind", row), idents[row])).or_default();
            rows.push((values[row], weights[row]));
        }
        Self(found)
    }

    /// A statistic of a distribution such as "rtt_ms"; `None` without its rows.
    pub(crate) fn statistic(&self, kind: &str, ident: u32, statistic: Statistic) -> Option<f64> {
        let rows = self.0.get(&(kind, ident))?.clone();
        let (what, unit) = kind.rsplit_once('_')?;
        let exact = |name| {
            let kind = format!("{what}_{name}_{unit}");
            Some(self.0.get(&(kind.as_str(), ident))?.first()?.0)
        };
        let exact = ExactValues { mean: exact("mean"), min: exact("min"), max: exact("max") };
        Distribution::of(rows).with_exact(exact).statistic(statistic)
    }
}
