//! Transcripts of loss-based controls: what happens, and the window after it.

use crate::common::link::{Flow, Path};
use crate::common::{Options, ack, at_ms, control, control_of, delivered_sample, internal};
use narrows_base::{Duration, Rate, Time};
use narrows_cc::{
    CcProfile, Congestion, CongestionControl, CongestionEvent, DeliveredSample, INFINITE_SSTHRESH,
    LINUX_4_17, LINUX_5_15, LINUX_6_1_0, LINUX_6_12, Progress, RecoveryState, StartEvent,
    UndoEvent, Unused,
};

/// A control and the clock of its transcript.
struct Script {
    control: Box<dyn CongestionControl>,
    now: Time,
    in_flight: u32,
}

impl Script {
    fn new(name: &str, options: Options) -> Self {
        Self { control: control(name, options), now: at_ms(1_000), in_flight: 0 }
    }

    fn cwnd(&self) -> u32 {
        self.control.control().cwnd
    }

    fn windows(&self) -> (u32, u32) {
        let control = self.control.control();
        (control.cwnd, control.ssthresh)
    }

    /// `acked` packets in one ACK.
    fn ack(&mut self, acked: u32) -> u32 {
        self.control.on_ack(&ack(self.now, acked));
        self.cwnd()
    }

    /// A window's worth of ACKs of one packet, `millis` after the last ones.
    fn round(&mut self, millis: u64) -> u32 {
        self.now += Duration::from_millis(millis);
        for _ in 0..self.cwnd() {
            self.ack(1);
        }
        self.cwnd()
    }

    fn event(&mut self, kind: Congestion, state: RecoveryState, cwnd: u32) -> (u32, u32) {
        self.control.on_congestion(&CongestionEvent {
            now: self.now,
            kind,
            state,
            cwnd,
            in_flight: self.in_flight,
            mss: 1448,
            delivered: 0,
            lost_total: 0,
            progress: Progress::new(0, 0),
        });
        self.windows()
    }

    fn loss(&mut self) -> (u32, u32) {
        self.event(Congestion::Loss, RecoveryState::Disorder, self.cwnd())
    }

    fn timeout(&mut self, reduce: bool, state: RecoveryState) -> (u32, u32) {
        self.event(Congestion::Timeout { reduce }, state, self.cwnd())
    }

    fn undo(&mut self, cwnd: u32) -> (u32, u32) {
        self.control.on_undo(&UndoEvent { now: self.now, cwnd, delivered: 0, lost_total: 0 });
        self.windows()
    }

    fn report_unused(&mut self, unused: Unused) -> (u32, u32) {
        self.control.on_unused(unused);
        self.windows()
    }
}

const NO_EXIT: Options = &[("hystart", "off")];

#[test]
fn reno_slow_start_and_halving() {
    let mut s = Script::new("reno", &[]);
    assert_eq!(s.windows(), (10, INFINITE_SSTHRESH));
    assert_eq!(s.ack(2), 12);
    assert_eq!(s.ack(12), 24, "stretch ACKs count in full");
    assert_eq!(s.control.state(), "slow_start");
    assert_eq!(s.loss(), (12, 12));
    assert_eq!(s.control.state(), "congestion_avoidance");
    assert_eq!(s.round(40), 13);
    assert_eq!(s.round(40), 14);
    assert_eq!(s.loss(), (7, 7));
}

#[test]
fn reno_keeps_at_least_two_packets() {
    let mut s = Script::new("reno", &[]);
    assert_eq!(s.event(Congestion::Loss, RecoveryState::Disorder, 3), (2, 2));
}

#[test]
fn slow_start_passes_the_rest_of_a_stretch_ack_on() {
    let mut s = Script::new("reno", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 24);
    s.timeout(false, RecoveryState::Recovery);
    assert_eq!(s.windows(), (1, 12));
    // 11 packets to the threshold, 12 of the other 13 earn one.
    assert_eq!(s.ack(24), 13);
    // One is left over: 12 more make 13, the window.
    assert_eq!(s.ack(11), 13);
    assert_eq!(s.ack(1), 14);
}

