//! A path as plain data: links in a row, the reverse link, and the impairments of both directions.

use narrows_base::Rate;
use serde::{Deserialize, Serialize};

use crate::config::{Choice, LinkChoice};
use crate::queue::Limit;

/// The name of the first link of a path.
pub const FIRST_LINK: &str = "bottleneck";

/// A bottleneck and the propagation delay around it, perhaps with further elements.
///
/// Forward, a packet passes the impairments before the links, the links in their order,
/// the impairments behind them, and half of its flow's round trip. Backward, it passes the
/// impairments of that direction with the reverse link, if there is one, and the other half.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Rate in bit/s, counting IP bytes. With a service that has its own rates it is nominal:
    /// bandwidth-delay product and utilisation are computed from it.
    pub rate_bps: u64,
    /// Two-way delay in ns without queueing, for flows without their own.
    pub rtt_ns: u64,
    /// How much may wait, not counting the packet being sent.
    pub buffer: Limit,
    /// The queue discipline with all its parameters except the limit, which is the buffer.
    pub queue: Choice,
    /// How the queue is served.
    pub service: Choice,
    /// Probability that a data packet is lost after the last link forward.
    pub loss: f64,
    /// The impairments, in their order within a direction and a place.
    pub impairments: Vec<Impairment>,
    /// More links behind the first, in their order. The first is called "bottleneck".
    pub links: Vec<LinkConfig>,
    /// The reverse link; if none, nothing queues there.
    pub reverse: Option<LinkConfig>,
}

impl PathConfig {
    /// The first link.
    #[must_use]
    pub fn first_link(&self) -> LinkChoice<'_> {
        LinkChoice {
            rate: Rate::from_bps(self.rate_bps),
            service: &self.service,
            queue: &self.queue,
            limit: self.buffer,
        }
    }
}

impl PathConfig {
    /// The number in the tables of the link of this name, of the first link if none is given.
    #[must_use]
    pub fn link_number(&self, name: Option<&str>) -> Option<usize> {
        let Some(name) = name.filter(|&name| name != FIRST_LINK) else { return Some(0) };
        let mut others = self.links.iter().chain(&self.reverse);
        others.position(|link| link.name == name).map(|place| place + 1)
    }

    /// The link with this number.
    #[must_use]
    pub fn link(&self, number: usize) -> Option<LinkChoice<'_>> {
        match number.checked_sub(1) {
            None => Some(self.first_link()),
            Some(place) => {
                self.links.iter().chain(&self.reverse).nth(place).map(LinkConfig::choice)
            }
        }
    }
}

impl LinkConfig {
    /// The configuration of the link.
    #[must_use]
    pub fn choice(&self) -> LinkChoice<'_> {
        LinkChoice {
            rate: Rate::from_bps(self.rate_bps),
            service: &self.service,
            queue: &self.queue,
            limit: self.buffer,
        }
    }
}

/// A link besides the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Unique name.
    pub name: String,
    /// As the path's.
    pub rate_bps: u64,
    /// As the path's.
    pub buffer: Limit,
    /// As the path's.
    pub queue: Choice,
    /// As the path's.
    pub service: Choice,
}

/// An impairment of the packets of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Impairment {
    /// The direction of the packets.
    pub direction: Direction,
    /// Its place.
    pub at: ImpairmentPlace,
    /// The impairment with all its parameters.
    #[serde(flatten)]
    pub element: Choice,
}

/// A direction of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// With the data of flows that aren't reversed.
    Forward,
    /// With their acknowledgements.
    Backward,
}

/// The place of an impairment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpairmentPlace {
    /// Before the links of the direction.
    Before,
    /// Behind them.
    Behind,
}
