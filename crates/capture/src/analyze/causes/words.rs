//! The first cause of a flow in a sentence.

use super::report::{CauseReport, CauseShare};
use super::{Cause, report::StallCount};
use crate::analyze::connection::{HalfConnection, StallReason};
use crate::analyze::units::{float, millis};

/// A reader is slow if the largest window would allow this many times the rate.
const SLOW_READER: f64 = 2.0;

/// Says which cause held the flow up, for which part of its time, and how that shows.
pub(super) fn sentence(report: &CauseReport, half: &HalfConnection, base: u64) -> String {
    let Some(first) = report.shares.first() else {
        return "nothing was sent".into();
    };
    let mut text =
        format!("{:.0} % of the time {}", first.share * 100.0, cause(report, half, base));
    if let Some(second) = report.shares.get(1).filter(|share| share.share >= 0.1) {
        text += &format!("; {}", aside(second));
    }
    if let (None, Some(least)) = (report.capacity.rate_mbps, report.capacity.at_least_mbps) {
        text += &match report.first {
            Cause::FairShare => format!("; the path carries at least {least:.2} Mbit/s"),
            _ => format!("; the capacity wasn't reached: unknown, at least {least:.2} Mbit/s"),
        };
    }
    text
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
        Cause::SlowStart => "its window was still growing: nothing else limited it".into(),
        Cause::ReceiverWindow => receiver_window(report, half, base),
        Cause::Application => "the application gave it nothing to send".into(),
        Cause::SendBuffer => format!(
            "the sender's buffer was the limit: never more than {} kB in flight, without loss or \
             queue, although the receiver's window is {} kB",
            half.most_in_flight / 1000,
            half.most_window.unwrap_or(0) / 1000
        ),
        Cause::Queue => format!(
            "it filled the bottleneck, and {:.0} ms of queue stood on a path of {:.0} ms",
            evidence.full_queue_ms.unwrap_or(0.0),
            millis(base)
        ),
        Cause::RandomLoss => format!(
            "losses held its window down although no queue stood ({} of {} times): random loss",
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
        Cause::Timeouts if report.stalls.is_empty() => {
            "it recovered from timeouts, which reduce the window to a packet".into()
        }
        Cause::Timeouts => format!("it waited for timeouts: {}", stalls(&report.stalls)),
        Cause::Reordering => format!(
            "reordering was taken for loss: {:.0} % of what was retransmitted had arrived",
            evidence.spurious.min(1.0) * 100.0
        ),
        Cause::FairShare => {
            "it had a share of a full bottleneck, whose rate others used too".into()
        }
        Cause::Healthy => "it filled the bottleneck: healthy".into(),
        Cause::Unknown => "the capture doesn't tell why".into(),
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

fn aside(share: &CauseShare) -> String {
    let what = match share.cause {
        Cause::SlowStart => "its window grew",
        Cause::ReceiverWindow => "the receiver's window was full",
        Cause::Application => "the application sent nothing",
        Cause::SendBuffer => "the sender's buffer was full",
        Cause::Queue => "a deep queue stood",
        Cause::RandomLoss => "losses without a queue held it down",
        Cause::Policer => "a policer held it down",
        Cause::Timeouts => "it waited for timeouts",
        Cause::Reordering => "reordering was taken for loss",
        Cause::FairShare => "it shared a full bottleneck",
        Cause::Healthy => "it filled the bottleneck",
        Cause::Unknown => "unknown",
    };
    format!("{:.0} % {what}", share.share * 100.0)
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
    use super::*;

    #[test]
    fn short_timeouts_are_described_without_a_list() {
        let share = CauseShare { cause: Cause::Timeouts, time_s: 9.0, share: 0.9 };
        let report =
            CauseReport { first: Cause::Timeouts, shares: vec![share], ..CauseReport::default() };
        let said = sentence(&report, &HalfConnection::default(), 1);
        assert!(!said.contains(':'), "{said}");
    }
}
