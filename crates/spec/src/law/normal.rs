//! The inverse of the standard normal distribution function.
//!
//! Wichura, Algorithm AS 241: The Percentage Points of the Normal Distribution, Applied
//! Statistics 37 (3), 1988: PPND16, whose relative error is about 1e-16.
#![expect(clippy::disallowed_methods, reason = "what this gives is written into the scenario")]
#![expect(clippy::excessive_precision, reason = "the digits are those of the paper")]

const SPLIT: f64 = 0.425;
const CENTRAL: ([f64; 8], [f64; 8]) = (
    [
        3.387_132_872_796_366_608,
        133.141_667_891_784_377_45,
        1_971.590_950_306_551_442_7,
        13_731.693_765_509_461_125,
        45_921.953_931_549_871_457,
        67_265.770_927_008_700_853,
        33_430.575_583_588_128_105,
        2_509.080_928_730_122_672_7,
    ],
    [
        1.0,
        42.313_330_701_600_911_252,
        687.187_007_492_057_908_3,
        5_394.196_021_424_751_107_7,
        21_213.794_301_586_595_867,
        39_307.895_800_092_710_61,
        28_729.085_735_721_942_674,
        5_226.495_278_852_854_561,
    ],
);
const MIDDLE: ([f64; 8], [f64; 8]) = (
    [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        0.241_780_725_177_450_611_77,
        0.022_723_844_989_269_184_583_3,
        7.745_450_142_783_414_076_4e-4,
    ],
    [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        0.689_767_334_985_100_004_55,
        0.148_103_976_427_480_074_59,
        0.015_198_666_563_616_457_197_1,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ],
);
const FAR: ([f64; 8], [f64; 8]) = (
    [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        0.296_560_571_828_504_891_23,
        0.026_532_189_526_576_123_093,
        0.001_242_660_947_388_078_438_6,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_937_69,
        0.136_929_880_922_735_805_31,
        0.014_875_361_290_850_615_025,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ],
);

/// The value that isn't exceeded with probability `p`, between 0 and 1.
pub(super) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= SPLIT {
        let r = 0.180_625 - q * q;
        return polynomial(&CENTRAL.0, r) * q / polynomial(&CENTRAL.1, r);
    }
    let r = (-(if q <= 0.0 { p } else { 1.0 - p }).ln()).sqrt();
    let (terms, r) = if r <= 5.0 { (&MIDDLE, r - 1.6) } else { (&FAR, r - 5.0) };
    let x = polynomial(&terms.0, r) / polynomial(&terms.1, r);
    if q < 0.0 { -x } else { x }
}

/// By Horner's rule, from the lowest power on.
fn polynomial(terms: &[f64; 8], r: f64) -> f64 {
    terms.iter().rev().copied().reduce(|sum, term| sum * r + term).expect("there are terms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_values_come_out() {
        for (p, x) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_407),
        ] {
            assert!((quantile(p) - x).abs() < 1e-14, "{p}");
        }
        assert!(quantile(0.5).abs() < 1e-300);
        assert!((quantile(0.75) - 0.674_489_750_196_081_7).abs() < 1e-15);
    }
}
