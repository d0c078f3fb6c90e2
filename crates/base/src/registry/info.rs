//! What can be named, and the part that it plays.

use super::parameter::Parameter;

/// Something that can be named.
#[derive(Debug)]
pub struct Info {
    /// The name by which a specification asks for it: that of Linux or `tc` where it has one.
    pub name: &'static str,
    /// What people call it, for headings and legends.
    pub title: &'static str,
    /// What it is a kind of: entries of one family are variants of one idea.
    pub family: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it is specified: a kernel file, an RFC, a paper.
    pub source: &'static str,
    /// The part that it plays, with what only that part has.
    pub role: Role,
    /// What can be set.
    pub parameters: &'static [Parameter],
}

/// The part that something plays in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A congestion control.
    Control {
        /// What it needs of explicit congestion notification, if it can't do without
        /// (Linux `TCP_CONG_NEEDS_ECN`).
        ecn: Option<EcnNeed>,
        /// Whether it sets the pacing rate itself.
        paces: bool,
    },
    /// A queue discipline.
    Queue(Room),
    /// A way in which a link serves its queue.
    Service,
    /// Something else that happens to packets on a path.
    Impairment,
    /// What the application of a flow does.
    Workload,
    /// How sizes or durations are distributed.
    Distribution,
}

/// What a control needs of explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNeed {
    /// Each mark echoed (RFC 8257).
    Dctcp,
    /// ECT(1) and counted marks (RFC 9331).
    L4s,
}

/// How the room of a queue is counted, and how much there is if nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
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

    /// How `name = number` is written today, if that was a spelling before parameters took
    /// units and words.
    #[must_use]
    pub fn respelled(&self, name: &str, number: f64) -> Option<String> {
        self.parameters.iter().find_map(|parameter| parameter.respelled(name, number))
    }

    /// How the room of a queue is counted; none if it isn't a queue.
    #[must_use]
    pub const fn room(&self) -> Option<Room> {
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
