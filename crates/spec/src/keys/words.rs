//! The words that keys accept.

use narrows_base::DSCP_NAMES;
use narrows_tcp::PROFILES;

use crate::stacks::STACKS;

/// A list of words for a key.
#[derive(Debug)]
pub struct Words {
    /// The noun for one of the words in a message.
    pub what: &'static str,
    /// One of the words.
    pub example: &'static str,
    /// All of the words.
    pub known: fn() -> Vec<&'static str>,
}

/// Kernels whose TCP the hosts can have.
pub(super) static PROFILE: Words = Words {
    what: "profile",
    example: "linux-6.12",
    known: || PROFILES.iter().map(|profile| profile.name).collect(),
};

/// Transport stacks of other projects.
pub(super) static STACK: Words = Words {
    what: "stack",
    example: "quinn",
    known: || STACKS.iter().map(|stack| stack.name).collect(),
};

/// The programs of a flow.
pub(super) static PROGRAM: Words =
    Words { what: "program of a flow", example: "server", known: || vec!["server", "client"] };

/// Limits of the send buffer and the receive window.
pub(super) static SOCKET_BUFFERS: Words = Words {
    what: "setting of socket buffers",
    example: "raised",
    known: || vec!["raised", "stock", "unlimited"],
};

/// The ways in which a flow can use explicit congestion notification.
pub(super) static ECN: Words = Words {
    what: "use of ECN",
    example: "classic",
    known: || vec!["off", "classic", "dctcp", "accurate", "l4s"],
};

/// The code points of differentiated services that have names.
pub(super) static DSCP: Words =
    Words { what: "DSCP", example: "ef", known: || DSCP_NAMES.to_vec() };

/// Levels of recording.
pub(super) static LEVEL: Words = Words {
    what: "level of recording",
    example: "samples",
    known: || vec!["summary", "samples", "packets"],
};

/// Designs of studies.
pub(super) static DESIGN: Words =
    Words { what: "design", example: "lhs", known: || vec!["grid", "random", "lhs"] };

/// Ways to take a number from a series.
pub(super) static TAKE: Words = Words {
    what: "way to take a number from a series",
    example: "max",
    known: || [TAKES_OF_NUMBERS, TAKES_OF_CONDITIONS].concat(),
};

/// The words of [`TAKE`] for a series of numbers.
pub(crate) const TAKES_OF_NUMBERS: &[&str] =
    &["mean", "min", "max", "first", "last", "p1", "p5", "p50", "p95", "p99", "spread", "growth"];
/// The words of [`TAKE`] for a condition.
pub(crate) const TAKES_OF_CONDITIONS: &[&str] =
    &["times", "share", "after_s", "after_rtts", "longest_s", "longest_rtts"];

/// Ways to combine the values of several flows.
pub(super) static OVER: Words = Words {
    what: "way to combine flows",
    example: "max",
    known: || vec!["mean", "min", "max", "sum"],
};
