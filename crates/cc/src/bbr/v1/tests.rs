//! The volumes that the model asks for, and the edges of the state machine.

use super::mode::Mode;
use crate::bbr::units::{CYCLE, UNIT, bandwidth, rate_bytes};
use crate::progress::Progress;
use narrows_base::Duration;
use narrows_base::registry::Values;

use super::*;
use crate::profile::{CcProfile, LINUX_4_9, LINUX_4_17, LINUX_6_12, ProbeBudget};
use crate::samples::RateSample;

const MSS: u32 = 1448;
/// A phase of PROBE_BW with a gain of 1, the probing one, the draining one.
const CRUISE: usize = 2;
const PROBE: usize = 0;
const DRAIN: usize = 1;

fn fresh(profile: &CcProfile, initial_rtt: Option<Duration>) -> Bbr {
    let config = CcConfig {
        mss: MSS,
        initial_cwnd: 10,
        initial_rtt,
        profile,
        random: Stream::new(1, "bbr"),
        options: &Values::defaults(&BBR.info, Rate::from_bps(0)),
    };
    Bbr::new(config)
}

/// A flow in PROBE_BW that knows its path exactly: IP Mbit/s and ms.
fn probing(mbit: u64, rtt_ms: u64, cycle: usize) -> Bbr {
    let mut bbr = fresh(&LINUX_6_12, Some(Duration::from_millis(rtt_ms)));
    let bw = bandwidth(mbit * 1_000_000, 12_000 * 1_000_000);
    bbr.bandwidth.max.reset(0, bw);
    bbr.full_pipe.reached = true;
    bbr.mode = Mode::ProbeBw;
    bbr.cycle = cycle;
    bbr.update_gains();
    bbr.set_pacing_rate(bw, bbr.pacing_gain, None);
    bbr
}

/// The window that a long run of ACKs leads to.
fn cap(bbr: &mut Bbr) -> u32 {
    bbr.window.cwnd = 1_000_000;
    let sample = ack(1);
    bbr.set_cwnd(&sample, bbr.bw());
    bbr.window.cwnd
}

fn ack(acked: u32) -> AckSample {
    AckSample::plain(acked, MSS, 20)
}

#[test]
fn windows_and_volumes_of_known_paths() {
    // Window while cruising and while probing, volume that ends DRAIN when asked
    // with a gain of 1, volume that ends the probing phase.
    for (mbit, rtt_ms, cruise, probe, drained, probed) in [
        (10, 20, 40, 42, 24, 30),
        (10, 40, 74, 76, 40, 50),
        (12, 50, 106, 108, 56, 72),
        (50, 40, 346, 352, 180, 226),
        (100, 40, 692, 700, 358, 450),
        (100, 100, 1692, 1700, 858, 1074),
        (1000, 20, 3470, 3472, 1802, 2222),
    ] {
        let path = format!("{mbit} Mbit/s, {rtt_ms} ms");
        let mut cruising = probing(mbit, rtt_ms, CRUISE);
        let bw = cruising.bw();
        assert_eq!(cap(&mut cruising), cruise, "{path}");
        assert_eq!(cruising.inflight(bw, UNIT), drained, "{path}");
        let mut raised = probing(mbit, rtt_ms, PROBE);
        assert_eq!(cap(&mut raised), probe, "{path}");
        assert_eq!(raised.inflight(bw, CYCLE[PROBE]), probed, "{path}");
    }
}

#[test]
fn the_draining_phase_has_smaller_bursts_to_budget_for() {
    for (mbit, rtt_ms, volume) in [(50, 40, 176), (100, 40, 352), (100, 100, 852)] {
        let draining = probing(mbit, rtt_ms, DRAIN);
        assert_eq!(draining.inflight(draining.bw(), UNIT), volume, "{mbit} {rtt_ms}");
    }
}

#[test]
fn older_kernels_budget_otherwise_for_probing() {
    let cap_of = |budget, cycle| {
        let mut bbr = probing(10, 40, cycle);
        bbr.profile.probe_budget = budget;
        cap(&mut bbr)
    };
    assert_eq!([PROBE, CRUISE].map(|cycle| cap_of(ProbeBudget::Never, cycle)), [74, 74]);
    assert_eq!([PROBE, CRUISE].map(|cycle| cap_of(ProbeBudget::GainAboveOne, cycle)), [76, 76]);
    assert_eq!([PROBE, CRUISE].map(|cycle| cap_of(ProbeBudget::FirstPhase, cycle)), [76, 74]);
}

