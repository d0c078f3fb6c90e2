//! One element of a path.

use narrows_base::{Packet, Time};

use crate::config::AnyLink;
use crate::element::{Departure, DroppedPacket, Element};
use crate::line::Line;
use crate::link::{AnyServedLink, Link, QueueState};

/// One element of a path; the busiest kinds without a dynamic call.
pub enum PathElement<B> {
    /// A link that sends one packet after the other.
    Link(Link<B>),
    /// A link with another service.
    Served(AnyServedLink<B>),
    /// A pure delay.
    Line(Line<B>),
    /// An impairment.
    Impairment(Box<dyn Element<B> + Send>),
}

impl<B> From<AnyLink<B>> for PathElement<B> {
    fn from(link: AnyLink<B>) -> Self {
        match link {
            AnyLink::Link(link) => Self::Link(link),
            AnyLink::Served(link) => Self::Served(link),
        }
    }
}

/// Calls a method that every kind of element has.
macro_rules! forward {
    ($element:expr, $kind:ident => $call:expr) => {
        match $element {
            PathElement::Link($kind) => $call,
            PathElement::Served($kind) => $call,
            PathElement::Line($kind) => $call,
            PathElement::Impairment($kind) => $call,
        }
    };
}

impl<B> PathElement<B> {
    /// Returns `true` for a link with any service.
    #[inline]
    #[must_use]
    pub const fn is_link(&self) -> bool {
        matches!(self, Self::Link(_) | Self::Served(_))
    }

    /// Returns `true` if the element only delays packets.
    #[inline]
    #[must_use]
    pub const fn is_line(&self) -> bool {
        matches!(self, Self::Line(_))
    }

    /// The queue of a link; none if it isn't a link.
    #[must_use]
    pub fn queue(&self) -> Option<QueueState> {
        match self {
            Self::Link(link) => Some(link.queue()),
            Self::Served(link) => Some(link.queue()),
            Self::Line(_) | Self::Impairment(_) => None,
        }
    }
}

impl<B> Element<B> for PathElement<B> {
    #[inline]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        forward!(self, element => element.receive(packet, now));
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        forward!(self, element => element.poll(now))
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        forward!(self, element => element.next_deadline())
    }

    fn packet_count(&self) -> usize {
        forward!(self, element => element.packet_count())
    }

    fn copies(&self) -> u64 {
        forward!(self, element => element.copies())
    }

    #[inline]
    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        forward!(self, element => element.take_dropped())
    }
}
