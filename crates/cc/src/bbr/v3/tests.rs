//! Rules of the draft that a walk over a path doesn't isolate.

use super::*;
use crate::bbr::units::bandwidth;
use crate::profile::LINUX_6_12;
use crate::samples::AtSend;

fn fresh(entry: &Entry, version: Version) -> Bbr3 {
    let config = CcConfig {
        mss: 1448,
        initial_cwnd: 10,
        initial_rtt: Some(Duration::from_millis(40)),
        profile: &LINUX_6_12,
        random: Stream::new(1, "bbr3"),
        options: Values::defaults(&entry.info, Rate::from_bps(0)),
    };
    Bbr3::new(config, version)
}

/// A flow in this state that knows its path: 100 packets of BDP over 40 ms.
fn knowing(mode: Mode) -> Bbr3 {
    let mut bbr = fresh(&BBR3, V3);
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
fn constants_of_the_draft_in_256ths() {
    assert_eq!(
        (V3.startup_gain, V3.drain_gain, V3.down_gain, V3.up_cwnd_gain),
        (710, 128, 230, 576)
    );
    let settings = fresh(&BBR3, V3).settings;
    assert_eq!((settings.loss_thresh, settings.beta, settings.headroom), (5, 179, 38));
}

#[test]
fn more_than_two_percent_lost_is_too_much() {
    let bbr = knowing(Mode::Up);
    let too_high = |in_flight, lost| bbr.is_too_high(&signals(in_flight, lost));
    assert!(!too_high(200, 3) && too_high(200, 4));
    assert!(!too_high(20, 0) && too_high(20, 1));
}

#[test]
fn a_probe_that_loses_sets_the_volume_and_goes_down() {
    let mut bbr = knowing(Mode::Up);
    bbr.probe.is_sample = true;
    bbr.update_cycle(&ack(1), &signals(120, 10));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 120));
    bbr.update_cycle(&ack(1), &signals(90, 20));
    assert_eq!(bbr.bounds.long, 120, "once a probe");
    let mut low = knowing(Mode::Up);
    low.probe.is_sample = true;
    low.update_cycle(&ack(1), &signals(20, 10));
    assert_eq!(low.bounds.long, 69, "not below 0.7 BDP");
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
    let mut bbr = knowing(Mode::Up);
    bbr.version = V2;
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
    bbr.note_loss(1_000);
    bbr.update_cycle(&ack(1), &signals(120, 10));
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Down, 120));
    bbr.on_undo(&UndoEvent { now: Time::ZERO, cwnd: 100, delivered: 1_000, lost_total: 10 });
    assert_eq!((bbr.mode, bbr.bounds.long), (Mode::Refill, UNBOUNDED));
}
