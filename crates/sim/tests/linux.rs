//! Measurements of a Linux 6.12 kernel that the same paths must give here.
//!
//! The kernel ran in virtual time as User-Mode Linux, without noise, and so do
//! these scenarios. Times and windows of single flows are compared closely,
//! shares and loss rates of several flows within the kernel's own spread.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::{MILLI, SECOND, bdp, run, scenario};
use narrows_spec::scenario::Scenario;

fn near(what: &str, found: f64, kernel: f64, tolerance: f64) {
    assert!(
        (found - kernel).abs() <= tolerance,
        "{what}: {found:.4} here, {kernel} +- {tolerance} in the kernel"
    );
}

/// A single flow, sampled every 10 ms.
fn single(mbps: u64, rtt_ms: u64, buffer: u64, cca: &str) -> Scenario {
    let mut case = scenario(mbps, rtt_ms, buffer, &[cca]);
    case.run.sample_interval_ns = 10 * MILLI;
    case
}

#[test]
fn cubic_saw_tooth() {
    let log = run(&single(10, 40, 50_000, "cubic"));
    let late: Vec<_> = log.flow(0).into_iter().filter(|(time, _)| *time > 10.0).collect();
    let highest = late.iter().map(|(_, s)| s.cwnd).max().unwrap();
    let thresholds: Vec<u32> = late.iter().filter_map(|(_, s)| s.ssthresh).collect();
    assert!((67..=68).contains(&highest), "the window climbs to 67 or 68, not {highest}");
    assert!(thresholds.iter().all(|t| (46..=47).contains(t)), "and falls to 46 or 47");
    let cycles = late.windows(2).filter(|w| w[0].1.lost < w[1].1.lost).count();
    let lost = late.last().unwrap().1.lost - late[0].1.lost;
    assert_eq!(lost, cycles as u64, "one packet is lost a cycle");
    near("period in s", 50.0 / f64::from(u32::try_from(cycles).unwrap()), 2.52, 0.13);
    near("goodput", log.goodput(0, 10.0, 60.0), 9.653, 0.01);
}

#[test]
fn cubic_follows_the_kernel_to_the_microsecond() {
    let log = run(&single(10, 40, 50_000, "cubic"));
    let rows = log.flow(0);
    // Time in s, cwnd and smoothed RTT in us, from the kernel's tcp_probe tracepoint.
    for (time, cwnd, srtt_us) in
        [(0.20, 59, 55_236), (0.24, 61, 58_589), (0.28, 62, 70_454), (0.36, 66, 75_406)]
    {
        let row = rows.iter().find(|(at, _)| (at - time).abs() < 1e-6).unwrap().1;
        assert_eq!(row.cwnd, cwnd, "cwnd at {time} s");
        assert_eq!(row.srtt.unwrap().as_micros(), srtt_us, "smoothed RTT at {time} s");
    }
}

#[test]
fn hystart_leaves_as_linux_does() {
    for (mbps, window) in [(10, 59.0), (20, 76.0), (40, 149.0), (100, 493.0)] {
        let log = run(&single(mbps, 40, bdp(mbps, 40, 2_000), "cubic"));
        let exit = log.flow(0).iter().find_map(|(_, s)| s.ssthresh);
        let exit = f64::from(exit.expect("HyStart leaves slow start"));
        near(&format!("exit at {mbps} Mbit/s x 40 ms"), exit, window, 0.1);
    }
}

/// With `fq` at the sender CUBIC is paced, and HyStart waits for a longer train.
#[test]
fn paced_hystart_leaves_as_linux_does() {
    for (mbps, window) in [(10, 77.0), (20, 150.0), (40, 297.0), (100, 976.0)] {
        let mut case = single(mbps, 40, bdp(mbps, 40, 2_000), "cubic");
        case.host.fq = true;
        case.run.duration_ns = 3 * SECOND;
        case.run.warmup_ns = SECOND;
        let exit = run(&case).flow(0).iter().find_map(|(_, s)| s.ssthresh);
        let exit = f64::from(exit.expect("HyStart leaves slow start"));
        near(&format!("paced exit at {mbps} Mbit/s x 40 ms"), exit, window, 0.015 * window);
    }
}

#[test]
fn paced_cubic_saw_tooth() {
    let mut case = single(10, 40, 50_000, "cubic");
    case.host.fq = true;
    let log = run(&case);
    let late: Vec<_> = log.flow(0).into_iter().filter(|(time, _)| *time > 10.0).collect();
    assert_eq!(late.iter().map(|(_, s)| s.cwnd).max(), Some(68));
    assert!(late.iter().all(|(_, s)| s.ssthresh == Some(47)));
}