#[test]
fn credit_of_a_larger_window_is_one_packet() {
    let mut s = Script::new("reno", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 40);
    assert_eq!(s.ack(19), 20);
    s.report_unused(Unused::Underused { used: 10 });
    assert_eq!(s.cwnd(), 15);
    assert_eq!(s.ack(1), 16, "19 packets of credit at a window of 15");
}

#[test]
fn nothing_grows_unless_the_window_limits() {
    for name in ["reno", "cubic"] {
        let mut s = Script::new(name, NO_EXIT.get(..usize::from(name == "cubic")).unwrap());
        let mut sample = ack(s.now, 5);
        sample.cwnd_limited = false;
        s.control.on_ack(&sample);
        sample.cwnd_limited = true;
        sample.may_grow = false;
        s.control.on_ack(&sample);
        assert_eq!(s.cwnd(), 10, "{name}");
    }
}

#[test]
fn a_timeout_collapses_the_window_and_repeats_without_reducing() {
    let mut s = Script::new("reno", &[]);
    s.ack(30);
    s.in_flight = 3;
    assert_eq!(s.timeout(true, RecoveryState::Open), (4, 20));
    s.in_flight = 0;
    assert_eq!(s.timeout(false, RecoveryState::Loss), (1, 20));
    assert_eq!(s.ack(1), 2);
    assert_eq!(s.ack(18), 20);
    assert_eq!(s.ack(20), 21);
}

#[test]
fn undo_restores_window_and_threshold() {
    for (name, reduced) in [("reno", 20), ("cubic", 28)] {
        let mut s = Script::new(name, &[]);
        s.ack(30);
        assert_eq!(s.loss(), (reduced, reduced), "{name}");
        assert_eq!(s.undo(22), (40, INFINITE_SSTHRESH), "{name}");
    }
}

#[test]
fn undo_never_lowers_the_window_and_keeps_three_quarters_as_threshold() {
    let mut s = Script::new("reno", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 20);
    s.event(Congestion::Loss, RecoveryState::Disorder, 100);
    assert_eq!(s.undo(120), (120, 75));
}

#[test]
fn within_a_reduction_undo_keeps_its_threshold() {
    let mut s = Script::new("reno", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 40);
    s.event(Congestion::Timeout { reduce: true }, RecoveryState::Recovery, 30);
    assert_eq!(s.windows(), (1, 15));
    assert_eq!(s.undo(1), (30, 20));
}

#[test]
fn ecn_and_tail_loss_cannot_be_undone() {
    for kind in [Congestion::Ecn, Congestion::TailLoss] {
        let mut s = Script::new("reno", &[]);
        assert_eq!(s.event(kind, RecoveryState::Open, 40), (20, 20));
        assert_eq!(s.undo(18), (18, 20), "{kind:?}");
    }
}

#[test]
fn idle_timeouts_halve_down_to_the_restart_window() {
    let mut s = Script::new("reno", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 200);
    assert_eq!(s.report_unused(Unused::Idle { timeouts: 1, restart_window: 10 }), (50, 100));
    assert_eq!(s.report_unused(Unused::Idle { timeouts: 0, restart_window: 10 }), (50, 100));
    assert_eq!(s.report_unused(Unused::Idle { timeouts: 9, restart_window: 10 }), (10, 100));
    let mut small = Script::new("reno", &[]);
    small.timeout(true, RecoveryState::Open);
    assert_eq!(small.report_unused(Unused::Idle { timeouts: 3, restart_window: 10 }), (1, 5));
}

#[test]
fn a_window_that_is_not_used_moves_half_way_to_what_is() {
    let mut s = Script::new("reno", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 200);
    assert_eq!(s.report_unused(Unused::Underused { used: 20 }), (60, 100));
    assert_eq!(s.report_unused(Unused::Underused { used: 60 }), (60, 100));
}

#[test]
fn cubic_loses_three_tenths_and_plateaus() {
    let mut s = Script::new("cubic", NO_EXIT);
    s.ack(90);
    assert_eq!(s.loss(), (70, 70));
    // K is 4.2 s: concave towards 100, convex after.
    let windows: Vec<u32> = (0..14).map(|_| (0..5).map(|_| s.round(100)).last().unwrap()).collect();
    assert_eq!(windows, CUBIC_CYCLE);
    assert_eq!(internal(s.control.as_ref(), "k_s"), 4316.0 / 1024.0);
    // Back at 85 % of a lower maximum: fast convergence.
    let cwnd = s.cwnd();
    assert_eq!(s.loss().0, cwnd * 717 / 1024);
    let lower = s.cwnd() + 5;
    s.event(Congestion::Loss, RecoveryState::Disorder, lower);
    assert_eq!(internal(s.control.as_ref(), "w_last_max"), f64::from(lower * 1741 / 2048));
}

