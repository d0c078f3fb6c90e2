//! Each control's purpose, shown on a path, and its limits.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use crate::common::{Log, MILLI, SECOND, bdp, run, scenario};

/// The flows' goodput in Mbit/s from `warmup` to `seconds`, and the log.
fn goodputs(
    path: (u64, u64, u64),
    ccas: &[&str],
    span: (u64, u64),
    change: impl FnOnce(&mut narrows_spec::scenario::Scenario),
) -> (Vec<f64>, Log) {
    let (mbps, rtt_ms, percent) = path;
    let (warmup, seconds) = span;
    let mut case = scenario(mbps, rtt_ms, bdp(mbps, rtt_ms, percent), ccas);
    case.run.duration_ns = seconds * SECOND;
    case.run.warmup_ns = warmup * SECOND;
    change(&mut case);
    let log = run(&case);
    let flows = u32::try_from(ccas.len()).expect("few flows");
    let rates = (0..flows).map(|id| log.goodput(id, warmup as f64, seconds as f64)).collect();
    (rates, log)
}

/// The window and the time at which the first flow's slow start ended.
fn exit(log: &Log) -> (u32, f64) {
    let rows = log.flow(0);
    let (at, sample) = rows
        .iter()
        .find(|(_, s)| s.ssthresh.is_some_and(|t| t < 1 << 30))
        .expect("slow start ended");
    (sample.cwnd, *at)
}

#[test]
fn pcc_keeps_its_rate_at_2_percent_of_random_loss() {
    let share = |cca: &str| {
        let lossy = |case: &mut narrows_spec::scenario::Scenario| case.path.loss = 0.02;
        goodputs((100, 30, 100), &[cca], (20, 50), lossy).0[0] / 100.0
    };
    let (allegro, vivace, cubic) = (share("pcc_allegro"), share("pcc_vivace"), share("cubic"));
    assert!(allegro > 0.9, "Allegro {allegro}");
    assert!(vivace > 0.7, "Vivace {vivace}");
    assert!(cubic < 0.1, "CUBIC {cubic}");
}

#[test]
fn pcc_flows_share_fairly_and_vivace_keeps_the_queue_short() {
    for (cca, queue) in [("pcc_allegro", 1.0), ("pcc_vivace", 0.2)] {
        let (rates, log) = goodputs((50, 30, 100), &[cca, cca], (100, 160), |_| {});
        let (low, high) = (rates[0].min(rates[1]), rates[0].max(rates[1]));
        assert!(low + high > 0.9 * 50.0 * 0.965, "{cca}: {rates:?}");
        assert!(low > 0.7 * high, "{cca}: {rates:?}");
        let mean = log.mean_queue(100.0, 160.0) / bdp(50, 30, 100) as f64;
        assert!(mean < queue, "{cca}: {mean} BDP");
    }
}

/// Slow start in a buffer of six times the BDP of 167 packets.
fn slow_start(cca: &str, hystart: &str) -> (u32, u64) {
    let (_, log) = goodputs((50, 40, 600), &[cca], (1, 6), |case| {
        case.flows[0].options.insert("hystart".into(), hystart.into());
        case.run.sample_interval_ns = 10 * MILLI;
    });
    let (cwnd, at) = exit(&log);
    let drops = log.queues.iter().find(|(time, _)| time.as_secs_f64() > at + 0.5);
    (cwnd, drops.expect("a later row").1.dropped)
}

#[test]
fn exits_from_slow_start_avoid_its_loss_in_a_deep_buffer() {
    for cca in ["cubic", "reno"] {
        let (_, overshoot) = slow_start(cca, "off");
        assert!(overshoot > 500, "{cca} without an exit drops {overshoot}");
        for (choice, most) in [("hystart", 0), ("hystart++", overshoot / 2), ("search", 0)] {
            let (cwnd, drops) = slow_start(cca, choice);
            assert!(drops <= most, "{cca} with {choice} drops {drops}");
            assert!(cwnd >= 167, "{cca} with {choice} leaves below the BDP, at {cwnd}");
        }
    }
}

