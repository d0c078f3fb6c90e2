//! A log-linear histogram of non-negative integers.
//!
//! The layout is that of HDR histograms (Tene 2012): values below 128 have a
//! bucket each, every octave above has 128 buckets of equal width. A bucket is
//! therefore at most 1/128 as wide as its values are large.

/// Buckets in an octave, as a power of two.
const BITS: u32 = 7;
/// Buckets in an octave.
const STEPS: u64 = 1 << BITS;

/// Weights of integer values; a bucket is at most 0.8 % wide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    weights: Vec<u64>,
}

impl Histogram {
    /// Adds `weight` to the bucket of `value`.
    ///
    /// # Panics
    /// If a bucket's weight overflows.
    #[inline]
    pub fn add(&mut self, value: u64, weight: u64) {
        let index = index_of(value);
        if index >= self.weights.len() {
            self.weights.resize(index + 1, 0);
        }
        self.weights[index] += weight;
    }

    /// The buckets that aren't empty, in ascending order: the value in the
    /// middle of the bucket, and the weight.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let filled = self.weights.iter().enumerate().filter(|&(_, &weight)| weight > 0);
        filled.map(|(index, &weight)| (middle_of(index as u64), weight))
    }
}

/// The bucket of a value: its octave, and its leading bits within.
#[inline]
#[allow(clippy::cast_possible_truncation)] // at most 58 octaves of 128 buckets
fn index_of(value: u64) -> usize {
    let shift = u64::BITS - BITS - 1 - (value | STEPS).leading_zeros();
    (u64::from(shift) * STEPS + (value >> shift)) as usize
}

/// The middle of a bucket's values: exact while a bucket holds a single one.
#[allow(clippy::cast_precision_loss)]
fn middle_of(index: u64) -> f64 {
    let shift = (index / STEPS).saturating_sub(1);
    let lowest = (index - shift * STEPS) << shift;
    lowest as f64 + ((1u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values of every magnitude, not only large ones.
    fn magnitudes() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
    }

    fn only_bucket(value: u64) -> f64 {
        let mut histogram = Histogram::default();
        histogram.add(value, 1);
        histogram.buckets().next().expect("one bucket").0
    }

    proptest! {
        #[test]
        fn a_bucket_is_within_half_a_percent(value in magnitudes()) {
            let error = (only_bucket(value) - value as f64).abs();
            prop_assert!(error <= value as f64 / 256.0, "{value}: {error}");
        }

        #[test]
        fn larger_values_never_fall_into_smaller_buckets(a in magnitudes(), b in magnitudes()) {
            prop_assert!(index_of(a.min(b)) <= index_of(a.max(b)));
        }

        #[test]
        fn weights_are_kept(values in prop::collection::vec((magnitudes(), 1u64..1000), 0..50)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&(value, weight)| histogram.add(value, weight));
            let kept: u64 = histogram.buckets().map(|(_, weight)| weight).sum();
            prop_assert_eq!(kept, values.iter().map(|&(_, weight)| weight).sum::<u64>());
            prop_assert!(histogram.buckets().is_sorted_by(|a, b| a.0 < b.0));
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
}