const CUBIC_CYCLE: [u32; 14] = [78, 86, 92, 96, 98, 100, 100, 100, 100, 100, 100, 102, 104, 108];

#[test]
fn cubic_grows_by_a_twentieth_before_it_knows_a_plateau() {
    let mut s = Script::new("cubic", NO_EXIT);
    s.event(Congestion::Timeout { reduce: true }, RecoveryState::Open, 200);
    s.ack(139);
    assert_eq!(s.windows(), (140, 140));
    assert_eq!(s.round(40), 147, "5 % of 140");
    assert_eq!(internal(s.control.as_ref(), "k_s"), 0.0);
}

#[test]
fn cubic_forgets_its_plateau_on_a_timeout() {
    let mut s = Script::new("cubic", &[]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 100);
    assert_eq!(internal(s.control.as_ref(), "w_last_max"), 100.0);
    assert_eq!(s.event(Congestion::Timeout { reduce: true }, RecoveryState::Open, 70), (1, 49));
    assert_eq!(internal(s.control.as_ref(), "w_last_max"), 0.0);
}

#[test]
fn a_pause_does_not_count_as_time_of_the_epoch() {
    let paused = |pause: bool| {
        let mut s = Script::new("cubic", NO_EXIT);
        s.event(Congestion::Loss, RecoveryState::Disorder, 1000);
        s.round(100);
        let last_sent = Some(s.now);
        s.now += Duration::from_secs(5);
        if pause {
            let now = s.now;
            s.control.on_start(&StartEvent {
                now,
                last_sent,
                app_limited: true,
                mss: 1448,
                delivered: 0,
            });
        }
        s.round(100)
    };
    // The curve stands at 719 packets 0.2 s into the epoch and at 974 after 5.1 s;
    // towards 974 the window grows by the most it may, its half.
    assert_eq!((paused(true), paused(false)), (711, 1051));
}

/// Slow start over a path of `rtt_ms`, one ACK a millisecond, a queueing delay
/// that grows by `queue_us` each ACK; returns the window at the exit.
fn exit_window(profile: &CcProfile, options: Options, rtt_ms: u64, path: Queue) -> u32 {
    let mut control = control_of("cubic", options, profile, None);
    let start = at_ms(1_000);
    let begin =
        StartEvent { now: start, last_sent: None, app_limited: false, mss: 1448, delivered: 0 };
    control.on_start(&begin);
    let (mut now, mut acked) = (start, 0);
    for round in 1..=12 {
        now = now.max(start + Duration::from_millis(rtt_ms) * round);
        let window = control.control().cwnd;
        for i in 0..u64::from(window) {
            acked += 1;
            now += Duration::from_micros(path.gap_us);
            let rtt = Duration::from_millis(rtt_ms) + path.delay(window);
            // The window in force was full before this ACK.
            let sent = acked - 1 + u64::from(window) + i;
            let mut sample = delivered_sample(now, 1, rtt, (acked, sent));
            sample.paced = path.paced;
            sample.pacing_rate = Rate::from_bps(path.pacing_bps);
            tell(control.as_mut(), &sample);
            if control.control().ssthresh < INFINITE_SSTHRESH {
                return control.control().ssthresh;
            }
        }
    }
    0
}

fn tell(control: &mut dyn CongestionControl, sample: &DeliveredSample) {
    control.on_delivered(sample);
    control.on_ack(&ack(sample.now, 1));
}

/// The queue that slow start meets.
#[derive(Clone, Copy)]
struct Queue {
    /// Distance of ACKs in us.
    gap_us: u64,
    /// Delay by each packet of the window above 32, in us.
    per_packet_us: u64,
    paced: bool,
    pacing_bps: u64,
}

impl Queue {
    fn delay(self, window: u32) -> Duration {
        Duration::from_micros(self.per_packet_us * u64::from(window.saturating_sub(32)))
    }
}

