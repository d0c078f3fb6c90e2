//! The first cause of a flow in a sentence.

use super::Cause;
use super::evidence::{Evidence, FullTime, SPURIOUS};
use super::report::{CauseReport, StallCount};
use crate::analyze::connection::{HalfConnection, StallReason};
use crate::analyze::units::{float, millis};

/// A reader is slow if the largest window would allow this many times the rate.
const SLOW_READER: f64 = 2.0;
/// The second cause is mentioned if it has this part of the time.
const MENTIONED: f64 = 0.1;

/// Says which cause held the flow up, for which part of its time, and how that shows.
pub(super) fn sentence(report: &CauseReport, half: &HalfConnection, base: u64) -> String {
    let Some(first) = report.shares.first() else {
        return "nothing was sent".into();
    };
    let mut text =
        format!("{:.0} % of the time {}", first.share * 100.0, cause(report, half, base));
    if let Some(second) = report.shares.get(1).filter(|share| share.share >= MENTIONED) {
        text += &format!("; {:.0} % {}", second.share * 100.0, aside(report, second.cause));
    }
    if let (None, Some(least)) = (report.capacity.rate_mbps, report.capacity.at_least_mbps) {
        text += &if maybe_full(report) {
            format!("; the path carries at least {least:.2} Mbit/s")
        } else {
            format!("; the capacity wasn't reached: unknown, at least {least:.2} Mbit/s")
        };
    }
    text
}

/// Returns whether the path was full for a part of the time that matters, or that doesn't show: so
/// its capacity can't be said to be higher.
fn maybe_full(report: &CauseReport) -> bool {
    let full = [Cause::Queue, Cause::FairShare, Cause::Healthy, Cause::Unknown];
    let mut found = report.shares.iter().filter(|share| full.contains(&share.cause));
    full.contains(&report.first) || found.any(|share| share.share >= MENTIONED)
}

/// Says that a flow shared its bottleneck with others of the same capture.
pub(super) fn shared_sentence(report: &CauseReport, others: usize) -> String {
    let share = report.shares.first().map_or(0.0, |share| share.share) * 100.0;
    let whose = match others {
        1 => "another flow of this capture".to_owned(),
        more => format!("{more} other flows of this capture"),
    };
    format!(
        "{share:.0} % of the time it had a share of a full bottleneck: its queueing delay rises and \
         falls with that of {whose}"
    )
}

fn cause(report: &CauseReport, half: &HalfConnection, base: u64) -> String {
    let evidence = &report.evidence;
    match report.first {
        Cause::SlowStart => {
            "its window was still growing, and neither loss nor a queue showed".into()
        }
        Cause::ReceiverWindow => receiver_window(report, half, base),
        Cause::Application => "the application gave it no more to send".into(),
        Cause::SendBuffer => send_buffer(report, half),
        Cause::Queue => format!(
            "it filled the bottleneck, with {:.0} ms of queue on a path of {:.0} ms",
            evidence.full_queue_ms.unwrap_or(0.0),
            millis(base)
        ),
        Cause::RandomLoss => format!(
            "losses held its window down, {} of {} loss events without a queue: random loss",
            evidence.episodes[1],
            evidence.episodes.iter().sum::<usize>()
        ),
        Cause::Policer => report.policer.map_or_else(
            || "a policer dropped what exceeded its rate".into(),
            |policer| {
                format!(
                    "a policer dropped what exceeded {:.2} Mbit/s after a burst of {:.0} kB, \
                     without a queue",
                    policer.rate_mbps,
                    policer.burst_bytes / 1e3
                )
            },
        ),
        Cause::Timeouts => timeouts(report),
        Cause::Reordering => reordering(evidence),
        Cause::FairShare => {
            "it had a share of a full bottleneck: its packets queued and its rate varied, as \
             others used the bottleneck, too, or the bottleneck's own rate varies"
                .into()
        }
        Cause::Healthy => format!("{}: healthy", full_path(evidence)),
        Cause::Unknown => {
            "the cause doesn't show, as no round trips of the sender do: a queue, random \
                           loss and a limit of the sender look alike"
                .into()
        }
    }
}

/// A full window is too small, or its reader is slow: then the largest would allow much more.
fn receiver_window(report: &CauseReport, half: &HalfConnection, base: u64) -> String {
    let Some(most) = half.most_window else { return "the receiver's window was full".into() };
    let life: f64 = report.shares.iter().map(|share| share.time_s).sum();
    let rate = float(half.payload_received()) * 8e-6 / life.max(1e-9);
    let allowed = float(most) * 8e3 / float(base.max(1));
    let (kilobytes, base) = (most / 1000, millis(base));
    if allowed > SLOW_READER * rate {
        return format!(
            "the receiver's window was full: its program reads slowly, as a window of {kilobytes} kB, \
             the largest, would allow {allowed:.2} Mbit/s"
        );
    }
    format!(
        "the receiver's window was full (at most {kilobytes} kB, of which a round trip of {base:.1} ms \
         allows {allowed:.2} Mbit/s)"
    )
}

