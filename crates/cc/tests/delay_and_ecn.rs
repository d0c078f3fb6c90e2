//! Transcripts of Vegas, Westwood+ and DCTCP: what happens, and the window after it.

use crate::common::link::{Flow, Path};
use crate::common::{Options, ack, at_ms, control, control_of, delivered_sample, internal};
use narrows_base::{Duration, Time};
use narrows_cc::{
    AckSample, Congestion, CongestionControl, CongestionEvent, DeliveredSample, LINUX_6_12,
    Progress, RecoveryState, StartEvent, Unused,
};

/// A control, the clock of its transcript, and what was delivered.
struct Script {
    control: Box<dyn CongestionControl>,
    now: Time,
    acked: u64,
    marked: u64,
}

impl Script {
    fn new(name: &str, options: Options) -> Self {
        let mut script =
            Self { control: control(name, options), now: at_ms(1_000), acked: 0, marked: 0 };
        script.start();
        script
    }

    fn start(&mut self) {
        self.control.on_start(&StartEvent {
            now: self.now,
            last_sent: None,
            app_limited: false,
            mss: 1448,
            delivered: self.acked,
        });
    }

    fn windows(&self) -> (u32, u32) {
        let control = self.control.control();
        (control.cwnd, control.ssthresh)
    }

    /// ACKs of single packets for a window, each with this RTT in ms; `marked` of them
    /// were marked.
    fn round(&mut self, rtt_ms: u64, marked: u64) -> u32 {
        let window = self.windows().0;
        self.now += Duration::from_millis(rtt_ms);
        for i in 0..u64::from(window) {
            self.acked += 1;
            self.marked += u64::from(i < marked);
            let edges = (self.acked, self.acked + u64::from(window) - 1);
            let sample = delivered_sample(self.now, 1, Duration::from_millis(rtt_ms), edges);
            let delivered_ce = self.marked;
            self.control.on_delivered(&DeliveredSample { delivered_ce, ..sample });
            self.control.on_ack(&ack(self.now, 1));
        }
        self.windows().0
    }

    fn event(&mut self, kind: Congestion) -> (u32, u32) {
        self.control.on_congestion(&CongestionEvent {
            kind,
            now: self.now,
            cwnd: self.windows().0,
            in_flight: 0,
            progress: Progress::new(self.acked, self.acked),
            ..crate::common::loss(0)
        });
        self.windows()
    }

    fn ack_in(&mut self, state: RecoveryState) -> (u32, u32) {
        let may_grow = !state.is_reducing();
        self.control.on_ack(&AckSample { state, may_grow, ..ack(self.now, 1) });
        self.windows()
    }
}

#[test]
fn vegas_leaves_slow_start_with_more_than_a_packet_queued() {
    let mut s = Script::new("vegas", &[]);
    assert_eq!(s.round(100, 0), 20);
    // 2 of 20 packets queued; the round is judged with the first ACK after it.
    s.round(110, 0);
    s.round(110, 0);
    assert!(s.windows().0 < 40 && s.windows().1 < 40, "{:?}", s.windows());
    assert_eq!(s.control.state(), "congestion_avoidance");
}

#[test]
fn vegas_holds_two_to_four_packets_in_the_queue() {
    let mut s = Script::new("vegas", &[]);
    s.round(100, 0);
    s.event(Congestion::Loss);
    s.ack_in(RecoveryState::Recovery);
    s.ack_in(RecoveryState::Open);
    s.round(100, 0);
    let cwnd = s.round(100, 0);
    assert_eq!(s.round(100, 0), cwnd + 1, "nothing queued");
    // 3 of about 12 packets: a quarter above the lowest RTT.
    s.round(100 + 300 / u64::from(cwnd), 0);
    let held = s.round(100 + 300 / u64::from(cwnd), 0);
    assert_eq!(s.round(100 + 300 / u64::from(cwnd), 0), held);
    s.round(200, 0);
    let before = s.round(200, 0);
    assert_eq!(s.round(200, 0), before - 1, "more than four queued");
}

#[test]
fn vegas_forgets_the_lowest_rtt_when_it_idles() {
    let mut s = Script::new("vegas", &[]);
    s.round(100, 0);
    assert_eq!(internal(s.control.as_ref(), "base_rtt_ms").round(), 100.0);
    s.control.on_unused(Unused::Idle { timeouts: 1, restart_window: 10 });
    s.round(150, 0);
    assert_eq!(internal(s.control.as_ref(), "base_rtt_ms").round(), 150.0);
}

