//! Distributions as tables for the engine.
//!
//! The engine uses no logarithm, so that its results are the same everywhere. It gets the inverse
//! of the distribution function point by point, and the points are part of the scenario. They are
//! made here, with the platform's logarithm and powers.
#![expect(clippy::disallowed_methods, reason = "what these give is written into the scenario")]

use std::hint::black_box;

use super::{CERTAIN, Law, normal};
use crate::limits::MAX_VALUE;

/// Points for each halving of the probability of more (or less).
const STEPS: i32 = 8;
/// Tables end where larger (or smaller) values occur once in 2^24 draws.
const HALVINGS: i32 = 24;

/// A distribution by its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distribution {
    Exponential { mean: u64 },
    Lognormal { scale: Scale, sigma: f64 },
    Pareto { min: u64, shape: f64, max: Option<u64> },
}

/// The centre of a lognormal distribution.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scale {
    Median(u64),
    Mean(u64),
}

impl Distribution {
    /// Its table; none if its values are too large.
    pub(crate) fn law(self) -> Option<Law> {
        match self {
            Self::Exponential { mean } => {
                let mean = float(mean);
                points(|p| -mean * (-p).ln_1p(), &upper())
            }
            Self::Lognormal { scale, sigma } => {
                let scale = match scale {
                    Scale::Median(median) => float(median).ln(),
                    Scale::Mean(mean) => float(mean).ln() - sigma * sigma / 2.0,
                };
                let value = |p: f64| {
                    if p == 0.0 { 0.0 } else { (scale + sigma * normal::quantile(p)).exp() }
                };
                points(value, &both())
            }
            Self::Pareto { min, shape, max } => {
                let min = float(min);
                let rest = max.map_or(0.0, |max| (min / float(max)).powf(shape));
                points(|p| min * (1.0 - p * (1.0 - rest)).powf(-1.0 / shape), &upper())
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "quantities are below 2^53")]
fn float(number: u64) -> f64 {
    number as f64
}

/// Probabilities dense towards 1, ascending, without 1.
fn upper() -> Vec<f64> {
    let low = (0..16).map(|step| f64::from(step) / 32.0);
    let tail = (STEPS..=STEPS * HALVINGS).map(|step| 1.0 - halve(step));
    low.chain(tail).collect()
}

/// Probabilities dense towards 0 and 1.
fn both() -> Vec<f64> {
    let low = (STEPS + 1..=STEPS * HALVINGS).rev().map(halve);
    std::iter::once(0.0).chain(low).chain(upper().into_iter().skip(16)).collect()
}

/// 2 to the power of minus `steps` steps of a halving.
fn halve(steps: i32) -> f64 {
    // Hidden, because a compiler that sees the 2 uses another function with different rounding.
    black_box(2_f64).powf(-f64::from(steps) / f64::from(STEPS))
}

/// The table of a distribution; its last value occurs at most once in 2^25 draws.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares are from 0 to 1, and values were compared with the largest"
)]
fn points(quantile: impl Fn(f64) -> f64, shares: &[f64]) -> Option<Law> {
    let last = quantile(1.0 - 2_f64.powi(-(HALVINGS + 1)));
    let largest = float(MAX_VALUE);
    if last.is_nan() || last > largest {
        return None;
    }
    let point = |p: f64| ((p * float(CERTAIN)).round_ties_even() as u64, quantile(p));
    let pairs = shares.iter().map(|&p| point(p)).chain([(CERTAIN, last)]);
    Some(Law::Points(pairs.map(|(p, value)| (p, value.round_ties_even() as u64)).collect()))
}
