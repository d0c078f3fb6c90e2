//! CAKE's tins: the tin of each DSCP, and the share of each tin.

use narrows_base::Rate;

/// How packets are divided into tins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diffserv {
    /// One tin for all.
    BestEffort,
    /// Eight by the first three bits.
    Precedence,
    /// Bulk, best effort and voice.
    Diffserv3,
    /// Bulk, best effort, video and voice.
    Diffserv4,
    /// Eight by traffic class.
    Diffserv8,
}

/// The rate up to which a tin has priority, and its quantum without a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) rate: Option<Rate>,
    /// Bytes per turn.
    pub(super) quantum: i64,
}

/// Tins by the six bits of the DSCP, a row for each class selector (`sch_cake.c`).
type Tins = [[u8; 8]; 8];

const PRECEDENCE: Tins = [[0; 8], [1; 8], [2; 8], [3; 8], [4; 8], [5; 8], [6; 8], [7; 8]];

const DIFFSERV8: Tins = [
    [2, 0, 1, 2, 4, 2, 2, 2],
    [1, 2, 1, 2, 1, 2, 1, 2],
    [5, 2, 4, 2, 4, 2, 4, 2],
    [3, 2, 3, 2, 3, 2, 3, 2],
    [6, 2, 3, 2, 3, 2, 3, 2],
    [6, 2, 2, 2, 6, 2, 6, 2],
    [7, 2, 2, 2, 2, 2, 2, 2],
    [7, 2, 2, 2, 2, 2, 2, 2],
];

const DIFFSERV4: Tins = [
    [0, 1, 0, 0, 2, 0, 0, 0],
    [1, 0, 0, 0, 0, 0, 0, 0],
    [2, 0, 2, 0, 2, 0, 2, 0],
    [2, 0, 2, 0, 2, 0, 2, 0],
    [3, 0, 2, 0, 2, 0, 2, 0],
    [3, 0, 0, 0, 3, 0, 3, 0],
    [3, 0, 0, 0, 0, 0, 0, 0],
    [3, 0, 0, 0, 0, 0, 0, 0],
];

const DIFFSERV3: Tins = [
    [0, 1, 0, 0, 2, 0, 0, 0],
    [1, 0, 0, 0, 0, 0, 0, 0],
    [0; 8],
    [0; 8],
    [0; 8],
    [0, 0, 0, 0, 2, 0, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 0],
    [2, 0, 0, 0, 0, 0, 0, 0],
];

impl Diffserv {
    /// Their names in `tc`.
    pub(super) const WORDS: &[&str] =
        &["diffserv3", "diffserv4", "diffserv8", "precedence", "besteffort"];

    pub(super) fn from_name(word: &str) -> Self {
        match word {
            "diffserv4" => Self::Diffserv4,
            "diffserv8" => Self::Diffserv8,
            "precedence" => Self::Precedence,
            "besteffort" => Self::BestEffort,
            _ => Self::Diffserv3,
        }
    }

    /// The tin of packets with these six bits.
    pub(super) fn tin(self, bits: u8) -> usize {
        let table = match self {
            Self::BestEffort => return 0,
            Self::Precedence => &PRECEDENCE,
            Self::Diffserv3 => &DIFFSERV3,
            Self::Diffserv4 => &DIFFSERV4,
            Self::Diffserv8 => &DIFFSERV8,
        };
        table[usize::from(bits >> 3)][usize::from(bits & 7)].into()
    }

    /// The tins' shares of a bandwidth (`cake_config_diffserv4` and others).
    pub(super) fn shares(self, bandwidth: Option<Rate>) -> Vec<Share> {
        let whole = bandwidth.map(Rate::as_bytes_per_sec);
        let of = |bytes: Option<u64>, quantum| Share {
            rate: bytes.map(Rate::from_bytes_per_sec),
            quantum,
        };
        let parts = |shifts: &[u32]| {
            shifts.iter().map(|&by| of(whole.map(|bytes| bytes >> by), 1_024 >> by)).collect()
        };
        match self {
            Self::BestEffort => vec![of(whole, 65_535)],
            Self::Diffserv3 => parts(&[0, 4, 2]),
            Self::Diffserv4 => parts(&[0, 4, 1, 2]),
            Self::Precedence | Self::Diffserv8 => {
                let next = |last: &(Option<u64>, i64)| {
                    Some((last.0.map(|bytes| bytes * 7 / 8), last.1 * 7 / 8))
                };
                let all = std::iter::successors(Some((whole, 256)), next);
                all.take(8).map(|(bytes, quantum)| of(bytes, quantum)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Dscp;

    use super::*;

    /// As the kernel's comments list the classes of each scheme.
    #[test]
    fn classes_of_traffic_have_their_tins() {
        let tins = |scheme: Diffserv, names: &[&str]| -> Vec<usize> {
            names.iter().map(|name| scheme.tin(Dscp::from_name(name).unwrap().bits())).collect()
        };
        let latency = ["cs7", "cs6", "ef", "va"];
        let video = ["af41", "af33", "cs3", "af21", "cs2"];
        let bulk = ["le", "cs1"];
        assert_eq!(tins(Diffserv::Diffserv3, &latency), [2; 4]);
        assert_eq!(tins(Diffserv::Diffserv3, &video), [0; 5]);
        assert_eq!(tins(Diffserv::Diffserv3, &bulk), [1; 2]);
        assert_eq!(tins(Diffserv::Diffserv4, &latency), [3; 4]);
        assert_eq!(tins(Diffserv::Diffserv4, &video), [2; 5]);
        assert_eq!(tins(Diffserv::Diffserv4, &bulk), [1; 2]);
        assert_eq!(tins(Diffserv::Diffserv4, &["cs0", "af11"]), [0; 2]);
        let eight = ["le", "cs1", "cs0", "af31", "af21", "cs2", "ef", "cs6"];
        assert_eq!(tins(Diffserv::Diffserv8, &eight), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(tins(Diffserv::Precedence, &["cs3", "af31", "ef"]), [3, 3, 5]);
        assert_eq!(tins(Diffserv::BestEffort, &["ef"]), [0]);
    }

    #[test]
    fn tins_have_their_shares() {
        let rates = |scheme: Diffserv| -> Vec<u64> {
            let shares = scheme.shares(Some(Rate::from_bps(64_000_000)));
            shares.iter().map(|share| share.rate.unwrap().as_bps() / 1_000).collect()
        };
        assert_eq!(rates(Diffserv::Diffserv3), [64_000, 4_000, 16_000]);
        assert_eq!(rates(Diffserv::Diffserv4), [64_000, 4_000, 32_000, 16_000]);
        assert_eq!(rates(Diffserv::Diffserv8)[..3], [64_000, 56_000, 49_000]);
        let quanta: Vec<_> =
            Diffserv::Precedence.shares(None).iter().map(|share| share.quantum).collect();
        assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
        assert_eq!(Diffserv::BestEffort.shares(None), [Share { rate: None, quantum: 65_535 }]);
    }
}