#[test]
fn vegas_alone_keeps_a_short_queue() {
    let path = Path::new(10, 40, 1_000);
    let control = control_of("vegas", &[], &LINUX_6_12, Some(path.rtt));
    let mut flow = Flow::new(control, path, Time::ZERO);
    flow.run(at_ms(10_000), |_| {});
    let mut longest = 0;
    let before = flow.delivered;
    flow.run(at_ms(20_000), |flow| longest = longest.max(flow.queue()));
    assert!(longest <= 6, "{longest} packets");
    assert!(flow.delivered - before > 8_200, "{} of 8333", flow.delivered - before);
}

#[test]
fn dctcp_reduces_by_half_of_the_marked_share() {
    let mut s = Script::new("dctcp", &[]);
    s.event(Congestion::Loss);
    s.ack_in(RecoveryState::Open);
    for _ in 0..90 {
        s.round(1, 0);
    }
    assert!(internal(s.control.as_ref(), "alpha") < 0.02, "no marks for sixty windows");
    let (cwnd, _) = s.windows();
    let (reduced, _) = s.event(Congestion::Ecn);
    assert!(reduced + 8 > cwnd && reduced <= cwnd, "{reduced} of {cwnd}");
    assert_eq!(s.event(Congestion::Loss).0, reduced / 2, "losses halve");
}

#[test]
fn dctcp_estimates_the_share_with_a_weight_of_a_sixteenth() {
    let mut s = Script::new("dctcp", &[("alpha_on_init", "0")]);
    s.event(Congestion::Loss);
    s.ack_in(RecoveryState::Open);
    s.round(1, 0);
    let cwnd = u64::from(s.windows().0);
    s.round(1, cwnd);
    s.round(1, 0);
    let alpha = internal(s.control.as_ref(), "alpha");
    assert!((0.02..0.123).contains(&alpha), "a sixteenth of each of two windows: {alpha}");
}

#[test]
fn dctcp_begins_by_halving() {
    let mut s = Script::new("dctcp", &[]);
    assert_eq!(s.event(Congestion::Ecn), (5, 5));
    let mut calm = Script::new("dctcp", &[("alpha_on_init", "512")]);
    assert_eq!(calm.event(Congestion::Ecn), (8, 8), "10 - 10 x 512/2048");
}

#[test]
fn a_loss_within_cwr_halves_what_prr_has_left() {
    let mut s = Script::new("dctcp", &[("alpha_on_init", "0")]);
    assert_eq!(s.event(Congestion::Ecn), (10, 10));
    let edges = (1, 20);
    let sample = delivered_sample(s.now, 1, Duration::from_millis(1), edges);
    s.control.on_delivered(&DeliveredSample { prr_cwnd: Some(9), ..sample });
    assert_eq!(s.ack_in(RecoveryState::Recovery), (4, 4));
}

#[test]
fn westwood_returns_to_what_the_path_delivered() {
    let mut s = Script::new("westwood", &[]);
    // 100 ms, and windows of at most 30 packets.
    for _ in 0..40 {
        if s.windows().0 > 30 {
            break;
        }
        s.round(100, 0);
    }
    let measured = internal(s.control.as_ref(), "measured_cwnd");
    let (cwnd, _) = s.windows();
    assert_eq!(s.event(Congestion::Loss), (cwnd / 2, cwnd / 2), "Reno's way down");
    assert_eq!(s.ack_in(RecoveryState::Recovery).0, cwnd / 2);
    let (after, ssthresh) = s.ack_in(RecoveryState::Open);
    assert_eq!(f64::from(ssthresh), measured);
    assert_eq!(after, ssthresh);
}

#[test]
fn westwood_keeps_its_bandwidth_through_random_loss() {
    // An occasional loss on a path with room: Reno halves, Westwood doesn't.
    let window = |name| {
        let mut s = Script::new(name, &[]);
        for round in 1..200 {
            s.round(100, 0);
            if round % 20 == 0 || s.windows().0 > 200 {
                s.event(Congestion::Loss);
                s.ack_in(RecoveryState::Recovery);
                s.ack_in(RecoveryState::Open);
            }
        }
        s.windows().0
    };
    assert!(
        window("westwood") > 3 * window("reno") / 2,
        "{} {}",
        window("westwood"),
        window("reno")
    );
}

#[test]
fn westwood_takes_a_timeouts_threshold_from_the_bandwidth_and_a_fresh_lowest_rtt() {
    let mut s = Script::new("westwood", &[]);
    for _ in 0..6 {
        s.round(100, 0);
    }
    let measured = internal(s.control.as_ref(), "measured_cwnd");
    let (cwnd, ssthresh) = s.event(Congestion::Timeout { reduce: true });
    assert_eq!((cwnd, f64::from(ssthresh)), (1, measured));
    s.round(200, 0);
    let later = internal(s.control.as_ref(), "measured_cwnd");
    assert!(later >= 1.5 * measured, "twice the RTT: {later} after {measured}");
}