const SMOOTH: Queue =
    Queue { gap_us: 100, per_packet_us: 0, paced: false, pacing_bps: 10_000_000_000 };
const SLOW: Queue = Queue { gap_us: 2_500, ..SMOOTH };

#[test]
fn a_train_of_half_the_rtt_ends_slow_start_unless_paced() {
    let exit = |queue| exit_window(&LINUX_6_12, &[], 40, queue);
    // 320 packets in the round, and an ACK each 100 us for 20.1 ms.
    assert_eq!(exit(SMOOTH), 522);
    // Paced: 640, and 40.2 ms.
    assert_eq!(exit(Queue { paced: true, ..SMOOTH }), 1043);
    // Bursts of a slow host add 1 ms, halved.
    assert_eq!(exit(Queue { pacing_bps: 100_000_000, ..SMOOTH }), 526);
    assert_eq!(exit_window(&LINUX_6_12, &[("hystart_detect", "delay")], 40, SMOOTH), 0);
    assert_eq!(exit(SLOW), 0, "gaps above 2 ms are no train");
}

#[test]
fn a_rising_delay_ends_slow_start() {
    let rising = Queue { per_packet_us: 100, ..SLOW };
    assert_eq!(exit_window(&LINUX_6_12, &[], 40, rising), 168);
    assert_eq!(exit_window(&LINUX_6_12, &[("hystart_detect", "train")], 40, rising), 0);
    assert_eq!(exit_window(&LINUX_6_12, NO_EXIT, 40, rising), 0);
}

/// The window at HyStart's exit on 50 Mbit/s and 150 ms, unpaced: the path of the
/// commit that repaired the rounds (25c1a9ca53db), with room for everything.
fn exit_on_a_link(profile: &CcProfile) -> u32 {
    let path = Path::new(50, 150, 100_000);
    let mut flow = Flow::new(control_of("cubic", &[], profile, None), path, at_ms(1_000));
    flow.run(at_ms(4_000), |_| {});
    flow.control.control().ssthresh
}

#[test]
fn rounds_begin_where_each_kernel_begins_them() {
    // Its author saw 516 with the misplaced rounds of 5.16 to 2024, 632 without.
    let exits = [&LINUX_4_17, &LINUX_5_15, &LINUX_6_1_0, &LINUX_6_12].map(exit_on_a_link);
    assert_eq!(exits, [635, 636, 520, 636]);
}

/// Feeds rounds of 10 samples with these lowest delays in ms to a control in slow
/// start at 20 packets; returns the states after each.
fn rounds(control: &mut dyn CongestionControl, delays_ms: &[u64]) -> Vec<(u32, &'static str)> {
    let (mut now, mut acked) = (at_ms(1_000), 0);
    control.on_ack(&ack(now, 10));
    delays_ms
        .iter()
        .map(|&delay| {
            now += Duration::from_millis(delay + 50);
            for _ in 0..10 {
                acked += 1;
                now += Duration::from_millis(3);
                let sent = acked + 9;
                tell(
                    control,
                    &delivered_sample(now, 1, Duration::from_millis(delay), (acked, sent)),
                );
            }
            (control.control().cwnd, control.state())
        })
        .collect()
}

#[test]
fn the_delay_threshold_is_an_eighth_between_4_and_16_ms() {
    for (base_us, tolerated_us) in [
        (10_000, 4_000),
        (32_000, 4_000),
        (40_000, 5_000),
        (80_000, 10_000),
        (100_000, 12_500),
        (128_000, 16_000),
        (300_000, 16_000),
    ] {
        for (extra, exits) in [(0, false), (1, true)] {
            let mut control = control("cubic", &[]);
            let mut now = at_ms(1_000);
            control.on_ack(&ack(now, 10));
            control.on_delivered(&delivered_sample(
                now,
                1,
                Duration::from_micros(base_us),
                (1, 20),
            ));
            for i in 0..9 {
                now += Duration::from_millis(3);
                let rtt = Duration::from_micros(base_us + tolerated_us + extra);
                control.on_delivered(&delivered_sample(now, 1, rtt, (21 + i, 40)));
            }
            let exited = control.control().ssthresh == 20;
            assert_eq!(exited, exits, "{base_us} + {tolerated_us} + {extra} us");
        }
    }
}

