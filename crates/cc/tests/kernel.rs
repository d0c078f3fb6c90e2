//! Bit for bit: long random scripts give the same windows, thresholds and rates as
//! the kernel's own functions.
//!
//! The digests were taken while `tcp_cubic.c`, `tcp_bbr.c`, `tcp_vegas.c`,
//! `tcp_westwood.c` and `tcp_dctcp.c` of Linux 6.12, compiled at HZ 250 around a stub
//! of the TCP core, went through the same scripts and agreed at every step. They
//! change only if behaviour does.

mod common;

use common::control_of;
use common::script::{Script, Step};
use narrows_base::Duration;
use narrows_cc::{CongestionControl, LINUX_6_12};

const TURNS: u32 = 20_000;

fn digest(name: &str, seed: u64) -> (u64, [u32; 5]) {
    let initial_rtt = (!seed.is_multiple_of(3)).then(|| Duration::from_micros(1_000 * seed));
    let control = control_of(name, &[], &LINUX_6_12, initial_rtt);
    let mut script = Script::new(control, seed, initial_rtt);
    script.ecn = name == "dctcp";
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut steps = [0; 5];
    script.play(TURNS, |step, control| {
        steps[kind(step)] += 1;
        hash = mix(hash, control);
    });
    (hash, steps)
}

const fn kind(step: &Step) -> usize {
    match step {
        Step::Ack(_) => 0,
        Step::Delivered(_) => 4,
        Step::Congestion(_) => 1,
        Step::Undo(_) => 2,
        Step::Start(_) => 3,
    }
}

/// FNV-1a over what the control asks for.
fn mix(hash: u64, control: &dyn CongestionControl) -> u64 {
    let asked = control.control();
    let rate = asked.pacing_rate.map_or(0, |rate| rate.as_bytes_per_sec());
    [u64::from(asked.cwnd), u64::from(asked.ssthresh), rate]
        .into_iter()
        .fold(hash, |hash, value| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn cubic_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("cubic", seed).0),
        [
            0xba32_218d_75eb_6d01,
            0x7006_1c64_e2f9_b566,
            0x66cd_bbfe_d90c_f3a5,
            0xca42_7899_80db_f573,
        ]
    );
}

#[test]
fn bbr_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("bbr", seed).0),
        [
            0x783f_cb7d_3891_f786,
            0xda52_fecc_61f4_4930,
            0x0230_c34b_a0fa_0ad5,
            0x90ca_f79f_00b3_f578,
        ]
    );
}

#[test]
fn vegas_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("vegas", seed).0),
        [
            0x074e_4aa3_d788_9d0b,
            0xe25b_e211_279a_af62,
            0x4a2a_3dcc_3768_fb89,
            0xef37_aa96_51e4_53c1
        ]
    );
}

#[test]
fn westwood_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("westwood", seed).0),
        [
            0x5f4e_f9e6_89ce_9d70,
            0x1f1a_abe7_30b8_3f43,
            0x3742_418d_cda6_d77d,
            0x9d4d_4df7_6989_288d
        ]
    );
}

#[test]
fn dctcp_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("dctcp", seed).0),
        [
            0xf405_9e0b_c8bd_723b,
            0x861d_03f4_766f_2d33,
            0xc162_f4ae_380b_d808,
            0x8857_366d_759f_3730
        ]
    );
}

#[test]
fn the_scripts_have_a_bit_of_everything() {
    for name in ["bbr", "cubic", "dctcp", "vegas", "westwood"] {
        let mut steps = [0; 5];
        for seed in 1..=4 {
            let (_, seen) = digest(name, seed);
            steps.iter_mut().zip(seen).for_each(|(sum, n)| *sum += n);
        }
        assert!(steps.iter().all(|&n| n >= 5), "{name}: {steps:?}");
    }
}
