//! The features of a whole flow that decide between causes.

use serde::Serialize;

use super::Cause;
use super::episodes::{Episode, Loss};
use super::policer::{MOST_WRONG, PolicerReport, find_policer};
use super::windows::{PathState, Vantage, Window, Windows};
use crate::analyze::connection::Slice;
use crate::analyze::units::{count, float, millis};

/// From this share of spurious retransmissions on, their cause is reordering.
pub(super) const SPURIOUS: f64 = 0.4;
/// A queue that delays by more than both of these, in base RTTs and in ms, is the cause.
const DEEP_RTTS: f64 = 2.0;
const DEEP_MS: f64 = 60.0;
/// A flow alone at a full bottleneck has at least this steady a rate (10th over 90th percentile).
const STEADY: f64 = 0.75;
/// A sender that waits for acknowledgements sends at least this share of its data right after one.
const CLOCKED: f64 = 0.6;
/// Flights at least this even are limited by a send buffer (10th percentile over maximum).
const EVEN: f64 = 0.85;

/// Fewer distances between losses have no distribution.
const FEWEST_DISTANCES: usize = 8;
/// From this spread on, losses come as if by chance; then a bucket must explain them better.
const LIKE_CHANCE: f64 = 0.6;
const MOST_WRONG_BY_CHANCE: f64 = 0.05;

/// The features of a flow from which its causes follow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Evidence {
    /// Median rate of the flow with a queue, in Mbit/s of payload.
    pub full_rate_mbps: Option<f64>,
    /// Median over the windows with a full path of their least queueing delay, in ms.
    pub full_queue_ms: Option<f64>,
    /// The 95th percentile of the mean queueing delay in a window, in ms.
    pub most_queue_ms: Option<f64>,
    /// The 10th percentile of the rate while the path was full, over the 90th.
    pub steadiness: Option<f64>,
    /// Share of the retransmissions that were spurious.
    pub spurious: f64,
    /// Packets that arrived late without being retransmitted.
    pub overtaken: u64,
    /// Episodes of loss with a queue, without one, and with timeouts.
    pub episodes: [usize; 3],
    /// The part of losses and passing packets that the best token bucket doesn't explain.
    pub unlike_policer: Option<f64>,
    /// The standard deviation of the distances between such losses, over their mean.
    pub regularity: Option<f64>,
    /// Packets lost without a queue, as a share of all packets.
    pub loss_without_queue: f64,
    /// Times at which the application had nothing to send.
    pub pauses: u64,
    /// Share of the data that left right after an acknowledgement, while nothing limited the flow.
    pub clocked: Option<f64>,
    /// How even the most data in flight per window was then: 10th percentile over maximum.
    pub plateau: Option<f64>,
    /// That maximum, in bytes; at the receiver, what arrives in a round trip.
    pub plateau_bytes: Option<f64>,
    /// Time of timeouts in which the sender had nothing new to send, in s, at least.
    pub drained_s: f64,
    /// The time of a full path, by its signs.
    pub full_time: FullTime,
}

/// The time of a full path by what shows it, in s.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct FullTime {
    /// There was a queue.
    pub queue_s: f64,
    /// Data arrived as fast as with a queue.
    pub rate_s: f64,
    /// Packets had been lost in a queue, and the window grew back.
    pub earlier_loss_s: f64,
}

/// The causes of losses, of a full path and of a plateau in one flow, where they occur.
pub(super) struct Kinds {
    /// Of losses without a queue.
    pub(super) loss: Cause,
    /// Of a full path.
    pub(super) full: Cause,
    /// Of a window that stopped growing without loss or queue.
    pub(super) plateau: Cause,
    pub(super) policer: Option<PolicerReport>,
    pub(super) evidence: Evidence,
}

/// Decides the causes for a whole flow.
pub(super) fn kinds(
    windows: &Windows,
    episodes: &[Episode],
    slices: &[Slice],
    mss: u64,
    plateau: &[usize],
    from_start: bool,
) -> Kinds {
    let mut evidence = Evidence { episodes: tally(episodes), ..Evidence::default() };
    let mean_rtts = windows.all.iter().filter_map(Window::mean_rtt);
    let mut waits: Vec<f64> =
        mean_rtts.map(|rtt| millis(rtt.saturating_sub(windows.base))).collect();
    evidence.most_queue_ms = quantile(&mut waits, 0.95);
    let full: Vec<&Window> =
        windows.all.iter().filter(|window| window.state == PathState::Full).collect();
    let loss = no_queue_loss(windows, &mut evidence);
    let part = without_queue(slices, windows, episodes);
    let fitted = find_policer(&part, mss, windows.base, from_start.then_some(slices));
    evidence.unlike_policer = fitted.map(|policer| policer.wrong);
    evidence.loss_without_queue = loss_without_queue(windows, episodes);
    evidence.regularity = spread_of_distances(windows, episodes);
    let random = evidence.regularity.is_some_and(|spread| spread >= LIKE_CHANCE);
    let most = if random { MOST_WRONG_BY_CHANCE } else { MOST_WRONG };
    let clear = |policer: &PolicerReport| policer.wrong <= most;
    let policer = fitted.filter(|policer| loss == Cause::RandomLoss && clear(policer));
    Kinds {
        loss: if policer.is_some() { Cause::Policer } else { loss },
        full: full_path(windows, &full, &mut evidence),
        plateau: sender_limit(windows, plateau, &mut evidence),
        policer,
        evidence,
    }
}

