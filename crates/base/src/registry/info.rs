//! Entries of registries and their roles.

use super::parameter::Parameter;

/// An entry that can be named.
#[derive(Debug)]
pub struct Info {
    /// The name in a specification: that of Linux or `tc` if it has one.
    pub name: &'static str,
    /// The usual name, for headings and legends.
    pub title: &'static str,
    /// The family: entries of one family are variants of one idea.
    pub family: &'static str,
    /// A one-line summary.
    pub summary: &'static str,
    /// Where it is specified: a kernel file, an RFC, a paper.
    pub source: &'static str,
    /// Its role, with the properties of that role.
    pub role: Role,
    /// The parameters that can be set.
    pub parameters: &'static [Parameter],
}

/// The role of an entry in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A congestion control.
    Control {
        /// The ECN that it needs, if it can't do without (Linux `TCP_CONG_NEEDS_ECN`).
        ecn: Option<EcnNeed>,
        /// True if it sets the pacing rate itself.
        paces: bool,
    },
    /// A queue discipline.
    Queue(LimitUnit),
    /// A way in which a link serves its queue.
    Service,
    /// An impairment of packets on a path.
    Impairment,
    /// The behaviour of a flow's application.
    Workload,
    /// A distribution of sizes or durations.
    Distribution,
}

/// The ECN that a control needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNeed {
    /// Each mark echoed (RFC 8257).
    Dctcp,
    /// ECT(1) and counted marks (RFC 9331).
    L4s,
}

/// How the capacity of a queue is counted, and its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// In bytes or in packets; it must be given.
    Either,
    /// In packets.
    Packets(u64),
    /// In bytes; without a default it must be given.
    Bytes(Option<u64>),
}

impl Info {
    /// The parameter of that name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The current spelling of `name = number`, if that was valid before parameters took units and
    /// words.
    #[must_use]
    pub fn respell(&self, name: &str, number: f64) -> Option<String> {
        self.parameters.iter().find_map(|parameter| parameter.respell(name, number))
    }

    /// How the capacity of a queue is counted; none if it isn't a queue.
    #[must_use]
    pub const fn limit_unit(&self) -> Option<LimitUnit> {
        match self.role {
            Role::Queue(room) => Some(room),
            _ => None,
        }
    }
}

/// The entry of that name.
#[must_use]
pub fn info(registry: &[&'static Info], name: &str) -> Option<&'static Info> {
    registry.iter().copied().find(|info| info.name == name)
}
