//! Options of all versions.

use narrows_base::registry::{FormerNumbers, Parameter, ParameterDefault};

/// How long the lowest RTT is valid; Linux's `bbr_min_rtt_win_sec`.
pub(super) const fn probe_rtt_interval(secs: u64, what: &'static str) -> Parameter {
    Parameter::duration("probe_rtt_interval", ParameterDefault::secs(secs), what)
        .at_least(1_000_000_000)
        .at_most(100_000_000_000_000)
        .in_steps_of(1_000)
        .formerly("probe_rtt_interval_s", FormerNumbers::Unit("s"))
}

/// How long PROBE_RTT lasts (`bbr_probe_rtt_mode_ms`).
pub(super) const PROBE_RTT: Parameter = Parameter::duration(
    "probe_rtt",
    ParameterDefault::ms(200),
    "time in PROBE_RTT; 0s never enters it",
)
.at_most(10_000_000_000)
.in_steps_of(1_000)
.formerly("probe_rtt_ms", FormerNumbers::Unit("ms"));
