//! The section of a change.

use super::key::{Key, KeyDefault, KeyKind, Section};

use KeyDefault::{Flag, Off, Required};

/// A change in the course of a run.
pub static CHANGE: Section = Section {
    title: "Change",
    what: "A change during the run, which takes effect after all other events of its instant.",
    keys: &[
        Key::new("at", KeyKind::Duration, Required, "").becomes("at_ns"),
        Key::new("link", KeyKind::Name, Off, "The link whose rate changes; by default the first.")
            .stays(),
        Key::new(
            "rate",
            KeyKind::Rate,
            Off,
            "The rate of the link from then on, even for the rest of a packet.",
        )
        .becomes("rate_bps"),
        Key::new(
            "rtt",
            KeyKind::Span,
            Off,
            "The path's two-way delay for packets that set out from then on; none overtakes another.",
        )
        .becomes("rtt_ns"),
        Key::new("loss", KeyKind::Probability, Off, "The path's loss from then on.").stays(),
        Key::new("flow", KeyKind::Name, Off, "The flow, or the flows of an entry, that changes.")
            .stays(),
        Key::new(
            "stop",
            KeyKind::Flag,
            Flag(false),
            "True if the flow stops: its application writes no more.",
        )
        .stays(),
        Key::new(
            "window",
            KeyKind::Whole(1, 10_000_000),
            Off,
            "The window, in packets, of a flow whose control is `fixed`.",
        )
        .becomes("window_packets"),
        Key::new(
            "pacing_rate",
            KeyKind::Rate,
            Off,
            "The pacing rate of such a flow, in payload bits per second.",
        )
        .becomes("pacing_rate_bps"),
        Key::new("end", KeyKind::Flag, Flag(false), "True if the run ends here.").stays(),
    ],
};
