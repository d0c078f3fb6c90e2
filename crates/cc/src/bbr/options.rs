//! What an experiment may change of BBR, and what others proposed to change.

use super::units::UNIT;
use crate::registry::{CcConfig, Info, OptionInfo};

/// How a raised lowest RTT is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rtprop {
    /// As soon as the old one has expired, as in Linux.
    Expires,
    /// Never: the lowest RTT of all counts.
    Kept,
    /// After this many probes that agree, or one above this multiple (in 1/256).
    Confirmed { probes: u8, jump: u32 },
}

/// What an experiment may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) cwnd_gain: u32,
    pub(super) min_rtt_window_s: u32,
    pub(super) probe_rtt_ms: u32,
    /// Volume in PROBE_RTT as a gain; zero: four packets.
    pub(super) probe_rtt_gain: u32,
    pub(super) long_term: bool,
    pub(super) bw_rounds: u32,
    pub(super) full_bw_growth: u32,
    pub(super) full_bw_rounds: u8,
    pub(super) startup_hystart: bool,
    pub(super) adaptive_cap: bool,
    pub(super) rtprop: Rtprop,
    /// Memory of the buffer model in s; zero: no model.
    pub(super) buffer_model_s: u32,
    pub(super) prr: bool,
    pub(super) drain_to_target: bool,
}

const fn whole(
    name: &'static str,
    default: f64,
    range: (f64, f64),
    what: &'static str,
) -> OptionInfo {
    OptionInfo { name, default, range: range.0..=range.1, whole: true, what }
}

const fn real(
    name: &'static str,
    default: f64,
    range: (f64, f64),
    what: &'static str,
) -> OptionInfo {
    OptionInfo { name, default, range: range.0..=range.1, whole: false, what }
}

/// Every option; `cwnd_gain` is the default of the one that names a variant.
pub(super) const fn options(cwnd_gain: f64) -> [OptionInfo; 16] {
    [
        real("cwnd_gain", cwnd_gain, (1.0, 3.99), "window in PROBE_BW, in BDP"),
        whole(
            "probe_rtt_interval_s",
            10.0,
            (1.0, 100_000.0),
            "how long the lowest RTT stays valid, in s",
        ),
        whole("probe_rtt_ms", 200.0, (0.0, 10_000.0), "time in PROBE_RTT in ms; 0 never enters it"),
        OptionInfo::flag("lt_bw", 1.0, "detect policers and follow their rate"),
        real(
            "probe_rtt_gain",
            0.0,
            (0.0, 1.0),
            "volume in PROBE_RTT in BDP, at least 4 packets (Cardwell et al., IETF 98: 0.75)",
        ),
        whole("bw_window_rounds", 10.0, (1.0, 1e6), "length of the bandwidth filter in rounds"),
        real(
            "full_bw_growth",
            1.25,
            (1.01, 2.0),
            "growth of the bandwidth in a round that shows a pipe not yet full",
        ),
        whole(
            "full_bw_rounds",
            3.0,
            (1.0, 10.0),
            "rounds without that growth that end STARTUP (IETF 98: quicker detection)",
        ),
        OptionInfo::flag("startup_hystart", 0.0, "STARTUP also ends on HyStart's signals"),
        OptionInfo::flag(
            "adaptive_cap",
            0.0,
            "the window's gain follows loss, throughput and RTT (Panaderia, AICT 2019, IV-E1)",
        ),
        whole(
            "rtprop",
            0.0,
            (0.0, 2.0),
            "a higher lowest RTT is taken: 0 on expiry, 1 never, 2 once confirmed (IV-E2)",
        ),
        whole("rtprop_probes", 5.0, (1.0, 100.0), "probes that agree and confirm it (rtprop = 2)"),
        real(
            "rtprop_jump",
            4.0,
            (1.125, 1000.0),
            "a single probe this many times as high confirms it (rtprop = 2)",
        ),
        whole(
            "buffer_model_s",
            0.0,
            (0.0, 100_000.0),
            "use half of the own share of the buffer seen at losses in so many s; 0 off (IETF 98)",
        ),
        OptionInfo::flag(
            "prr_recovery",
            0.0,
            "recovery glides to one BDP as PRR does (IETF 98; RFC 6937)",
        ),
        OptionInfo::flag(
            "drain_to_target",
            0.0,
            "cycles of 2 to 8 lowest RTTs that drain to one BDP (IETF 98)",
        ),
    ]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn gain(config: &CcConfig, info: &Info, name: &str) -> u32 {
    (config.option(info, name) * f64::from(UNIT)) as u32
}

impl Settings {
    /// Reads the options of `info`'s variant.
    pub(super) fn new(config: &CcConfig, info: &Info) -> Self {
        let whole = |name| config.whole(info, name);
        let small = |name| u8::try_from(whole(name)).expect("within its range");
        let flag = |name| config.flag(info, name);
        let rtprop = match whole("rtprop") {
            0 => Rtprop::Expires,
            1 => Rtprop::Kept,
            _ => Rtprop::Confirmed {
                probes: small("rtprop_probes"),
                jump: gain(config, info, "rtprop_jump"),
            },
        };
        Self {
            cwnd_gain: gain(config, info, "cwnd_gain"),
            min_rtt_window_s: whole("probe_rtt_interval_s"),
            probe_rtt_ms: whole("probe_rtt_ms"),
            probe_rtt_gain: gain(config, info, "probe_rtt_gain"),
            long_term: flag("lt_bw"),
            bw_rounds: whole("bw_window_rounds"),
            full_bw_growth: gain(config, info, "full_bw_growth"),
            full_bw_rounds: small("full_bw_rounds"),
            startup_hystart: flag("startup_hystart"),
            adaptive_cap: flag("adaptive_cap"),
            rtprop,
            buffer_model_s: whole("buffer_model_s"),
            prr: flag("prr_recovery"),
            drain_to_target: flag("drain_to_target"),
        }
    }
}
