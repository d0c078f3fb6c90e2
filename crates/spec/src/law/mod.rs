//! Distributions of sizes and times.

mod draw;
mod normal;
pub(crate) mod tables;

use serde::{Deserialize, Serialize};

pub use draw::{Draw, Draws};

/// A probability of 1 in the units of [`Law::Points`].
pub const CERTAIN: u64 = 1 << 32;

/// The distribution of a quantity, in whole units (bytes, ns).
///
/// A distribution is given by its inverse, a table of points, so that drawing needs no logarithm.
/// The table is made with the scenario and is part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Law {
    /// Always the same.
    Constant(u64),
    /// Pairs of a probability in 2^-32 and the value that is not exceeded with it, both
    /// ascending, the first at 0 and the last at 2^32; straight lines between them.
    Points(Vec<(u64, u64)>),
}

impl Law {
    /// The reason why it can't be drawn from, if any.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let Self::Points(points) = self else { return None };
        let ends = (points.first().map(|p| p.0), points.last().map(|p| p.0));
        let ascending = points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1);
        if ends == (Some(0), Some(CERTAIN)) && ascending {
            return None;
        }
        Some("points that ascend from probability 0 to 2^32")
    }

    /// Returns `true` if only zero can occur.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Constant(value) => *value == 0,
            Self::Points(points) => points.iter().all(|point| point.1 == 0),
        }
    }

    /// The value that isn't exceeded with this probability, in 2^-32.
    ///
    /// # Panics
    /// If the law wasn't checked.
    #[must_use]
    pub fn at(&self, probability: u64) -> u64 {
        let points = match self {
            Self::Constant(value) => return *value,
            Self::Points(points) => points,
        };
        let next = points.partition_point(|point| point.0 <= probability);
        let ((from, low), (to, high)) = (points[next - 1], points[next]);
        let rise = u128::from(high - low) * u128::from(probability - from) / u128::from(to - from);
        low + u64::try_from(rise).expect("less than the distance of two values")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_then_tail() -> Law {
        Law::Points(vec![(0, 100), (CERTAIN / 2, 200), (CERTAIN, 1_200)])
    }

    #[test]
    fn values_lie_on_the_lines() {
        let law = half_then_tail();
        assert_eq!(law.at(0), 100);
        assert_eq!(law.at(CERTAIN / 4), 150);
        assert_eq!(law.at(CERTAIN / 2), 200);
        assert_eq!(law.at(CERTAIN / 4 * 3), 700);
        assert_eq!(law.at(CERTAIN - 1), 1_199);
        assert_eq!(Law::Constant(7).at(5), 7);
    }

    #[test]
    fn broken_tables_are_found() {
        for points in [
            vec![],
            vec![(0, 1)],
            vec![(0, 2), (CERTAIN, 1)],
            vec![(1, 1), (CERTAIN, 2)],
            vec![(0, 1), (5, 2), (5, 3), (CERTAIN, 3)],
        ] {
            assert!(Law::Points(points).fault().is_some());
        }
        assert!(half_then_tail().fault().is_none());
    }
}
