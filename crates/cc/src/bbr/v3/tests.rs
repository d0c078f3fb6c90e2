//! Rules of the draft that a walk over a path doesn't isolate.

use super::*;
use crate::bbr::units::bandwidth;
use crate::profile::LINUX_6_12;
use crate::samples::{AtSend, RecoveryState};
use narrows_base::registry::Values;

fn fresh(entry: &Entry, version: Version) -> Bbr3 {
    let config = CcConfig {
        mss: 1448,
        initial_cwnd: 10,
        initial_rtt: Some(Duration::from_millis(40)),
        profile: &LINUX_6_12,
        random: Stream::new(1, "bbr3"),
        options: &Values::defaults(&entry.info, Rate::from_bps(0)),
    };
    Bbr3::new(config, version)
}

/// A flow by the draft, in this state, that knows its path: 100 packets of BDP over 40 ms.
fn knowing(mode: Mode) -> Bbr3 {
    knowing_by(V3_DRAFT, mode)
}

/// A flow as in [`knowing`], by the rules of `version`.
fn knowing_by(version: Version, mode: Mode) -> Bbr3 {
    let mut bbr = fresh(&BBR3, version);
    bbr.cycles = [bandwidth(100, 40_000); 2];
    bbr.full_pipe.reached = true;
    bbr.mode = mode;
    bbr.window.cwnd = 200;
    bbr.set_pacing_rate(UNIT, None);
    bbr
}

fn signals(tx_in_flight: u32, lost: u32) -> Signals {
    Signals {
        bw: bandwidth(100, 40_000),
        delivered: 100,
        prior_delivered: 0,
        tx_in_flight,
        lost,
        app_limited: false,
    }
}

fn ack(acked: u32) -> AckSample {
    AckSample::plain(acked, 1448, 100)
}

#[test]
fn constants_in_256ths() {
    let gains = |v: Version| (v.startup_gain, v.drain_gain, v.down_gain, v.up_cwnd_gain);
    assert_eq!(gains(V3), (710, 88, 232, 576));
    assert_eq!(gains(V3_DRAFT), (710, 128, 230, 576));
    let settings = fresh(&BBR3, V3).settings;
    assert_eq!((settings.loss_thresh, settings.beta, settings.headroom), (5, 180, 38));
    assert_eq!(fresh(&BBR3, V3_DRAFT).settings.beta, 179);
}

#[test]
fn more_than_two_percent_lost_is_too_much() {
    let bbr = knowing(Mode::Up);
    let too_high = |in_flight, lost| bbr.is_too_high(&signals(in_flight, lost));
    assert!(!too_high(200, 3) && too_high(200, 4));
    assert!(!too_high(20, 0) && too_high(20, 1));
}

#[test]
fn by_the_code_an_ack_with_too_many_losses_sets_the_volume_and_goes_down() {
    let full = AckSample { prior_in_flight: 150, ..ack(1) };
    let mut bbr = linux(Mode::Up);
    bbr.probe.is_sample = true;
    bbr.update_cycle(&full, &signals(120, 10));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 120));
    bbr.update_cycle(&full, &signals(90, 20));
    assert_eq!(bbr.bounds.long, 120, "once a probe");
    let mut low = linux(Mode::Up);
    low.probe.is_sample = true;
    low.update_cycle(&full, &signals(20, 10));
    assert_eq!(low.bounds.long, 71, "not below 0.7 BDP, which a probe exceeds by 2 packets");
}

#[test]
fn by_the_draft_only_a_lost_packet_ends_a_probe() {
    let mut bbr = knowing(Mode::Up);
    bbr.probe.is_sample = true;
    bbr.update_cycle(&ack(1), &signals(120, 10));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Up, UNBOUNDED));
    bbr.on_lost(&lost_packet(20, 10));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 69), "not below 0.7 BDP");
}

#[test]
fn by_the_draft_the_phase_ends_by_what_the_ack_left_in_flight() {
    for (version, mode) in [(V3, Mode::Down), (V3_DRAFT, Mode::Cruise)] {
        let mut bbr = knowing_by(version, Mode::Down);
        let drained = AckSample { prior_in_flight: 101, in_flight: 99, ..ack(2) };
        bbr.update_cycle(&drained, &signals(100, 0));
        assert_eq!(bbr.mode, mode, "{version:?}");
    }
}

