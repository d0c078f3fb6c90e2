//! Recognises a policer: a token bucket that drops instead of queueing.
//!
//! The test is that of T. Flach et al., "An Internet-wide analysis of traffic policing" (SIGCOMM
//! 2016): a token bucket that every packet drains explains the losses if packets are lost when it
//! is empty and pass when it isn't. Random losses don't depend on its level. The paper takes the
//! rate from the data between the first loss and the last. That is too low for a flow that leaves
//! the bucket full for a while, so we try several rates around it, and several sizes.

use serde::Serialize;

use crate::analyze::connection::Slice;
use crate::analyze::units::float;

/// How many slices with losses are needed to recognise a policer.
const FEWEST: usize = 6;
/// The most that losses and passing packets may contradict a policer ([`PolicerReport::wrong`]).
pub(super) const MOST_WRONG: f64 = 0.12;
/// Rates to try, in parts of the mean rate from the first loss to the last.
const RATES: [f64; 10] = [0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0];
/// Sizes of the bucket to try, in round trips at its rate. A smaller one would be emptied by every
/// burst of a window, and explain any loss.
const SIZES: [f64; 9] = [1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0, 64.0];
/// A bucket explains losses only if this share of the data passes while it isn't empty, or if it is
/// always empty: then its rate is close to the flow's, and the loss rate is high.
const INFORMATIVE: f64 = 0.3;
const SAME_RATE: f64 = 1.1;
const HEAVY: f64 = 0.04;
/// Buckets whose contradictions differ by less explain losses equally well.
const EQUAL: f64 = 0.02;
/// Within as many minimum RTTs the acknowledgement of what preceded a loss arrives, if no deep queue
/// delays it.
const ANSWERED: u64 = 4;
/// Packets by which a level may be off, as the order within a slice is unknown.
const SLACK: f64 = 2.0;

/// A policer as it appears in a flow.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PolicerReport {
    /// The rate of its tokens, in Mbit/s of payload.
    pub rate_mbps: f64,
    /// The size of its bucket, in bytes of payload.
    pub burst_bytes: f64,
    /// The share of losses that had tokens, plus the share of passing packets that had none.
    pub wrong: f64,
}

/// A token bucket; rates in bytes per ns.
#[derive(Clone, Copy)]
struct Bucket {
    rate: f64,
    size: f64,
}

/// The policer that explains the losses in `slices` best.
///
/// `whole` has the slices with all losses if they begin with the connection: the bucket was full
/// then, so its size shows. Otherwise the size is that of the bucket that explains the losses, which
/// can be several times too small: it hardly matters while the bucket is nearly empty.
pub(super) fn find_policer(
    slices: &[Slice],
    mss: u64,
    base: u64,
    whole: Option<&[Slice]>,
) -> Option<PolicerReport> {
    let first = slices.iter().position(|slice| slice.lost > 0)?;
    let last = slices.iter().rposition(|slice| slice.lost > 0)?;
    let part = &slices[first..=last];
    if part.iter().filter(|slice| slice.lost > 0).count() < FEWEST {
        return None;
    }
    let mss = float(mss);
    let time = float(part.last()?.end.saturating_sub(part.first()?.begin).max(1));
    let mean = part.iter().map(|slice| passing_bytes(slice, mss)).sum::<f64>() / time;
    let sizes = SIZES.map(|times| times * float(base));
    let rates = RATES.iter().map(|times| times * mean);
    let buckets = rates.flat_map(|rate| sizes.map(|ns| Bucket { rate, size: ns * rate }));
    let fits = buckets.map(|bucket| (fit(part, bucket, mss), bucket));
    let heavy = loss_rate(part) >= HEAVY;
    let same = |bucket: Bucket| heavy && bucket.rate <= SAME_RATE * mean;
    let telling = fits.filter(|(fit, bucket)| fit.with_tokens >= INFORMATIVE || same(*bucket));
    // Of buckets that explain about the same, the one at which the data arrived.
    let rank = |(fit, bucket): &(Fit, Bucket)| {
        ((fit.wrong / EQUAL).round(), (bucket.rate / mean - 1.0).abs(), fit.wrong)
    };
    let better = |one: &(Fit, Bucket), other: &(Fit, Bucket)| {
        let (one, other) = (rank(one), rank(other));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.total_cmp(&other.2))
    };
    let (fit, best) = telling.min_by(better)?;
    let known = slices[first].end.saturating_add(base.saturating_mul(ANSWERED));
    let begin = |slice: &&Slice| slice.begin < known;
    let full = whole.map_or(0.0, |whole| drain(whole.iter().take_while(begin), best.rate));
    let burst_bytes = full.max(best.size);
    Some(PolicerReport { rate_mbps: best.rate * 8e3, burst_bytes, wrong: fit.wrong })
}

/// The most bytes that were taken out of a bucket that was full before these slices.
///
/// Delivered bytes have passed it, at the distances that the path before it allows.
fn drain<'a>(slices: impl Iterator<Item = &'a Slice>, rate: f64) -> f64 {
    let mut level: f64 = 0.0;
    let mut most: f64 = 0.0;
    for slice in slices {
        level = f64::max(level + float(slice.delivered) - rate * float(slice.length()), 0.0);
        most = most.max(level);
    }
    most
}

fn loss_rate(slices: &[Slice]) -> f64 {
    let sum = |part: fn(&Slice) -> u32| slices.iter().map(part).map(f64::from).sum::<f64>();
    sum(|slice| slice.lost) / f64::max(sum(|slice| slice.packets + slice.lost_before), 1.0)
}

/// The bytes that passed among those sent in a slice: packets lost before the capture aren't in it.
fn passing_bytes(slice: &Slice, mss: f64) -> f64 {
    let lost = slice.lost.saturating_sub(slice.lost_before);
    f64::from(slice.packets.saturating_sub(lost)) * mss
}

/// How well a bucket explains losses.
struct Fit {
    /// The share of losses that had tokens, plus the share of passing data that had none.
    wrong: f64,
    /// The part of the data that passed while there were tokens.
    with_tokens: f64,
}

/// How well a bucket, empty at the first loss, explains what was lost and what passed.
fn fit(slices: &[Slice], bucket: Bucket, mss: f64) -> Fit {
    let (mut tokens, mut lost, mut sent) = (0.0, 0.0, 0.0);
    let (mut lost_wrong, mut sent_wrong, mut with_tokens) = (0.0, 0.0, 0.0);
    for slice in slices {
        let gained = bucket.rate * float(slice.length());
        let slack = SLACK * mss + gained;
        let bytes = passing_bytes(slice, mss);
        tokens = f64::min(tokens + gained, bucket.size.max(slack)) - bytes;
        sent += bytes;
        let losses = f64::from(u8::from(slice.lost > 0));
        lost += losses;
        if tokens > slack {
            with_tokens += bytes;
            lost_wrong += losses;
        } else if tokens < -slack {
            sent_wrong += (-slack - tokens).min(bytes);
            tokens = -slack;
        }
    }
    let sent = f64::max(sent, 1.0);
    Fit { wrong: lost_wrong / lost + sent_wrong / sent, with_tokens: with_tokens / sent }
}
