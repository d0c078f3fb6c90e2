//! Means and quantiles of values: round-trip times, queue lengths, completion times.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Numbers in a block, and lanes of a block, of [`total`].
const BLOCK: usize = 128;
const LANES: usize = 16;
/// A quantile is reached this little early, as sums are rounded.
const ROUNDING: f64 = 1e-12;

/// The sum of numbers, always added in the same order, so that it is the same on any processor.
///
/// Blocks of 128 numbers, in which each 16th is added to the 16th after it, are added in pairs; the
/// numbers before the first whole block are added last.
fn total(values: &[f64]) -> f64 {
    let odd = values.len() % BLOCK;
    let rest = values[..odd].iter().fold(0.0, |sum, value| sum + value);
    let blocks: Vec<f64> = values[odd..].chunks_exact(BLOCK).map(block_total).collect();
    if blocks.is_empty() { rest } else { pairwise(&blocks) + rest }
}

fn block_total(block: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for part in block.chunks_exact(LANES) {
        lanes.iter_mut().zip(part).for_each(|(lane, value)| *lane += value);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

fn pairwise(sums: &[f64]) -> f64 {
    if let [only] = sums {
        return *only;
    }
    let (first, second) = sums.split_at(sums.len() / 2);
    pairwise(first) + pairwise(second)
}

/// A statistic of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The least value.
    Min,
    /// The mean.
    Mean,
    /// The greatest value.
    Max,
    /// The smallest value that at least this share (0 to 1) of the weight doesn't exceed.
    Quantile(f64),
}

impl Statistic {
    /// The statistic called "min", "mean", "max", or "p" with a percentile: "p95".
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Self::Min,
            "mean" => Self::Mean,
            "max" => Self::Max,
            _ => Self::Quantile(f64::from(name.strip_prefix('p')?.parse::<u32>().ok()?) / 100.0),
        })
    }
}

/// Statistics by their names, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics(Vec<(&'static str, Option<f64>)>);

impl Statistics {
    /// The statistics of nothing.
    pub(crate) fn unknown(names: &[&'static str]) -> Self {
        Self(names.iter().map(|&name| (name, None)).collect())
    }

    /// The statistics "mean", "min", "max" and such as "p95" of values in any order.
    ///
    /// A percentile is the smallest value that this share of the values doesn't exceed.
    pub(crate) fn of(values: &[f64], names: &[&'static str]) -> Self {
        let mut ascending = values.to_vec();
        ascending.sort_by(f64::total_cmp);
        let of = |name| match name {
            "mean" => mean(values),
            "min" => ascending.first().copied(),
            "max" => ascending.last().copied(),
            _ => nearest_rank(&ascending, name.strip_prefix('p')?.parse().ok()?),
        };
        Self(names.iter().map(|&name| (name, of(name))).collect())
    }

    /// A statistic among these.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(one, _)| *one == name)?.1
    }

    /// Adds a statistic.
    pub(crate) fn with(mut self, name: &'static str, value: Option<f64>) -> Self {
        self.0.push((name, value));
        self
    }
}

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// The mean of values; `None` without any.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| total(values) / values.len() as f64)
}

/// The mean of values as NumPy adds them, as it was first computed so; `None` without any.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
pub(crate) fn numpy_mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| numpy_total(values) / values.len() as f64)
}

/// The sum of numbers: of few one after the other, of up to 128 each 8th, of more the sums of both
/// halves.
fn numpy_total(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    let add = |sum: f64, rest: &[f64]| rest.iter().fold(sum, |sum, value| sum + value);
    let (whole, rest) = values.as_chunks::<LANES>();
    match whole {
        [] => add(0.0, values),
        [first, more @ ..] if values.len() <= BLOCK => {
            let mut lanes = *first;
            for part in more {
                lanes.iter_mut().zip(part).for_each(|(lane, value)| *lane += value);
            }
            let [a, b, c, d, e, f, g, h] = lanes;
            add(((a + b) + (c + d)) + ((e + f) + (g + h)), rest)
        }
        _ => {
            let half = values.len() / 2 / LANES * LANES;
            let (first, second) = values.split_at(half);
            numpy_total(first) + numpy_total(second)
        }
    }
}

/// The smallest of values in any order that at least `percent` percent of them don't exceed.
#[must_use]
pub fn percentile(values: &[f64], percent: usize) -> Option<f64> {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    nearest_rank(&ascending, percent)
}

/// The smallest of ascending values that at least `percent` percent of them don't exceed.
fn nearest_rank(ascending: &[f64], percent: usize) -> Option<f64> {
    let rank = (percent * ascending.len()).div_ceil(100).max(1);
    ascending.get(rank - 1).copied()
}

/// The exact values of a distribution whose buckets round, as far as the back end knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExactValues {
    /// The mean.
    pub mean: Option<f64>,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
}

