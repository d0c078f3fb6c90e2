//! BBR version 3's walk through its states over a small bottleneck.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::link::{Flow, Path};
use crate::common::{Options, at_ms, control_of, internal};
use narrows_base::Time;
use narrows_cc::LINUX_6_12;

const DRAFT: Options = &[("rules", "draft")];

fn flow(name: &str, path: Path) -> Flow {
    flow_with(name, &[], path)
}

fn flow_with(name: &str, options: Options, path: Path) -> Flow {
    Flow::new(control_of(name, options, &LINUX_6_12, Some(path.rtt)), path, Time::ZERO)
}

/// A line for each state that the flow enters.
fn states(name: &str, path: Path, until_ms: u64) -> String {
    states_of(flow(name, path), until_ms)
}

fn states_of(mut flow: Flow, until_ms: u64) -> String {
    let mut last = "";
    let mut text = String::new();
    flow.run(at_ms(until_ms), |flow| {
        let control = flow.control.as_ref();
        if control.state() != last {
            last = control.state();
            let line = format!(
                "{:7.3} s  {:<15} cwnd {:>4}, in flight {:>4}, bw {:6.2} Mbit/s, lost {:>3}\n",
                flow.now.as_secs_f64(),
                last,
                control.control().cwnd,
                flow.in_flight(),
                internal(control, "bw_mbps"),
                flow.lost,
            );
            text.push_str(&line);
        }
    });
    text
}

#[test]
fn a_deep_buffer() {
    insta::assert_snapshot!(states("bbr3", Path::new(50, 40, 1_000), 12_000));
}

#[test]
fn half_a_bdp_of_buffer() {
    insta::assert_snapshot!(states("bbr3", Path::new(50, 40, 80), 11_000));
}

#[test]
fn half_a_bdp_of_buffer_by_the_draft() {
    insta::assert_snapshot!(states_of(flow_with("bbr3", DRAFT, Path::new(50, 40, 80)), 11_000));
}

#[test]
fn version_2_in_half_a_bdp_of_buffer() {
    insta::assert_snapshot!(states("bbr2", Path::new(50, 40, 80), 11_000));
}

/// The loss rate and the utilisation of the path after STARTUP.
fn loss_and_use(name: &str, path: Path) -> (f64, f64) {
    let mut flow = flow(name, path);
    flow.run(at_ms(3_000), |_| {});
    let (delivered, lost) = (flow.delivered, flow.lost);
    flow.run(at_ms(33_000), |_| {});
    let (delivered, lost) = ((flow.delivered - delivered) as f64, (flow.lost - lost) as f64);
    (lost / (lost + delivered), delivered * path.service.as_secs_f64() / 30.0)
}

#[test]
fn it_uses_a_shallow_buffer_with_little_loss() {
    for buffer in [40, 80, 160] {
        let (loss, used) = loss_and_use("bbr3", Path::new(50, 40, buffer));
        assert!(loss < 0.02 && used > 0.9, "{buffer}: {loss} {used}");
    }
}

#[test]
fn it_fills_a_deep_buffers_pipe_without_filling_the_buffer() {
    for name in ["bbr2", "bbr3"] {
        let path = Path::new(50, 40, 5_000);
        let mut flow = flow(name, path);
        let mut longest = 0;
        flow.run(at_ms(3_000), |_| {});
        let before = flow.delivered;
        flow.run(at_ms(13_000), |flow| longest = longest.max(flow.queue()));
        let used = (flow.delivered - before) as f64 * path.service.as_secs_f64() / 10.0;
        assert!(used > 0.95 && longest < 300, "{name}: {used} {longest}");
        assert_eq!(flow.lost, 0);
    }
}

#[test]
fn it_finds_new_bandwidth_within_a_few_probes() {
    let mut flow = flow("bbr3", Path::new(10, 40, 1_000));
    flow.run(at_ms(4_000), |_| {});
    flow.reroute(Path::new(100, 40, 1_000));
    flow.run(at_ms(12_000), |_| {});
    let bw = internal(flow.control.as_ref(), "bw_mbps");
    assert!(bw > 90.0, "{bw}");
}

#[test]
fn probe_rtt_keeps_half_a_bdp_every_five_seconds() {
    let mut flow = flow("bbr3", Path::new(50, 40, 1_000));
    let (mut visits, mut inside, mut lowest) = (0, false, u32::MAX);
    flow.run(at_ms(26_000), |flow| {
        let probing = flow.control.state() == "probe_rtt";
        visits += u32::from(probing && !inside);
        inside = probing;
        if probing {
            lowest = lowest.min(flow.control.control().cwnd);
        }
    });
    assert!((4..=5).contains(&visits), "{visits} visits");
    assert!((80..=86).contains(&lowest), "{lowest} of 167 packets");
}
