//! Applications that don't always send.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use std::ops::ControlFlow;

use crate::common::{MILLI, SECOND, bdp, scenario};
use narrows_base::Time;
use narrows_record::{Completion, Event, EventKind, Observer};
use narrows_spec::law::{CERTAIN, Law};
use narrows_spec::scenario::{Scenario, Workload};

#[derive(Default)]
struct Log {
    completions: Vec<(Time, Completion)>,
    internals: Vec<(Time, &'static str, f64)>,
    flows: Vec<(Time, narrows_record::FlowSample)>,
}

impl Observer for Log {
    fn wants(&self, kind: EventKind) -> bool {
        matches!(kind, EventKind::Completion | EventKind::Internal | EventKind::Flow)
    }

    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Completion(done) => self.completions.push((at, *done)),
            Event::Internal(internal) => self.internals.push((at, internal.name, internal.value)),
            Event::Flow(sample) => self.flows.push((at, *sample)),
            _ => {}
        }
    }
}

/// 20 Mbit/s, 40 ms and one flow with that workload, for a minute.
fn case(workload: Workload) -> Scenario {
    let mut case = scenario(20, 40, bdp(20, 40, 200), &["cubic"]);
    case.flows[0].workload = Some(workload);
    case
}

fn run(case: &Scenario) -> Log {
    let mut log = Log::default();
    narrows_sim::run(case, &mut log, &mut |_, _| ControlFlow::Continue(())).expect("it runs");
    log
}

impl Log {
    fn internal(&self, name: &str, at_s: f64) -> f64 {
        let near = |time: &Time| (time.as_secs_f64() - at_s).abs() < 1e-6;
        let row = self.internals.iter().find(|(at, n, _)| *n == name && near(at));
        row.unwrap_or_else(|| panic!("no {name} at {at_s} s")).2
    }

    /// Payload received by then.
    fn received_bytes(&self, at_s: f64) -> u64 {
        let near = |time: &Time| (time.as_secs_f64() - at_s).abs() < 1e-6;
        self.flows.iter().find(|(at, _)| near(at)).expect("a row").1.received.get()
    }
}

#[test]
fn flows_arrive_at_their_rate_and_with_their_sizes() {
    // Uniform gaps of up to 200 ms: ten a second. Half of the load that the link can carry.
    let gap_ns = Law::Points(vec![(0, 0), (CERTAIN, 200 * MILLI)]);
    let size_bytes = Law::Points(vec![(0, 1_000), (CERTAIN / 2, 10_000), (CERTAIN, 400_000)]);
    let log = run(&case(Workload::Arrivals { gap_ns, size_bytes }));
    let done = &log.completions;
    assert!((540..660).contains(&done.len()), "{} flows in a minute", done.len());
    let payload: u64 = done.iter().map(|(_, done)| done.size.get()).sum();
    let mean = payload / done.len() as u64;
    assert!((90_000..120_000).contains(&mean), "{mean} bytes each");
    let overlap = done.windows(2).any(|w| w[0].1.instance > w[1].1.instance);
    assert!(overlap, "a short flow overtakes a long one");
    let mut instances: Vec<u32> = done.iter().map(|(_, done)| done.instance).collect();
    instances.sort_unstable();
    instances.dedup();
    assert_eq!(instances.len(), done.len(), "each completes once");
    let received = log.received_bytes(60.0);
    assert!(received >= payload && received < payload + 4_000_000, "{received} of {payload}");
}

#[test]
fn every_quantity_has_its_own_stream() {
    let sizes = |gap_ms: u64| -> Vec<u64> {
        let gap_ns = Law::Points(vec![(0, 0), (CERTAIN, 2 * gap_ms * MILLI)]);
        let size_bytes = Law::Points(vec![(0, 1_000), (CERTAIN, 100_000)]);
        let mut done = run(&case(Workload::Arrivals { gap_ns, size_bytes })).completions;
        done.sort_unstable_by_key(|(_, done)| done.instance);
        done.iter().take(50).map(|(_, done)| done.size.get()).collect()
    };
    assert_eq!(sizes(500), sizes(900), "other gaps, the same sizes");
}

