//! What the registries say of an element.

/// An element that can be named.
#[derive(Debug)]
pub struct Info {
    /// The name, `tc`'s where it has one.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// How its room is counted, if it is a queue.
    pub room: Room,
    /// What can be set, besides a queue's room.
    pub parameters: &'static [Parameter],
}

/// How the room of a queue is counted, and how much there is if nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It isn't a queue.
    None,
    /// In bytes or in packets; it must be given.
    Either,
    /// In packets.
    Packets(u64),
    /// In bytes; without a default it must be given.
    Bytes(Option<u64>),
}

/// A parameter of an element.
#[derive(Debug)]
pub struct Parameter {
    /// The name, `tc`'s where it has one.
    pub name: &'static str,
    /// What its value means.
    pub unit: Unit,
    /// The value where none is given.
    pub fallback: Fallback,
    /// The least whole number that is allowed.
    pub least: u64,
    /// The greatest one.
    pub most: u64,
    /// What it is, in a line.
    pub what: &'static str,
}

/// What a value means, and how a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of packets.
    Packets,
    /// A number of bytes.
    Bytes,
    /// A whole number of ns.
    Duration,
    /// A whole number of bit/s.
    Rate,
    /// A number from 0 to 1.
    Probability,
    /// Any whole number.
    Whole,
    /// A number that isn't negative.
    Number,
    /// True or false.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// Times in ns, ascending, each with a rate in bit/s.
    Rates,
    /// Times in ns, ascending, each with a delay in ns.
    Delays,
    /// Times in ns, ascending, each with how long something lasts in ns.
    Spans,
    /// The ms of delivery opportunities, in order.
    Opportunities,
}

/// The value of a parameter where none is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// None: what it would do isn't done, or is worked out from other parameters.
    Off,
    /// The rate of the link.
    LinkRate,
    /// A whole number, in the parameter's unit.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(&'static str),
}

impl Unit {
    /// What a scenario's key has behind the parameter's name.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Packets => "_packets",
            Self::Bytes => "_bytes",
            Self::Duration => "_ns",
            Self::Rate => "_bps",
            _ => "",
        }
    }
}

impl Parameter {
    /// A parameter without bounds.
    pub(super) const fn new(
        name: &'static str,
        unit: Unit,
        fallback: Fallback,
        what: &'static str,
    ) -> Self {
        Self { name, unit, fallback, least: 0, most: u64::MAX, what }
    }

    /// The same, above zero.
    pub(super) const fn positive(self) -> Self {
        self.at_least(1)
    }

    /// The same, from `least` on.
    pub(super) const fn at_least(mut self, least: u64) -> Self {
        self.least = least;
        self
    }

    /// The same, up to `most`.
    pub(super) const fn at_most(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    /// Its key in a scenario: the name and the unit.
    #[must_use]
    pub fn key(&self) -> String {
        match self.unit {
            // A person names the file, a scenario holds what is in it.
            Unit::Opportunities => "opportunities_ms".into(),
            unit => format!("{}{}", self.name, unit.suffix()),
        }
    }
}

/// The entry of that name.
#[must_use]
pub fn info(registry: &'static [Info], name: &str) -> Option<&'static Info> {
    registry.iter().find(|info| info.name == name)
}

/// 0.1 ms in ns: shorter periods would keep the engine busy with nothing else.
pub(super) const SHORTEST_PERIOD: u64 = 100_000;

/// So many ms, in ns.
pub(super) const fn ms(count: u64) -> Fallback {
    Fallback::Whole(count * 1_000_000)
}
