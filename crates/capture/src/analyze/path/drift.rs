//! How much faster one clock runs than another.
//!
//! S. Moon, P. Skelly and D. Towsley, "Estimation and removal of clock skew from network delay
//! measurements" (INFOCOM 1999): no packet takes less than the path's delay, so the line below all
//! one-way delays that lies closest to them rises by the drift. A queue that grows lifts the line
//! of its own direction only, so both directions must show the same drift.

/// The time that one packet took, by two clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// When it passed the first capture.
    pub(super) time: u64,
    /// How much later the second clock says that it passed the second one.
    pub(super) ahead: i64,
}

/// Fewer passages in a direction show no drift.
const FEWEST: usize = 30;
/// The shortest time that shows it, in ns.
const SHORTEST: u64 = 2_000_000_000;
/// A smaller difference over the whole time isn't told from jitter, in ns.
const LEAST_NS: f64 = 50_000.0;
/// No clock is this wrong.
const MOST: f64 = 1e-3;
/// The smaller of two directions' drifts that agree is at least this part of the larger.
const SIMILAR: f64 = 0.6;
/// Over the whole time a drift that one direction shows amounts to this many times the mean distance from the line.
const CLEAR: f64 = 5.0;

/// A line below the delays of one direction.
#[derive(Clone, Copy)]
struct Line {
    slope: f64,
    /// The time that the delays cover, in ns.
    span: f64,
    /// Their mean distance from it, in ns.
    distance: f64,
}

/// The drift of the second clock in parts of the first, from passages in both directions; zero if
/// none shows.
pub(super) fn drift(there: &[Passage], back: &[Passage]) -> f64 {
    let (Some(one), Some(other)) = (line(there, 1.0), line(back, -1.0)) else { return 0.0 };
    let best = if one.distance <= other.distance { one } else { other };
    let (small, large) =
        (one.slope.abs().min(other.slope.abs()), one.slope.abs().max(other.slope.abs()));
    let agree = one.slope * other.slope > 0.0 && small >= SIMILAR * large;
    let gained = best.slope.abs() * best.span;
    let counts = gained >= LEAST_NS && (agree || gained >= CLEAR * best.distance);
    if counts && best.slope.abs() <= MOST { best.slope } else { 0.0 }
}

/// The line closest below the passages, or above them for a `sign` of -1.
#[expect(clippy::cast_precision_loss, reason = "differences of times within a capture")]
fn line(passages: &[Passage], sign: f64) -> Option<Line> {
    let first = passages.iter().map(|passage| passage.time).min()?;
    let last = passages.iter().map(|passage| passage.time).max()?;
    if passages.len() < FEWEST || last - first < SHORTEST {
        return None;
    }
    let base = passages[0].ahead;
    let point = |passage: &Passage| {
        let ahead = i128::from(passage.ahead) - i128::from(base);
        ((passage.time - first) as f64, sign * ahead as f64)
    };
    let mut points: Vec<(f64, f64)> = passages.iter().map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let length = points.len() as f64;
    let middle = points.iter().map(|point| point.0).sum::<f64>() / length;
    let hull = lower_hull(&points);
    let edge = hull.windows(2).find(|edge| edge[1].0 >= middle)?;
    let slope = (edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0).max(1.0);
    let above = |point: &(f64, f64)| point.1 - edge[0].1 - slope * (point.0 - edge[0].0);
    let distance = points.iter().map(above).sum::<f64>() / length;
    Some(Line { slope: sign * slope, span: (last - first) as f64, distance })
}

/// The lower convex hull of points in the order of their first coordinate.
fn lower_hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &point in points {
        while let [.., a, b] = hull[..]
            && (b.0 - a.0) * (point.1 - a.1) <= (b.1 - a.1) * (point.0 - a.0)
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of ten seconds whose delay above the least follows a saw-tooth, by a clock that
    /// drifts by this many parts in a million.
    fn passages(ppm: i64, sign: i64, queue: i64) -> Vec<Passage> {
        let one = |at: u64| {
            let time = at * 10_000_000;
            let wait = queue * (at % 50).cast_signed() * 100_000;
            Passage { time, ahead: 7_000 + time.cast_signed() / 1_000_000 * ppm + sign * wait }
        };
        (0..1000).map(one).collect()
    }

    #[test]
    fn a_drift_shows_in_both_directions() {
        for (ppm, wanted) in [(-80, -80.0), (35, 35.0_f64)] {
            let found = drift(&passages(ppm, 1, 1), &passages(ppm, -1, 1)) * 1e6;
            assert!((found - wanted).abs() < 2.0, "{ppm}: {found}");
        }
    }

    #[test]
    fn clocks_of_one_machine_show_none() {
        assert_eq!(drift(&passages(0, 1, 1), &passages(0, -1, 1)), 0.0);
    }

    #[test]
    fn a_queue_that_grows_is_no_drift() {
        assert_eq!(drift(&passages(200, 1, 1), &passages(0, -1, 0)), 0.0);
    }
}
