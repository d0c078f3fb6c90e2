//! Features of a flow's rounds, in numbers.

use super::epochs::{Epoch, epochs, growth_errors};
use crate::analyze::connection::Round;
use crate::analyze::units::{count, float, seconds};

/// BBR's window in `PROBE_RTT` is four packets; one may be sent as another leaves.
const DIP_PACKETS: f64 = 5.0;
/// Windows must be this large for a dip to count.
const DEEP: f64 = 3.0;
/// The number of gains in BBR's cycle, and the round trips in which it occurs twice.
const PERIOD: usize = 8;
const CYCLES: usize = 4;
/// Ratios this near to each other are alike.
const NEAR: f64 = 0.08;
/// Rounds within which a queue is drained.
const WITHIN: usize = 6;

/// The features; none where there is too little data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// Median ratio of the window after a loss to that before.
    pub(super) fall: Option<f64>,
    /// The number of losses.
    pub(super) falls: usize,
    /// The part of them within [`NEAR`] of the median.
    pub(super) alike: f64,
    /// Median of the most packets in flight in a round.
    pub(super) window: f64,
    /// Deviations of the growth from CUBIC's curve and from Reno's line, relative to the window.
    pub(super) growth: Option<(f64, f64)>,
    /// The number of intervals between losses.
    pub(super) stretches: usize,
    /// Dips to four packets without loss.
    pub(super) dips: usize,
    /// Least ratio of the window to its maximum a few rounds before, with neither loss nor pause.
    pub(super) drain: Option<f64>,
    /// Median time between two, in s.
    pub(super) dip_distance: Option<f64>,
    /// Correlation of the window with itself eight round trips later.
    pub(super) swing: Option<f64>,
    /// Mean window relative to what loss would leave the more aggressive of CUBIC and Reno.
    pub(super) excess: Option<f64>,
}

pub(super) fn features(rounds: &[Round], mss: u64) -> Features {
    let packets: Vec<f64> = rounds.iter().map(|r| float(r.most) / float(mss)).collect();
    let found = epochs(rounds, &packets);
    let mut falls: Vec<f64> = found.iter().filter_map(Epoch::fall).collect();
    let errors: Vec<_> = found.iter().filter_map(|e| growth_errors(e, rounds, &packets)).collect();
    let (dips, dip_distance) = dips(rounds, &packets);
    let fall = median(&mut falls);
    let near = falls.iter().filter(|&&one| fall.is_some_and(|fall| (one - fall).abs() <= NEAR));
    Features {
        alike: count(near.count()) / count(falls.len().max(1)),
        falls: falls.len(),
        fall,
        window: median(&mut packets.clone()).unwrap_or(0.0),
        stretches: errors.len(),
        growth: mean_pair(&errors),
        dips,
        drain: drain(rounds, &packets),
        dip_distance,
        swing: swing(rounds, &packets),
        excess: excess(rounds, &packets, mss),
    }
}

pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn mean_pair(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let length = count(pairs.len());
    let sum = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (!pairs.is_empty()).then(|| (sum.0 / length, sum.1 / length))
}

/// Runs of rounds with at most four packets between larger windows.
///
/// They don't count after a loss or a pause of the application.
fn dips(rounds: &[Round], packets: &[f64]) -> (usize, Option<f64>) {
    let mut sorted = packets.to_vec();
    let usual = median(&mut sorted).unwrap_or(0.0);
    if usual < DEEP * DIP_PACKETS {
        return (0, None);
    }
    let mut times: Vec<u64> = Vec::new();
    for at in 2..rounds.len() {
        let begins = packets[at] <= DIP_PACKETS && packets[at - 1] > DIP_PACKETS;
        let quiet = rounds[at - 2..=at].iter().all(|r| r.again == 0);
        // A pause of the application ends with everything acknowledged.
        let busy = rounds[at].begin.saturating_sub(rounds[at - 1].end) == 0;
        if begins && quiet && busy && rounds[at].sent > 0 {
            times.push(rounds[at].begin);
        }
    }
    let mut distances: Vec<f64> = times.windows(2).map(|pair| seconds(pair[1] - pair[0])).collect();
    (times.len(), median(&mut distances))
}

