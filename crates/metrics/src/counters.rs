//! Cumulative counters of the tables of samples, over a span of time.

use std::collections::BTreeMap;

use arrow_schema::ArrowError;

use crate::tables::{Rows, RunTables};

/// Sample times are whole nanoseconds; as floats they may be slightly off.
const SLACK_S: f64 = 1e-9;

/// The counters of a flow or link at a time: in its latest row up to it, of equally late ones the
/// last.
#[derive(Clone, Debug)]
struct CounterState {
    time_s: f64,
    values: Vec<f64>,
}

/// Counters of each flow or link at both ends of a span.
///
/// A counter is zero before the first row, and at time 0, so that a span from time 0 includes the
/// events at time 0. Both ends should be sampled instants, as the warm-up and the end of a run are.
#[derive(Clone, Debug)]
pub struct SampleCounters<'a> {
    names: &'a [&'a str],
    early: BTreeMap<u32, CounterState>,
    late: BTreeMap<u32, CounterState>,
}

impl<'a> SampleCounters<'a> {
    /// Reads counters of a table by `key`, "flow" or "link", at the ends of a span in s.
    ///
    /// # Errors
    /// If the table can't be read or lacks a column.
    pub fn of(
        tables: &impl RunTables,
        (table, key): (&str, &str),
        names: &'a [&'a str],
        (start_s, end_s): (f64, f64),
    ) -> Result<Self, ArrowError> {
        let mut found = Self { names, early: BTreeMap::new(), late: BTreeMap::new() };
        let columns: Vec<&str> = [key, "time_s"].iter().chain(names).copied().collect();
        tables.each(table, &columns, &mut |rows| {
            if start_s > 0.0 {
                advance(&mut found.early, rows, key, names, start_s)?;
            }
            advance(&mut found.late, rows, key, names, end_s)
        })?;
        Ok(found)
    }

    /// The flows or links with a row up to the end, ascending.
    pub fn keys(&self) -> impl Iterator<Item = u32> {
        self.late.keys().copied()
    }

    /// The growth of a counter within the span; `None` if an end is unknown, 0 without rows.
    #[must_use]
    pub fn growth(&self, key: u32, name: &str) -> Option<i64> {
        let start = self.early.get(&key).map_or(Some(0), |state| self.value(state, name));
        Some(self.at_end(key, name)? - start?)
    }

    /// A counter at the end of the span; `None` if it is unknown, 0 without rows.
    #[must_use]
    pub fn at_end(&self, key: u32, name: &str) -> Option<i64> {
        self.late.get(&key).map_or(Some(0), |state| self.value(state, name))
    }

    /// The growth of a counter over all flows or links that `counts` accepts; `None` if there are
    /// none or one isn't known.
    pub(crate) fn total(&self, name: &str, counts: impl Fn(u32) -> bool) -> Option<i64> {
        let mut grown = self.keys().filter(|&key| counts(key)).map(|key| self.growth(key, name));
        grown.next()?.and_then(|first| grown.try_fold(first, |sum, one| Some(sum + one?)))
    }

    fn value(&self, state: &CounterState, name: &str) -> Option<i64> {
        let place = self.names.iter().position(|one| *one == name).expect("a counter of these");
        whole(state.values[place])
    }
}

/// Updates the counters up to a time in s.
fn advance(
    known: &mut BTreeMap<u32, CounterState>,
    rows: Rows<'_>,
    key: &str,
    names: &[&str],
    bound_s: f64,
) -> Result<(), ArrowError> {
    let (keys, times) = (rows.numbers(key)?, rows.numbers("time_s")?);
    let mut latest: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    // Samples of a key mostly stand in a block or return at the same distance; the map is small.
    for row in 0..rows.len() {
        let time_s = times.at(row);
        if time_s > bound_s + SLACK_S {
            continue;
        }
        let best = latest.entry(keys.key(row)).or_insert((row, time_s));
        if best.1 <= time_s {
            *best = (row, time_s);
        }
    }
    let columns: Vec<_> = names.iter().map(|name| rows.numbers(name)).collect::<Result<_, _>>()?;
    for (key, (row, time_s)) in latest {
        if known.get(&key).is_none_or(|state| state.time_s <= time_s) {
            let values = columns.iter().map(|column| column.at(row)).collect();
            known.insert(key, CounterState { time_s, values });
        }
    }
    Ok(())
}

/// A whole number; `None` if it is NaN, unknown.
#[expect(clippy::cast_possible_truncation, reason = "53 bits are enough")]
pub(crate) fn whole(value: f64) -> Option<i64> {
    (!value.is_nan()).then_some(value as i64)
}

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
pub(crate) const fn float(count: i64) -> f64 {
    count as f64
}

/// A quotient; `None` where either is unknown or the divisor is zero.
pub(crate) fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|&(_, whole)| whole != 0.0).map(|(part, whole)| part / whole)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, RecordBatch, UInt32Array};

    use super::*;
    use crate::tables::TakeRows;

    /// A table whose rows come one at a time.
    struct Parts(RecordBatch);

    impl RunTables for Parts {
        fn each(&self, _: &str, _: &[&str], take: TakeRows<'_>) -> Result<(), ArrowError> {
            (0..self.0.num_rows()).try_for_each(|row| take(Rows(&self.0.slice(row, 1))))
        }
    }

    fn growths(rows: &[(u32, f64, f64)], span_s: (f64, f64)) -> Vec<(u32, Option<i64>)> {
        let column = |read: fn(&(u32, f64, f64)) -> f64| -> Arc<Float64Array> {
            Arc::new(rows.iter().map(read).collect::<Vec<_>>().into())
        };
        let keys: UInt32Array = rows.iter().map(|row| row.0).collect::<Vec<_>>().into();
        let batch = RecordBatch::try_from_iter([
            ("flow", Arc::new(keys) as _),
            ("time_s", column(|row| row.1) as _),
            ("sent", column(|row| row.2) as _),
        ]);
        let table = Parts(batch.unwrap());
        let counters =
            SampleCounters::of(&table, ("flow_samples", "flow"), &["sent"], span_s).unwrap();
        counters.keys().map(|key| (key, counters.growth(key, "sent"))).collect()
    }

    #[test]
    fn a_counter_counts_as_it_stood_at_both_ends() {
        let rows = [(0, 0.0, 1.0), (1, 1.0, 10.0), (0, 1.0, 3.0), (1, 2.0, 25.0), (0, 3.0, 7.0)];
        assert_eq!(growths(&rows, (1.0, 2.0)), [(0, Some(0)), (1, Some(15))]);
        assert_eq!(growths(&rows, (0.0, 3.0)), [(0, Some(7)), (1, Some(25))]);
        assert_eq!(growths(&rows, (0.0, 0.5)), [(0, Some(1))]);
    }

    #[test]
    fn an_unknown_value_stays_unknown() {
        assert_eq!(growths(&[(0, 1.0, f64::NAN), (0, 2.0, 5.0)], (1.0, 2.0)), [(0, None)]);
    }
}
