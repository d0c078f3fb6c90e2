//! The combinations of values of a study: all of them, or a sample.
//!
//! A random design draws every axis anew for each combination. A Latin hypercube cuts every
//! axis into as many strata as there are combinations and uses each stratum once (McKay,
//! Beckman and Conover, Technometrics 21, 1979), so that few combinations still cover every
//! axis evenly.

use std::collections::BTreeSet;

use rand_mt::Mt;
use sha2::{Digest, Sha512};

use super::axes::Axis;
use crate::document::{Node, inline};
use crate::limits::MAX_CELLS;
use crate::place::Place;
use crate::problem::{Problem, Problems};

/// A combination: a value for every axis.
pub type DesignPoint = Vec<(Place, Node)>;

/// The choice of combinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// All of them.
    Grid,
    /// A number of them, each axis drawn anew for each.
    Random(u64),
    /// A number of them that cover every axis evenly: a Latin hypercube.
    LatinHypercube(u64),
}

/// The combinations in a fixed order, each once; `seed` is the design's.
pub(super) fn points(
    groups: &[Vec<Axis>],
    design: Design,
    seed: u64,
) -> Result<Vec<DesignPoint>, Problems> {
    let sizes = groups.iter().map(|group| group[0].values.len() as u128);
    let count = match design {
        Design::Grid => sizes.fold(1, u128::saturating_mul),
        Design::Random(budget) | Design::LatinHypercube(budget) => u128::from(budget),
    };
    if count > u128::from(MAX_CELLS) {
        let place = Place::default().key("sweep");
        let remedy =
            format!("at most {MAX_CELLS}; a Latin hypercube (`sweep.design`) has a budget");
        return Err(Problem::value(&place, format!("{count} combinations"), remedy).into());
    }
    let count = usize::try_from(count).expect("it is at most a million");
    let mut points = match design {
        Design::Grid => grid(groups, count),
        Design::Random(_) => draw(groups, seed, count, false),
        Design::LatinHypercube(_) => draw(groups, seed, count, true),
    };
    let mut seen = BTreeSet::new();
    points.retain(|point| {
        let spelled: Vec<_> = point.iter().map(|(_, node)| inline(node)).collect();
        seen.insert(spelled)
    });
    Ok(points)
}

/// Every combination; the last group varies fastest.
fn grid(groups: &[Vec<Axis>], count: usize) -> Vec<DesignPoint> {
    let point = |mut number: usize| {
        let mut chosen = vec![0; groups.len()];
        for (index, group) in groups.iter().enumerate().rev() {
            chosen[index] = number % group[0].values.len();
            number /= group[0].values.len();
        }
        let each = groups.iter().zip(chosen);
        let values = each.flat_map(|(group, index)| {
            group.iter().map(move |axis| (axis.place.clone(), axis.values[index].clone()))
        });
        values.collect()
    };
    (0..count).map(point).collect()
}

fn draw(groups: &[Vec<Axis>], seed: u64, count: usize, strata: bool) -> Vec<DesignPoint> {
    let columns: Vec<_> = groups
        .iter()
        .map(|group| positions(count, strata, &format!("{}:{}", seed, group[0].place)))
        .collect();
    let point = |index: usize| {
        let each = groups.iter().zip(&columns);
        let values = each.flat_map(|(group, column)| {
            group.iter().map(move |axis| (axis.place.clone(), value(axis, column[index])))
        });
        values.collect()
    };
    (0..count).map(point).collect()
}

/// The position of each combination on its axis, from 0 to below 1.
///
/// The stream belongs to the axis, so that further axes don't change it.
#[expect(clippy::cast_precision_loss, reason = "there are at most a million")]
fn positions(count: usize, strata: bool, seed: &str) -> Vec<f64> {
    let mut stream = Stream::new(seed);
    let inside: Vec<f64> = (0..count).map(|_| stream.next()).collect();
    if !strata {
        return inside;
    }
    let order: Vec<f64> = (0..count).map(|_| stream.next()).collect();
    let mut chosen: Vec<usize> = (0..count).collect();
    chosen.sort_by(|&a, &b| order[a].total_cmp(&order[b]).then(a.cmp(&b)));
    let place = |(stratum, part): (usize, f64)| (stratum as f64 + part) / count as f64;
    chosen.into_iter().zip(inside).map(place).collect()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the part is from 0 to below 1"
)]
fn value(axis: &Axis, part: f64) -> Node {
    match &axis.range {
        Some(range) if axis.values.is_empty() => range.at(part),
        _ => {
            let last = axis.values.len() - 1;
            axis.values[((part * axis.values.len() as f64) as usize).min(last)].clone()
        }
    }
}

/// Numbers from 0 to below 1 as Python's `random.Random(text).random()` gives them: the
/// Mersenne Twister, seeded by the text and its SHA-512.
struct Stream(Mt);

impl Stream {
    fn new(seed: &str) -> Self {
        let mut bytes = seed.as_bytes().to_vec();
        bytes.extend(Sha512::digest(seed.as_bytes()));
        // The bytes are one number; its lowest 32 bits come first.
        bytes.reverse();
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        };
        Self(Mt::new_with_key(bytes.chunks(4).map(word)))
    }

    /// 53 bits of two draws.
    fn next(&mut self) -> f64 {
        let (high, low) = (self.0.next_u32() >> 5, self.0.next_u32() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_pythons() {
        let mut stream = Stream::new("1:path.loss");
        let found: Vec<f64> = (0..3).map(|_| stream.next()).collect();
        assert_eq!(
            found,
            [0.145_257_175_512_511_38, 0.789_170_929_239_093_5, 0.334_391_521_030_418_25]
        );
    }
}
