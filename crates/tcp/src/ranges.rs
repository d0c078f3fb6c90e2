//! A sorted set of half-open ranges of packet numbers.

use crate::Seq;

/// Disjoint, non-adjacent, ascending half-open ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: Vec<(Seq, Seq)>,
}

impl RangeSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the highest range.
    pub(crate) fn end(&self) -> Option<Seq> {
        self.ranges.last().map(|&(_, end)| end)
    }

    /// The `n`-th highest number, from 1.
    pub(crate) fn nth_highest(&self, n: u32) -> Option<Seq> {
        let mut above = 0;
        self.ranges.iter().rev().find_map(|&(start, end)| {
            above += end - start;
            above.checked_sub(n).map(|below| start + below)
        })
    }

    pub(crate) fn contains(&self, seq: Seq) -> bool {
        let at = self.ranges.partition_point(|&(_, end)| end <= seq);
        self.ranges.get(at).is_some_and(|&(start, _)| start <= seq)
    }

    /// Adds `start..end` and calls `fresh` for each part that was missing,
    /// ascending.
    pub(crate) fn insert(&mut self, start: Seq, end: Seq, mut fresh: impl FnMut(Seq, Seq)) {
        debug_assert!(start < end);
        let first = self.ranges.partition_point(|&(_, range_end)| range_end < start);
        let mut last = first;
        let mut from = start;
        let mut merged = (start, end);
        while let Some(&(range_start, range_end)) = self.ranges.get(last) {
            if range_start > end {
                break;
            }
            if from < range_start {
                fresh(from, range_start.min(end));
            }
            from = from.max(range_end);
            merged = (merged.0.min(range_start), merged.1.max(range_end));
            last += 1;
        }
        if from < end {
            fresh(from, end);
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
    }

    /// Forgets everything below `floor`.
    pub(crate) fn remove_below(&mut self, floor: Seq) {
        let gone = self.ranges.partition_point(|&(_, end)| end <= floor);
        if gone > 0 {
            self.ranges.drain(..gone);
        }
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(floor);
        }
    }

    /// Takes the first range out if it starts at `at`, and returns its end.
    pub(crate) fn pop_at(&mut self, at: Seq) -> Option<Seq> {
        let &(start, end) = self.ranges.first()?;
        if start > at {
            return None;
        }
        self.ranges.remove(0);
        Some(end)
    }

    #[cfg(test)]
    pub(crate) fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.ranges
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(ops in proptest::collection::vec((0u32..60, 1u32..12), 1..40)) {
            let mut ranges = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, len) in ops {
                let mut fresh = Vec::new();
                ranges.insert(start, start + len, |a, b| fresh.extend(a..b));
                let expected: Vec<u32> = (start..start + len).filter(|n| model.insert(*n)).collect();
                prop_assert_eq!(fresh, expected);
                let held: Vec<u32> = ranges.as_slice().iter().flat_map(|&(a, b)| a..b).collect();
                prop_assert_eq!(held, model.iter().copied().collect::<Vec<_>>());
                prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0));
            }
            let floor = 20;
            ranges.remove_below(floor);
            prop_assert_eq!(ranges.contains(25), model.contains(&25));
            prop_assert!(!ranges.contains(floor - 1));
            for n in 1..10 {
                let expected = model.range(floor..).nth_back(n - 1).copied();
                prop_assert_eq!(ranges.nth_highest(u32::try_from(n).unwrap()), expected);
            }
        }
    }
}
