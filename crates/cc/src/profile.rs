//! The differences between kernels, as plain data.
//!
//! The algorithms query a profile for a switch, never for a version. The columns for kernels before
//! 6.1 are based on the dates of commits rather than on a complete reading of those trees; doubtful
//! rows say so. Vendors' stable trees have backports.

/// Everything about congestion control that differs between kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcProfile {
    /// Ticks a second (`CONFIG_HZ`): the resolution of CUBIC's epochs and BBR's timestamps.
    pub hz: u32,
    /// CUBIC's switches.
    pub cubic: CubicProfile,
    /// BBR's switches.
    pub bbr: BbrProfile,
}

impl CcProfile {
    /// Returns the profile of this kernel built with another tick rate.
    #[must_use]
    pub const fn with_hz(self, hz: u32) -> Self {
        Self { hz, ..self }
    }

    /// The profile of this name, as listed in [`PROFILES`].
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }
}

/// The clock of CUBIC's slow-start exit and of its lowest delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HystartClock {
    /// Milliseconds, delays in eighths of one; before 5.6.
    Milliseconds,
    /// Microseconds (cff04e2da308).
    Microseconds,
}

/// Where HyStart detects the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundReset {
    /// In the growth hook, after the detectors ran, and only while the window
    /// limits the flow; up to 5.15.
    GrowthHook,
    /// In the RTT hook, but only from 16 packets on, so the first round starts in mid-train and the
    /// others stay misaligned (4e1fddc98d25, 5.16).
    RttHookFromLowWindow,
    /// In the RTT hook, always (25c1a9ca53db, 6.14 and stable trees of 2025).
    RttHook,
}

/// CUBIC's switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubicProfile {
    /// The clock.
    pub clock: HystartClock,
    /// A paced flow needs a train as long as the lowest RTT, not half of it (ede656e84658).
    pub pacing_aware: bool,
    /// The train's threshold grows by the sending host's own aggregation
    /// (42f3a8aaae66).
    pub ack_delay: bool,
    /// The round's lowest RTT comes from its first eight samples alone. Changed by
    /// b344579ca847 of June 2020, hence in 5.8, and in later builds of the stable
    /// trees, 4.9 to 4.19 among them.
    pub frozen_round_rtt: bool,
    /// Where rounds end.
    pub round_reset: RoundReset,
}

/// When BBR adds two packets to what may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeBudget {
    /// Never; before 4.18.
    Never,
    /// In PROBE_BW wherever the gain exceeds 1, which the window's always does
    /// (383d470936c0, 4.18).
    GainAboveOne,
    /// In the first phase of PROBE_BW (6b3656a60f20, 5.4).
    FirstPhase,
}

/// The conversion of a bandwidth in packets to a pacing rate in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingUnits {
    /// Header bytes that the rate includes for each packet (until cadefe5f584a, 4.18).
    pub rate_header: u32,
    /// How far below the bandwidth to pace, in percent.
    pub margin_percent: u32,
}

/// BBR version 1's switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrProfile {
    /// The window allows for aggregated ACKs (78dc70ebaa38, 5.1).
    pub extra_acked: bool,
    /// A sample equal to the lowest RTT renews it (until 1b9e2a8c99a5, 5.10).
    pub min_rtt_ties_refresh: bool,
    /// An expired lowest RTT isn't replaced by a suspected delayed ACK's
    /// (e42866031ff0, 4.16).
    pub min_rtt_skips_delayed_acks: bool,
    /// The two extra packets.
    pub probe_budget: ProbeBudget,
    /// In-flight targets exclude packets waiting in the pacer (a87c83d5ee25, 4.20).
    pub departure_times: bool,
    /// Pacing units.
    pub pacing: PacingUnits,
    /// The first RTT sample sets the pacing rate anew (4.13).
    pub initial_rate_from_first_rtt: bool,
    /// The pacing rate falls only once the pipe was full; before 4.13 it fell
    /// everywhere outside STARTUP (4aea287e9079).
    pub slows_only_when_full: bool,
    /// Undo restarts full-pipe detection and policer sampling (4.15).
    pub undo_resets_model: bool,
    /// The pacing gain is 1 while the policer's rate is used; before 4.16 the cycle stayed at its
    /// current gain.
    pub lt_unity_gain: bool,
    /// PROBE_RTT caps the window even on ACKs that deliver nothing (4.19).
    pub caps_without_delivery: bool,
    /// A restart from idle may end PROBE_RTT (4.19).
    pub idle_restart_ends_probe_rtt: bool,
    /// A restart from idle is over only once something is delivered (4.17;
    /// the release is from memory).
    pub idle_restart_needs_delivery: bool,
}

