//! Every control, under any plausible sequence of what a sender may tell it.

use crate::common::{Options, internal};
use narrows_base::{Duration, Stream};
use narrows_cc::contract::{HUGE, ModelSender, ORDINARY, Operation, Scale};
use narrows_cc::{CONTROLS, CcConfig, Congestion, PROFILES, Unused};
use proptest::prelude::*;

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
        1 => any_unused().prop_map(Operation::Unused),
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

fn any_unused() -> impl Strategy<Value = Unused> {
    prop_oneof![
        (0_u32..100).prop_map(|timeouts| Unused::Idle { timeouts, restart_window: 10 }),
        (10_u32..1_000).prop_map(|used| Unused::Underused { used }),
    ]
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
            ("startup_capacity", "true"),
            ("adaptive_cap", "true"),
            ("rtprop", "confirm"),
            ("rtprop_probes", "2"),
            ("buffer_model", "10s"),
            ("buffer_growth", "1.25"),
            ("prr_recovery", "true"),
            ("drain_to_target", "true"),
        ],
    ),
    ("bbr", &[("rtprop", "keep"), ("full_bw_rounds", "1"), ("prr_recovery", "true")]),
];

fn senders(profile: usize, initial_rtt_us: Option<u64>, scale: Scale) -> Vec<ModelSender> {
    let (_, profile) = PROFILES[profile % PROFILES.len()];
    let plain = CONTROLS.iter().map(|entry| (entry.info.name, &[] as Options));
    let build = |(name, options)| {
        let config = CcConfig {
            mss: scale.mss,
            initial_cwnd: 10 * scale.packets,
            initial_rtt: initial_rtt_us.map(Duration::from_micros),
            profile,
            random: Stream::new(1, name),
            options: &crate::common::values(name, options),
        };
        let control = narrows_cc::build(name, config).expect("a control of the tests");
        ModelSender::new(control, scale)
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