/// The deepest fall of a window without a loss or a pause: BBR drains the queue that it filled at
/// first, loss-based controls never send less than before.
fn drain(rounds: &[Round], packets: &[f64]) -> Option<f64> {
    let quiet = |span: &[Round]| {
        let busy = span.windows(2).all(|pair| pair[1].begin <= pair[0].end);
        busy && span.iter().all(|round| round.again == 0 && !round.limited && round.sent > 0)
    };
    let fall = |at: usize| {
        let before = at.checked_sub(WITHIN)?;
        let peak = packets[before..at].iter().copied().fold(0.0, f64::max);
        // The round after it shows that data in flight didn't just run out.
        let lower = packets[at].max(*packets.get(at + 1)?);
        let counts = peak >= DEEP * DIP_PACKETS && quiet(&rounds[before..=at + 1]);
        counts.then_some(lower / peak)
    };
    // At the end of a transfer data in flight run out.
    (0..rounds.len().saturating_sub(WITHIN)).filter_map(fall).min_by(f64::total_cmp)
}

/// The correlation of the window with itself one cycle later, over the longest interval without
/// loss.
fn swing(rounds: &[Round], packets: &[f64]) -> Option<f64> {
    let stretch = longest_quiet(rounds)?;
    let part = &packets[stretch];
    let values: Vec<f64> = (1..part.len()).map(|i| part[i] - part[i - 1]).collect();
    let energy: f64 = values.iter().map(|v| v * v).sum();
    let lagged: f64 = values.iter().zip(&values[PERIOD..]).map(|(a, b)| a * b).sum();
    let halfway: f64 = values.iter().zip(&values[PERIOD / 2..]).map(|(a, b)| a * b).sum();
    let mean = part.iter().sum::<f64>() / count(part.len());
    let lively = energy / count(values.len()) > (0.02 * mean) * (0.02 * mean);
    (energy > 0.0 && lively && halfway < lagged).then(|| lagged / energy)
}

fn longest_quiet(rounds: &[Round]) -> Option<std::ops::Range<usize>> {
    let (mut best, mut begin) = (0..0, 0);
    for at in 0..=rounds.len() {
        if at == rounds.len() || rounds[at].again > 0 {
            if at - begin > best.len() {
                best = begin..at;
            }
            begin = at + 1;
        }
    }
    (best.len() >= CYCLES * PERIOD).then_some(best)
}

/// The mean window relative to the larger of those that Reno (Mathis et al. 1997) and CUBIC (RFC
/// 9438, section 5.1) keep at this loss rate.
fn excess(rounds: &[Round], packets: &[f64], mss: u64) -> Option<f64> {
    let lossy = rounds.iter().filter(|r| r.again > 0).count();
    if lossy < 10 || lossy * 10 < rounds.len() {
        return None;
    }
    let sent = float(rounds.iter().map(|r| r.sent).sum::<u64>()) / float(mss);
    let mut rtts: Vec<f64> =
        rounds.iter().map(|r| seconds(r.end.saturating_sub(r.begin))).collect();
    let rtt = median(&mut rtts)?;
    let apart = sent / count(lossy);
    let reno = (1.5 * apart).sqrt();
    let root = |value: f64| value.sqrt().sqrt();
    let cubic = root(0.4 * 3.7 / 1.2) * root(rtt * rtt * rtt) * root(apart * apart * apart);
    let mean = packets.iter().sum::<f64>() / count(packets.len());
    Some(mean / reno.max(cubic))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds without a pause, each with this much in flight and this many packets retransmitted.
    fn rounds(windows: &[(u64, u32)]) -> Vec<Round> {
        let round = |(at, &(most, again)): (usize, &(u64, u32))| {
            let begin = 20_000_000 * at as u64;
            let end = begin + 20_000_000;
            Round { begin, end, most, sent: most, delivered: most, again, ..Round::default() }
        };
        windows.iter().enumerate().map(round).collect()
    }

    fn drain_of(windows: &[(u64, u32)]) -> Option<f64> {
        features(&rounds(windows), 1).drain
    }

    #[test]
    fn a_window_that_falls_without_loss_was_drained() {
        let mut windows = vec![(100, 0); 20];
        windows[..8].fill((200, 0));
        assert_eq!(drain_of(&windows), Some(0.5));
    }

    #[test]
    fn a_loss_or_the_end_of_the_data_drains_nothing() {
        let mut windows = vec![(100, 0); 30];
        windows[..8].fill((200, 0));
        windows[8].1 = 1;
        windows[27..].fill((10, 0));
        assert_eq!(drain_of(&windows), Some(1.0));
    }
}
