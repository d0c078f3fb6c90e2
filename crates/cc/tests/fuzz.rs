//! Every control, under any plausible sequence of what a sender may tell it.

mod common;

use common::{MSS, Options, internal};
use narrows_base::{Duration, Rate, Stream, Time};
use narrows_cc::{
    AckSample, AtSend, CONTROLS, CcConfig, Congestion, CongestionControl, CongestionEvent,
    DeliveredSample, LostPacket, PROFILES, Progress, RateSample, RecoveryState, StartEvent,
    UndoEvent, Unused,
};
use proptest::prelude::*;

/// What may happen to a sender.
#[derive(Clone, Debug)]
enum Operation {
    Ack { acked: u32, lost: u32, rtt_us: Option<u64>, app_limited: bool, limited: bool },
    Enter(Congestion),
    Leave,
    Undo,
    Start { app_limited: bool },
    Unused(Unused),
    Wait { micros: u64 },
}

fn operation() -> impl Strategy<Value = Operation> {
    let rtt = prop_oneof![Just(None), (1_u64..2_000_000).prop_map(Some)];
    let ack = (0_u32..200, 0_u32..50, rtt, any::<bool>(), any::<bool>()).prop_map(
        |(acked, lost, rtt_us, app_limited, limited)| Operation::Ack {
            acked,
            lost,
            rtt_us,
            app_limited,
            limited,
        },
    );
    prop_oneof![
        12 => ack,
        2 => congestion().prop_map(Operation::Enter),
        2 => Just(Operation::Leave),
        1 => Just(Operation::Undo),
        1 => any::<bool>().prop_map(|app_limited| Operation::Start { app_limited }),
        1 => unused().prop_map(Operation::Unused),
        6 => (1_u64..300_000).prop_map(|micros| Operation::Wait { micros }),
        1 => (1_u64..600_000_000).prop_map(|micros| Operation::Wait { micros }),
    ]
}

fn congestion() -> impl Strategy<Value = Congestion> {
    prop_oneof![
        Just(Congestion::Loss),
        Just(Congestion::Ecn),
        Just(Congestion::TailLoss),
        any::<bool>().prop_map(|reduce| Congestion::Timeout { reduce }),
    ]
}

fn unused() -> impl Strategy<Value = Unused> {
    prop_oneof![
        (0_u32..100).prop_map(|timeouts| Unused::Idle { timeouts, restart_window: 10 }),
        (10_u32..1_000).prop_map(|used| Unused::Underused { used }),
    ]
}

/// How large the numbers are.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Packets that each packet of an operation stands for.
    packets: u32,
    /// Most packets in flight.
    most: u32,
    mss: u32,
}

const ORDINARY: Scale = Scale { packets: 1, most: 100_000, mss: MSS };
/// Windows of 10^7 packets and beyond, of jumbo frames.
const HUGE: Scale = Scale { packets: 100_000, most: 1_000_000_000, mss: 8_948 };

/// A sender's bookkeeping, consistent but otherwise at the mercy of the operations.
struct Sender {
    control: Box<dyn CongestionControl>,
    scale: Scale,
    now: Time,
    state: RecoveryState,
    in_flight: u32,
    delivered: u64,
    /// Of these, with marks.
    marked: u64,
    lost: u64,
    delivered_at: Time,
    last_sent: Option<Time>,
}

impl Sender {
    fn new(control: Box<dyn CongestionControl>, scale: Scale) -> Self {
        Self {
            control,
            scale,
            now: Time::ZERO,
            state: RecoveryState::Open,
            in_flight: 0,
            delivered: 0,
            marked: 0,
            lost: 0,
            delivered_at: Time::ZERO,
            last_sent: None,
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Ack { acked, lost, rtt_us, app_limited, limited } => {
                self.send();
                self.ack(*acked, *lost, *rtt_us, [*app_limited, *limited]);
            }
            Operation::Enter(kind) => self.enter(*kind),
            Operation::Leave => self.state = RecoveryState::Open,
            Operation::Undo => self.undo(),
            Operation::Start { app_limited } => self.start(*app_limited),
            Operation::Unused(unused) => self.control.on_unused(*unused),
            Operation::Wait { micros } => self.now += Duration::from_micros(*micros),
        }
    }

    fn send(&mut self) {
        self.in_flight = self.in_flight.max(self.control.control().cwnd.min(self.scale.most));
        self.last_sent = Some(self.now);
    }