#[test]
fn by_the_draft_a_delayed_ack_replaces_an_expired_rtt_and_a_timeout_bounds_nothing() {
    let later = Time::ZERO + Duration::from_secs(11);
    let rtt = Some(Duration::from_millis(60));
    for (version, us, bounded) in [(V3, 40_000, true), (V3_DRAFT, 60_000, false)] {
        let mut bbr = knowing_by(version, Mode::Cruise);
        bbr.update_min_rtt(&AckSample { now: later, rtt, ack_delayed: true, ..ack(1) });
        assert_eq!(bbr.min_rtt.us, us, "{version:?}");
        bbr.on_congestion(&timeout());
        assert_eq!(bbr.bounds.short != UNBOUNDED, bounded, "{version:?}");
    }
}

fn timeout() -> CongestionEvent {
    CongestionEvent { kind: Congestion::Timeout { reduce: true }, ..tail_loss() }
}

fn tail_loss() -> CongestionEvent {
    CongestionEvent {
        now: Time::ZERO,
        kind: Congestion::TailLoss,
        state: RecoveryState::Open,
        cwnd: 100,
        in_flight: 0,
        mss: 1448,
        delivered: 1_000,
        lost_total: 0,
        progress: crate::progress::Progress::new(1_000, 1_000),
    }
}

#[test]
fn the_packet_whose_loss_exceeds_the_threshold_tells_the_volume() {
    let bbr = knowing(Mode::Up);
    // Of 199 packets 4 might be lost and 3 were; one more sent after it, rounded down.
    assert_eq!(bbr.inflight_at_loss(4, 200), 200);
    assert_eq!(bbr.inflight_at_loss(10, 120), 119, "too much was lost before it already");
    assert_eq!(bbr.inflight_at_loss(1, 1_000), 999 + 20);
}

/// The `nth` loss since a packet left with `in_flight` others.
fn lost_packet(in_flight: u32, nth: u32) -> LostPacket {
    LostPacket {
        now: Time::ZERO,
        at_send: AtSend { in_flight, lost: u32::MAX },
        app_limited: false,
        lost_total: (1 << 32) - 1 + u64::from(nth),
        delivered: 1_000,
    }
}

#[test]
fn a_probe_ends_with_the_lost_packet_that_is_one_too_many() {
    let mut bbr = knowing(Mode::Up);
    bbr.probe.is_sample = true;
    (1..=3).for_each(|nth| bbr.on_lost(&lost_packet(200, nth)));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Up, UNBOUNDED));
    bbr.on_lost(&lost_packet(200, 4));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 200));
    bbr.on_lost(&lost_packet(150, 5));
    assert_eq!(bbr.bounds.long, 200, "once a probe");
    assert!(bbr.loss_round.is_lossy && bbr.loss_round.events == 0, "ACKs with losses count");
}

#[test]
fn losses_outside_of_probes_lower_the_short_term_bounds_once_a_round() {
    let mut bbr = knowing(Mode::Cruise);
    let lossy = AckSample { lost: 5, ..ack(1) };
    let slow = Signals { bw: bandwidth(60, 40_000), delivered: 60, ..signals(100, 0) };
    bbr.update_model(&lossy, Some(&slow));
    assert_eq!(bbr.bounds.short, UNBOUNDED, "not before the round's end");
    let next = Signals { prior_delivered: 1_000, ..slow };
    bbr.update_model(&ack(1), Some(&next));
    assert_eq!(bbr.bounds.short, 139, "0.7 of 200 packets");
    assert_eq!(bbr.bounds.bw_short, part(bandwidth(100, 40_000), 179));
    assert!(bbr.bw() < bbr.max_bw());
    let mut probing = knowing(Mode::Refill);
    probing.round.restart(u64::MAX);
    probing.update_model(&lossy, Some(&slow));
    probing.update_model(&ack(1), Some(&next));
    assert_eq!(probing.bounds.short, UNBOUNDED, "a probe is meant to lose");
}

#[test]
fn cruising_leaves_headroom_below_the_long_term_volume() {
    let mut bbr = knowing(Mode::Cruise);
    bbr.bounds.long = 100;
    bbr.set_cwnd(&ack(1));
    assert_eq!(bbr.window.cwnd, 86);
    bbr.mode = Mode::Refill;
    bbr.set_cwnd(&ack(50));
    assert_eq!(bbr.window.cwnd, 100);
}

#[test]
fn the_volume_grows_by_one_two_four_packets_a_round() {
    let mut bbr = knowing(Mode::Refill);
    bbr.bounds.long = 100;
    bbr.window.cwnd = 100;
    bbr.start_up(Time::ZERO, 1_000, 1);
    let mut grown = Vec::new();
    for _ in 0..4 {
        bbr.round.start = false;
        for _ in 0..100 {
            bbr.window.cwnd = bbr.bounds.long;
            bbr.probe_upward(&ack(1));
        }
        bbr.raise_slope();
        grown.push(bbr.bounds.long - 100);
    }
    assert!(grown[0] == 1 && (2..=3).contains(&grown[1]) && grown[3] >= 10, "{grown:?}");
}