#[test]
fn search_leaves_after_about_four_round_trips_of_saturation() {
    // Of a window of 3.5 round trips 26 % are missing when the sender has doubled its
    // rate beyond the path's for 3.8 round trips; the queue is then 3.8 BDP long.
    for cca in ["cubic", "reno"] {
        let (cwnd, _) = slow_start(cca, "search");
        let bdps = f64::from(cwnd) / 167.0;
        assert!((4.8..6.6).contains(&bdps), "{cca}: {bdps}");
    }
}

/// The first flow's share of the goodput of all.
fn share(path: (u64, u64, u64), ccas: &[&str]) -> f64 {
    let (rates, _) = goodputs(path, ccas, (20, 80), |_| {});
    rates[0] / rates.iter().sum::<f64>()
}

#[test]
fn vegas_cedes_to_cubic() {
    for percent in [50, 100, 400] {
        let share = share((20, 40, percent), &["vegas", "cubic"]);
        assert!(share < 0.2, "{share} with {percent} % of a BDP");
    }
}

#[test]
fn ledbat_yields_to_cubic_where_the_buffer_exceeds_its_target() {
    let share = |percent: u64, target_ms: u64| {
        let (rates, _) = goodputs((20, 40, percent), &["ledbat", "cubic"], (20, 80), |case| {
            case.flows[0].options.insert("target_ns".into(), (target_ms * MILLI).into());
        });
        rates[0] / (rates[0] + rates[1])
    };
    // 4 BDP are 160 ms of queue, 1 BDP are 40.
    let (deep, short, lower) = (share(400, 100), share(100, 100), share(100, 10));
    assert!(deep < 0.05, "{deep}");
    assert!(short > 0.2, "{short}: it never sees 100 ms");
    assert!(lower < 0.1, "{lower}");
}

#[test]
fn ledbat_pp_yields_earlier_and_shares_with_a_latecomer() {
    // 2 BDP are 80 ms of queue: below LEDBAT's target, above that of LEDBAT++.
    let beside_cubic = |cca: &str| share((20, 40, 200), &[cca, "cubic"]);
    let (plain, gentle) = (beside_cubic("ledbat"), beside_cubic("ledbat_pp"));
    assert!(plain > 0.2 && gentle < 0.05, "{plain} {gentle}");
    let first_of_two = |cca: &str| {
        let late =
            |case: &mut narrows_spec::scenario::Scenario| case.flows[1].start_ns = 30 * SECOND;
        let (rates, _) = goodputs((20, 40, 800), &[cca, cca], (200, 300), late);
        rates[0] / (rates[0] + rates[1])
    };
    // Who comes late takes the first one's queue for the path, and never yields to it.
    let (plain, slowed) = (first_of_two("ledbat"), first_of_two("ledbat_pp"));
    assert!(plain < 0.05 && (0.4..0.6).contains(&slowed), "{plain} {slowed}");
}

#[test]
fn bbr3_loses_little_where_bbr_loses_a_tenth() {
    let loss = |cca: &str| {
        let (rates, log) = goodputs((80, 25, 50), &[cca; 4], (10, 40), |_| {});
        assert!(rates.iter().sum::<f64>() > 70.0, "{cca}: {rates:?}");
        log.drop_rate(10.0, 40.0)
    };
    let (bbr, bbr3) = (loss("bbr"), loss("bbr3"));
    assert!(bbr > 0.07, "BBR {bbr}");
    assert!(bbr3 < 0.02, "BBRv3 {bbr3}");
}