/// Describes a flow that only the path held up, by what showed it for most of that time.
fn full_path(evidence: &Evidence) -> String {
    let FullTime { queue_s, rate_s, earlier_loss_s } = evidence.full_time;
    match evidence.full_queue_ms {
        _ if earlier_loss_s > queue_s + rate_s => {
            "its window grew back after losses in a full queue".into()
        }
        _ if rate_s > queue_s => "its data arrived as fast as with a queue".into(),
        Some(ms) => format!("it filled the bottleneck, with {ms:.1} ms of queue"),
        None => "it filled the bottleneck, with a queue".into(),
    }
}

/// At the receiver data in flight follow from the rate and the round trip.
fn send_buffer(report: &CauseReport, half: &HalfConnection) -> String {
    let most = report.evidence.plateau_bytes.unwrap_or(float(half.most_in_flight)) / 1e3;
    let window = half.most_window.map_or(String::new(), |window| {
        format!(", although the receiver's window is {} kB", window / 1000)
    });
    format!(
        "the sender's buffer was the limit: data in flight stayed at {most:.0} kB while neither loss \
         nor a queue showed{window}"
    )
}

fn reordering(evidence: &Evidence) -> String {
    let late = evidence.overtaken;
    let arrived = evidence.spurious.min(1.0) * 100.0;
    if late > 0 && evidence.spurious < SPURIOUS {
        return format!("reordering was taken for loss: {late} packets arrived after later ones");
    }
    format!("reordering was taken for loss: {arrived:.0} % of what was retransmitted had arrived")
}

/// Waiting for timers, and the slow start after it.
fn timeouts(report: &CauseReport) -> String {
    let list = stalls(&report.stalls);
    let share = report.shares.iter().find(|share| share.cause == Cause::Timeouts);
    let whole = share.map_or(0.0, |share| share.time_s);
    let drained_s = report.evidence.drained_s;
    let drained = if drained_s > 0.0 {
        format!(" (for {drained_s:.1} s or more the sender had nothing new to send)")
    } else {
        String::new()
    };
    let waited: f64 = report.stalls.iter().map(|count| count.total_s).sum();
    if list.is_empty() {
        "it waited for timeouts, or recovered from them, which reduce the window to a packet".into()
    } else if only_late(report) {
        format!("nothing was seen for long: {list}")
    } else if 2.0 * waited < whole {
        format!("it recovered from timeouts, which reduce the window to a packet: {list}{drained}")
    } else {
        format!("it waited for timeouts: {list}{drained}")
    }
}

/// Returns whether acknowledgements came late in most of the time that looks like timeouts.
fn only_late(report: &CauseReport) -> bool {
    let sum = |late: bool| -> f64 {
        let of = |count: &&StallCount| (count.reason == StallReason::Delay) == late;
        report.stalls.iter().filter(of).map(|count| count.total_s).sum()
    };
    sum(true) > sum(false)
}

fn aside(report: &CauseReport, cause: Cause) -> String {
    let what = match cause {
        Cause::SlowStart => "its window grew",
        Cause::ReceiverWindow => "the receiver's window was full",
        Cause::Application => "the application sent nothing more",
        Cause::SendBuffer => "the sender's buffer was full",
        Cause::Queue => "there was a deep queue",
        Cause::RandomLoss => "losses without a queue held it down",
        Cause::Policer => "a policer held it down",
        Cause::Timeouts if only_late(report) => "it waited for late acknowledgements",
        Cause::Timeouts => "it waited for timeouts or recovered from them",
        Cause::Reordering => "reordering was taken for loss",
        Cause::FairShare => "it shared a full bottleneck",
        Cause::Healthy => return full_path(&report.evidence),
        Cause::Unknown => "the cause doesn't show without round trips",
    };
    what.into()
}