#[test]
fn the_window_allows_for_aggregation_of_100_ms_at_most() {
    let mut bbr = probing(10, 40, CRUISE);
    bbr.aggregation.begin_epoch(0);
    let bw = bbr.bw();
    bbr.aggregation.update(20, 1, bw, 1_000);
    assert_eq!(cap(&mut bbr), 94);
    bbr.aggregation.update(500, 2, bw, 1_000);
    assert_eq!(cap(&mut bbr), 67 + 83 + 6, "BDP, 83.3 packets in 100 ms, bursts");
    bbr.profile.extra_acked = false;
    assert_eq!(cap(&mut bbr), 74);
}

#[test]
fn packets_in_the_pacer_are_not_in_the_network() {
    let bbr = probing(12, 50, CRUISE);
    let departure = Time::ZERO + Duration::from_millis(10);
    assert_eq!(bbr.in_network(30, Time::ZERO, departure), 21, "9.99 of 30 packets leave");
    assert_eq!(bbr.in_network(30, departure, Time::ZERO), 30);
    assert_eq!(bbr.in_network(5, Time::ZERO, departure), 0);
    assert_eq!(probing(12, 50, PROBE).in_network(30, departure, Time::ZERO), 32, "a burst more");
    let mut old = bbr;
    old.profile.departure_times = false;
    assert_eq!(old.in_network(30, Time::ZERO, departure), 30);
}

#[test]
fn the_first_rate_comes_from_the_handshake_or_the_first_sample() {
    // 2.887 x 10 packets in 40 ms, less a percent.
    let known = fresh(&LINUX_6_12, Some(Duration::from_millis(40)));
    assert_eq!(known.pacing.rate().as_bps() / 1_000, 8_275);
    let mut unknown = fresh(&LINUX_6_12, None);
    assert_eq!(unknown.pacing.rate().as_bps() / 1_000_000, 331);
    unknown.set_pacing_rate(0, HIGH, Some(Duration::from_millis(40)));
    assert_eq!(unknown.pacing.rate(), known.pacing.rate());
    let mut old = fresh(&LINUX_4_9, None);
    let before = old.pacing.rate();
    old.set_pacing_rate(0, HIGH, Some(Duration::from_millis(40)));
    assert_eq!(old.pacing.rate(), before, "4.9 stays at a window a millisecond");
}

const HIGH: u32 = units::HIGH_GAIN;

#[test]
fn rates_in_the_units_of_each_kernel() {
    let mut rates = Vec::new();
    for profile in [&LINUX_4_9, &LINUX_4_17, &LINUX_6_12] {
        let mut bbr = fresh(profile, Some(Duration::from_millis(40)));
        bbr.full_pipe.reached = true;
        bbr.mode = Mode::ProbeBw;
        // 10 packets of 1448 bytes a millisecond are 115.84 Mbit/s.
        bbr.set_pacing_rate(bandwidth(10, 1_000), UNIT, None);
        rates.push((bbr.pacing.rate().as_mbps() / 115.84 * 1e4).round());
    }
    assert_eq!(rates, [10359.0, 10359.0, 9900.0]);
}

#[test]
fn the_rate_falls_only_after_the_pipe_was_full() {
    let mut bbr = fresh(&LINUX_6_12, Some(Duration::from_millis(40)));
    let first = bbr.pacing.bytes_per_sec();
    bbr.mode = Mode::ProbeRtt;
    bbr.set_pacing_rate(1_000, UNIT, None);
    assert_eq!(bbr.pacing.bytes_per_sec(), first);
    bbr.profile.slows_only_when_full = false;
    bbr.set_pacing_rate(1_000, UNIT, None);
    assert_eq!(bbr.pacing.bytes_per_sec(), rate_bytes(1_000, UNIT, MSS, bbr.profile.pacing));
}

#[test]
fn ties_renew_the_lowest_rtt_on_old_kernels() {
    let stamp = |profile: &CcProfile| {
        let mut bbr = fresh(profile, Some(Duration::from_millis(40)));
        let mut sample = ack(1);
        sample.now = Time::from_nanos(5_000_000_000);
        sample.rtt = Some(Duration::from_millis(40));
        bbr.update_min_rtt(&sample);
        bbr.min_rtt.stamp
    };
    assert_eq!((stamp(&LINUX_4_9), stamp(&LINUX_6_12)), (1_250, 0));
}

#[test]
fn a_delayed_ack_does_not_replace_an_expired_rtt() {
    let rtt = |profile: &CcProfile| {
        let mut bbr = fresh(profile, Some(Duration::from_millis(40)));
        let mut sample = ack(1);
        sample.now = Time::from_nanos(10_004_000_000);
        sample.rtt = Some(Duration::from_millis(80));
        sample.ack_delayed = true;
        bbr.update_min_rtt(&sample);
        assert_eq!(bbr.mode, Mode::ProbeRtt);
        bbr.min_rtt.us
    };
    assert_eq!((rtt(&LINUX_4_9), rtt(&LINUX_6_12)), (80_000, 40_000));
}

