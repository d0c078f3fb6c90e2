//! Options of BBR: parameters for experiments, and published proposals.

use narrows_base::Duration;
use narrows_base::registry::{FormerNumbers, Parameter, ParameterDefault, Values};

use crate::bbr::options::{PROBE_RTT, probe_rtt_interval};
use crate::bbr::units::UNIT;

/// When a higher lowest RTT is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rtprop {
    /// As soon as the old one has expired, as in Linux.
    Expires,
    /// Never: the lowest RTT of all counts.
    Kept,
    /// After this many probes that agree, or one above this multiple (in 1/256).
    Confirmed { probes: u8, jump: u32 },
}

/// The options of BBR version 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) cwnd_gain: u32,
    pub(super) min_rtt_window: Duration,
    /// Zero: it is never entered.
    pub(super) probe_rtt: Duration,
    /// Volume in PROBE_RTT as a gain; zero: four packets.
    pub(super) probe_rtt_gain: u32,
    pub(super) long_term: bool,
    pub(super) bw_rounds: u32,
    pub(super) full_bw_growth: u32,
    pub(super) full_bw_rounds: u8,
    pub(super) startup_hystart: bool,
    pub(super) startup_capacity: bool,
    pub(super) adaptive_cap: bool,
    pub(super) rtprop: Rtprop,
    /// Memory of the buffer model, if there is one.
    pub(super) buffer_model: Option<Duration>,
    /// Growth of its room per second, as a gain.
    pub(super) buffer_growth: u32,
    pub(super) prr: bool,
    pub(super) drain_to_target: bool,
}

const RTPROP: Parameter = Parameter::word(
    "rtprop",
    &["expire", "keep", "confirm"],
    "expire",
    "when a higher lowest RTT is taken: once the old one expires, never, or once probes \
     confirm it (IV-E2)",
)
.formerly("rtprop", FormerNumbers::Words(&[(0, "expire"), (1, "keep"), (2, "confirm")]));
const RTPROP_PROBES: Parameter = Parameter::whole(
    "rtprop_probes",
    ParameterDefault::Whole(5),
    "probes that agree and confirm it (rtprop = \"confirm\")",
)
.positive()
.at_most(100);
const RTPROP_JUMP: Parameter = Parameter::number(
    "rtprop_jump",
    4.0,
    "a single probe this many times as high confirms it (rtprop = \"confirm\")",
)
.between(1.125, 1000.0);
const BUFFER_MODEL: Parameter = Parameter::duration(
    "buffer_model",
    ParameterDefault::Off,
    "use half of its own share of the buffer that losses showed within this time (IETF 98)",
)
.positive()
.at_most(100_000_000_000_000)
.formerly("buffer_model_s", FormerNumbers::Unit("s"));

/// Every option; `cwnd_gain` is the default of the one that names a variant.
pub(super) const fn options(cwnd_gain: f64) -> [Parameter; 18] {
    [
        Parameter::number("cwnd_gain", cwnd_gain, "window in PROBE_BW, in BDP").between(1.0, 3.99),
        probe_rtt_interval(10, "how long the lowest RTT stays valid"),
        PROBE_RTT,
        Parameter::flag("lt_bw", true, "detect policers and follow their rate"),
        Parameter::share(
            "probe_rtt_gain",
            ParameterDefault::Number(0.0),
            "volume in PROBE_RTT in BDP, at least 4 packets (Cardwell et al., IETF 98: 0.75)",
        ),
        Parameter::whole(
            "bw_window_rounds",
            ParameterDefault::Whole(10),
            "length of the bandwidth filter in rounds",
        )
        .positive()
        .at_most(1_000_000),
        Parameter::number(
            "full_bw_growth",
            1.25,
            "growth of the bandwidth in a round that shows a pipe not yet full",
        )
        .between(1.01, 2.0),
        Parameter::whole(
            "full_bw_rounds",
            ParameterDefault::Whole(3),
            "rounds without that growth that end STARTUP (IETF 98: quicker detection)",
        )
        .positive()
        .at_most(10),
        Parameter::flag("startup_hystart", false, "STARTUP also ends on HyStart's signals"),
        Parameter::flag(
            "startup_capacity",
            false,
            "STARTUP fills no more than the capacity that the spacing of ACKs shows (Hoe 1996)",
        ),
        Parameter::flag(
            "adaptive_cap",
            false,
            "the window's gain follows loss, throughput and RTT (Panaderia, AICT 2019, IV-E1)",
        ),
        RTPROP,
        RTPROP_PROBES,
        RTPROP_JUMP,
        BUFFER_MODEL,
        Parameter::number(
            "buffer_growth",
            1.0,
            "factor by which that share grows in each second of sending since a loss (IETF 98: 1.25)",
        )
        .between(1.0, 4.0),
        Parameter::flag(
            "prr_recovery",
            false,
            "recovery glides to one BDP as PRR does (IETF 98; RFC 6937)",
        ),
        Parameter::flag(
            "drain_to_target",
            false,
            "cycles of 2 to 8 lowest RTTs that drain to one BDP (IETF 98)",
        ),
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "gains are from 0 to 1,000"
)]
fn gain(options: &Values, name: &str) -> u32 {
    (options.number(name) * f64::from(UNIT)) as u32
}

impl Settings {
    /// Reads the options.
    pub(super) fn new(options: &Values) -> Self {
        let rtprop = match options.word("rtprop") {
            "expire" => Rtprop::Expires,
            "keep" => Rtprop::Kept,
            _ => Rtprop::Confirmed {
                probes: options.whole("rtprop_probes"),
                jump: gain(options, "rtprop_jump"),
            },
        };
        Self {
            cwnd_gain: gain(options, "cwnd_gain"),
            min_rtt_window: options.duration("probe_rtt_interval"),
            probe_rtt: options.duration("probe_rtt"),
            probe_rtt_gain: gain(options, "probe_rtt_gain"),
            long_term: options.flag("lt_bw"),
            bw_rounds: options.whole("bw_window_rounds"),
            full_bw_growth: gain(options, "full_bw_growth"),
            full_bw_rounds: options.whole("full_bw_rounds"),
            startup_hystart: options.flag("startup_hystart"),
            startup_capacity: options.flag("startup_capacity"),
            adaptive_cap: options.flag("adaptive_cap"),
            rtprop,
            buffer_model: options.some_duration("buffer_model"),
            buffer_growth: gain(options, "buffer_growth"),
            prr: options.flag("prr_recovery"),
            drain_to_target: options.flag("drain_to_target"),
        }
    }
}
