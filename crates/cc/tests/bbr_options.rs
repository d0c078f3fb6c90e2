//! Each of BBR's options has the effect that it was proposed for, compared with plain BBR on the
//! same path.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::link::{Flow, Path};
use crate::common::{Options, at_ms, control_of, internal};
use narrows_base::Time;
use narrows_cc::LINUX_6_12;

/// The results of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    delivered: u64,
    lost: u64,
    /// The mean queue in packets, sampled at each ACK.
    queue: f64,
}

fn flow(name: &str, options: Options, path: Path) -> Flow {
    Flow::new(control_of(name, options, &LINUX_6_12, Some(path.rtt)), path, Time::ZERO)
}

fn run(flow: &mut Flow, until_ms: u64) -> Outcome {
    let (delivered, lost) = (flow.delivered, flow.lost);
    let (mut sum, mut acks) = (0, 0);
    flow.run(at_ms(until_ms), |flow| {
        sum += flow.queue();
        acks += 1;
    });
    Outcome {
        delivered: flow.delivered - delivered,
        lost: flow.lost - lost,
        queue: sum as f64 / f64::from(acks),
    }
}

/// Runs plain BBR and a variant, each for `until_ms`.
fn both(options: Options, path: Path, until_ms: u64) -> [Outcome; 2] {
    [&[], options].map(|options| run(&mut flow("bbr", options, path), until_ms))
}

fn min_rtt(flow: &Flow) -> f64 {
    internal(flow.control.as_ref(), "min_rtt_ms")
}

#[test]
fn bbr_shallow_is_bbr_with_a_gain_of_1_5() {
    let path = Path::new(50, 40, 1_000);
    let window = |name, options: Options| {
        let mut flow = flow(name, options, path);
        flow.run(at_ms(3_000), |_| {});
        assert_eq!(internal(flow.control.as_ref(), "cwnd_gain"), 1.5);
        flow.control.control().cwnd
    };
    // 1.5 x 167 packets, bursts and aggregation.
    let cwnd = window("bbr_shallow", &[]);
    assert!((250..285).contains(&cwnd), "{cwnd}");
    assert!(cwnd.abs_diff(window("bbr", &[("cwnd_gain", "1.5")])) < 10);
}

#[test]
fn bbr_shallow_loses_less_in_half_a_bdp_of_buffer() {
    let path = Path::new(50, 40, 80);
    let [plain, shallow] =
        ["bbr", "bbr_shallow"].map(|name| run(&mut flow(name, &[], path), 9_000));
    assert!(shallow.lost <= plain.lost, "{shallow:?} {plain:?}");
}

#[test]
fn a_gentle_probe_rtt_keeps_three_quarters_of_a_bdp() {
    let path = Path::new(100, 40, 1_000);
    let mut gentle = flow("bbr", &[("probe_rtt_gain", "0.75")], path);
    let (mut visits, mut lowest) = (0, u32::MAX);
    gentle.run(at_ms(10_900), |flow| {
        if flow.control.state() == "probe_rtt" {
            visits += 1;
            lowest = lowest.min(flow.control.control().cwnd);
        }
    });
    assert!(visits > 0);
    assert!((245..=255).contains(&lowest), "{lowest} of 333 packets");
    assert!(min_rtt(&gentle) < 40.4, "the path's RTT is still found");
    let [plain, gentle] = both(&[("probe_rtt_gain", "0.75")], path, 10_900);
    assert!(gentle.delivered > plain.delivered + 500, "{gentle:?} {plain:?}");
}

/// Returns BBR's minimum RTT in ms, `seconds` after the path's RTT changed from 40 ms to `rtt_ms`.
fn after_reroute(options: Options, rtt_ms: u64, seconds: u64) -> f64 {
    let mut flow = flow("bbr", options, Path::new(10, 40, 1_000));
    flow.run(at_ms(3_000), |_| {});
    flow.reroute(Path::new(10, rtt_ms, 1_000));
    flow.run(at_ms(3_000 + 1_000 * seconds), |_| {});
    min_rtt(&flow)
}

#[test]
fn rtprop_rises_on_expiry_never_or_after_confirmation() {
    assert!(after_reroute(&[], 80, 15) > 80.0);
    assert!(after_reroute(&[("rtprop", "keep")], 80, 120) < 41.3);
    let patient = [("rtprop", "confirm"), ("rtprop_probes", "3")];
    assert!(after_reroute(&patient, 80, 25) < 41.3, "two probes are not enough");
    let confirmed = after_reroute(&patient, 80, 45);
    assert!((80.0..90.0).contains(&confirmed), "{confirmed}");
    let drastic = after_reroute(&patient, 170, 15);
    assert!((170.0..180.0).contains(&drastic), "one probe is enough: {drastic}");
}

