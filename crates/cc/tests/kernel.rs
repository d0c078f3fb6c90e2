//! Bit for bit: long random scripts give the same windows, thresholds and rates as
//! the kernel's own functions.
//!
//! The digests were taken while the kernel's own files (`tcp_cubic.c`, `tcp_bbr.c`, `tcp_bic.c`
//! and so on) of Linux 6.12, compiled at HZ 250 around a stub of the TCP core, went through
//! the same scripts and agreed at every step. They change only if behaviour does.

use crate::common::script::{Script, Step};
use crate::common::{Options, control_of};
use narrows_base::Duration;
use narrows_cc::{CongestionControl, LINUX_6_12};

const TURNS: u32 = 20_000;
/// The script's receiver has its own clock.
const STEADY: Options = &[("random_timestamps", "false")];

fn digest(name: &str, seed: u64) -> (u64, [u32; 5]) {
    digest_with(name, &[], seed)
}

fn digest_with(name: &str, options: Options, seed: u64) -> (u64, [u32; 5]) {
    let initial_rtt = (!seed.is_multiple_of(3)).then(|| Duration::from_micros(1_000 * seed));
    let control = control_of(name, options, &LINUX_6_12, initial_rtt);
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
        Step::Ack => 0,
        Step::Delivered | Step::Lost => 4,
        Step::Congestion => 1,
        Step::Undo => 2,
        Step::Start => 3,
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

/// The kernel here is 6.12 with Google's version 3, as published in patches for it.
#[test]
fn bbr3_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("bbr3", seed).0),
        [
            0x5026_0040_effb_6ca0,
            0x7be7_27fb_47d4_3010,
            0x39b5_6d4c_3277_9904,
            0xc7bc_818b_5ae7_68e4,
        ]
    );
}

/// The kernel here is 6.1 with Google's version 2, as published in patches for it.
#[test]
fn bbr2_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("bbr2", seed).0),
        [
            0x547e_42a8_8244_29f4,
            0x799e_c130_a8cf_e2fb,
            0x53f4_8dce_bd7c_9401,
            0x0ab1_02e2_d75f_fe55,
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
fn bic_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("bic", seed).0),
        [
            0xd4e9_1c83_18c1_79a5,
            0x7eb1_26d0_42a0_0edd,
            0xf479_58c4_bd3d_6b74,
            0x602e_b779_cbba_cf26,
        ]
    );
}

#[test]
fn highspeed_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("highspeed", seed).0),
        [
            0x3528_16f0_6743_e401,
            0xc34b_c353_c902_22d0,
            0x5a43_f6d1_c1d6_8b47,
            0xc92e_4691_8ed2_5049,
        ]
    );
}

#[test]
fn htcp_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("htcp", seed).0),
        [
            0x35f5_919d_9395_b125,
            0x5897_b513_76a0_74f3,
            0x5fd5_2fd5_102f_207d,
            0xa76f_e696_f27b_c561,
        ]
    );
}

#[test]
fn hybla_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("hybla", seed).0),
        [
            0x38e8_5889_c70f_fba3,
            0x4abc_bc82_f3db_8dfb,
            0x1b2c_7987_902a_fb6d,
            0xc42e_5c80_52ed_cc40,
        ]
    );
}

#[test]
fn illinois_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("illinois", seed).0),
        [
            0xc363_77bb_27cf_aa5a,
            0xde5b_fabe_a20c_c74c,
            0x50a0_2f46_e172_c015,
            0xa6dc_6058_97d5_f943,
        ]
    );
}

#[test]
fn scalable_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("scalable", seed).0),
        [
            0x1a90_f847_d1d3_6ca7,
            0xac93_e877_6803_9d25,
            0x7899_573f_be2b_37a0,
            0x6ec0_9f3b_d5cf_f3d9,
        ]
    );
}

#[test]
fn veno_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("veno", seed).0),
        [
            0x69a7_ab83_7b0e_a5c1,
            0xc753_ad83_eaea_2278,
            0xd77f_0a35_b6ed_f708,
            0xb7ef_225a_108a_4f4b,
        ]
    );
}

#[test]
fn yeah_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("yeah", seed).0),
        [
            0xcf07_db21_b9b0_3ac6,
            0x276a_ec38_80f0_6344,
            0x4b07_7ab2_2179_407c,
            0xcc63_2340_0eeb_e2ba,
        ]
    );
}

#[test]
fn nv_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("nv", seed).0),
        [
            0x4c57_41e0_381f_f678,
            0xe5e5_8973_ef37_de00,
            0x6956_fb51_c8d3_dd42,
            0xd1ff_71db_e703_bf07,
        ]
    );
}

#[test]
fn cdg_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest("cdg", seed).0),
        [
            0xf770_5f9a_e2b9_1888,
            0x0506_0265_3be3_9a9a,
            0x61a9_95fe_4b35_fb88,
            0x9c1e_16f1_1fd1_d5fe,
        ]
    );
}

#[test]
fn lp_is_the_kernels() {
    assert_eq!(
        [1, 2, 3, 4].map(|seed| digest_with("lp", STEADY, seed).0),
        [
            0xeded_0a14_4756_834c,
            0x30ac_1716_e583_5eb5,
            0xb9e1_e645_a84a_936f,
            0xa644_65b4_6fa5_83a8,
        ]
    );
}

#[test]
fn the_scripts_have_a_bit_of_everything() {
    for name in [
        "bbr",
        "bbr3",
        "bic",
        "cdg",
        "cubic",
        "dctcp",
        "highspeed",
        "htcp",
        "hybla",
        "illinois",
        "lp",
        "nv",
        "scalable",
        "vegas",
        "veno",
        "westwood",
        "yeah",
    ] {
        let mut steps = [0; 5];
        for seed in 1..=4 {
            let (_, seen) = digest(name, seed);
            steps.iter_mut().zip(seen).for_each(|(sum, n)| *sum += n);
        }
        assert!(steps.iter().all(|&n| n >= 5), "{name}: {steps:?}");
    }
}
