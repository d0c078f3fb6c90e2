//! A log-linear histogram of non-negative integers.
//!
//! The layout is that of HDR histograms (Tene 2012): values below 128 have a
//! bucket each, every octave above has 128 buckets of equal width. So the width of a bucket is at
//! most 1/128 of its values.

use std::collections::BTreeMap;

use crate::prefetch::prefetch_start;

/// Buckets in an octave, as a power of two.
const BITS: u32 = 7;
/// Buckets in an octave.
const STEPS: u64 = 1 << BITS;

/// Storage for the weights of a histogram's buckets.
pub trait Weights: Default {
    /// Adds to the weight of a bucket.
    ///
    /// # Panics
    /// If the weight overflows.
    fn add(&mut self, bucket: usize, weight: u64);

    /// The buckets with a weight, in ascending order.
    fn iter(&self) -> impl Iterator<Item = (usize, u64)>;
}

/// All buckets from that of the lowest value to that of the highest: fast, for the histograms of a
/// run. Those below would outnumber them: a round-trip time of 50 ms is in the 2,500th.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dense {
    lowest: usize,
    weights: Vec<u64>,
}

/// Only nonempty buckets: small, for the many flows of a capture.
pub type Sparse = BTreeMap<usize, u64>;

impl Histogram {
    /// Begins to load the weight of `value`'s bucket into the processor's caches.
    pub fn prefetch(&self, value: u64) {
        let Dense { lowest, weights } = &self.weights;
        prefetch_start(weights.as_ptr().wrapping_add(index_of(value).wrapping_sub(*lowest)));
    }
}

impl Dense {
    #[cold]
    fn add_outside(&mut self, bucket: usize, weight: u64) {
        if self.weights.is_empty() {
            self.lowest = bucket;
        }
        let below = self.lowest.saturating_sub(bucket);
        self.weights.splice(..0, std::iter::repeat_n(0, below));
        self.lowest -= below;
        let at = bucket - self.lowest;
        self.weights.resize(self.weights.len().max(at + 1), 0);
        self.weights[at] = weight;
    }
}

impl Weights for Dense {
    #[inline]
    fn add(&mut self, bucket: usize, weight: u64) {
        match self.weights.get_mut(bucket.wrapping_sub(self.lowest)) {
            Some(found) => *found += weight,
            None => self.add_outside(bucket, weight),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let from_lowest = self.weights.iter().copied().enumerate();
        let numbered = from_lowest.map(|(at, weight)| (self.lowest + at, weight));
        numbered.filter(|&(_, weight)| weight > 0)
    }
}

impl Weights for Sparse {
    fn add(&mut self, bucket: usize, weight: u64) {
        *self.entry(bucket).or_default() += weight;
    }

    fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        self.iter().map(|(&bucket, &weight)| (bucket, weight))
    }
}

/// Weights of integer values; a bucket is at most 0.8 % wide. The extremes and the mean are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram<W = Dense> {
    weights: W,
    least: u64,
    most: u64,
    /// The sum of the values times their weights.
    sum: u128,
}

impl<W: Weights> Default for Histogram<W> {
    fn default() -> Self {
        Self { weights: W::default(), least: u64::MAX, most: 0, sum: 0 }
    }
}

impl<W: Weights> Histogram<W> {
    /// Adds a nonzero `weight` to the bucket of `value`.
    ///
    /// # Panics
    /// If a bucket's weight overflows.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        self.weights.add(index_of(value), weight);
        if value < self.least || value > self.most {
            self.widen(value);
        }
        self.sum += u128::from(value) * u128::from(weight);
    }

    /// Few values are outside of the extremes so far.
    #[cold]
    fn widen(&mut self, value: u64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// The nonempty buckets in ascending order: the value in the middle of each, and its weight.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.weights.iter().map(|(index, weight)| (middle_of(index as u64), weight))
    }

    /// The weight of all values.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.weights.iter().map(|(_, weight)| weight).sum()
    }

    /// The exact minimum and maximum; none without any values.
    #[must_use]
    pub fn extremes(&self) -> Option<(u64, u64)> {
        (self.least <= self.most).then_some((self.least, self.most))
    }

    /// The exact mean, to the nearest of 53 bits; none without any values.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean has 53 bits")]
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        let whole = self.sum.checked_div(u128::from(total))?;
        let rest = self.sum % u128::from(total);
        Some(whole as f64 + rest as f64 / total as f64)
    }

    /// The exact minimum; none without any values.
    #[must_use]
    pub fn least(&self) -> Option<u64> {
        self.extremes().map(|(least, _)| least)
    }

    /// The middle of the lowest bucket up to which at least `parts` / `whole` of the weight lies.
    #[must_use]
    pub fn quantile(&self, parts: u64, whole: u64) -> Option<f64> {
        let wanted = (u128::from(self.total()) * u128::from(parts)).div_ceil(u128::from(whole));
        let mut below = 0;
        let reached = |&(_, weight): &(f64, u64)| {
            below += u128::from(weight);
            below >= wanted.max(1)
        };
        self.buckets().find(reached).map(|(value, _)| value)
    }
}

