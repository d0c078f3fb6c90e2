//! A flow's queueing delay over time, to be compared with that of other flows.

use super::windows::Windows;
use crate::analyze::units::{count, float};

/// The most bins of a flow; then they become twice as wide.
const MOST_BINS: u64 = 128;
/// The first width of a bin, in ns.
const NARROWEST: u64 = 100_000_000;
/// Fewer bins in common prove nothing.
const FEWEST_BINS: usize = 20;

/// A flow's queueing delay over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueSeries {
    width: u64,
    first: u64,
    /// Mean delay in each bin, in ns.
    bins: Vec<Option<f64>>,
}

impl QueueSeries {
    /// The series of a flow that lived between two instants.
    pub(super) fn of(windows: &Windows, (begin, end): (u64, u64)) -> Self {
        let mut width = NARROWEST;
        while (end - begin) / width >= MOST_BINS {
            width *= 2;
        }
        let first = begin / width;
        let mut sums: Vec<(f64, f64)> = vec![(0.0, 0.0); bin(end / width - first) + 1];
        for window in &windows.all {
            let Some(rtt) = window.mean_rtt() else { continue };
            let middle = window.slice.begin.midpoint(window.slice.end) / width;
            let Some(sum) = sums.get_mut(bin(middle.saturating_sub(first))) else { continue };
            let weight = f64::from(window.slice.near.count);
            sum.0 += weight * float(rtt.saturating_sub(windows.base));
            sum.1 += weight;
        }
        let mean = |(sum, weight): (f64, f64)| (weight > 0.0).then(|| sum / weight);
        Self { width, first, bins: sums.into_iter().map(mean).collect() }
    }

    /// The mean delay in a bin of another width, which is a multiple of this one's.
    fn at(&self, index: u64, width: u64) -> Option<f64> {
        let parts = width / self.width;
        let bins = (index * parts..(index + 1) * parts)
            .filter_map(|index| *self.bins.get(bin(index.checked_sub(self.first)?))?);
        let (sum, number) = bins.fold((0.0, 0), |(sum, n), delay| (sum + delay, n + 1));
        (number > 0).then(|| sum / count(number))
    }

    /// The correlation with another flow's delays; none if they have too little time in common.
    pub(super) fn correlation(&self, other: &Self) -> Option<f64> {
        let width = self.width.max(other.width);
        if width == 0 {
            return None;
        }
        let begin = (self.first * self.width).max(other.first * other.width) / width;
        let pairs: Vec<(f64, f64)> = (begin..=begin + MOST_BINS)
            .filter_map(|index| self.at(index, width).zip(other.at(index, width)))
            .collect();
        (pairs.len() >= FEWEST_BINS).then(|| pearson(&pairs))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "few")]
const fn bin(index: u64) -> usize {
    index as usize
}

fn pearson(pairs: &[(f64, f64)]) -> f64 {
    let length = count(pairs.len());
    let mean = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let mean = (mean.0 / length, mean.1 / length);
    let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let off = (pair.0 - mean.0, pair.1 - mean.1);
        both += off.0 * off.1;
        one += off.0 * off.0;
        other += off.1 * off.1;
    }
    if one * other > 0.0 { both / (one * other).sqrt() } else { 0.0 }
}

#[cfg(test)]
impl QueueSeries {
    /// A series that begins with this bin.
    pub(super) fn with_bins(first: u64, bins: Vec<Option<f64>>) -> Self {
        Self { width: NARROWEST, first, bins }
    }
}
