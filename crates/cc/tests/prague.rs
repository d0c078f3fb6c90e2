//! Prague's rules, one by one, over a scripted sender.

use crate::common::{MSS, at_ms, control_of, internal};
use narrows_base::{Duration, Time};
use narrows_cc::{
    AckSample, Congestion, CongestionControl, CongestionEvent, DeliveredSample, LINUX_6_12,
    Progress, RecoveryState,
};

/// A sender on a path of `rtt_ms`, whose windows are acknowledged one at a time.
struct Sender {
    control: Box<dyn CongestionControl>,
    rtt: Duration,
    now: Time,
    delivered: u64,
    marked: u64,
    state: RecoveryState,
}

impl Sender {
    fn new(rtt_ms: u64) -> Self {
        let rtt = Duration::from_millis(rtt_ms);
        let control = control_of("prague", &[], &LINUX_6_12, Some(rtt));
        let (now, state) = (at_ms(1_000), RecoveryState::Open);
        Self { control, rtt, now, delivered: 0, marked: 0, state }
    }

    fn cwnd(&self) -> u32 {
        self.control.control().cwnd
    }

    fn window(&self) -> f64 {
        internal(self.control.as_ref(), "frac_cwnd")
    }

    /// Acknowledges `acked` packets, `marked` of them with marks; `edge` is what was sent.
    fn ack(&mut self, acked: u32, marked: u32, edge: u64) {
        self.delivered += u64::from(acked);
        self.marked += u64::from(marked);
        self.control.on_delivered(&DeliveredSample {
            now: self.now,
            acked,
            rtt: Some(self.rtt),
            in_flight: self.cwnd() - acked.min(self.cwnd()),
            progress: Progress::new(self.delivered, edge),
            paced: true,
            pacing_rate: self.control.control().pacing_rate.unwrap_or_default(),
            cwnd_limited: true,
            ece: marked > 0,
            delivered_ce: self.marked,
            delivered: self.delivered,
            ..DeliveredSample::default()
        });
        if marked > 0 && self.state == RecoveryState::Open {
            self.enter(Congestion::Ecn, RecoveryState::Cwr);
        }
        self.control.on_ack(&AckSample {
            now: self.now,
            mss: MSS,
            acked,
            in_flight: self.cwnd(),
            prior_in_flight: self.cwnd(),
            delivered: self.delivered,
            delivered_at: self.now,
            rtt: Some(self.rtt),
            srtt: self.rtt,
            min_rtt: self.rtt,
            state: self.state,
            may_grow: true,
            cwnd_limited: true,
            departure: self.now,
            ..AckSample::default()
        });
    }

    /// A round trip: a window packet by packet, the first `marked` of them with marks.
    fn round(&mut self, marked: u32) {
        self.state = RecoveryState::Open;
        let (cwnd, start) = (self.cwnd(), self.now);
        let edge = self.delivered + 2 * u64::from(cwnd);
        for at in 0..cwnd {
            let part = self.rtt.as_nanos() * u64::from(at + 1) / u64::from(cwnd);
            self.now = start + Duration::from_nanos(part);
            self.ack(1, u32::from(at < marked), edge);
        }
    }

    fn enter(&mut self, kind: Congestion, state: RecoveryState) {
        self.control.on_congestion(&CongestionEvent {
            now: self.now,
            kind,
            state: self.state,
            cwnd: self.cwnd(),
            in_flight: self.cwnd(),
            mss: MSS,
            delivered: self.delivered,
            lost_total: 0,
            progress: Progress::new(self.delivered, self.delivered + u64::from(self.cwnd())),
        });
        self.state = state;
    }
}

#[test]
fn slow_start_doubles_and_the_first_mark_halves() {
    let mut sender = Sender::new(40);
    sender.round(0);
    assert_eq!(sender.cwnd(), 20);
    sender.round(1);
    // Half of twenty, and what the other nineteen packets add.
    assert!((11.0..12.5).contains(&sender.window()), "{}", sender.window());
    assert_eq!(sender.control.state(), "congestion_avoidance");
}

#[test]
fn a_round_without_marks_adds_a_packet_above_the_target_round_trip() {
    let mut sender = Sender::new(40);
    sender.round(0);
    sender.round(1);
    (0..10).for_each(|_| sender.round(0));
    let before = sender.window();
    (0..10).for_each(|_| sender.round(0));
    let grown = sender.window() - before;
    assert!((8.5..10.5).contains(&grown), "{grown} packets in ten rounds");
}

#[test]
fn short_round_trips_grow_by_the_square_of_their_length() {
    let mut sender = Sender::new(5);
    sender.round(0);
    sender.round(1);
    (0..20).for_each(|_| sender.round(0));
    let before = sender.window();
    (0..50).for_each(|_| sender.round(0));
    let grown = sender.window() - before;
    // (5 / 25)^2 of a packet a round.
    assert!((1.6..2.4).contains(&grown), "{grown} packets in fifty rounds");
}

#[test]
fn the_share_of_marks_moves_the_estimate_by_a_sixteenth() {
    let mut sender = Sender::new(40);
    sender.round(0);
    sender.round(1);
    (0..20).for_each(|_| sender.round(0));
    let before = internal(sender.control.as_ref(), "alpha");
    let cwnd = sender.cwnd();
    sender.round(cwnd);
    sender.round(0);
    let after = internal(sender.control.as_ref(), "alpha");
    assert!((0.05..0.13).contains(&(after - before)), "{before}, then {after}");
}

#[test]
fn it_gives_way_by_half_the_share_and_a_loss_takes_half() {
    let mut sender = Sender::new(40);
    (0..3).for_each(|_| sender.round(0));
    sender.round(1);
    for _ in 0..60 {
        let cwnd = sender.cwnd();
        sender.round(cwnd / 2);
    }
    let (alpha, before) = (internal(sender.control.as_ref(), "alpha"), sender.window());
    assert!((0.4..0.6).contains(&alpha), "{alpha}");
    sender.state = RecoveryState::Open;
    sender.now += Duration::from_secs(1);
    sender.enter(Congestion::Ecn, RecoveryState::Cwr);
    let after = sender.window();
    assert!((after / before - (1.0 - alpha / 2.0)).abs() < 0.02, "{before}, then {after}");
    sender.enter(Congestion::Loss, RecoveryState::Recovery);
    assert!((sender.window() / after - 0.5).abs() < 0.01);
}

#[test]
fn bursts_last_a_quarter_of_a_millisecond() {
    let mut sender = Sender::new(10);
    assert_eq!(sender.control.max_tso_segs(), 1, "12 Mbit/s");
    (0..8).for_each(|_| sender.round(0));
    let rate = sender.control.control().pacing_rate.expect("a rate").as_bytes_per_sec();
    let burst = u64::from(sender.control.max_tso_segs());
    assert!(burst > 1);
    assert_eq!(burst, rate / 1_500 / 4_096);
}
