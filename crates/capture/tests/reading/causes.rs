//! Small transcripts whose causes can be told by hand.

use narrows_capture::analyze::{Cause, CauseReport, StallReason};

use crate::reading::flows::flow;
use crate::reading::make::Tcp;

/// `rounds` windows of `packets` segments, each acknowledged 20 ms later and followed by a pause.
fn rounds(begin: u64, first: u32, rounds: u32, packets: u32, pause: u64) -> Vec<(u64, Tcp)> {
    let mut segments = Vec::new();
    for round in 0..rounds {
        let time = begin + u64::from(round) * (20 + pause);
        let from = first + round * packets;
        segments.extend((0..packets).map(|i| (time, Tcp::data(1 + (from + i) * 1000, 1000))));
        segments.push((time + 20, Tcp::ack(1 + (from + packets) * 1000)));
    }
    segments
}

fn causes(name: &str, segments: &[(u64, Tcp)]) -> CauseReport {
    flow(name, segments).causes
}

fn share(report: &CauseReport, cause: Cause) -> f64 {
    report.shares.iter().find(|share| share.cause == cause).map_or(0.0, |share| share.share)
}

#[test]
fn shares_add_up_to_the_life_of_the_flow() {
    let segments = rounds(0, 0, 30, 10, 7);
    let flow = flow("sum", &segments);
    let total: f64 = flow.causes.shares.iter().map(|share| share.time_s).sum();
    assert!((total - (flow.end_s - flow.start_s)).abs() < 1e-6, "{total}");
    let covered: f64 = flow.causes.spans.iter().map(|span| span.end_s - span.begin_s).sum();
    assert!((covered - total).abs() < 1e-6, "{covered}");
}

#[test]
fn pauses_after_everything_was_acknowledged_are_the_applications() {
    // A flight that nobody would have cut off counts too: its sender had no more.
    let report = causes("pauses", &rounds(0, 0, 20, 3, 80));
    assert_eq!(report.first, Cause::Application);
    assert!(share(&report, Cause::Application) > 0.95, "{:?}", report.shares);
}

#[test]
fn a_flow_that_is_answered_at_once_has_no_pauses() {
    let report = causes("steady", &rounds(0, 0, 150, 5, 0));
    assert_eq!(share(&report, Cause::Application), 0.0, "{:?}", report.shares);
    assert_eq!(report.first, Cause::SendBuffer);
    assert_eq!(report.capacity.rate_mbps, None);
    let least = report.capacity.at_least_mbps.expect("something was sent");
    assert!((1.9..4.1).contains(&least), "{least}");
}

#[test]
fn a_closed_window_is_the_receivers() {
    let mut segments = rounds(0, 0, 3, 5, 0);
    segments.push((60, Tcp { window: 0, ..Tcp::ack(15_001) }));
    segments.push((560, Tcp::ack(15_001)));
    segments.extend(rounds(560, 15, 2, 5, 0));
    let report = causes("closed", &segments);
    assert_eq!(report.first, Cause::ReceiverWindow, "{report:?}");
    assert!((share(&report, Cause::ReceiverWindow) - 0.5 / 0.6).abs() < 0.02);
}

#[test]
fn a_lost_tail_is_a_timeout_with_its_reason() {
    let mut segments = rounds(0, 0, 3, 5, 0);
    segments.extend((0..5).map(|i| (60, Tcp::data(15_001 + i * 1000, 1000))));
    segments.push((460, Tcp::data(15_001, 1000)));
    segments.push((860, Tcp::data(15_001, 1000)));
    segments.push((880, Tcp::ack(20_001)));
    let report = causes("tail", &segments);
    assert_eq!(report.first, Cause::Timeouts);
    let reasons: Vec<_> = report.stalls.iter().map(|stall| (stall.reason, stall.count)).collect();
    assert_eq!(reasons, [(StallReason::Tail, 1), (StallReason::Outage, 1)]);
    assert!(
        report.sentence.contains("the last packets in flight were lost"),
        "{}",
        report.sentence
    );
}

#[test]
fn a_late_acknowledgement_is_no_loss() {
    let mut segments = rounds(0, 0, 3, 5, 0);
    segments.extend((0..5).map(|i| (60, Tcp::data(15_001 + i * 1000, 1000))));
    segments.push((460, Tcp::ack(20_001)));
    let report = causes("late", &segments);
    assert_eq!(report.stalls.len(), 1);
    assert_eq!(report.stalls[0].reason, StallReason::Delay);
}
