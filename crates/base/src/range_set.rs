//! A set of sequence numbers, kept as ranges.

use crate::prefetch::prefetch_start;

/// A set of numbers as half-open ranges: disjoint, ascending, none touching another.
/// It holds at most `MOST` ranges; numbers that would need another one are left out.
///
/// ```
/// use narrows_base::RangeSet;
///
/// let mut received = RangeSet::<u32>::default();
/// received.insert(10, 20, |_, _| {});
/// let mut fresh = Vec::new();
/// received.insert(15, 25, |start, end| fresh.push((start, end)));
/// assert_eq!(fresh, [(20, 25)]);
/// assert_eq!(received.as_slice(), [(10, 25)]);
/// ```
#[derive(Clone, Debug)]
pub struct RangeSet<T, const MOST: usize = { usize::MAX }> {
    ranges: Vec<(T, T)>,
}

impl<T, const MOST: usize> Default for RangeSet<T, MOST> {
    fn default() -> Self {
        Self { ranges: Vec::new() }
    }
}

impl<T, const MOST: usize> RangeSet<T, MOST> {
    /// Returns `true` if the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Begins to load the highest range, which nearly every call looks at, into the processor's caches.
    pub fn prefetch(&self) {
        if let Some(highest) = self.ranges.last() {
            prefetch_start(highest);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

impl<T: Copy + Ord, const MOST: usize> RangeSet<T, MOST> {
    /// The end of the highest range.
    #[must_use]
    pub fn end(&self) -> Option<T> {
        self.ranges.last().map(|&(_, end)| end)
    }

    /// Returns `true` if the set contains the number.
    #[must_use]
    pub fn contains(&self, seq: T) -> bool {
        // Most numbers asked for are new, and above all ranges.
        if self.end().is_none_or(|end| end <= seq) {
            return false;
        }
        let at = self.ranges.partition_point(|&(_, end)| end <= seq);
        self.ranges.get(at).is_some_and(|&(start, _)| start <= seq)
    }

    /// Adds `start..end` and calls `fresh` for each part that was missing, ascending. A range that
    /// ends before it starts is empty.
    #[inline]
    pub fn insert(&mut self, start: T, end: T, mut fresh: impl FnMut(T, T)) {
        if start >= end {
            return;
        }
        match self.extend_highest(start, end) {
            Some((from, to)) if from < to => fresh(from, to),
            Some(_) => {}
            None => {
                self.insert_anywhere(start, end, fresh);
            }
        }
    }

    /// Adds `start..end`, which isn't empty, and returns the range that it is in then; none if there
    /// was no room for it.
    #[inline]
    pub fn insert_whole(&mut self, start: T, end: T) -> Option<(T, T)> {
        match self.extend_highest(start, end) {
            Some(_) => self.ranges.last().copied(),
            None => self.insert_anywhere(start, end, |_, _| {}),
        }
    }

    /// Adds numbers that continue the highest range or are in it, as most additions do;
    /// returns the part that was missing, which may be empty. None, without effect, if they don't.
    #[inline]
    pub fn extend_highest(&mut self, start: T, end: T) -> Option<(T, T)> {
        let (range_start, range_end) = self.ranges.last_mut()?;
        if start < *range_start || *range_end < start {
            return None;
        }
        let from = *range_end;
        *range_end = from.max(end);
        Some((from, *range_end))
    }

    /// Adds any range that isn't empty; returns the range that it is in then, if there was room.
    #[inline(never)] // so that what continues the highest range stays small
    fn insert_anywhere(&mut self, start: T, end: T, mut fresh: impl FnMut(T, T)) -> Option<(T, T)> {
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
        if last == first && self.ranges.len() >= MOST {
            return None;
        }
        if from < end {
            fresh(from, end);
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            if last > first + 1 {
                self.ranges.drain(first + 1..last);
            }
        }
        Some(merged)
    }

    /// Forgets everything below `floor`.
    pub fn remove_below(&mut self, floor: T) {
        // From the front, since the floor rises by little at a time.
        let gone = self.ranges.iter().take_while(|&&(_, end)| end <= floor).count();
        if gone > 0 {
            self.ranges.drain(..gone);
        }
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(floor);
        }
    }

    /// Takes the first range out if it starts at `at`, and returns its end.
    pub fn pop_at(&mut self, at: T) -> Option<T> {
        let &(start, end) = self.ranges.first()?;
        if start > at {
            return None;
        }
        self.ranges.remove(0);
        Some(end)
    }

    /// The ranges, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[(T, T)] {
        &self.ranges
    }
}

impl<const MOST: usize> RangeSet<u32, MOST> {
    /// The `n`-th highest number, from 1.
    #[must_use]
    pub fn nth_highest(&self, n: u32) -> Option<u32> {
        let mut above = 0;
        self.ranges.iter().rev().find_map(|&(start, end)| {
            above += end - start;
            above.checked_sub(n).map(|below| start + below)
        })
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
            let mut ranges = RangeSet::<u32>::default();
            let mut model = BTreeSet::new();
            for (start, len) in ops {
                let mut fresh = Vec::new();
                let whole = ranges.clone().insert_whole(start, start + len);
                ranges.insert(start, start + len, |a, b| fresh.extend(a..b));
                let holds = |&&(a, b): &&(u32, u32)| a <= start && start + len <= b;
                prop_assert_eq!(whole.as_ref(), ranges.as_slice().iter().find(holds));
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

    fn insert(set: &mut RangeSet<u64, 2>, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut fresh = Vec::new();
        set.insert(start, end, |start, end| fresh.push((start, end)));
        fresh
    }

    #[test]
    fn ranges_beyond_the_capacity_are_dropped() {
        let mut set = RangeSet::default();
        assert_eq!(insert(&mut set, 10, 20), [(10, 20)]);
        assert_eq!(insert(&mut set, 30, 40), [(30, 40)]);
        assert_eq!(insert(&mut set, 50, 60), [], "no room for a third range");
        assert_eq!(set.insert_whole(50, 60), None);
        assert_eq!(insert(&mut set, 15, 35), [(20, 30)], "two became one");
        assert_eq!(insert(&mut set, 50, 60), [(50, 60)]);
        assert_eq!(insert(&mut set, 7, 7), []);
        assert_eq!(set.as_slice(), [(10, 40), (50, 60)]);
    }
}