#[test]
fn version_2_goes_down_at_a_quarter_above_the_bdp() {
    let mut bbr = knowing_by(V2, Mode::Up);
    let later = Time::ZERO + Duration::from_millis(50);
    let at = |in_flight| AckSample { now: later, prior_in_flight: in_flight, ..ack(1) };
    bbr.update_cycle(&at(120), &signals(100, 0));
    assert_eq!(bbr.mode, Mode::Up);
    bbr.update_cycle(&at(130), &signals(100, 0));
    assert_eq!(bbr.mode, Mode::Down);
}

#[test]
fn undo_returns_to_the_probe_and_its_bounds() {
    let mut bbr = knowing(Mode::Up);
    bbr.probe.is_sample = true;
    (1..=4).for_each(|nth| bbr.on_lost(&lost_packet(200, nth)));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 200));
    bbr.on_undo(&UndoEvent { now: Time::ZERO, cwnd: 100, delivered: 1_000, lost_total: 10 });
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Refill, UNBOUNDED));
}

fn linux(mode: Mode) -> Bbr3 {
    knowing_by(V3, mode)
}

/// A sample that isn't the first of a round.
fn within(bbr: &mut Bbr3, bw: u32) {
    bbr.round.start = false;
    bbr.check_full_pipe(&Signals { bw, ..signals(100, 0) });
}

#[test]
fn by_the_code_any_ack_shows_that_the_pipe_is_not_full() {
    let low = bandwidth(100, 40_000);
    for (version, full) in [(V3, false), (V3_DRAFT, true)] {
        let mut bbr = knowing_by(version, Mode::Up);
        bbr.full_pipe.reset(low);
        for grown in [126, 159, 200] {
            within(&mut bbr, bandwidth(grown, 40_000));
            bbr.round.start = true;
            bbr.check_full_pipe(&Signals { bw: low, ..signals(100, 0) });
        }
        assert_eq!(bbr.full_pipe.now, full, "{version:?}");
    }
}

#[test]
fn by_the_code_volumes_are_those_of_the_next_departure() {
    let later = |ms| AckSample { departure: Time::ZERO + Duration::from_millis(ms), ..ack(1) };
    // Almost 10 packets in 4 ms; the next burst counts where more is sent than arrives.
    let burst = knowing(Mode::Up).pacing.tso_segs_goal(1448);
    let mut up = linux(Mode::Up);
    up.gain = up.pacing_gain();
    assert_eq!(up.in_network(100, &later(4)), 100 + burst - 9);
    assert_eq!(linux(Mode::Down).in_network(100, &later(4)), 91);
    assert_eq!(knowing(Mode::Down).in_network(100, &later(4)), 100);
}

#[test]
fn by_the_code_only_a_timeout_gives_a_window_back() {
    let after = |version, prior_state| {
        let mut bbr = knowing_by(version, Mode::Refill);
        (bbr.window.cwnd, bbr.window.prior_cwnd, bbr.window.prior_state) = (50, 90, prior_state);
        bbr.on_ack(&ack(0));
        bbr.window.cwnd
    };
    assert_eq!((after(V3, RecoveryState::Recovery), after(V3, RecoveryState::Loss)), (50, 90));
    assert_eq!(after(V3_DRAFT, RecoveryState::Recovery), 90);
}

#[test]
fn by_the_code_cruising_starts_with_the_lower_of_both_volumes() {
    for (version, short) in [(V3, 60), (V3_DRAFT, 80)] {
        let mut bbr = knowing_by(version, Mode::Down);
        (bbr.bounds.short, bbr.bounds.long) = (80, 60);
        let drained = AckSample { prior_in_flight: 10, in_flight: 10, ..ack(1) };
        bbr.update_cycle(&drained, &signals(10, 0));
        assert_eq!((bbr.mode, bbr.bounds.short), (Mode::Cruise, short), "{version:?}");
    }
}

#[test]
fn by_the_code_a_tail_that_a_probe_repaired_is_a_loss() {
    let mut bbr = linux(Mode::Up);
    bbr.probe.is_sample = true;
    bbr.update_latest(&Signals { delivered: 30, ..signals(30, 0) }, 1_000);
    bbr.on_congestion(&tail_loss());
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 71), "one of 31 is over 2 %");
}

