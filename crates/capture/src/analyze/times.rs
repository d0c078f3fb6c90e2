//! Statistics of times.

use narrows_base::{Histogram, Sparse};
use serde::Serialize;

use super::units::{float, millis};

/// A collection of times in ns.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeSamples {
    pub(crate) histogram: Histogram<Sparse>,
    count: u64,
    sum: u128,
}

impl TimeSamples {
    pub(crate) fn add(&mut self, ns: u64) {
        self.histogram.add(ns, 1);
        self.count += 1;
        self.sum += u128::from(ns);
    }

    /// The minimum.
    pub(crate) fn least(&self) -> Option<u64> {
        self.histogram.least()
    }

    /// Their mean, in ns.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| float(self.sum) / float(self.count))
    }
}

/// Statistics of times in ms.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    /// How many samples.
    pub samples: u64,
    /// The exact minimum.
    pub min: Option<f64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Their median, to 0.8 %.
    pub p50: Option<f64>,
    /// The 95th percentile, to 0.8 %.
    pub p95: Option<f64>,
    /// The 99th percentile, to 0.8 %.
    pub p99: Option<f64>,
}

impl Times {
    pub(crate) fn of(samples: &TimeSamples) -> Self {
        let percentile = |parts| samples.histogram.quantile(parts, 100).map(|ns| ns / 1e6);
        Self {
            samples: samples.count,
            min: samples.least().map(millis),
            mean: samples.mean().map(|ns| ns / 1e6),
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
        }
    }

    /// Statistics of how far the samples exceed the least.
    pub(crate) fn above_least(samples: &TimeSamples) -> Self {
        let (least, _) = samples.histogram.extremes().unwrap_or_default();
        let above = |value: Option<f64>| value.map(|value| (value - millis(least)).max(0.0));
        let Self { samples, min, mean, p50, p95, p99 } = Self::of(samples);
        let [min, mean, p50, p95, p99] = [min, mean, p50, p95, p99].map(above);
        Self { samples, min, mean, p50, p95, p99 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_means_are_exact() {
        let mut samples = TimeSamples::default();
        (1..=100).for_each(|ms| samples.add(ms * 1_000_001));
        let times = Times::of(&samples);
        assert_eq!((times.samples, times.min), (100, Some(1.000_001)));
        assert_eq!(times.mean, Some(50.500_050_5));
        assert!((times.p95.expect("samples") / 95.0 - 1.0).abs() < 0.005);
    }
}