fn stalls(counts: &[StallCount]) -> String {
    let name = |reason| match reason {
        StallReason::Delay => "the acknowledgement was late",
        StallReason::LostRetransmission => "a retransmission was lost too",
        StallReason::Outage => "the path lost everything",
        StallReason::SmallWindow => "too little in flight for duplicate ACKs",
        StallReason::Tail => "the last packets in flight were lost",
        StallReason::FewAcknowledgements => "too few acknowledgements",
    };
    let each = counts.iter().map(|count| {
        format!("{} of {:.1} s because {}", count.count, count.total_s, name(count.reason))
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::report::{Capacity, CauseShare};
    use super::*;

    /// A report on 10 s of which the first cause has `part`, the second the rest.
    fn report(first: Cause, part: f64, second: Cause) -> CauseReport {
        let share = |cause, share| CauseShare { cause, time_s: 10.0 * share, share };
        let shares = vec![share(first, part), share(second, 1.0 - part)];
        CauseReport { first, shares, ..CauseReport::default() }
    }

    fn describe(report: &CauseReport) -> String {
        sentence(report, &HalfConnection::default(), 1)
    }

    fn stall(reason: StallReason, total_s: f64) -> StallCount {
        StallCount { reason, count: 1, total_s }
    }

    #[test]
    fn short_timeouts_are_described_without_a_list() {
        let text = describe(&report(Cause::Timeouts, 0.9, Cause::Healthy));
        assert!(!text.contains(':'), "{text}");
    }

    #[test]
    fn a_healthy_flow_is_described_by_what_was_seen() {
        let mut report = report(Cause::RandomLoss, 0.88, Cause::Healthy);
        report.evidence.full_queue_ms = Some(3.0);
        let mut with = |time| {
            report.evidence.full_time = time;
            describe(&report)
        };
        let queue = with(FullTime { queue_s: 2.0, rate_s: 1.0, ..FullTime::default() });
        assert!(queue.ends_with("12 % it filled the bottleneck, with 3.0 ms of queue"));
        let rate = with(FullTime { queue_s: 1.0, rate_s: 2.0, ..FullTime::default() });
        assert!(rate.ends_with("12 % its data arrived as fast as with a queue"), "{rate}");
        let back = with(FullTime { queue_s: 1.0, rate_s: 1.0, earlier_loss_s: 3.0 });
        assert!(back.ends_with("12 % its window grew back after losses in a full queue"), "{back}");
    }

    #[test]
    fn a_full_path_isnt_said_to_be_below_its_capacity() {
        for (first, second) in
            [(Cause::Healthy, Cause::SlowStart), (Cause::SlowStart, Cause::Healthy)]
        {
            let mut report = report(first, 0.6, second);
            report.capacity = Capacity { rate_mbps: None, at_least_mbps: Some(5.0) };
            let text = describe(&report);
            assert!(text.ends_with("; the path carries at least 5.00 Mbit/s"), "{text}");
        }
        let mut unlimited = report(Cause::SlowStart, 0.95, Cause::Healthy);
        unlimited.capacity = Capacity { rate_mbps: None, at_least_mbps: Some(5.0) };
        assert!(describe(&unlimited).ends_with("unknown, at least 5.00 Mbit/s"));
    }

    #[test]
    fn time_after_a_short_timeout_isnt_called_waiting() {
        let mut report = report(Cause::Timeouts, 0.9, Cause::Application);
        report.stalls = vec![stall(StallReason::Tail, 0.4)];
        assert!(
            describe(&report).starts_with("90 % of the time it recovered from timeouts, which")
        );
        report.stalls = vec![stall(StallReason::Tail, 8.0)];
        assert!(
            describe(&report).starts_with("90 % of the time it waited for timeouts: 1 of 8.0 s")
        );
    }

    #[test]
    fn a_late_acknowledgement_isnt_called_a_timeout() {
        let mut late = report(Cause::Timeouts, 0.9, Cause::Application);
        late.stalls = vec![stall(StallReason::Delay, 8.0)];
        assert!(!describe(&late).contains("timeout"), "{}", describe(&late));
        let mut second = report(Cause::Application, 0.8, Cause::Timeouts);
        second.stalls = vec![stall(StallReason::Delay, 2.0)];
        assert!(describe(&second).ends_with("20 % it waited for late acknowledgements"));
    }

    #[test]
    fn reordering_without_spurious_retransmissions_is_described_by_late_packets() {
        let mut report = report(Cause::Reordering, 0.9, Cause::Application);
        report.evidence.overtaken = 40;
        assert!(describe(&report).contains("40 packets arrived after later ones"));
        report.evidence.spurious = 0.7;
        assert!(describe(&report).contains("70 % of what was retransmitted had arrived"));
    }

    #[test]
    fn an_unknown_window_isnt_called_zero() {
        let mut report = report(Cause::SendBuffer, 0.9, Cause::SlowStart);
        report.evidence.plateau_bytes = Some(64_000.0);
        assert!(describe(&report).contains("stayed at 64 kB"), "{}", describe(&report));
        assert!(!describe(&report).contains("receiver's window"), "{}", describe(&report));
    }
}