const CUBIC_MS: CubicProfile = CubicProfile {
    clock: HystartClock::Milliseconds,
    pacing_aware: false,
    ack_delay: false,
    frozen_round_rtt: true,
    round_reset: RoundReset::GrowthHook,
};

/// Linux 4.9, whose rate counts IP packets.
pub static LINUX_4_9: CcProfile = CcProfile {
    hz: 250,
    cubic: CUBIC_MS,
    bbr: BbrProfile {
        extra_acked: false,
        min_rtt_ties_refresh: true,
        min_rtt_skips_delayed_acks: false,
        probe_budget: ProbeBudget::Never,
        departure_times: false,
        pacing: PacingUnits { rate_header: 52, margin_percent: 0 },
        initial_rate_from_first_rtt: false,
        slows_only_when_full: false,
        undo_resets_model: false,
        lt_unity_gain: false,
        caps_without_delivery: false,
        idle_restart_ends_probe_rtt: false,
        idle_restart_needs_delivery: false,
    },
};

/// Linux 4.11, whose changes are in loss recovery, not here.
pub static LINUX_4_11: CcProfile = LINUX_4_9;

/// Linux 4.17; its rate still counts IP packets.
pub static LINUX_4_17: CcProfile = CcProfile {
    hz: 250,
    cubic: CUBIC_MS,
    bbr: BbrProfile {
        min_rtt_skips_delayed_acks: true,
        initial_rate_from_first_rtt: true,
        slows_only_when_full: true,
        undo_resets_model: true,
        lt_unity_gain: true,
        idle_restart_needs_delivery: true,
        ..LINUX_4_9.bbr
    },
};

/// Linux 5.15.
pub static LINUX_5_15: CcProfile = CcProfile {
    hz: 250,
    cubic: CubicProfile {
        clock: HystartClock::Microseconds,
        pacing_aware: true,
        ack_delay: true,
        frozen_round_rtt: false,
        round_reset: RoundReset::GrowthHook,
    },
    bbr: BBR_SINCE_5_10,
};

/// Linux 6.1 as released; stable builds since 2025 have the rounds of HyStart of 6.12.
pub static LINUX_6_1_0: CcProfile = CcProfile {
    cubic: CubicProfile { round_reset: RoundReset::RttHookFromLowWindow, ..LINUX_5_15.cubic },
    ..LINUX_5_15
};

/// Linux 6.12 in builds since 2025.
pub static LINUX_6_12: CcProfile = CcProfile {
    cubic: CubicProfile { round_reset: RoundReset::RttHook, ..LINUX_5_15.cubic },
    ..LINUX_5_15
};

const BBR_SINCE_5_10: BbrProfile = BbrProfile {
    extra_acked: true,
    min_rtt_ties_refresh: false,
    min_rtt_skips_delayed_acks: true,
    probe_budget: ProbeBudget::FirstPhase,
    departure_times: true,
    pacing: PacingUnits { rate_header: 0, margin_percent: 1 },
    initial_rate_from_first_rtt: true,
    slows_only_when_full: true,
    undo_resets_model: true,
    lt_unity_gain: true,
    caps_without_delivery: true,
    idle_restart_ends_probe_rtt: true,
    idle_restart_needs_delivery: true,
};

/// The profiles and their names, oldest first.
pub static PROFILES: &[(&str, &CcProfile)] = &[
    ("linux-4.9", &LINUX_4_9),
    ("linux-4.11", &LINUX_4_11),
    ("linux-4.17", &LINUX_4_17),
    ("linux-5.10", &LINUX_5_15),
    ("linux-5.15", &LINUX_5_15),
    ("linux-6.1.0", &LINUX_6_1_0),
    ("linux-6.12", &LINUX_6_12),
];