/// The bucket of a value: its octave, and its leading bits within.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 58 octaves of 128 buckets")]
fn index_of(value: u64) -> usize {
    let shift = u64::BITS - BITS - 1 - (value | STEPS).leading_zeros();
    (u64::from(shift) * STEPS + (value >> shift)) as usize
}

/// The middle of a bucket's values, exact if the bucket holds a single one.
fn middle_of(index: u64) -> f64 {
    let shift = (index / STEPS).saturating_sub(1);
    let lowest = (index - shift * STEPS) << shift;
    float(lowest) + float((1u64 << shift) - 1) / 2.0
}

/// The nearest number with 53 bits.
#[expect(clippy::cast_precision_loss, reason = "buckets are coarser")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values of every magnitude, not only large ones.
    fn magnitudes() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
    }

    fn of<W: Weights>(values: &[(u64, u64)]) -> Histogram<W> {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&(value, weight)| histogram.add(value, weight));
        histogram
    }

    fn only_bucket(value: u64) -> f64 {
        of::<Dense>(&[(value, 1)]).buckets().next().expect("one bucket").0
    }

    proptest! {
        #[test]
        fn a_bucket_is_within_half_a_percent(value in magnitudes()) {
            let error = (only_bucket(value) - float(value)).abs();
            prop_assert!(error <= float(value) / 256.0, "{value}: {error}");
        }

        #[test]
        fn larger_values_never_fall_into_smaller_buckets(a in magnitudes(), b in magnitudes()) {
            prop_assert!(index_of(a.min(b)) <= index_of(a.max(b)));
        }

        #[test]
        fn weights_and_extremes_are_kept(
            values in prop::collection::vec((magnitudes(), 1u64..1000), 0..50)
        ) {
            let histogram = of::<Dense>(&values);
            prop_assert_eq!(histogram.total(), values.iter().map(|&(_, weight)| weight).sum::<u64>());
            prop_assert!(histogram.buckets().is_sorted_by(|a, b| a.0 < b.0));
            let found = histogram.extremes();
            prop_assert_eq!(found.map(|(least, _)| least), values.iter().map(|v| v.0).min());
            prop_assert_eq!(found.map(|(_, most)| most), values.iter().map(|v| v.0).max());
        }

        #[test]
        fn the_mean_isnt_that_of_the_buckets(
            values in prop::collection::vec((0u64..1 << 40, 1u64..1000), 1..50)
        ) {
            let sum: u128 = values.iter().map(|v| u128::from(v.0) * u128::from(v.1)).sum();
            let whole = values.iter().map(|v| v.1).sum::<u64>();
            let mean = of::<Dense>(&values).mean().expect("some values");
            let exact = float(u64::try_from(sum).expect("small values")) / float(whole);
            prop_assert!((mean - exact).abs() <= exact * 1e-12);
        }

        #[test]
        fn a_sparse_histogram_is_a_dense_one(
            values in prop::collection::vec((magnitudes(), 1u64..1000), 0..50)
        ) {
            let (sparse, dense) = (of::<Sparse>(&values), of::<Dense>(&values));
            prop_assert!(sparse.buckets().eq(dense.buckets()));
            prop_assert_eq!(sparse.extremes(), dense.extremes());
        }
    }

    #[test]
    fn neighbouring_buckets_touch() {
        for boundary in [127, 128, 255, 256, 257, 258, 511, 512, u64::MAX - 1] {
            let step = index_of(boundary + 1) - index_of(boundary);
            assert!(step <= 1, "{boundary}: {step}");
        }
        assert_eq!(index_of(255) + 1, index_of(256));
        assert_eq!(index_of(256), index_of(257));
    }

    #[test]
    fn quantiles_are_values() {
        let values: Vec<_> = (1..=100).map(|value| (value, 1)).collect();
        let histogram = of::<Sparse>(&values);
        assert_eq!(histogram.quantile(1, 2), Some(50.0));
        assert_eq!(histogram.quantile(95, 100), Some(95.0));
        assert_eq!(histogram.quantile(1, 1), Some(100.0));
        assert_eq!(of::<Sparse>(&[]).quantile(1, 2), None);
        assert_eq!(of::<Sparse>(&[]).mean(), None);
    }
}