#[test]
fn a_flow_that_pauses_sends_only_between() {
    let (on_ns, off_ns) = (Law::Constant(2 * SECOND), Law::Constant(3 * SECOND));
    let log = run(&case(Workload::OnOff { on_ns, first_ns: None, off_ns }));
    for start in [5.0, 10.0, 50.0] {
        let sent = log.received_bytes(start + 2.0) - log.received_bytes(start + 0.2);
        assert!(sent > 3_600_000, "{sent} bytes in 1.8 s from {start} s on");
        assert_eq!(
            log.received_bytes(start + 2.5),
            log.received_bytes(start + 5.0),
            "a pause at {start} s"
        );
    }
}

#[test]
fn the_first_time_may_be_longer_than_the_others() {
    let (on_ns, off_ns) = (Law::Constant(SECOND), Law::Constant(2 * SECOND));
    let log = run(&case(Workload::OnOff { on_ns, first_ns: Some(10 * SECOND), off_ns }));
    assert!(log.received_bytes(9.9) - log.received_bytes(7.9) > 4_000_000, "it still sends");
    assert_eq!(log.received_bytes(10.5), log.received_bytes(12.0), "the first pause");
    assert_eq!(log.received_bytes(13.5), log.received_bytes(15.0), "the second, a second later");
}

#[test]
fn answers_follow_one_another_with_a_pause() {
    let workload = Workload::Requests {
        think_ns: Law::Constant(500 * MILLI),
        size_bytes: Law::Constant(14_480),
    };
    let log = run(&case(workload));
    let done = &log.completions;
    assert!((100..115).contains(&done.len()), "{} answers", done.len());
    for pair in done.windows(2) {
        let pause = pair[1].1.start.saturating_since(pair[0].0);
        assert_eq!(pause.as_nanos(), 500 * MILLI);
        assert_eq!(pair[1].1.instance, pair[0].1.instance + 1);
    }
    let last = done.last().expect("an answer");
    let span = last.0.saturating_since(last.1.start).as_nanos();
    // Ten packets, the initial window: a round trip and what the link takes for them.
    assert!((45 * MILLI..48 * MILLI).contains(&span), "{span} ns");
}

#[test]
fn a_video_below_the_rate_plays_without_interruption() {
    let workload = Workload::Video {
        bitrate_bps: 5_000_000,
        chunk_ns: 2 * SECOND,
        start_ns: 4 * SECOND,
        buffer_ns: 12 * SECOND,
    };
    let log = run(&case(workload));
    assert_eq!(log.internal("stalls", 60.0), 0.0);
    assert!(log.internal("startup_s", 60.0) < 2.0);
    let level = log.internal("playout_buffer_s", 60.0);
    assert!((9.0..12.1).contains(&level), "{level} s");
    // It has played since it began, and the rest is in the buffer.
    let media = log.completions.len() as f64 * 2.0;
    let played = 60.0 - log.internal("startup_s", 60.0);
    assert!((media - level - played).abs() < 1e-6, "{media} s fetched, {played} s played");
}

#[test]
fn a_video_above_the_rate_stands_still_for_the_difference() {
    let workload = Workload::Video {
        bitrate_bps: 30_000_000,
        chunk_ns: 2 * SECOND,
        start_ns: 2 * SECOND,
        buffer_ns: 12 * SECOND,
    };
    let log = run(&case(workload));
    let stalled = log.internal("stalled_s", 60.0);
    // 19.3 of 30 Mbit/s arrive.
    assert!((18.0..25.0).contains(&stalled), "{stalled} s of 60");
    assert!(log.internal("stalls", 60.0) > 10.0);
}

#[test]
fn a_small_receive_window_limits_the_rate() {
    let mut case = scenario(20, 40, bdp(20, 40, 200), &["bbr", "cubic"]);
    case.flows[1].receive_window_bytes = Some(14_480);
    let log = crate::common::run(&case);
    // Ten packets a round trip, which the queue of the other flow makes longer.
    let srtt = log.flow(1).last().expect("a row").1.srtt.expect("an estimate").as_secs_f64();
    let goodput = log.goodput(1, 30.0, 60.0);
    assert!(goodput < 14_480.0 * 8e-6 / 0.040, "{goodput} Mbit/s");
    assert!(goodput > 14_480.0 * 8e-6 / srtt * 0.7, "{goodput} Mbit/s with {srtt} s");
    assert!(log.flow(1).iter().all(|(_, row)| row.in_flight <= 10));
}

