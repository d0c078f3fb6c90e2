//! Transport stacks of other projects that a flow can have instead of the simulator's own TCP.

/// A stack, by the names under which its project knows its parts.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Its congestion controls.
    pub controls: &'static [&'static str],
}

/// All of them.
pub static STACKS: &[Stack] = &[
    Stack {
        name: "quinn",
        summary: "QUIC in Rust: quinn-proto 0.11 over TLS 1.3 (github.com/quinn-rs/quinn)",
        controls: &["cubic", "reno", "bbr"],
    },
    Stack {
        name: "noq",
        summary: "QUIC in Rust: noq-proto 1.4, a fork of quinn-proto (github.com/n0-computer/noq)",
        controls: &["cubic", "reno", "bbr3"],
    },
];

/// The stack of this name.
#[must_use]
pub fn stack(name: &str) -> Option<&'static Stack> {
    STACKS.iter().find(|stack| stack.name == name)
}
