//! Statistics of times.

use serde::Serialize;

use super::buckets::Buckets;
use super::units::millis;

/// A statistic of times in ms.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    /// How many samples.
    pub samples: u64,
    /// The least of them; exact.
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
    pub(crate) fn of(buckets: &Buckets, least: Option<u64>) -> Self {
        Self {
            samples: buckets.total(),
            min: least.map(millis),
            mean: buckets.mean().map(|ns| ns / 1e6),
            p50: buckets.quantile(1, 2).map(|ns| ns / 1e6),
            p95: buckets.quantile(95, 100).map(|ns| ns / 1e6),
            p99: buckets.quantile(99, 100).map(|ns| ns / 1e6),
        }
    }
}
