//! Cumulative counters of the tables of samples, over a span of time.

use std::collections::BTreeMap;

/// Sample times are whole nanoseconds; as floats they may be slightly off.
const SLACK_S: f64 = 1e-9;

/// The row of each key's latest sample up to a time in s; of equally late ones the last.
///
/// A counter counts with its value there. Keys without such a sample are left out.
#[must_use]
pub fn latest_rows(keys: &[u32], times_s: &[f64], bound_s: f64) -> BTreeMap<u32, usize> {
    let mut latest: BTreeMap<u32, usize> = BTreeMap::new();
    // Samples of a key mostly stand in a block or return at the same distance; the map is small.
    for (row, (&key, &time)) in keys.iter().zip(times_s).enumerate() {
        if time > bound_s + SLACK_S {
            continue;
        }
        let known = latest.entry(key).or_insert(row);
        if times_s[*known] <= time {
            *known = row;
        }
    }
    latest
}

/// The growth of a counter from one time to another, in s, for every key; `None` for a value that
/// the back end couldn't know (NaN).
///
/// From time 0 on, what happens at time 0 counts.
#[must_use]
pub fn growth(
    keys: &[u32],
    times_s: &[f64],
    counter: &[f64],
    (start_s, end_s): (f64, f64),
) -> BTreeMap<u32, Option<f64>> {
    let early =
        if start_s > 0.0 { latest_rows(keys, times_s, start_s) } else { BTreeMap::default() };
    let grown = |(key, row): (u32, usize)| {
        let before = early.get(&key).map_or(0.0, |&row| counter[row]);
        let grown = counter[row] - before;
        (key, (!grown.is_nan()).then_some(grown))
    };
    latest_rows(keys, times_s, end_s).into_iter().map(grown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_counts_as_it_stood_at_both_ends() {
        let keys = [0, 1, 0, 1, 0];
        let times = [0.0, 1.0, 1.0, 2.0, 3.0];
        let counter = [1.0, 10.0, 3.0, 25.0, 7.0];
        let found = growth(&keys, &times, &counter, (1.0, 2.0));
        assert_eq!(found, BTreeMap::from([(0, Some(0.0)), (1, Some(15.0))]));
        let found = growth(&keys, &times, &counter, (0.0, 3.0));
        assert_eq!(found, BTreeMap::from([(0, Some(7.0)), (1, Some(25.0))]));
        assert_eq!(growth(&keys, &times, &counter, (0.0, 0.5)), BTreeMap::from([(0, Some(1.0))]));
    }

    #[test]
    fn an_unknown_value_stays_unknown() {
        let found = growth(&[0, 0], &[1.0, 2.0], &[f64::NAN, 5.0], (1.0, 2.0));
        assert_eq!(found, BTreeMap::from([(0, None)]));
    }
}