fn loss_without_queue(windows: &Windows, episodes: &[Episode]) -> f64 {
    let sum = |part: &[Window], of: fn(&Slice) -> u32| -> u64 {
        part.iter().map(|window| u64::from(of(&window.slice))).sum()
    };
    let of = |episode: &Episode| &windows.all[episode.begin.saturating_sub(1)..episode.end];
    let no_queue = episodes.iter().filter(|episode| episode.loss == Loss::NoQueue);
    let lost: u64 = no_queue.map(|episode| sum(of(episode), |slice| slice.lost)).sum();
    float(lost) / float(sum(&windows.all, |slice| slice.packets).max(1))
}

/// The standard deviation over the mean of the packets between losses without a queue; none if
/// there are few. Losses by chance are apart by a geometric distribution, whose value is 1; a
/// bucket of tokens lasts about as long each time.
fn spread_of_distances(windows: &Windows, episodes: &[Episode]) -> Option<f64> {
    let begins: Vec<usize> = episodes
        .iter()
        .filter(|episode| episode.loss == Loss::NoQueue)
        .map(|episode| episode.begin)
        .collect();
    let sent = |pair: &[usize]| {
        let part = &windows.all[pair[0]..pair[1]];
        part.iter().map(|window| f64::from(window.slice.packets)).sum::<f64>()
    };
    let distances: Vec<f64> = begins.windows(2).map(sent).collect();
    if distances.len() < FEWEST_DISTANCES {
        return None;
    }
    let length = count(distances.len());
    let mean = distances.iter().sum::<f64>() / length;
    let square = distances.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / length;
    Some(square.sqrt() / mean.max(1.0))
}

/// The slices, with only those losses that happened without a queue.
fn without_queue(slices: &[Slice], windows: &Windows, episodes: &[Episode]) -> Vec<Slice> {
    let mut part = slices.to_vec();
    for episode in episodes.iter().filter(|episode| episode.loss != Loss::NoQueue) {
        // The first loss may lie in the window before the one that shows it.
        let begin = windows.all[episode.begin.saturating_sub(1)].slice.begin;
        let end = windows.all[episode.end - 1].slice.end;
        let inside = |slice: &&mut Slice| begin <= slice.begin && slice.begin < end;
        part.iter_mut().filter(inside).for_each(|slice| slice.lost = 0);
    }
    part
}

fn tally(episodes: &[Episode]) -> [usize; 3] {
    let of = |loss| episodes.iter().filter(|episode| episode.loss == loss).count();
    [of(Loss::Congestion), of(Loss::NoQueue), of(Loss::Timeout)]
}

/// Random loss, or reordering that the sender took for loss.
fn no_queue_loss(windows: &Windows, evidence: &mut Evidence) -> Cause {
    let sum = |part: fn(&Slice) -> u32| -> u64 {
        windows.all.iter().map(|window| u64::from(part(&window.slice))).sum()
    };
    let again = sum(|slice| slice.again);
    evidence.overtaken = sum(|slice| slice.overtaken);
    evidence.spurious = float(sum(|slice| slice.spurious)) / float(again.max(1));
    let reordered = evidence.spurious >= SPURIOUS || evidence.overtaken > 3 * again.max(1);
    if reordered { Cause::Reordering } else { Cause::RandomLoss }
}

/// A full path is healthy unless its queue is deep or others use it too.
fn full_path(windows: &Windows, full: &[&Window], evidence: &mut Evidence) -> Cause {
    let waits = full.iter().filter_map(|window| window.queueing(windows.base));
    let mut waits: Vec<f64> = waits.map(millis).collect();
    let Some(wait) = quantile(&mut waits, 0.5) else { return Cause::Healthy };
    evidence.full_queue_ms = Some(wait);
    let mut rates: Vec<f64> = full.iter().map(|window| window.rate()).collect();
    let (low, high) = (quantile(&mut rates, 0.1), quantile(&mut rates, 0.9));
    evidence.steadiness = low.zip(high).filter(|&(_, high)| high > 0.0).map(|(l, h)| l / h);
    let deep = wait > DEEP_MS.max(DEEP_RTTS * millis(windows.base));
    match evidence.steadiness {
        Some(steady) if steady < STEADY => Cause::FairShare,
        _ if deep => Cause::Queue,
        _ => Cause::Healthy,
    }
}

/// The sender's buffer if data leave as acknowledgements make room, or else the application;
/// where the receiver's window was full, it was the limit.
fn sender_limit(windows: &Windows, plateau: &[usize], evidence: &mut Evidence) -> Cause {
    let steady = plateau.iter().map(|&at| &windows.all[at]);
    let part: Vec<&Slice> =
        steady.filter(|one| !one.is_held_by_receiver()).map(|one| &one.slice).collect();
    let sum = |of: fn(&Slice) -> u64| -> u64 { part.iter().map(|slice| of(slice)).sum() };
    let sent = sum(|slice| slice.sent);
    if sent == 0 {
        return Cause::Application;
    }
    let clocked = float(sum(|slice| slice.clocked)) / float(sent);
    evidence.clocked = Some(clocked);
    let mut flights: Vec<f64> = part.iter().map(|slice| float(slice.flight_most)).collect();
    let low = quantile(&mut flights, 0.1);
    evidence.plateau = low.zip(flights.last()).map(|(low, most)| low / most.max(1.0));
    evidence.plateau_bytes = flights.last().copied();
    // A capture at the receiver shows only how even flights are, not what the sender waited for.
    let even = evidence.plateau.is_some_and(|even| even >= EVEN);
    let waited = even || clocked >= CLOCKED && windows.vantage == Vantage::Sender;
    if waited { Cause::SendBuffer } else { Cause::Application }
}

/// Sorts the values and returns a quantile of them.
fn quantile(values: &mut [f64], part: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = count(values.len().checked_sub(1)?);
    let rank = (part * last).round();
    values.iter().enumerate().find(|&(at, _)| count(at) >= rank).map(|(_, &value)| value)
}