#[test]
fn old_kernels_judge_a_round_by_its_first_eight_samples() {
    let exits = |profile: &CcProfile| {
        let mut control = control_of("cubic", &[], profile, None);
        let mut now = at_ms(1_000);
        control.on_ack(&ack(now, 10));
        control.on_delivered(&delivered_sample(now, 1, Duration::from_millis(40), (1, 20)));
        control.on_ack(&ack(now, 1));
        // The delay is high for eight samples, then as low as ever.
        for i in 0..10 {
            now += Duration::from_millis(3);
            let rtt = Duration::from_millis(if i < 8 { 60 } else { 40 });
            control.on_delivered(&delivered_sample(now, 1, rtt, (2 + i, 20)));
        }
        control.control().ssthresh < INFINITE_SSTHRESH
    };
    assert_eq!((exits(&LINUX_4_17), exits(&LINUX_5_15)), (true, false));
}

#[test]
fn hystart_plus_plus_slows_down_before_it_stops() {
    let mut control = control("cubic", &[("hystart", "hystart++")]);
    let states = rounds(control.as_mut(), &[40, 40, 50, 50, 50, 50, 50, 50, 50]);
    // The eighth sample of 50 ms begins five rounds of a quarter of the growth, this
    // one included.
    assert_eq!(states[..2], [(28, "slow_start"), (38, "slow_start")]);
    let windows: Vec<u32> = states[2..7].iter().map(|(cwnd, _)| *cwnd).collect();
    assert_eq!(windows, [45, 48, 50, 53, 55]);
    assert!(states[2..7].iter().all(|(_, state)| *state == "conservative_slow_start"));
    assert_eq!(states[7..], [(55, "congestion_avoidance"), (56, "congestion_avoidance")]);
}

#[test]
fn hystart_plus_plus_returns_to_slow_start_when_the_delay_falls() {
    let mut control = control("cubic", &[("hystart", "hystart++")]);
    let states = rounds(control.as_mut(), &[40, 40, 50, 50, 42, 42]);
    let expected = [
        (28, "slow_start"),
        (38, "slow_start"),
        (45, "conservative_slow_start"),
        (48, "conservative_slow_start"),
        (53, "slow_start"),
        (63, "slow_start"),
    ];
    assert_eq!(states, expected);
}

#[test]
fn hystart_plus_plus_grows_by_eight_packets_an_ack_unless_paced() {
    let mut s = Script::new("cubic", &[("hystart", "hystart++")]);
    assert_eq!(s.ack(20), 18);
    let mut sample = delivered_sample(s.now, 1, Duration::from_millis(40), (1, 20));
    sample.paced = true;
    s.control.on_delivered(&sample);
    assert_eq!(s.ack(20), 38);
}

#[test]
fn rfc_9438_follows_the_same_curve_and_returns_after_a_spurious_loss() {
    let options = &[("hystart", "off"), ("rfc9438", "true")];
    let mut s = Script::new("cubic", options);
    s.ack(90);
    assert_eq!(s.loss(), (70, 70));
    let windows: Vec<u32> = (0..14).map(|_| (0..5).map(|_| s.round(100)).last().unwrap()).collect();
    assert_eq!(windows, [78, 86, 91, 95, 98, 99, 100, 100, 100, 100, 101, 103, 108, 113]);
    let before = s.cwnd();
    s.loss();
    assert_eq!(internal(s.control.as_ref(), "w_last_max"), f64::from(before));
    s.undo(before);
    assert_eq!(s.cwnd(), before);
    assert_eq!(internal(s.control.as_ref(), "w_last_max"), 100.0, "the curve is restored too");
}

#[test]
fn rfc_9438_emulates_reno_fully_above_the_old_maximum() {
    // 10 ms: Reno's region. 20 rounds of about half a packet, then whole ones.
    let mut s = Script::new("cubic", &[("hystart", "off"), ("rfc9438", "true")]);
    s.event(Congestion::Loss, RecoveryState::Disorder, 20);
    let mut samples = Vec::new();
    for _ in 0..5 {
        samples.push((0..4).map(|_| s.round(10)).last().unwrap());
    }
    assert_eq!(samples, [16, 18, 20, 24, 28]);
}
