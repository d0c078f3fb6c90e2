//! A histogram for many flows: only the buckets that hold something.

use std::collections::BTreeMap;

/// Buckets in an octave, as a power of two: those of `narrows_record::Histogram`.
const BITS: u32 = 7;

/// Counts of values in buckets of at most 0.8 %, by each bucket's least value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    counts: BTreeMap<u64, u64>,
    total: u64,
    sum: u128,
}

impl Buckets {
    pub(crate) fn add(&mut self, value: u64) {
        *self.counts.entry(value >> shift(value) << shift(value)).or_default() += 1;
        self.total += 1;
        self.sum += u128::from(value);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// The middle of each bucket, ascending, and its count.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.counts.iter().map(|(&least, &count)| {
            (least as f64 + ((1u64 << shift(least)) - 1) as f64 / 2.0, count)
        })
    }

    /// The least value that `parts` of `whole` values don't exceed.
    pub(crate) fn quantile(&self, parts: u64, whole: u64) -> Option<f64> {
        let wanted = (self.total * parts).div_ceil(whole).max(1);
        let mut below = 0;
        self.iter()
            .find(|&(_, count)| {
                below += count;
                below >= wanted
            })
            .map(|(value, _)| value)
    }
}

fn shift(value: u64) -> u32 {
    u64::BITS - BITS - 1 - (value | 1 << BITS).leading_zeros()
}

#[cfg(test)]
mod tests {
    use narrows_record::Histogram;

    use super::*;

    #[test]
    fn buckets_are_those_of_a_run() {
        let (mut ours, mut theirs) = (Buckets::default(), Histogram::default());
        let mut value = 1u64;
        for step in 0..4000u64 {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            let value = value >> (step % 63);
            ours.add(value);
            theirs.add(value, 1);
        }
        assert!(ours.iter().eq(theirs.buckets()));
    }

    #[test]
    fn quantiles_are_values() {
        let mut buckets = Buckets::default();
        (1..=100).for_each(|value| buckets.add(value));
        assert_eq!(buckets.quantile(1, 2), Some(50.0));
        assert_eq!(buckets.quantile(95, 100), Some(95.0));
        assert_eq!(buckets.mean(), Some(50.5));
    }
}