/// ACKs come one for each packet while the receive window grows, then for two.
#[test]
fn acknowledgements_of_a_growing_window() {
    let mut case = single(100, 40, bdp(100, 40, 2_000), "cubic");
    case.run.duration_ns = SECOND;
    case.run.warmup_ns = SECOND / 2;
    case.run.record = narrows_base::Level::Packets;
    let acks = crate::common::acknowledgements(&case);
    let steps: Vec<u64> = acks.windows(2).map(|w| w[1] - w[0]).collect();
    let single = steps[..150].iter().filter(|&&step| step == 1).count();
    assert!(single >= 140, "{single} of the first 150 ACKs are single, 144 in the kernel");
    let last = &steps[steps.len() - 200..];
    assert!(last.iter().filter(|&&step| step == 2).count() > 100, "later ones cover two");
}

/// GRO hands a burst to TCP as one, and one ACK answers it.
#[test]
fn gro_thins_acknowledgements() {
    let mut case = single(1000, 20, bdp(1000, 20, 100), "cubic");
    case.host.fq = true;
    case.run.duration_ns = SECOND;
    case.run.warmup_ns = SECOND / 2;
    case.run.record = narrows_base::Level::Packets;
    let without = crate::common::acknowledgements(&case);
    case.host.gro_ns = 50_000;
    let with = crate::common::acknowledgements(&case);
    let per_ack = |acks: &[u64]| {
        let late = &acks[acks.len() / 2..];
        (late[late.len() - 1] - late[0]) / (late.len() as u64 - 1)
    };
    assert!(per_ack(&without) <= 2, "{} packets an ACK without GRO", per_ack(&without));
    assert!(per_ack(&with) >= 3, "{} packets an ACK with GRO", per_ack(&with));
}

#[test]
fn reno_halves_its_window() {
    let log = run(&single(10, 40, 50_000, "reno"));
    let late: Vec<_> = log.flow(0).into_iter().filter(|(time, _)| *time > 10.0).collect();
    let highest = late.iter().map(|(_, s)| s.cwnd).max().unwrap();
    assert!((67..=69).contains(&highest), "the window climbs to 68, not {highest}");
    assert!(late.iter().filter_map(|(_, s)| s.ssthresh).all(|t| (33..=34).contains(&t)));
}

#[test]
fn bbr_alone_fills_the_link() {
    let log = run(&single(10, 40, 400_000, "bbr"));
    let rows = log.flow(0);
    let startup = rows.iter().filter(|(_, s)| s.cca_state == "startup");
    let most = startup.map(|(_, s)| s.cwnd).max().unwrap();
    near("largest window in STARTUP", f64::from(most), 114.0, 10.0);
    let drained =
        rows.windows(2).find(|w| w[0].1.cca_state == "drain" && w[1].1.cca_state == "probe_bw");
    near("end of DRAIN in s", drained.unwrap()[1].0, 0.64, 0.05);
    let probes: Vec<f64> = rows
        .windows(2)
        .filter(|w| w[0].1.cca_state != "probe_rtt" && w[1].1.cca_state == "probe_rtt")
        .map(|w| w[1].0)
        .collect();
    assert_eq!(probes.len(), 5, "PROBE_RTT in 60 s: {probes:?}");
    for pair in probes.windows(2) {
        near("period of PROBE_RTT in s", pair[1] - pair[0], 10.3, 0.15);
    }
    let probing = rows.iter().filter(|(time, s)| *time > 1.0 && s.cca_state == "probe_bw");
    let windows: Vec<u32> = probing.map(|(_, s)| s.cwnd).filter(|&w| w > 40).collect();
    near("window in PROBE_BW", f64::from(*windows.iter().max().unwrap()), 78.0, 8.0);
    assert_eq!(rows.last().unwrap().1.lost, 0);
    near("goodput", log.goodput(0, 10.0, 60.0), 9.449, 0.03);
}

/// Mean over seeds of what `measure` finds in seconds 10 to 60.
fn over_seeds(case: &Scenario, seeds: u64, measure: impl Fn(&crate::common::Log) -> f64) -> f64 {
    let each = (1..=seeds).map(|seed| {
        let mut case = case.clone();
        case.seed = seed;
        measure(&run(&case))
    });
    each.sum::<f64>() / seeds as f64
}

#[test]
fn one_bbr_beside_one_cubic_gets_its_share_of_linux() {
    let case = scenario(20, 40, bdp(20, 40, 100), &["bbr", "cubic"]);
    near("BBR", over_seeds(&case, 3, |log| log.goodput(0, 10.0, 60.0)), 16.88, 0.5);
    near("CUBIC", over_seeds(&case, 3, |log| log.goodput(1, 10.0, 60.0)), 2.06, 0.2);
    near("drop rate", over_seeds(&case, 3, |log| log.drop_rate(10.0, 60.0)), 0.0067, 0.0013);
}