/// Without a low-water mark it has written a window ahead, as iperf3 does; with one, little more
/// than the mark is sent after the stop.
#[test]
fn a_flow_sends_after_its_stop_what_it_keeps_unsent() {
    let sent_after_stop = |notsent_lowat_bytes| {
        let mut case = scenario(20, 40, bdp(20, 40, 200), &["cubic"]);
        case.run.duration_ns = 6 * SECOND;
        case.run.warmup_ns = 0;
        case.flows[0].stop_ns = Some(5 * SECOND);
        case.flows[0].notsent_lowat_bytes = notsent_lowat_bytes;
        let rows = crate::common::run(&case).flow(0);
        let at_stop = rows.iter().rfind(|(at, _)| *at <= 5.0).expect("a row").1;
        (rows.last().expect("a row").1.sent - at_stop.sent, u64::from(at_stop.cwnd))
    };
    let (written_ahead, window) = sent_after_stop(None);
    assert!(written_ahead > window * 3 / 4, "{written_ahead} packets, window {window}");
    let (marked, _) = sent_after_stop(Some(15_000));
    // The mark may be passed by one socket buffer, which has up to 45 packets.
    assert!(marked <= 15_000 / 1_448 + 46, "{marked} packets");
}

#[test]
fn impossible_workloads_are_refused() {
    let error = |workload: Workload| {
        let mut log = Log::default();
        let case = case(workload);
        let result = narrows_sim::run(&case, &mut log, &mut |_, _| ControlFlow::Continue(()));
        result.expect_err("it must be refused").to_string()
    };
    let none = Workload::Arrivals { gap_ns: Law::Constant(0), size_bytes: Law::Constant(1) };
    assert_eq!(error(none), "flows[0].workload.gap_ns: found zero; more than zero would be right");
    let broken = Workload::Requests {
        think_ns: Law::Points(vec![(0, 3), (7, 2)]),
        size_bytes: Law::Constant(1),
    };
    assert!(error(broken).starts_with("flows[0].workload.think_ns: found a broken table; points"));
    let narrow = Workload::Video { bitrate_bps: 1, chunk_ns: 2, start_ns: 1, buffer_ns: 2 };
    assert!(error(narrow).starts_with("flows[0].workload.buffer_ns: found \"2ns\"; room"));
}

/// Super-packets: the queue counts a burst as one packet, and drops it whole.
#[test]
fn super_packets_pass_the_queue_as_one() {
    let mut case = scenario(100, 20, bdp(100, 20, 100), &["cubic"]);
    let plain = crate::common::run(&case);
    case.host.gso = true;
    let log = crate::common::run(&case);
    let packets = |log: &crate::common::Log| log.queues.last().expect("a row").1.forwarded;
    // Bursts of about a millisecond: eight packets.
    let merged = packets(&plain) / packets(&log);
    assert!((4..12).contains(&merged), "{merged} packets in one");
    let last = log.flow(0).last().expect("a row").1;
    let dropped = log.queues.last().expect("a row").1.dropped;
    assert!(last.lost >= 3 * dropped, "{} packets lost in {dropped} drops", last.lost);
    let goodputs = [&plain, &log].map(|log| log.goodput(0, 10.0, 60.0));
    assert!(goodputs.iter().all(|&mbps| mbps > 85.0), "{goodputs:?}");
}

/// Packets that the flows of a chain retransmit, in a queue that slow start overruns.
fn retransmissions(profile: &str, metrics_save: bool) -> Vec<u64> {
    let mut case = scenario(5, 45, bdp(5, 45, 100), &["cubic"]);
    case.flows[0].size_bytes = Some(200_000);
    case.flows[0].repeat_gap_ns = Some(SECOND);
    case.host.profile = profile.into();
    case.host.metrics_save = metrics_save;
    run(&case).completions.iter().map(|(_, done)| done.retransmitted).collect()
}

#[test]
fn old_kernels_remember_the_threshold() {
    let (clean, kept) = (retransmissions("linux-4.11", false), retransmissions("linux-4.11", true));
    assert!(clean.len() > 10 && clean.iter().all(|&lost| lost > 5), "{clean:?}");
    assert_eq!(kept[0], clean[0], "nothing is known of the destination yet");
    assert!(kept[1] < kept[0] && kept[2] < kept[1], "{kept:?}");
    assert!(kept.len() > 10 && kept[3..].iter().all(|&lost| lost == 0), "{kept:?}");
}

#[test]
fn newer_kernels_forget_the_threshold() {
    let (clean, kept) = (retransmissions("linux-6.12", false), retransmissions("linux-6.12", true));
    assert!(clean[0] > 5);
    assert_eq!(kept, clean);
}
