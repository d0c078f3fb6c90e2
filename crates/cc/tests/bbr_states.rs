//! BBR's walk through its states over a small bottleneck, as snapshots.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]

use std::fmt::Write;

use crate::common::link::{Flow, Path};
use crate::common::{at_ms, control_of, internal};
use narrows_base::{Duration, Time};
use narrows_cc::{CcProfile, CongestionControl, LINUX_4_9, LINUX_6_12, RecoveryState};

/// Runs a flow and writes a line whenever `key` changes.
fn walk<K: PartialEq>(
    flow: &mut Flow,
    until: Time,
    key: impl Fn(&Flow) -> K,
    line: impl Fn(&Flow) -> String,
) -> String {
    let mut text = String::new();
    let mut last = None;
    flow.run(until, |flow| {
        let current = key(flow);
        if last.as_ref() != Some(&current) {
            writeln!(text, "{:8.3} s  {}", flow.now.as_secs_f64(), line(flow)).unwrap();
            last = Some(current);
        }
    });
    text
}

fn bbr(path: &Path, profile: &CcProfile) -> Box<dyn CongestionControl> {
    control_of("bbr", &[], profile, Some(path.rtt))
}

fn states(path: Path, profile: &CcProfile, seconds: u64) -> String {
    let mut flow = Flow::new(bbr(&path, profile), path, at_ms(5_000));
    let until = flow.now + Duration::from_secs(seconds);
    walk(&mut flow, until, |flow| flow.control.state(), describe)
}

fn describe(flow: &Flow) -> String {
    let control = flow.control.as_ref();
    let value = |name| internal(control, name);
    format!(
        "{:<9} cwnd {:>4}, in flight {:>4}, bw {:.2} Mbit/s, min_rtt {:.1} ms",
        control.state(),
        control.control().cwnd,
        flow.in_flight(),
        value("bw_mbps"),
        value("min_rtt_ms"),
    )
}

#[test]
fn startup_drain_probe_bw_and_probe_rtt_every_ten_seconds() {
    insta::assert_snapshot!(states(Path::new(10, 40, 1_000), &LINUX_6_12, 33));
}

#[test]
fn a_kernel_of_2016_renews_its_lowest_rtt_by_ties() {
    insta::assert_snapshot!(states(Path::new(10, 40, 1_000), &LINUX_4_9, 33));
}

#[test]
fn a_fast_path() {
    insta::assert_snapshot!(states(Path::new(500, 20, 10_000), &LINUX_6_12, 12));
}

#[test]
fn the_gain_cycle() {
    let path = Path::new(100, 40, 1_000);
    let mut flow = Flow::new(bbr(&path, &LINUX_6_12), path, Time::ZERO);
    flow.run(at_ms(2_000), |_| {});
    let cycle = |flow: &Flow| internal(flow.control.as_ref(), "cycle_idx") as u32;
    let text = walk(&mut flow, at_ms(3_000), cycle, |flow| {
        let control = flow.control.as_ref();
        format!(
            "phase {}, pacing gain {:.2}, cwnd {}, in flight {}",
            cycle(flow),
            internal(control, "pacing_gain"),
            control.control().cwnd,
            flow.in_flight()
        )
    });
    insta::assert_snapshot!(text);
}

#[test]
fn a_policer_is_found_and_probed_again_after_48_rounds() {
    let mut path = Path::new(100, 20, 1_000);
    // 5 Mbit/s and a bucket of 100 packets.
    path.policer = Some((Duration::from_micros(2_400), 100));
    let mut flow = Flow::new(bbr(&path, &LINUX_6_12), path, at_ms(1_000));
    let policed = |flow: &Flow| internal(flow.control.as_ref(), "lt_use_bw") > 0.0;
    let text = walk(&mut flow, at_ms(9_000), policed, |flow| {
        let control = flow.control.as_ref();
        format!(
            "{:<9} lt_use_bw {}, lt_bw {:.2} Mbit/s, bw {:.2} Mbit/s, pacing gain {:.2}",
            control.state(),
            internal(control, "lt_use_bw"),
            internal(control, "lt_bw_mbps"),
            internal(control, "bw_mbps"),
            internal(control, "pacing_gain"),
        )
    });
    insta::assert_snapshot!(text);
}

#[test]
fn recovery_conserves_packets_for_a_round() {
    // A quarter of a BDP to wait in: STARTUP overflows it.
    let path = Path::new(10, 40, 8);
    let mut flow = Flow::new(bbr(&path, &LINUX_6_12), path, Time::ZERO);
    let conserves = |flow: &Flow| internal(flow.control.as_ref(), "packet_conservation") > 0.0;
    let key = |flow: &Flow| (flow.state, conserves(flow), flow.control.state());
    let text = walk(&mut flow, at_ms(1_500), key, |flow| {
        let control = flow.control.as_ref();
        format!(
            "{:?}, {}, {}, cwnd {}, prior {}, in flight {}, lost {}",
            flow.state,
            control.state(),
            if conserves(flow) { "conserving" } else { "free" },
            control.control().cwnd,
            internal(control, "prior_cwnd"),
            flow.in_flight(),
            flow.lost,
        )
    });
    insta::assert_snapshot!(text);
}

#[test]
fn while_conserving_an_ack_releases_what_it_acknowledged() {
    let path = Path::new(10, 40, 8);
    let mut flow = Flow::new(bbr(&path, &LINUX_6_12), path, Time::ZERO);
    let mut seen = 0;
    flow.run(at_ms(1_500), |flow| {
        let control = flow.control.as_ref();
        if internal(control, "packet_conservation") > 0.0 && flow.state == RecoveryState::Recovery {
            seen += 1;
            assert!(control.control().cwnd > flow.in_flight());
        }
    });
    assert!(seen > 10, "{seen} ACKs under conservation");
}

#[test]
fn probe_rtt_marks_samples_and_holds_four_packets() {
    let path = Path::new(10, 40, 1_000);
    let mut flow = Flow::new(bbr(&path, &LINUX_6_12), path, Time::ZERO);
    let mut acks = 0;
    flow.run(at_ms(11_000), |flow| {
        let control = flow.control.control();
        if flow.control.state() == "probe_rtt" {
            acks += 1;
            assert!(control.app_limited && control.cwnd <= 4, "{control:?}");
        }
    });
    assert!(acks > 0);
    assert!(!flow.control.control().app_limited);
}

#[test]
fn probe_rtt_can_be_switched_off() {
    let path = Path::new(10, 40, 1_000);
    let control = control_of("bbr", &[("probe_rtt", "0ms")], &LINUX_6_12, Some(path.rtt));
    let mut flow = Flow::new(control, path, Time::ZERO);
    flow.run(at_ms(25_000), |flow| assert_ne!(flow.control.state(), "probe_rtt"));
    assert_eq!(flow.control.state(), "probe_bw");
}

#[test]
fn it_fills_the_pipe_without_filling_the_buffer() {
    let path = Path::new(100, 40, 10_000);
    let mut flow = Flow::new(bbr(&path, &LINUX_6_12), path, Time::ZERO);
    flow.run(at_ms(3_000), |_| {});
    let before = flow.delivered;
    flow.run(at_ms(9_000), |_| {});
    let share = (flow.delivered - before) as f64 * path.service.as_secs_f64() / 6.0;
    assert!((0.98..=1.001).contains(&share), "{share}");
    assert!(flow.in_flight() < 700, "{}", flow.in_flight());
}
