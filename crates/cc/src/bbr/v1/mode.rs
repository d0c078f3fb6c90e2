//! The states of the machine and their transitions.

/// BBR's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Doubling to find the bandwidth.
    Startup,
    /// Emptying the queue that STARTUP built.
    Drain,
    /// Cruising at the bandwidth, probing for more.
    ProbeBw,
    /// Emptying the pipe to see the lowest RTT.
    ProbeRtt,
}

/// All states, in the order in which a flow enters them.
const ALL: [Mode; 4] = [Mode::Startup, Mode::Drain, Mode::ProbeBw, Mode::ProbeRtt];

/// The edges of the state machine, by the names of states: each change of state is checked against
/// them in debug builds.
#[must_use]
pub fn transitions() -> Vec<(&'static str, &'static str)> {
    let edges = ALL.iter().flat_map(|from| ALL.iter().map(move |to| (*from, *to)));
    edges.filter(|(from, to)| from.leads_to(*to)).map(|(a, b)| (a.name(), b.name())).collect()
}

impl Mode {
    /// The name in the recorder's tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::ProbeBw => "probe_bw",
            Self::ProbeRtt => "probe_rtt",
        }
    }

    /// Returns `true` if the state machine has a transition from here to `next`.
    pub(super) const fn leads_to(self, next: Self) -> bool {
        use Mode::{Drain, ProbeBw, ProbeRtt, Startup};
        matches!(
            (self, next),
            (Startup, Drain | ProbeRtt)
                | (Drain | ProbeBw, ProbeBw | ProbeRtt)
                | (ProbeRtt, Startup | ProbeBw)
        )
    }
}
