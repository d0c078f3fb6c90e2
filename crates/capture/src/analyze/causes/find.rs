//! Finds the causes of a flow's rate.

use super::Cause;
use super::assign::{FullSign, Part, assign, plateau};
use super::episodes::episodes;
use super::evidence::{FullTime, Kinds, kinds};
use super::queue_series::QueueSeries;
use super::report::{Capacity, CauseReport, CauseShare, CauseSpan, StallCount, first_of};
use super::windows::{Vantage, Window, Windows};
use super::words::sentence;
use crate::analyze::connection::{Connection, Slice, Stall, StallReason};
use crate::analyze::units::{float, seconds};

/// Spans shorter than this part of a flow's life are joined with their neighbours.
const SHORT: u64 = 200;

/// The causes of what `half` sent between two instants.
pub(crate) fn causes(
    connection: &Connection,
    from: usize,
    life: (u64, u64),
    vantage: &str,
) -> CauseReport {
    let unknown = |why: &str| CauseReport { sentence: why.into(), ..CauseReport::default() };
    let half = &connection.halves[from];
    let (vantage, round_trip) = if vantage == "receiver" {
        let one_way = half.shows_one_way_delays();
        (Vantage::Receiver { one_way }, connection.beyond(1 - from))
    } else {
        (Vantage::Sender, half.rtts.least())
    };
    let Some(base) = round_trip else {
        return unknown("the capture shows no round trips of the sender");
    };
    let slices: Vec<Slice> = half.timeline.slices().copied().collect();
    let windows = Windows::of(slices.iter(), base, vantage, life);
    if windows.all.is_empty() {
        return unknown("too short to tell");
    }
    let (episodes, plateau) = (episodes(&windows), plateau(&windows));
    let (mss, from_start) = (half.mss.unwrap_or(1448), connection.handshake_seen());
    let kinds = kinds(&windows, &episodes, &slices, mss, &plateau, from_start);
    let parts = assign(&windows, &episodes, &plateau, &kinds);
    let shares = shares(&parts);
    let (outages, pauses) = match vantage {
        Vantage::Receiver { .. } => (far_outages(half.far_timeouts()), half.far_pauses()),
        Vantage::Sender => (outages(&half.stalled.done, base), half.counts.pauses),
    };
    let mut report = CauseReport {
        first: first_of(&shares),
        sentence: String::new(),
        shares,
        spans: spans(&parts, life),
        stalls: stalls(&half.stalled.done),
        outages,
        capacity: capacity(&windows, &kinds),
        policer: kinds.policer,
        evidence: kinds.evidence,
        queue: QueueSeries::of(&windows, life),
    };
    report.evidence.full_rate_mbps = windows.full_rate.map(|rate| rate * 8e3);
    report.evidence.pauses = pauses;
    report.evidence.drained_s = seconds(half.answers.drained_time());
    report.evidence.full_time = full_time(&parts);
    report.sentence = sentence(&report, half, base);
    report
}

fn shares(parts: &[Part]) -> Vec<CauseShare> {
    let total: u64 = parts.iter().map(|part| part.time).sum();
    let time = |cause| parts.iter().filter(|part| part.cause == cause).map(|part| part.time).sum();
    let share = |cause| {
        let time: u64 = time(cause);
        CauseShare { cause, time_s: seconds(time), share: float(time) / float(total.max(1)) }
    };
    let mut shares: Vec<_> = Cause::ALL.into_iter().map(share).collect();
    shares.retain(|share| share.time_s > 0.0);
    shares.sort_by(|one, other| other.time_s.total_cmp(&one.time_s));
    shares
}

fn full_time(parts: &[Part]) -> FullTime {
    let time = |sign| {
        let found = parts.iter().filter(|part| part.full == Some(sign));
        seconds(found.map(|part| part.time).sum())
    };
    FullTime {
        queue_s: time(FullSign::Queue),
        rate_s: time(FullSign::Rate),
        earlier_loss_s: time(FullSign::EarlierLoss),
    }
}

/// The predominant cause of each window, equal neighbours and short ones joined.
fn spans(parts: &[Part], life: (u64, u64)) -> Vec<CauseSpan> {
    let short = seconds(life.1.saturating_sub(life.0) / SHORT);
    let mut spans: Vec<CauseSpan> = Vec::new();
    for group in parts.chunk_by(|one, other| one.begin == other.begin) {
        let part = group.iter().max_by_key(|part| part.time).expect("groups aren't empty");
        let span =
            CauseSpan { begin_s: seconds(part.begin), end_s: seconds(part.end), cause: part.cause };
        match spans.last_mut() {
            Some(last) if last.cause == span.cause => last.end_s = span.end_s,
            Some(last) if last.end_s - last.begin_s < short => {
                (last.end_s, last.cause) = (span.end_s, span.cause);
            }
            _ => spans.push(span),
        }
    }
    spans.dedup_by(|next, last| {
        let same = next.cause == last.cause;
        last.end_s = if same { next.end_s } else { last.end_s };
        same
    });
    spans
}

fn stalls(found: &[Stall]) -> Vec<StallCount> {
    let mut counts: Vec<StallCount> = Vec::new();
    for stall in found {
        let length = seconds(stall.end - stall.begin);
        match counts.iter_mut().find(|count| count.reason == stall.reason) {
            Some(count) => {
                count.count += 1;
                count.total_s += length;
            }
            None => counts.push(StallCount { reason: stall.reason, count: 1, total_s: length }),
        }
    }
    counts.sort_by(|one, other| other.total_s.total_cmp(&one.total_s));
    counts
}

/// Joins stalls that follow one another without an answer; the last ends with one.
fn outages(found: &[Stall], base: u64) -> Vec<(f64, f64)> {
    let lost = found.iter().filter(|stall| stall.reason != StallReason::Delay);
    let mut chains: Vec<(u64, u64, u64)> = Vec::new();
    for stall in lost {
        match chains.last_mut() {
            Some((_, last, end)) if stall.begin <= end.saturating_add(base) => {
                (*last, *end) = (stall.begin, stall.end);
            }
            _ => chains.push((stall.heard, stall.begin, stall.end)),
        }
    }
    let span = |&(begin, last, end): &(u64, u64, u64)| {
        // The path came back between a retransmission that was lost and the one that wasn't.
        let back = last + (end - last) / 4 * 3;
        (seconds(begin.saturating_sub(base / 2)), seconds(back))
    };
    chains.iter().map(span).collect()
}

/// Finds outages in what the receiver saw. Each wait of the sender doubles, so the last one is half
/// of the silence, and the path came back three quarters into it.
fn far_outages(found: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let span = |&(last, end): &(u64, u64)| (seconds(last), seconds(end - (end - last) / 8));
    found.iter().map(span).collect()
}

fn capacity(windows: &Windows, kinds: &Kinds) -> Capacity {
    let shared = kinds.full == Cause::FairShare;
    // Acknowledgements that come at once make short windows look fast.
    let long = |window: &&Window| window.slice.length() >= windows.length;
    let highest = windows.all.iter().filter(long).map(Window::rate).fold(0.0, f64::max);
    Capacity {
        rate_mbps: windows.full_rate.filter(|_| !shared).map(|rate| rate * 8e3),
        at_least_mbps: (highest > 0.0).then_some(highest * 8e3),
    }
}