/// How much of the time the flows of Copa spent in the competitive mode, after 20 s.
fn competing(log: &Log) -> f64 {
    let late = log
        .internals
        .iter()
        .filter(|(at, _, name, _)| at.as_secs_f64() > 20.0 && *name == "competes");
    let values: Vec<f64> = late.map(|(_, _, _, value)| *value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// `flows` alike Copa flows for 60 s after 20 s, in a buffer of 4 BDP: their mean goodput
/// (the lowest and the highest) as a share of the fair one, packets of each in the queue, and
/// the time in the competitive mode.
fn copa_alone(mbps: u64, rtt: u64, flows: usize, resolution: f64) -> (f64, f64, f64, f64) {
    let (rates, log) = goodputs((mbps, rtt, 400), &vec!["copa"; flows], (20, 80), |case| {
        for flow in &mut case.flows {
            flow.options.insert("resolution".into(), resolution.into());
        }
    });
    let fair = mbps as f64 / flows as f64;
    let lowest = rates.iter().copied().fold(f64::INFINITY, f64::min) / fair;
    let highest = rates.iter().copied().fold(0.0, f64::max) / fair;
    let queue = log.mean_queue(20.0, 80.0) / 1_514.0 / flows as f64;
    (lowest, highest, queue, competing(&log))
}

#[test]
fn copa_alone_keeps_a_small_queue_and_a_fair_share() {
    // The paper's model gives 1.25/delta = 2.5 packets of each flow.
    for (mbps, rtt) in [(10, 40), (40, 10), (100, 10), (100, 40)] {
        for flows in [1, 2, 4, 8] {
            if mbps * rtt * 125 / 1_514 < 8 * flows {
                continue; // less than eight packets of each in flight: see the next test
            }
            let flows = usize::try_from(flows).expect("few");
            let (lowest, highest, queue, competes) = copa_alone(mbps, rtt, flows, 1.0);
            let case = format!("{flows} at {mbps} Mbit/s, {rtt} ms");
            assert!(lowest > 0.8 && highest < 1.15, "{lowest} to {highest}, {case}");
            assert!(queue < 6.0, "{queue} packets of each, {case}");
            assert!(competes < 0.05, "{competes}, {case}");
        }
    }
}

#[test]
fn copa_as_published_takes_its_likes_for_buffer_fillers() {
    for (mbps, rtt, flows) in [(20, 40, 2), (40, 10, 4), (100, 40, 8)] {
        let (_, _, queue, competes) = copa_alone(mbps, rtt, flows, 0.0);
        assert!(queue > 20.0 && competes > 0.2, "{queue} {competes} with {flows}");
    }
}

#[test]
fn copa_needs_some_packets_in_flight_to_tell_its_likes() {
    // 2 packets of each are in flight without a queue, and as many wait: it never empties.
    let (_, _, queue, _) = copa_alone(10, 10, 4, 1.0);
    assert!(queue > 3.0, "{queue}");
}

#[test]
fn copa_switches_mode_beside_cubic_and_holds_its_own() {
    let beside = |competitive: bool| {
        goodputs((40, 40, 100), &["copa", "cubic"], (20, 80), |case| {
            case.flows[0].options.insert("competitive".into(), competitive.into());
        })
    };
    let (rates, log) = beside(true);
    assert!(competing(&log) > 0.6, "{}", competing(&log));
    assert!(rates[0] > 0.3 * (rates[0] + rates[1]), "{rates:?}");
    let (never, _) = beside(false);
    assert!(never[0] < 0.1 * (never[0] + never[1]), "{never:?}");
}

#[test]
fn before_linux_4_13_bbr_is_paced_by_fq_alone() {
    let lost = |profile: &str, fq: bool| {
        let (_, log) = goodputs((10, 40, 50), &["bbr"], (10, 30), |case| {
            case.host.profile = profile.into();
            case.host.fq = fq;
        });
        log.drop_rate(10.0, 30.0)
    };
    for (profile, fq) in [("linux-4.9", true), ("linux-4.11-paced", false), ("linux-4.17", false)] {
        let found = lost(profile, fq);
        assert!(found < 0.1, "{profile}: {found:.3} of the packets");
    }
    for profile in ["linux-4.9", "linux-4.11"] {
        let found = lost(profile, false);
        assert!(found > 0.2, "{profile}: {found:.3} of the packets, as nothing spaces them");
    }
}