#[test]
fn a_restart_from_idle_paces_at_the_bandwidth_and_skips_probe_rtt() {
    let mut bbr = probing(10, 40, PROBE);
    let fast = bbr.pacing.bytes_per_sec();
    let now = Time::from_nanos(60_000_000_000);
    let event = StartEvent { now, last_sent: None, app_limited: true, mss: MSS, delivered: 1_000 };
    bbr.started = true;
    bbr.on_start(&event);
    assert!(bbr.idle_restart);
    assert_eq!(bbr.pacing.bytes_per_sec(), rate_bytes(bbr.bw(), UNIT, MSS, bbr.profile.pacing));
    assert!(bbr.pacing.bytes_per_sec() < fast);
    bbr.update_min_rtt(&AckSample { now, rtt: Some(Duration::from_millis(41)), ..ack(1) });
    assert_eq!((bbr.mode, bbr.idle_restart), (Mode::ProbeBw, false));
}

#[test]
fn probe_bw_begins_in_every_phase_but_the_draining_one() {
    let mut bbr = probing(10, 40, CRUISE);
    let mut counts = [0; 8];
    for _ in 0..7_000 {
        bbr.enter_probe_bw();
        counts[bbr.cycle] += 1;
    }
    assert_eq!(counts[DRAIN], 0);
    let others: Vec<i32> = counts.into_iter().filter(|&n| n > 0).collect();
    assert_eq!(others.len(), 7);
    assert!(others.iter().all(|n| (850..1_150).contains(n)), "{others:?}");
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    let mut bbr = fresh(&LINUX_6_12, Some(Duration::from_millis(40)));
    let mut reached = Vec::new();
    for (round, packets) in [100, 130, 160, 161, 162].into_iter().enumerate() {
        let delivered = 1_000 * (round as u64 + 1);
        let rate = Some(RateSample {
            delivered: packets,
            interval: Duration::from_millis(40),
            prior_delivered: delivered,
            app_limited: false,
            at_send: None,
        });
        let sample = AckSample { delivered, rate, ..ack(1) };
        bbr.update_bandwidth(&sample);
        bbr.check_full_pipe(&sample);
        reached.push(bbr.full_pipe.rounds);
    }
    // 160 is less than 1.25 x 130: that round counts already.
    assert_eq!((reached, bbr.full_pipe.reached), (vec![0, 0, 1, 2, 3], true));
    bbr.on_undo(&UndoEvent { now: Time::ZERO, cwnd: 10, delivered: 9_000, lost_total: 0 });
    assert!(bbr.full_pipe.reached, "sticky");
}

#[test]
fn app_limited_samples_only_raise_the_bandwidth() {
    let mut bbr = probing(10, 40, CRUISE);
    let before = bbr.bw();
    let sample = |packets, app_limited| AckSample {
        rate: Some(RateSample {
            delivered: packets,
            interval: Duration::from_millis(40),
            prior_delivered: 0,
            app_limited,
            at_send: None,
        }),
        ..ack(1)
    };
    bbr.update_bandwidth(&sample(5, true));
    assert_eq!(bbr.bw(), before);
    bbr.update_bandwidth(&sample(40, true));
    assert_eq!(bbr.bw(), bandwidth(40, 40_000));
}

#[test]
fn a_timeout_keeps_the_window_to_return_to() {
    let mut bbr = probing(10, 40, CRUISE);
    bbr.window.cwnd = 74;
    let event = CongestionEvent {
        now: Time::ZERO,
        kind: Congestion::Timeout { reduce: true },
        state: RecoveryState::Open,
        cwnd: 74,
        in_flight: 0,
        mss: MSS,
        delivered: 1_000,
        lost_total: 74,
        progress: Progress::new(1_000, 1_074),
    };
    bbr.on_congestion(&event);
    assert_eq!((bbr.window.cwnd, bbr.window.prior_cwnd), (1, 74));
    let lossy = AckSample { state: RecoveryState::Loss, in_flight: 1, ..ack(1) };
    bbr.set_cwnd(&lossy, bbr.bw());
    assert_eq!(bbr.window.cwnd, 4, "the floor, then as acknowledged");
    bbr.set_cwnd(&lossy, bbr.bw());
    assert_eq!(bbr.window.cwnd, 5);
    bbr.set_cwnd(&ack(1), bbr.bw());
    assert_eq!(bbr.window.cwnd, 74, "Open again: back to the window from before");
}