    fn sent_total(&self) -> u64 {
        self.delivered + u64::from(self.in_flight)
    }

    fn ack(&mut self, acked: u32, lost: u32, rtt_us: Option<u64>, flags: [bool; 2]) {
        let prior_in_flight = self.in_flight;
        let acked = (acked * self.scale.packets).min(self.in_flight);
        let lost = (lost * self.scale.packets).min(self.in_flight - acked);
        self.in_flight -= acked + lost;
        let prior_delivered = self.delivered.saturating_sub(u64::from(prior_in_flight));
        self.delivered += u64::from(acked);
        self.marked += if flags[0] { u64::from(acked) } else { 0 };
        let at_send = AtSend {
            in_flight: prior_in_flight,
            lost: u32::try_from(self.lost % (1 << 32)).expect("a remainder").wrapping_sub(lost / 2),
        };
        let packets = self.scale.packets;
        (0..lost / packets).for_each(|_| self.lose(packets, at_send, flags[0]));
        self.lost += u64::from(lost % packets);
        if acked > 0 {
            self.delivered_at = self.now;
        }
        let rtt = rtt_us.map(Duration::from_micros);
        let pacing_rate = self.control.control().pacing_rate;
        self.control.on_delivered(&DeliveredSample {
            now: self.now,
            acked,
            rtt,
            in_flight: self.in_flight,
            progress: Progress::new(self.delivered, self.sent_total()),
            paced: pacing_rate.is_some(),
            pacing_rate: pacing_rate.unwrap_or(Rate::from_bps(0)),
            cwnd_limited: flags[1],
            ece: flags[0] && acked > 0,
            delivered_ce: self.marked,
            delivered: self.delivered,
            prr_cwnd: None,
        });
        let interval = rtt.filter(|_| acked > 0);
        let rate = interval.map(|interval| RateSample {
            delivered: self.delivered - prior_delivered,
            interval,
            prior_delivered,
            app_limited: flags[0],
            at_send: flags[1].then_some(at_send),
        });
        let srtt = rtt.unwrap_or(Duration::ZERO);
        let sample = AckSample {
            now: self.now,
            mss: self.scale.mss,
            acked,
            lost,
            in_flight: self.in_flight,
            prior_in_flight,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost_total: self.lost,
            rate,
            rtt,
            srtt,
            min_rtt: rtt.unwrap_or(Duration::MAX),
            ack_delayed: flags[0] && acked == 1,
            state: self.state,
            may_grow: !self.state.is_reducing(),
            cwnd_limited: flags[1],
            departure: self.now + srtt,
        };
        self.control.on_ack(&sample);
    }

    /// Loses packets; the control hears of the last one.
    fn lose(&mut self, packets: u32, at_send: AtSend, app_limited: bool) {
        self.lost += u64::from(packets);
        self.control.on_lost(&LostPacket {
            now: self.now,
            at_send,
            app_limited,
            lost_total: self.lost,
            delivered: self.delivered,
        });
    }

    fn enter(&mut self, kind: Congestion) {
        let next = match kind {
            Congestion::Loss => RecoveryState::Recovery,
            Congestion::Ecn => RecoveryState::Cwr,
            Congestion::TailLoss => RecoveryState::Open,
            Congestion::Timeout { .. } => RecoveryState::Loss,
        };
        if next < RecoveryState::Loss && self.state >= RecoveryState::Cwr {
            return;
        }
        let event = CongestionEvent {
            now: self.now,
            kind,
            state: self.state,
            cwnd: self.control.control().cwnd,
            in_flight: self.in_flight,
            mss: self.scale.mss,
            delivered: self.delivered,
            lost_total: self.lost,
            progress: Progress::new(self.delivered, self.sent_total()),
        };
        self.control.on_congestion(&event);
        self.state = next;
    }

    fn undo(&mut self) {
        if self.state >= RecoveryState::Recovery {
            let event = UndoEvent {
                now: self.now,
                cwnd: self.control.control().cwnd,
                delivered: self.delivered,
                lost_total: self.lost,
            };
            self.control.on_undo(&event);
            self.state = RecoveryState::Open;
        }
    }

