//! One element of the network.

use narrows_base::{Bytes, Packet, Time};
use narrows_net::config::{AnyLink, Passage};
use narrows_net::{Counters, Departure, Dropped, Element as _, Jitter, Line, Link, Medium};
use narrows_tcp::Segment;

use crate::host::{ReceivingHost, SendingHost};

/// One element of the network.
#[allow(clippy::large_enum_variant)] // the link is the busiest: no pointer to it
pub(crate) enum Node {
    Link(Link<Segment>),
    /// A link that sends in its own way.
    Medium(Box<dyn Medium<Segment> + Send>),
    Line(Line<Segment>),
    Jitter(Jitter<Segment>),
    /// An impairment.
    Passage(Box<dyn Passage<Segment> + Send>),
    Sender(SendingHost),
    Receiver(ReceivingHost),
}

/// What the event loop needs to know of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Link,
    Sender,
    Receiver,
    /// It may drop packets and make copies.
    Impairment,
    /// It only delays.
    Passage,
}

/// What a link says of its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueState {
    pub(crate) backlog: Bytes,
    pub(crate) packets: usize,
    pub(crate) counters: Counters,
}

/// Calls a method that every kind of element has.
macro_rules! forward {
    ($node:expr, $element:ident => $call:expr) => {
        match $node {
            Node::Link($element) => $call,
            Node::Line($element) => $call,
            Node::Jitter($element) => $call,
            Node::Sender($element) => $call,
            Node::Receiver($element) => $call,
            Node::Medium($element) => $call,
            Node::Passage($element) => $call,
        }
    };
}

impl From<AnyLink<Segment>> for Node {
    fn from(link: AnyLink<Segment>) -> Self {
        match link {
            AnyLink::Link(link) => Self::Link(link),
            AnyLink::Medium(link) => Self::Medium(link),
        }
    }
}

impl Node {
    #[inline]
    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Link(_) | Self::Medium(_) => Role::Link,
            Self::Sender(_) => Role::Sender,
            Self::Receiver(_) => Role::Receiver,
            Self::Passage(_) => Role::Impairment,
            Self::Line(_) | Self::Jitter(_) => Role::Passage,
        }
    }

    /// Takes a packet that arrives at `now`.
    #[inline]
    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::Link(link) => link.receive(*packet, now),
            Self::Line(line) => line.receive(*packet, now),
            Self::Jitter(jitter) => jitter.receive(*packet, now),
            Self::Sender(host) => host.receive(packet, now),
            Self::Receiver(host) => host.receive(packet, now),
            Self::Medium(link) => link.receive(*packet, now),
            Self::Passage(element) => element.receive(*packet, now),
        }
    }

    /// The next packet that is due; hosts are asked as what they are.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Departure<Segment>> {
        match self {
            Self::Link(link) => link.poll(now),
            Self::Line(line) => line.poll(now),
            Self::Jitter(jitter) => jitter.poll(now),
            Self::Medium(link) => link.poll(now),
            Self::Passage(element) => element.poll(now),
            Self::Sender(_) | Self::Receiver(_) => None,
        }
    }

    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        forward!(self, element => element.next_deadline())
    }

    /// Whether it may have dropped a packet that nobody has taken yet.
    #[inline]
    pub(crate) fn may_have_dropped(&self) -> bool {
        match self {
            Self::Link(link) => link.has_dropped(),
            Self::Medium(_) | Self::Passage(_) => true,
            Self::Line(_) | Self::Jitter(_) | Self::Sender(_) | Self::Receiver(_) => false,
        }
    }

    /// The next packet that it dropped.
    pub(crate) fn take_dropped(&mut self) -> Option<Dropped<Segment>> {
        match self {
            Self::Link(link) => link.take_dropped(),
            Self::Medium(link) => link.take_dropped(),
            Self::Passage(element) => element.take_dropped(),
            Self::Line(_) | Self::Jitter(_) | Self::Sender(_) | Self::Receiver(_) => None,
        }
    }

    /// Brings a link up to `now`.
    pub(crate) fn catch_up(&mut self, now: Time) {
        match self {
            Self::Link(link) => link.catch_up(now),
            Self::Medium(link) => link.catch_up(now),
            _ => {}
        }
    }

    /// The queue of a link, as of the last instant that it has reached.
    ///
    /// # Panics
    /// If it is no link.
    pub(crate) fn queue(&self) -> QueueState {
        let (backlog, packets, counters) = match self {
            Self::Link(link) => (link.backlog(), link.backlog_packets(), link.counters()),
            Self::Medium(link) => (link.backlog(), link.backlog_packets(), link.counters()),
            _ => unreachable!("a link's number names a link"),
        };
        QueueState { backlog, packets, counters }
    }

    /// Packets inside.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Link(link) => link.held(),
            Self::Medium(link) => link.held(),
            Self::Line(line) => line.held(),
            Self::Jitter(jitter) => jitter.held(),
            Self::Passage(element) => element.held(),
            Self::Sender(_) | Self::Receiver(_) => 0,
        }
    }

    /// Packets that it has made.
    pub(crate) fn made(&self) -> u64 {
        match self {
            Self::Passage(element) => element.made(),
            _ => 0,
        }
    }
}