#[test]
fn losses_come_off_the_window_at_once() {
    let mut bbr = probing(10, 40, CRUISE);
    bbr.window.cwnd = 70;
    bbr.window.prior_state = RecoveryState::Recovery;
    bbr.set_cwnd(&AckSample { lost: 10, state: RecoveryState::Recovery, ..ack(2) }, bbr.bw());
    assert_eq!(bbr.window.cwnd, 62);
}

#[test]
fn probe_rtt_returns_to_the_larger_of_the_saved_windows() {
    let mut bbr = probing(10, 40, CRUISE);
    bbr.window.prior_cwnd = 90;
    bbr.window.cwnd = 74;
    let expired = Time::from_nanos(10_004_000_000);
    bbr.update_min_rtt(&AckSample { now: expired, ..ack(1) });
    assert_eq!((bbr.mode, bbr.window.prior_cwnd), (Mode::ProbeRtt, 90));
}

#[test]
#[should_panic(expected = "no way from Startup to ProbeBw")]
#[cfg(debug_assertions)]
fn the_state_machine_has_no_short_cuts() {
    fresh(&LINUX_6_12, None).enter_probe_bw();
}

/// The adaptive cap's gain, in 1/256, after rounds, each given by its losses, its share of
/// the bandwidth in percent, and its RTT in ms, on a path of 40 ms.
fn cap_gain(rounds: &[(u32, u64, u64)]) -> u32 {
    let mut cap = AdaptiveCap::new(2 * UNIT);
    for &(lost, percent, rtt_ms) in rounds {
        let rtt = Some(Duration::from_millis(rtt_ms));
        let sample = AckSample { lost, rtt, ..ack(100) };
        cap.update(&sample, Some(bandwidth(percent, 10_000)), None);
        cap.update(&ack(0), None, Some(40_000));
    }
    cap.gain()
}

#[test]
fn the_adaptive_cap_follows_loss_throughput_and_rtt() {
    assert_eq!(cap_gain(&[(0, 100, 40); 9]), 512, "all is well");
    assert_eq!(cap_gain(&[(3, 100, 40)]), 512, "one lossy round is chance");
    assert_eq!(cap_gain(&[(3, 100, 40); 2]), 480);
    assert_eq!(cap_gain(&[(1, 100, 40); 9]), 512, "one percent is little");
    assert_eq!(cap_gain(&[(0, 100, 40), (0, 90, 60)]), 528, "starved beside a queue");
    assert_eq!(cap_gain(&[(0, 100, 60)]), 504, "an own queue");
    assert_eq!(cap_gain(&[(9, 100, 40); 90]), 320, "never below 1.25 BDP");
}

#[test]
fn the_adaptive_cap_judges_rounds_of_probe_bw_alone() {
    let gain_after_losses_in = |mode| {
        let mut bbr = probing(10, 40, CRUISE);
        bbr.mode = mode;
        bbr.settings.adaptive_cap = true;
        bbr.proposals = Proposals::new(&bbr.settings, &LINUX_6_12);
        bbr.bandwidth.round_start = true;
        for _ in 0..3 {
            bbr.update_proposals(&AckSample { lost: 10, ..ack(100) });
        }
        let proposals = bbr.proposals.expect("the cap is one of them");
        proposals.cap.map(|cap| cap.gain())
    };
    assert_eq!(gain_after_losses_in(Mode::ProbeBw), Some(480));
    assert_eq!(gain_after_losses_in(Mode::Drain), Some(512));
}

#[test]
fn hystart_ends_startup_only_once_a_bandwidth_is_known() {
    let full_after_a_train = |bw| {
        let mut bbr = fresh(&LINUX_6_12, None);
        bbr.settings.startup_hystart = true;
        bbr.proposals = Proposals::new(&bbr.settings, &LINUX_6_12);
        bbr.window.cwnd = 100;
        bbr.bandwidth.max.reset(0, bw);
        for ms in 1..50 {
            bbr.on_delivered(&DeliveredSample {
                now: Time::ZERO + Duration::from_millis(ms),
                acked: 1,
                rtt: Some(Duration::from_millis(20)),
                in_flight: 100,
                progress: Progress::new(ms, ms + 100),
                pacing_rate: Rate::from_bps(10_000_000_000),
                cwnd_limited: true,
                delivered: ms,
                ..DeliveredSample::default()
            });
        }
        bbr.full_pipe.reached
    };
    assert!(full_after_a_train(bandwidth(100, 20_000)));
    assert!(!full_after_a_train(0));
}

#[test]
fn bursts_have_two_packets_from_1_2_mbit_on() {
    let bbr = fresh(&LINUX_6_12, None);
    let least = [1_199, 1_200].map(|kbps| bbr.min_tso_segs(Rate::from_bps(kbps * 1_000)));
    assert_eq!(least, [1, 2]);
}