    fn start(&mut self, app_limited: bool) {
        self.in_flight = 0;
        let event = StartEvent {
            now: self.now,
            last_sent: self.last_sent,
            app_limited,
            mss: self.scale.mss,
            delivered: self.delivered,
        };
        self.control.on_start(&event);
        self.last_sent = Some(self.now);
    }

    fn check(&self) {
        let control = self.control.control();
        assert!(control.cwnd >= 1, "{control:?}");
        assert!(control.ssthresh >= 1, "{control:?}");
        assert!(control.pacing_rate.is_none_or(|rate| rate > Rate::from_bps(0)), "{control:?}");
        self.control.inspect(&mut |name, value| assert!(value.is_finite(), "{name} is {value}"));
        let segs = self.control.min_tso_segs(control.pacing_rate.unwrap_or_default());
        assert!((1..=2).contains(&segs));
    }
}

type Variant = (&'static str, Options<'static>);

/// Options that choose another algorithm within a control.
const VARIANTS: [Variant; 5] = [
    ("cubic", &[("hystart", "off")]),
    ("cubic", &[("hystart", "hystart++")]),
    ("cubic", &[("rfc9438", "true"), ("hystart", "hystart++")]),
    (
        "bbr",
        &[
            ("probe_rtt_gain", "0.75"),
            ("bw_window_rounds", "3"),
            ("startup_hystart", "true"),
            ("adaptive_cap", "true"),
            ("rtprop", "confirm"),
            ("rtprop_probes", "2"),
            ("buffer_model", "10s"),
            ("prr_recovery", "true"),
            ("drain_to_target", "true"),
        ],
    ),
    ("bbr", &[("rtprop", "keep"), ("full_bw_rounds", "1"), ("prr_recovery", "true")]),
];

fn senders(profile: usize, initial_rtt_us: Option<u64>, scale: Scale) -> Vec<Sender> {
    let (_, profile) = PROFILES[profile % PROFILES.len()];
    let plain = CONTROLS.iter().map(|entry| (entry.info.name, &[] as Options));
    let build = |(name, options)| {
        let config = CcConfig {
            mss: scale.mss,
            initial_cwnd: 10 * scale.packets,
            initial_rtt: initial_rtt_us.map(Duration::from_micros),
            profile,
            random: Stream::new(1, name),
            options: common::values(name, options),
        };
        let control = narrows_cc::build(name, config).expect("a control of the tests");
        Sender::new(control, scale)
    };
    plain.chain(VARIANTS).map(build).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_sequence_keeps_a_window_and_a_rate(
        profile in 0_usize..6,
        initial_rtt_us in prop_oneof![Just(None), (1_u64..1_000_000).prop_map(Some)],
        operations in proptest::collection::vec(operation(), 1..400),
    ) {
        for mut sender in senders(profile, initial_rtt_us, ORDINARY) {
            for operation in &operations {
                sender.apply(operation);
                sender.check();
            }
        }
    }

    #[test]
    fn windows_of_ten_million_packets_overflow_nothing(
        profile in 0_usize..6,
        initial_rtt_us in prop_oneof![Just(None), (1_u64..100_000_000).prop_map(Some)],
        operations in proptest::collection::vec(operation(), 1..200),
    ) {
        for mut sender in senders(profile, initial_rtt_us, HUGE) {
            for operation in &operations {
                sender.apply(operation);
                sender.check();
            }
        }
    }

    #[test]
    fn the_same_sequence_gives_the_same_windows(
        operations in proptest::collection::vec(operation(), 1..100),
    ) {
        let windows = || -> Vec<_> {
            let mut all = senders(5, Some(40_000), ORDINARY);
            for sender in &mut all {
                operations.iter().for_each(|operation| sender.apply(operation));
            }
            all.iter().map(|sender| sender.control.control()).collect()
        };
        prop_assert_eq!(windows(), windows());
    }
}

#[test]
fn bbr_never_leaves_its_gains() {
    let mut sender = senders(5, Some(40_000), ORDINARY).swap_remove(0);
    for i in 0..5_000_u64 {
        let rtt_us = Some(40_000 + i % 7_000);
        let ack = Operation::Ack { acked: 2, lost: 0, rtt_us, app_limited: false, limited: true };
        sender.apply(&ack);
        sender.apply(&Operation::Wait { micros: 5_000 });
        let gain = internal(sender.control.as_ref(), "pacing_gain");
        assert!((0.34..2.9).contains(&gain), "{gain}");
    }
}
