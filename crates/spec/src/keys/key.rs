//! Keys of sections, their kinds of values, and the words for remedies.

use narrows_base::registry::Info;
use narrows_net::config::{IMPAIRMENTS, QUEUES, SERVICES};

use super::words::Words;
use crate::limits::MAX_NAME;

/// A table and its keys.
#[derive(Debug)]
pub struct Section {
    /// The name of its class.
    pub title: &'static str,
    /// Its description, a sentence.
    pub what: &'static str,
    /// Its keys, in the order of the reference.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// Its spelling.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: KeyKind,
    /// Its default.
    pub default: KeyDefault,
    /// Its key in a scenario, if any.
    pub scenario: Option<&'static str>,
    /// True if a scenario has a value there even if none is given.
    pub filled: bool,
    /// Its meaning in a sentence; empty if its name says it.
    pub what: &'static str,
}

/// The default of a key, as written in a specification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyDefault {
    /// It must be given.
    Required,
    /// None.
    Off,
    /// A text.
    Text(&'static str),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A table with all its defaults, or an empty list.
    Empty,
}

impl Section {
    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

impl Key {
    /// Returns `true` if a scenario may have no value at the key.
    #[must_use]
    pub fn may_be_none(&self) -> bool {
        self.default == KeyDefault::Off && self.scenario.is_some() && !self.filled
    }

    pub(super) const fn new(
        name: &'static str,
        kind: KeyKind,
        default: KeyDefault,
        what: &'static str,
    ) -> Self {
        Self { name, kind, default, scenario: None, filled: false, what }
    }

    /// Sets the key that a scenario has for it.
    pub(super) const fn becomes(mut self, key: &'static str) -> Self {
        self.scenario = Some(key);
        self
    }

    /// Gives it a value in every scenario.
    pub(super) const fn always_present(mut self) -> Self {
        self.filled = true;
        self
    }

    /// Keeps its own name in a scenario.
    pub(super) const fn stays(self) -> Self {
        let name = self.name;
        self.becomes(name)
    }
}

/// A kind of value.
#[derive(Clone, Copy, Debug)]
pub enum KeyKind {
    /// A rate above zero, in bit/s.
    Rate,
    /// A duration, in ns; zero is allowed.
    Duration,
    /// A duration above zero, in ns.
    Span,
    /// A buffer: bytes, packets or a part of the BDP.
    Room,
    /// Bytes of payload or of a window.
    Volume,
    /// A number from 0 to below 1.
    Probability,
    /// Any finite number.
    Number,
    /// True or false.
    Flag,
    /// A name.
    Name,
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// One of a list of words.
    Word(&'static Words),
    /// A congestion control, or a module and a class in it.
    Control,
    /// Options of the flow's control.
    Options,
    /// A table of settings of a kernel and their values.
    Sysctls,
    /// An element by its name, or a table with its `kind`.
    Element(Elements),
    /// A list of tables, each with the `kind` of an impairment.
    Impairments,
    /// A table with the `kind` of a workload.
    Workload,
    /// A list of names: what they name, and an example.
    Names(&'static str, &'static str),
    /// A program and its arguments.
    Command,
    /// A table of places and the values that they must have.
    Where,
    /// A number above zero, or a part of the mean such as "5%".
    Within,
    /// A list of lists of places.
    Zip,
    /// A table of places and their values, from which combinations are made.
    Axes,
    /// A list of tables, each with a name and the values of some places.
    Cases,
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
}

/// Kinds of elements of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Queue disciplines.
    Queue,
    /// How a link serves its queue.
    Service,
    /// Impairments.
    Impairment,
}

impl Elements {
    /// Everything of the kind.
    #[must_use]
    pub fn registry(self) -> &'static [&'static Info] {
        match self {
            Self::Queue => QUEUES,
            Self::Service => SERVICES,
            Self::Impairment => IMPAIRMENTS,
        }
    }

    /// The name of one in a message.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::Queue => "queue discipline",
            Self::Service => "service",
            Self::Impairment => "impairment",
        }
    }

    const fn example(self) -> &'static str {
        match self {
            Self::Queue => "codel",
            Self::Service => "wifi",
            Self::Impairment => "loss",
        }
    }
}

impl KeyKind {
    /// The name of the kind for users of the declarations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Duration => "duration",
            Self::Span => "span",
            Self::Room => "room",
            Self::Volume => "volume",
            Self::Probability => "probability",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::Name => "name",
            Self::Whole(..) => "whole",
            Self::Word(_) => "word",
            Self::Control => "control",
            Self::Options => "options",
            Self::Sysctls => "sysctls",
            Self::Element(_) => "element",
            Self::Impairments => "impairments",
            Self::Workload => "workload",
            Self::Names(..) => "names",
            Self::Command => "command",
            Self::Where => "where",
            Self::Within => "within",
            Self::Zip => "zip",
            Self::Axes => "axes",
            Self::Cases => "cases",
            Self::Table(_) => "table",
            Self::Tables(_) => "tables",
        }
    }

    /// The words of a remedy for a value; `key` is its name.
    #[must_use]
    pub fn expects(self, key: &str) -> String {
        match self {
            Self::Rate => "a rate with its unit, such as \"80mbit\",".into(),
            Self::Duration => "a duration with its unit, such as \"10s\",".into(),
            Self::Span => "a duration with its unit, such as \"25ms\",".into(),
            Self::Room => "a size such as \"1.75bdp\", \"250kb\" or \"100pkt\"".into(),
            Self::Volume => "a size in bytes, such as \"30mb\",".into(),
            Self::Probability => "a probability from 0 to below 1, such as 0.01 or \"1%\",".into(),
            Self::Number => "a finite number".into(),
            Self::Flag => "true or false".into(),
            Self::Name => format!("a text of 1 to {MAX_NAME} printable characters"),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Word(words) => format!("a {}, such as \"{}\",", words.what, words.example),
            Self::Control => "a congestion control, such as \"cubic\",".into(),
            Self::Element(elements) => {
                let (what, example) = (elements.what(), elements.example());
                format!("a {what}, such as \"{example}\" or {{ kind = \"{example}\" }},")
            }
            Self::Impairments => "a table, such as { kind = \"loss\", probability = 0.01 },".into(),
            Self::Workload => {
                let example = "{ kind = \"poisson\", rate = \"5/s\", size = \"1mb\" }";
                format!("a table with a kind, such as {example},")
            }
            Self::Sysctls => {
                "a table of settings, such as { tcp_slow_start_after_idle = 0 },".into()
            }
            Self::Command => {
                "a program and its arguments, such as [\"iperf3\", \"-s\", \"-p\", \"{port}\"],"
                    .into()
            }
            Self::Names(what, example) => format!("a list of {what}, such as [\"{example}\"],"),
            Self::Where => {
                "a table of places with their values, such as { \"path.buffer\" = \"1bdp\" },"
                    .into()
            }
            Self::Within => "a number above zero, or a part of the mean such as \"5%\",".into(),
            Self::Zip => {
                "a list of lists of places, such as [[\"path.rate\", \"path.rtt\"]],".into()
            }
            Self::Axes => "a table, [sweep.axes],".into(),
            Self::Cases => "a list of tables, [[sweep.cases]],".into(),
            Self::Options | Self::Table(_) => format!("a table, [{key}],"),
            Self::Tables(_) => format!("a list of tables, [[{key}]],"),
        }
    }
}
