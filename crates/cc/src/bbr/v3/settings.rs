//! The options of versions 2 and 3.

use narrows_base::Duration;
use narrows_base::registry::{Parameter, ParameterDefault, Values};

use super::versions::Rules;
use crate::bbr::options;
use crate::bbr::units::UNIT;

/// The options of both versions.
pub(super) const OPTIONS: [Parameter; 6] = [
    Parameter::share(
        "loss_thresh",
        ParameterDefault::Number(0.02),
        "share of lost packets above which a volume is too much",
    ),
    Parameter::share(
        "beta",
        ParameterDefault::Number(0.7),
        "share that bounds keep at least when losses lower them",
    )
    .between(0.1, 1.0),
    Parameter::share(
        "headroom",
        ParameterDefault::Number(0.15),
        "part of the long-term volume that cruising leaves to others",
    )
    .between(0.0, 0.9),
    options::probe_rtt_interval(5, "time without a lower RTT after which PROBE_RTT begins"),
    options::PROBE_RTT,
    Parameter::word(
        "rules",
        &["linux", "draft"],
        "linux",
        "where they differ: Google's code (tcp_bbr.c, tcp_bbr2.c) or draft-ietf-ccwg-bbr-06",
    ),
];

/// The options; shares are in 1/256.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) loss_thresh: u32,
    pub(super) beta: u32,
    pub(super) headroom: u32,
    pub(super) probe_rtt_interval: Duration,
    pub(super) probe_rtt_time: Duration,
}

impl Settings {
    pub(super) fn new(options: &Values, rules: &Rules) -> Self {
        let share = |name| share_in_units(options.number(name));
        Self {
            loss_thresh: share("loss_thresh"),
            beta: if rules.rounds_up {
                UNIT - cut_in_units(options.number("beta"))
            } else {
                share("beta")
            },
            headroom: share("headroom"),
            probe_rtt_interval: options.duration("probe_rtt_interval"),
            probe_rtt_time: options.duration("probe_rtt"),
        }
    }
}

/// Rounded to the nearest 1/256, as Linux's constants are to the next.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares are from 0 to 1"
)]
fn share_in_units(share: f64) -> u32 {
    (share * f64::from(UNIT) + 0.5) as u32
}

/// The cut of a bound that keeps this share, rounded down as `bbr_beta` is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares are from 0 to 1"
)]
fn cut_in_units(kept: f64) -> u32 {
    ((1.0 - kept) * f64::from(UNIT)) as u32
}