/// Values with their weights, ascending by value.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    values: Vec<f64>,
    weights: Vec<f64>,
    total: f64,
    exact: ExactValues,
}

impl Distribution {
    /// Takes ascending values with their weights; values without weight are left out.
    #[must_use]
    pub fn ascending(values: &[f64], weights: &[f64]) -> Self {
        let heavy = values.iter().zip(weights).filter(|&(_, &weight)| weight > 0.0);
        let (values, weights): (Vec<f64>, Vec<f64>) = heavy.unzip();
        let total = total(&weights);
        Self { values, weights, total, exact: ExactValues::default() }
    }

    /// Takes values in any order.
    #[must_use]
    pub fn of(mut rows: Vec<(f64, f64)>) -> Self {
        rows.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let (values, weights): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        Self::ascending(&values, &weights)
    }

    /// Sets the exact values.
    #[must_use]
    pub fn with_exact(self, exact: ExactValues) -> Self {
        Self { exact, ..self }
    }

    /// A statistic, exact if it is known so, and otherwise between the exact extremes; `None` if no
    /// value has weight.
    #[must_use]
    pub fn statistic(&self, statistic: Statistic) -> Option<f64> {
        let ExactValues { mean, min, max } = self.exact;
        let (exact, value) = match statistic {
            Statistic::Min => (min, self.values.first().copied()),
            Statistic::Max => (max, self.values.last().copied()),
            Statistic::Mean => (mean, self.mean()),
            Statistic::Quantile(share) => (None, self.quantile(share)),
        };
        let above = |value: f64| min.map_or(value, |least| value.max(least));
        let within = |value: f64| max.map_or(value, |most| value.min(most));
        exact.or_else(|| value.map(above).map(within))
    }

    /// Some statistics, times `scale`.
    pub(crate) fn statistics(&self, names: &[&'static str], scale: f64) -> Statistics {
        let of = |name| Some(self.statistic(Statistic::parse(name)?)? * scale);
        Statistics(names.iter().map(|&name| (name, of(name))).collect())
    }

    fn mean(&self) -> Option<f64> {
        let products: Vec<f64> =
            self.values.iter().zip(&self.weights).map(|(value, weight)| value * weight).collect();
        (!self.values.is_empty()).then(|| total(&products) / self.total)
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share * self.total * (1.0 - ROUNDING);
        let mut reached = 0.0;
        for (value, weight) in self.values.iter().zip(&self.weights) {
            reached += weight;
            if reached >= wanted {
                return Some(*value);
            }
        }
        self.values.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_value_that_its_share_of_the_weight_reaches() {
        let found = Distribution::of(vec![(40.0, 1.0), (20.0, 3.0), (60.0, 0.0)]);
        assert_eq!(found.statistic(Statistic::Mean), Some(25.0));
        assert_eq!(found.statistic(Statistic::Quantile(0.75)), Some(20.0));
        assert_eq!(found.statistic(Statistic::Quantile(0.76)), Some(40.0));
        assert_eq!(found.statistic(Statistic::Max), Some(40.0), "60 has no weight");
        assert_eq!(Distribution::default().statistic(Statistic::Mean), None);
    }

    #[test]
    fn exact_values_come_first_and_bound_the_others() {
        let exact = ExactValues { mean: Some(27.0), min: Some(21.0), max: Some(38.0) };
        let found = Distribution::of(vec![(20.0, 3.0), (40.0, 1.0)]).with_exact(exact);
        let names = ["mean", "min", "max", "p5", "p95"];
        let found = names.map(|name| found.statistic(Statistic::parse(name).unwrap()));
        assert_eq!(found, [27.0, 21.0, 38.0, 21.0, 38.0].map(Some));
    }

    #[test]
    fn a_sum_is_added_in_blocks_and_pairs() {
        let values: Vec<f64> = (1..=300).map(|one| 1.0 / f64::from(one)).collect();
        let rest: f64 = values[..44].iter().sum();
        let block = |from: usize| {
            let lane =
                |lane: usize| (0..8).fold(0.0, |sum, part| sum + values[from + 16 * part + lane]);
            let eight: Vec<f64> = (0..8).map(|one| lane(one) + lane(one + 8)).collect();
            let four: Vec<f64> = (0..4).map(|one| eight[one] + eight[one + 4]).collect();
            (four[0] + four[2]) + (four[1] + four[3])
        };
        assert_eq!(total(&values).to_bits(), (block(44) + block(172) + rest).to_bits());
        assert_eq!(total(&[]).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn statistics_have_names() {
        assert_eq!(Statistic::parse("p95"), Some(Statistic::Quantile(0.95)));
        assert_eq!(Statistic::parse("mean"), Some(Statistic::Mean));
        assert_eq!(Statistic::parse("median"), None);
    }
}
