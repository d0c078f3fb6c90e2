//! What the versions, and the two texts of version 3, do differently.

use crate::bbr::units::{self, UNIT};

/// Whose text counts where the published codes and the draft differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// Google's `tcp_bbr.c` (version 3) and `tcp_bbr2.c`: volumes are taken as of the next
    /// departure, and Recovery neither cuts the window nor gives it back.
    Linux,
    /// draft-ietf-ccwg-bbr-06; version 2 has its own numbers and its own end of a probe.
    Draft,
}

/// What the versions do differently; gains in 1/256.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) rules: Rules,
    /// Whether it is version 2, whose probes end at 1.25 BDP instead of when bandwidth stops growing.
    pub(super) is_2: bool,
    pub(super) startup_gain: u32,
    pub(super) startup_cwnd_gain: u32,
    pub(super) drain_gain: u32,
    pub(super) down_gain: u32,
    pub(super) up_cwnd_gain: u32,
    pub(super) probe_rtt_cwnd_gain: u32,
    /// ACKs with losses in a round that may end STARTUP.
    pub(super) full_loss_events: u32,
    /// Rounds after which DRAIN gives up.
    pub(super) drain_rounds: u32,
}

/// `bbr_*` parameters of google/bbr v3.
pub(super) const V3: Version = Version {
    rules: Rules::Linux,
    is_2: false,
    startup_gain: UNIT * 277 / 100 + 1,
    startup_cwnd_gain: 2 * UNIT,
    drain_gain: units::DRAIN_GAIN,
    down_gain: UNIT * 91 / 100,
    up_cwnd_gain: UNIT * 9 / 4,
    probe_rtt_cwnd_gain: UNIT,
    full_loss_events: 6,
    drain_rounds: u32::MAX,
};

/// Section 5.6.1 of the draft; 277, 50, 90, 225 percent.
pub(super) const V3_DRAFT: Version = Version {
    rules: Rules::Draft,
    drain_gain: UNIT / 2,
    down_gain: UNIT * 90 / 100,
    probe_rtt_cwnd_gain: UNIT / 2,
    drain_rounds: 3,
    ..V3
};

/// `bbr_*` parameters of google/bbr v2alpha.
pub(super) const V2: Version = Version {
    rules: Rules::Linux,
    is_2: true,
    startup_gain: units::HIGH_GAIN,
    startup_cwnd_gain: units::HIGH_GAIN,
    drain_gain: units::DRAIN_GAIN,
    down_gain: UNIT * 3 / 4,
    up_cwnd_gain: 2 * UNIT,
    probe_rtt_cwnd_gain: UNIT,
    full_loss_events: 8,
    drain_rounds: u32::MAX,
};

/// Version 2 by the rules of the draft.
pub(super) const V2_DRAFT: Version =
    Version { rules: Rules::Draft, probe_rtt_cwnd_gain: UNIT / 2, ..V2 };