#[test]
fn random_loss_costs_as_much_as_in_linux() {
    for (cca, loss, goodput, tolerance) in [
        ("cubic", 0.01, 2.89, 0.3),
        ("reno", 0.01, 3.22, 0.3),
        ("bbr", 0.01, 18.74, 0.2),
        ("cubic", 0.001, 11.02, 1.4),
        ("reno", 0.001, 11.45, 1.4),
        ("bbr", 0.001, 18.85, 0.1),
    ] {
        let mut case = scenario(20, 40, bdp(20, 40, 100), &[cca]);
        case.path.loss = loss;
        let found = over_seeds(&case, 5, |log| log.goodput(0, 10.0, 60.0));
        near(&format!("{cca} at a loss of {loss}"), found, goodput, tolerance);
    }
}

/// Time from the SYN to the last ACK of a megabyte, alone on 20 Mbit/s x 45 ms.
#[test]
fn completion_times_are_those_of_linux() {
    for (cca, percent, seconds) in
        [("cubic", 50, 0.5998), ("cubic", 200, 0.5998), ("bbr", 100, 0.6499), ("bbr", 200, 0.6115)]
    {
        let mut case = scenario(20, 45, bdp(20, 45, percent), &[cca]);
        case.flows[0].size_bytes = Some(1_000_000);
        case.run.stop_when = Some("all".into());
        case.run.warmup_ns = 0;
        let found = crate::common::end(&case);
        near(&format!("{cca}, {percent} % of the BDP"), found, seconds, 0.05 * seconds);
    }
}

#[test]
fn four_bbr_flows_lose_as_much_as_in_the_kernel() {
    // Buffer in percent of the BDP, drop rate and its tolerance.
    for (percent, kernel, tolerance) in
        [(50, 0.104, 0.012), (100, 0.090, 0.010), (125, 0.046, 0.006), (150, 0.0007, 0.001)]
    {
        let case = scenario(80, 25, bdp(80, 25, percent), &["bbr"; 4]);
        let found = over_seeds(&case, 5, |log| log.drop_rate(10.0, 60.0));
        near(&format!("drop rate at {percent} % of the BDP"), found, kernel, tolerance);
    }
}

#[test]
fn bbr_and_cubic_share_as_in_the_kernel() {
    for (percent, kernel) in [(50, 0.975), (175, 0.752), (800, 0.396)] {
        let case = scenario(80, 25, bdp(80, 25, percent), &["bbr", "bbr", "cubic", "cubic"]);
        let share = |log: &crate::common::Log| {
            let flow = |id| log.goodput(id, 10.0, 60.0);
            let bbr = flow(0) + flow(1);
            bbr / (bbr + flow(2) + flow(3))
        };
        let found = over_seeds(&case, 5, share);
        near(&format!("BBR's share at {percent} % of the BDP"), found, kernel, 0.05);
    }
}

/// The Raspberry Pi testbed ran Linux 4.17: 5.5 % of loss at 1 BDP, about 11 % at
/// 0.5 BDP, next to none from 1.5 BDP on, and 1 to 1.5 BDP of standing queue. That
/// kernel's pacing lost the time by which its timers were late. How late the
/// testbed's were isn't known; we assume 50 us. With timers that are never late
/// the flows lose 13 % and 10 %.
#[test]
fn linux_4_17_with_late_timers_loses_as_the_testbed_did() {
    for (percent, testbed, tolerance) in [(50, 0.11, 0.02), (100, 0.055, 0.015), (150, 0.0, 0.002)]
    {
        let mut case = scenario(80, 25, bdp(80, 25, percent), &["bbr"; 4]);
        case.host.profile = "linux-4.17".into();
        case.host.timer_lateness_ns = 50_000;
        let found = over_seeds(&case, 5, |log| log.drop_rate(10.0, 60.0));
        near(&format!("drop rate at {percent} % of the BDP"), found, testbed, tolerance);
    }
}

#[test]
fn linux_4_17_keeps_a_queue_of_a_bdp_in_deep_buffers() {
    let mut case = scenario(80, 25, bdp(80, 25, 800), &["bbr"; 4]);
    case.host.profile = "linux-4.17".into();
    for lateness_ns in [0, 50_000] {
        case.host.timer_lateness_ns = lateness_ns;
        let queue = over_seeds(&case, 3, |log| log.mean_queue(10.0, 60.0) / 250_000.0);
        assert!((1.0..=1.5).contains(&queue), "{queue} BDP with timers {lateness_ns} ns late");
    }
}
