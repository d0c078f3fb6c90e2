//! Transport stacks of other projects that a flow can have instead of the simulator's own TCP.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role, Value, Values};

/// A stack, by the names under which its project knows its parts.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// Its name.
    pub name: &'static str,
    /// A sentence that describes it.
    pub summary: &'static str,
    /// Its congestion controls.
    pub controls: &'static [&'static str],
    /// The options common to its controls.
    pub options: &'static Info,
}

/// Options that both QUIC stacks have.
const OPTIONS: &[Parameter] = &[
    Parameter::bytes(
        "initial_window",
        ParameterDefault::Off,
        "the congestion window at the beginning; by default that of the stack",
    )
    .at_least(2_400)
    .at_most(1 << 30),
    Parameter::packets(
        "ack_threshold",
        ParameterDefault::Off,
        "packets that the receiver may leave without an ACK (draft-ietf-quic-ack-frequency); \
         by default 1, and no such frame is sent",
    )
    .at_least(1)
    .at_most(1_000),
    Parameter::whole(
        "segments",
        ParameterDefault::Whole(10),
        "datagrams at most that leave at once, as with segmentation offload",
    )
    .at_least(1)
    .at_most(64),
];

const fn options(name: &'static str) -> Info {
    Info {
        name,
        title: name,
        family: "stack",
        summary: "a transport stack of another project",
        source: "its package",
        role: Role::Control { ecn: None, paces: true },
        parameters: OPTIONS,
    }
}

static QUINN: Info = options("quinn");
static NOQ: Info = options("noq");

/// A whole number among the options of a flow with a stack; its default if that has one.
#[must_use]
pub fn option(values: &Values, name: &str) -> Option<u64> {
    let parameter = OPTIONS.iter().find(|parameter| parameter.name == name)?;
    match values.get(&parameter.key()) {
        Some(Value::Whole(number)) => Some(*number),
        _ => match parameter.default {
            ParameterDefault::Whole(number) => Some(number),
            _ => None,
        },
    }
}

/// All of them.
pub static STACKS: &[Stack] = &[
    Stack {
        name: "quinn",
        summary: "QUIC in Rust: quinn-proto 0.11 over TLS 1.3 (github.com/quinn-rs/quinn)",
        controls: &["cubic", "reno", "bbr"],
        options: &QUINN,
    },
    Stack {
        name: "noq",
        summary: "QUIC in Rust: noq-proto 1.4, a fork of quinn-proto (github.com/n0-computer/noq)",
        controls: &["cubic", "reno", "bbr3"],
        options: &NOQ,
    },
];

/// The stack of this name.
#[must_use]
pub fn stack(name: &str) -> Option<&'static Stack> {
    STACKS.iter().find(|stack| stack.name == name)
}
