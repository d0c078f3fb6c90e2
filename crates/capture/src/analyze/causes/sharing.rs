//! Flows of one capture that share a bottleneck.
//!
//! One queue delays all packets in it alike, so the queueing delays of flows that share it rise and
//! fall together. A flow alone at a full path is healthy; one whose delays correlate with those of
//! another flow has a share of it, however steady its rate is.

use super::Cause;
use super::report::{CauseReport, CauseShare, CauseSpan, first_of};
use super::words::shared_sentence;

/// The least correlation of two flows in one queue.
const TOGETHER: f64 = 0.7;
/// A flow that has less than this part of another's rate takes nothing worth mentioning from it.
const MATTERS: f64 = 0.1;
/// A flow must find a queue for this part of its time to be compared.
const FULL: f64 = 0.3;

/// Gives flows that share a queue the cause fair share; each flow comes with its rate.
pub(crate) fn find_shared(mut flows: Vec<(&mut CauseReport, f64)>) {
    let full = |report: &CauseReport| {
        let full = [Cause::Healthy, Cause::Queue, Cause::FairShare];
        let shares = report.shares.iter().filter(|share| full.contains(&share.cause));
        shares.map(|share| share.share).sum::<f64>() >= FULL
    };
    let with = |at: usize| -> usize {
        let (one, rate) = &flows[at];
        let shares = |(index, (other, theirs)): &(usize, &(&mut CauseReport, f64))| {
            *index != at
                && full(other)
                && *theirs >= MATTERS * rate
                && one.queue.correlation(&other.queue).is_some_and(|alike| alike >= TOGETHER)
        };
        if full(one) { flows.iter().enumerate().filter(shares).count() } else { 0 }
    };
    let found: Vec<usize> = (0..flows.len()).map(with).collect();
    for ((report, _), others) in flows.iter_mut().zip(found) {
        if others > 0 && report.shares.iter().any(|share| share.cause == Cause::Healthy) {
            share(report, others);
        }
    }
}

/// Counts the time at a full path as time with a fair share.
fn share(report: &mut CauseReport, others: usize) {
    let healthy = |share: &&CauseShare| share.cause == Cause::Healthy;
    let (time_s, part) =
        report.shares.iter().find(healthy).map_or((0.0, 0.0), |share| (share.time_s, share.share));
    report.shares.retain(|share| share.cause != Cause::Healthy);
    match report.shares.iter_mut().find(|share| share.cause == Cause::FairShare) {
        Some(share) => (share.time_s, share.share) = (share.time_s + time_s, share.share + part),
        None => {
            report.shares.push(CauseShare { cause: Cause::FairShare, time_s, share: part });
        }
    }
    report.shares.sort_by(|one, other| other.time_s.total_cmp(&one.time_s));
    for span in &mut report.spans {
        span.cause = if span.cause == Cause::Healthy { Cause::FairShare } else { span.cause };
    }
    report.spans.dedup_by(|next: &mut CauseSpan, last| {
        let same = next.cause == last.cause;
        last.end_s = if same { next.end_s } else { last.end_s };
        same
    });
    report.first = first_of(&report.shares);
    report.capacity.rate_mbps = None;
    if report.first == Cause::FairShare {
        report.sentence = shared_sentence(report, others);
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue_series::QueueSeries;
    use super::*;

    /// A report on a flow that filled its path from `begin` on, with these delays in ms.
    fn healthy(begin: u64, delays: impl Iterator<Item = f64>) -> CauseReport {
        let bins = delays.map(|ms| Some(ms * 1e6)).collect();
        let share = CauseShare { cause: Cause::Healthy, time_s: 10.0, share: 1.0 };
        let span = CauseSpan { begin_s: 0.0, end_s: 10.0, cause: Cause::Healthy };
        CauseReport {
            first: Cause::Healthy,
            shares: vec![share],
            spans: vec![span],
            queue: QueueSeries::with_bins(begin, bins),
            ..CauseReport::default()
        }
    }

    fn sawtooth(begin: u32, period: u32) -> impl Iterator<Item = f64> {
        (begin..begin + 100).map(move |at| f64::from(at % period))
    }

    fn firsts(mut flows: Vec<CauseReport>, rates: &[f64]) -> Vec<Cause> {
        find_shared(flows.iter_mut().zip(rates.iter().copied()).collect());
        flows.iter().map(|flow| flow.first).collect()
    }

    #[test]
    fn flows_in_one_queue_share_it_however_steady_they_are() {
        let late = healthy(30, sawtooth(30, 17));
        let flows = vec![healthy(0, sawtooth(0, 17)), late];
        assert_eq!(firsts(flows, &[9.0, 10.0]), [Cause::FairShare; 2]);
    }

    #[test]
    fn queues_that_move_apart_are_two() {
        let flows = vec![healthy(0, sawtooth(0, 17)), healthy(0, sawtooth(5, 23))];
        assert_eq!(firsts(flows, &[9.0, 10.0]), [Cause::Healthy; 2]);
    }

    #[test]
    fn a_thin_flow_takes_nothing_from_a_thick_one() {
        let flows = vec![healthy(0, sawtooth(0, 17)), healthy(0, sawtooth(0, 17))];
        assert_eq!(firsts(flows, &[9.0, 0.1]), [Cause::Healthy, Cause::FairShare]);
    }
}