#[test]
fn a_shorter_filter_forgets_bandwidth_sooner() {
    let bw = |options: Options| {
        let mut flow = flow("bbr", options, Path::new(20, 40, 1_000));
        flow.run(at_ms(3_000), |_| {});
        flow.reroute(Path::new(10, 40, 1_000));
        flow.run(at_ms(3_900), |_| {});
        internal(flow.control.as_ref(), "bw_mbps")
    };
    let (plain, short) = (bw(&[]), bw(&[("bw_window_rounds", "3")]));
    assert!(plain > 18.0 && short < 14.0, "{plain} {short}");
}

#[test]
fn startup_ends_earlier_on_hystart_or_after_fewer_rounds() {
    let path = Path::new(50, 40, 1_000);
    let startup = |options: Options| {
        let mut flow = flow("bbr", options, path);
        let (mut peak, mut end_ms) = (0, 0);
        flow.run(at_ms(2_000), |flow| {
            if flow.control.state() == "startup" {
                peak = peak.max(flow.queue());
                end_ms = flow.now.as_micros() / 1_000;
            }
        });
        assert_eq!(flow.control.state(), "probe_bw");
        let bw = internal(flow.control.as_ref(), "bw_mbps");
        assert!(bw > 45.0, "the bandwidth is found anyway: {bw}");
        (peak, end_ms)
    };
    let plain = startup(&[]);
    let hystart = startup(&[("startup_hystart", "true")]);
    let quick = startup(&[("full_bw_rounds", "1")]);
    let capacity = startup(&[("startup_capacity", "true")]);
    assert!(capacity.0 * 2 < plain.0, "{capacity:?} {plain:?}");
    assert!(hystart.0 < plain.0 && hystart.1 < plain.1, "{hystart:?} {plain:?}");
    assert!(quick.1 + 100 < plain.1, "{quick:?} {plain:?}");
}

#[test]
fn the_buffer_model_fills_only_half_of_the_buffer() {
    let path = Path::new(50, 40, 40);
    let [plain, modest] = both(&[("buffer_model", "10s")], path, 9_000);
    assert!(modest.lost * 2 < plain.lost && modest.queue < plain.queue, "{modest:?} {plain:?}");
    assert!(modest.delivered * 100 > plain.delivered * 97, "{modest:?} {plain:?}");
    let mut flow = flow("bbr", &[("buffer_model", "10s")], path);
    flow.run(at_ms(2_000), |_| {});
    let full = internal(flow.control.as_ref(), "full_rtt_ms");
    // 40 packets of 0.24 ms wait at most.
    assert!((45.0..50.1).contains(&full), "{full}");
}

#[test]
fn gentle_recovery_loses_less() {
    let path = Path::new(10, 40, 8);
    let [plain, gentle] = both(&[("prr_recovery", "true")], path, 9_000);
    assert!(gentle.lost < plain.lost, "{gentle:?} {plain:?}");
    assert!(gentle.delivered * 100 > plain.delivered * 95, "{gentle:?} {plain:?}");
}

#[test]
fn draining_to_target_keeps_a_shorter_queue() {
    // The bandwidth halves: a queue builds that one phase can't drain.
    let [plain, drained] = ["false", "true"].map(|on| {
        let mut flow = flow("bbr", &[("drain_to_target", on)], Path::new(50, 40, 1_000));
        flow.run(at_ms(3_000), |_| {});
        flow.reroute(Path::new(25, 40, 1_000));
        run(&mut flow, 8_000)
    });
    assert!(drained.queue < 0.9 * plain.queue, "{drained:?} {plain:?}");
    assert!(drained.delivered * 100 > plain.delivered * 97, "{drained:?} {plain:?}");
}

#[test]
fn an_adaptive_cap_gives_way_in_a_shallow_buffer() {
    let path = Path::new(10, 40, 8);
    let mut flow = flow("bbr", &[("adaptive_cap", "true")], path);
    flow.run(at_ms(9_000), |_| {});
    assert!(internal(flow.control.as_ref(), "cwnd_gain") < 2.0);
    let [plain, adaptive] = both(&[("adaptive_cap", "true")], path, 30_000);
    assert!(adaptive.lost <= plain.lost, "{adaptive:?} {plain:?}");
}

#[test]
fn all_options_together_still_fill_the_pipe() {
    let all = [
        ("probe_rtt_gain", "0.75"),
        ("bw_window_rounds", "6"),
        ("full_bw_rounds", "2"),
        ("startup_hystart", "true"),
        ("adaptive_cap", "true"),
        ("rtprop", "confirm"),
        ("buffer_model", "10s"),
        ("prr_recovery", "true"),
        ("drain_to_target", "true"),
    ];
    for buffer in [20, 1_000] {
        let [plain, changed] = both(&all, Path::new(50, 40, buffer), 15_000);
        assert!(changed.delivered * 100 > plain.delivered * 95, "{changed:?} {plain:?}");
    }
}