#[test]
fn by_the_code_an_undo_gives_the_window_back_and_goes_on() {
    let mut bbr = linux(Mode::Up);
    bbr.probe.is_sample = true;
    bbr.window.cwnd = 150;
    bbr.save_state();
    bbr.update_cycle(&ack(1), &signals(120, 10));
    bbr.window.cwnd = 80;
    bbr.on_undo(&UndoEvent { now: Time::ZERO, cwnd: 80, delivered: 1_000, lost_total: 10 });
    assert_eq!((bbr.mode, bbr.bounds.long, bbr.window.cwnd), (Mode::Cruise, UNBOUNDED, 150));
}

#[test]
fn by_the_code_bursts_never_are_single_packets_and_grow_near_by() {
    let least = [V2, V3, V3_DRAFT].map(|version| fresh(&BBR3, version).least_burst(1_000));
    assert_eq!(least, [1, 2, 2]);
    assert_eq!(units::tso_segs_near(1_000_000, 1448, u32::MAX), 0);
    assert_eq!(units::tso_segs_near(1_000, 1448, 1_100), 11, "a quarter of 64 KiB");
    assert_eq!(units::tso_segs_near(u64::MAX, 1448, 100), 45);
}

#[test]
fn by_the_code_a_flow_with_little_to_send_keeps_its_window_and_what_it_knows() {
    let mut bbr = linux(Mode::Cruise);
    bbr.settled = true;
    let idle = Signals { bw: bandwidth(10, 40_000), app_limited: true, ..signals(10, 0) };
    assert!(!bbr.update_model(&ack(1), Some(&idle)));
    assert!(bbr.update_model(&ack(1), Some(&Signals { app_limited: false, ..idle })));
    assert!(bbr.update_model(&ack(1), Some(&Signals { bw: bandwidth(200, 40_000), ..idle })));
    let mut draft = knowing(Mode::Cruise);
    draft.settled = true;
    assert!(draft.update_model(&ack(1), Some(&idle)));
}

#[test]
fn by_the_draft_version_3_drains_for_three_rounds_at_most() {
    let after_rounds = |version, rounds| {
        let mut bbr = knowing_by(version, Mode::Startup);
        bbr.round.count = 10;
        bbr.enter_drain();
        bbr.round.count += rounds;
        bbr.check_drain_done(&AckSample { in_flight: 1_000, ..ack(1) });
        bbr.mode
    };
    assert_eq!([3, 4].map(|rounds| after_rounds(V3_DRAFT, rounds)), [Mode::Drain, Mode::Down]);
    assert_eq!(after_rounds(V3, 1_000), Mode::Drain, "the code is patient");
}

#[test]
fn a_restart_from_idle_puts_probe_rtt_off_until_an_ack() {
    let mut bbr = knowing(Mode::Cruise);
    bbr.idle_restart = true;
    bbr.min_rtt.expired = true;
    bbr.check_probe_rtt(&ack(0));
    assert_eq!((bbr.mode, bbr.idle_restart), (Mode::Cruise, true));
    bbr.check_probe_rtt(&ack(1));
    assert_eq!((bbr.mode, bbr.idle_restart), (Mode::Cruise, false));
    bbr.check_probe_rtt(&ack(1));
    assert_eq!(bbr.mode, Mode::ProbeRtt);
}

#[test]
fn a_volume_has_room_for_three_bursts() {
    let bbr = knowing(Mode::Cruise);
    // 100 packets in 40 ms are 3.6 MB/s, and a burst is two packets of 1,448 bytes.
    assert_eq!(bbr.pacing.tso_segs_goal(bbr.mss), 2);
    assert_eq!(bbr.inflight(0, UNIT), 6);
}

#[test]
fn by_the_draft_the_window_allows_for_more_than_100_ms_of_aggregation() {
    for (version, cwnd) in [(V3, 449), (V3_DRAFT, 600)] {
        let mut bbr = knowing_by(version, Mode::Cruise);
        bbr.aggregation.update(400, 0, bbr.bw(), 1_000);
        bbr.set_cwnd(&ack(1_000));
        assert_eq!(bbr.window.cwnd, cwnd, "{version:?}");
    }
}

#[test]
fn by_the_code_of_version_2_bursts_have_two_packets_from_1_2_mbit_on() {
    let bbr = knowing_by(V2, Mode::Cruise);
    let least = [1_199, 1_200].map(|kbps| bbr.min_tso_segs(Rate::from_bps(kbps * 1_000)));
    assert_eq!(least, [1, 2]);
}
