//! NV, CDG and TCP-LP: what makes them yield, tested with computed ACKs.

use crate::common::{Options, at_ms, control, delivered_sample, internal};
use narrows_base::{Duration, Time};
use narrows_cc::{
    AckSample, CongestionControl, DeliveredSample, Progress, RecoveryState, StartEvent,
};

const MS: Duration = Duration::from_millis(1);
const STEADY: Options = &[("random_timestamps", "false")];

/// A flow whose packets are acknowledged one by one, `window` of them per round trip.
struct Flow {
    control: Box<dyn CongestionControl>,
    now: Time,
    acked: u64,
    /// How long packets wait on the way to the receiver, in ms.
    queued_ms: u64,
    /// ACKs after which it asked for a reduction.
    asked: u32,
}

impl Flow {
    fn new(name: &str, options: Options) -> Self {
        let (mut control, now) = (control(name, options), at_ms(1_000));
        let (last_sent, app_limited) = (None, false);
        control.on_start(&StartEvent { now, last_sent, app_limited, mss: 1448, delivered: 0 });
        Self { control, now, acked: 0, queued_ms: 0, asked: 0 }
    }

    /// A round trip of `rtt_ms` with an ACK for each packet of the window.
    fn round(&mut self, rtt_ms: u64) {
        let window = u64::from(self.control.control().cwnd);
        let gap = MS * rtt_ms / window;
        for _ in 0..window {
            self.now += gap;
            self.acked += 1;
            self.ack(window, MS * rtt_ms);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a few seconds")]
    fn ack(&mut self, window: u64, rtt: Duration) {
        let now_ms = (self.now.as_micros() / 1_000) as u32;
        let echo_ms = now_ms - (rtt.as_micros() / 1_000) as u32;
        let sample = DeliveredSample {
            progress: Progress::new(self.acked, self.acked + window),
            delivered: self.acked,
            prior_delivered: self.acked.saturating_sub(window),
            stamp_ms: echo_ms + 10 + self.queued_ms as u32,
            echo_ms,
            ..delivered_sample(self.now, 1, rtt, (self.acked, self.acked + window))
        };
        self.control.on_delivered(&sample);
        let ack = AckSample { state: RecoveryState::Open, ..crate::common::ack(self.now, 1) };
        self.control.on_ack(&ack);
        self.asked += u32::from(self.control.requests_cwr());
    }

    fn cwnd(&self) -> u32 {
        self.control.control().cwnd
    }
}

#[test]
fn nv_shrinks_to_what_its_rate_needs_and_its_pad() {
    let mut flow = Flow::new("nv", &[]);
    (0..4).for_each(|_| flow.round(20));
    let before = flow.cwnd();
    assert!(before > 100, "slow start at the lowest RTT: {before}");
    // The RTT doubles: the same window gives half the rate, and the rest is queued.
    (0..12).for_each(|_| flow.round(40));
    assert!(flow.cwnd() < before * 3 / 4, "{} of {before}", flow.cwnd());
    assert!(flow.control.control().ssthresh < before);
}

#[test]
fn nv_forgets_the_lowest_rtt_after_its_period() {
    let mut flow = Flow::new("nv", &[("reset_period", "1s")]);
    (0..4).for_each(|_| flow.round(20));
    (0..150).for_each(|_| flow.round(40));
    let lowest_ms = internal(flow.control.as_ref(), "min_rtt_ms");
    assert!((lowest_ms - 40.0).abs() < 0.01, "{lowest_ms}");
}

#[test]
fn cdg_asks_for_a_reduction_when_the_rtt_grows() {
    let mut flow = Flow::new("cdg", &[]);
    (0..40).for_each(|round| flow.round(20 + 2 * round));
    // CDG backs off at most 5 times without effect.
    assert_eq!(flow.asked, 5);
    let mut calm = Flow::new("cdg", &[]);
    (0..40).for_each(|_| calm.round(20));
    assert_eq!((calm.asked, calm.control.needs().reductions), (0, true));
    assert!(calm.cwnd() > flow.cwnd());
}

#[test]
fn other_controls_never_ask_for_a_reduction() {
    for name in ["reno", "cubic", "bbr", "vegas", "nv", "lp"] {
        assert!(!control(name, &[]).needs().reductions, "{name}");
    }
}

/// The clocks of both ends run at the same rate, and the one-way delay never changes. Only the
/// first sample costs half the window: it is both the lowest and the highest.
#[test]
fn lp_is_reno_as_long_as_it_sees_no_queue() {
    let (mut lp, mut reno) = (Flow::new("lp", STEADY), Flow::new("reno", &[]));
    for flow in [&mut lp, &mut reno] {
        flow.control.on_threshold(40);
        (0..30).for_each(|_| flow.round(40));
    }
    assert!((1..6).contains(&(reno.cwnd() - lp.cwnd())), "{} beside {}", lp.cwnd(), reno.cwnd());
}

#[test]
fn lp_reduces_without_a_loss_when_the_one_way_delay_grows() {
    let mut flow = Flow::new("lp", STEADY);
    flow.control.on_threshold(40);
    (0..30).for_each(|_| flow.round(40));
    let before = flow.cwnd();
    flow.queued_ms = 30;
    (0..2).for_each(|_| flow.round(70));
    assert!(flow.cwnd() < before, "{} of {before}", flow.cwnd());
}
