//! The times between losses.

use crate::analyze::connection::Round;
use crate::analyze::units::{count, seconds};

/// A smaller window can't distinguish 0.5 from 0.7, in packets.
const SMALLEST: f64 = 8.0;
/// The shortest growth that shows its shape, in rounds.
const SHORTEST: usize = 8;
/// CUBIC's constants (RFC 9438): scale, decrease, and growth of its Reno estimate.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const FRIENDLY: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// A loss and the time until the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// The window before the loss, in packets.
    pub(super) before: f64,
    /// The window once it is repaired.
    pub(super) after: Option<f64>,
    /// The window before the loss before this.
    pub(super) earlier: f64,
    /// Rounds of growth, if any.
    pub(super) begin: usize,
    pub(super) end: usize,
}

impl Epoch {
    pub(super) fn fall(&self) -> Option<f64> {
        (self.before >= SMALLEST).then_some(self.after? / self.before)
    }
}

/// Splits the rounds at losses; adjacent rounds with loss count as one loss.
pub(super) fn epochs(rounds: &[Round], packets: &[f64]) -> Vec<Epoch> {
    let mut found: Vec<Epoch> = Vec::new();
    let mut at = 0;
    while at < rounds.len() {
        if rounds[at].again == 0 {
            at += 1;
            continue;
        }
        let first = at;
        while at < rounds.len() && rounds[at..].iter().take(2).any(|r| r.again > 0) {
            at += 1;
        }
        let next = rounds[at..].iter().position(|r| r.again > 0).map_or(rounds.len(), |n| at + n);
        let before = packets[first.saturating_sub(2)..=first].iter().copied().fold(0.0, f64::max);
        // The round in which the repair ends began during the repair.
        let begin = at + 1;
        let after = (begin < next).then(|| packets[begin]);
        let earlier = found.last().map_or(before, |last| last.before);
        found.push(Epoch { before, after, earlier, begin, end: next.max(begin) });
    }
    found
}

/// The deviations of the window from CUBIC's curve and from Reno's line up to the next loss, as
/// root mean squares relative to the window; none if there is too little data.
pub(super) fn growth_errors(
    epoch: &Epoch,
    rounds: &[Round],
    packets: &[f64],
) -> Option<(f64, f64)> {
    let length = epoch.end - epoch.begin;
    let start = epoch.after.filter(|_| length >= SHORTEST && epoch.before >= SMALLEST)?;
    let begin = rounds[epoch.begin].begin;
    let mut errors = (0.0, 0.0);
    // With fast convergence the window aims lower if it didn't reach the last peak.
    let peak =
        if epoch.before < epoch.earlier { epoch.before * (1.0 + BETA) / 2.0 } else { epoch.before };
    for at in epoch.begin..epoch.end {
        let elapsed = seconds(rounds[at].begin.saturating_sub(begin));
        let since = count(at - epoch.begin);
        let off = |expected: f64| {
            let part = (packets[at] - expected) / expected.max(1.0);
            part * part
        };
        errors.0 += off(cubic(start, peak, elapsed, since));
        errors.1 += off(start + since);
    }
    let length = count(length);
    Some(((errors.0 / length).sqrt(), (errors.1 / length).sqrt()))
}

/// CUBIC's window `elapsed` seconds and `rounds` round trips after it was `start`.
fn cubic(start: f64, peak: f64, elapsed: f64, rounds: f64) -> f64 {
    let until_peak = cube_root((peak - start).max(0.0) / C);
    let ahead = elapsed - until_peak;
    (C * ahead * ahead * ahead + peak).max(start + FRIENDLY * rounds)
}

/// By Newton's method, the same on every platform.
fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let mut root = value.max(1.0);
    for _ in 0..64 {
        root = (2.0 * root + value / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_root_is_exact_to_nine_digits() {
        for value in [1e-6, 0.5, 1.0, 27.0, 1e9] {
            let root = cube_root(value);
            assert!((root * root * root / value - 1.0).abs() < 1e-9, "{value}: {root}");
        }
    }

    #[test]
    fn cubic_returns_to_its_peak() {
        let until = cube_root(30.0 / C);
        assert!((cubic(70.0, 100.0, until, 0.0) - 100.0).abs() < 1e-9);
        assert!((cubic(70.0, 100.0, 0.0, 0.0) - 70.0).abs() < 1e-9);
    }
}
