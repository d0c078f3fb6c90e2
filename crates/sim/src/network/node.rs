//! One element of the network.

use narrows_base::{Histogram, Packet, Time};
use narrows_net::path::PathElement;
use narrows_net::{
    AnyServedLink, ChangingLine, CopyLine, Departure, DroppedPacket, Element, Jitter, Link, Pipe,
    QueueState,
};
use narrows_tcp::Segment;

use crate::host::{ReceivingHost, SendingHost};

/// One element of the network: of the path, or of its ends. The enum is flat, since the event loop
/// checks the kind of every element that it touches.
#[expect(clippy::large_enum_variant, reason = "a receiver is the busiest: no pointer to it")]
// The explicit tag saves the arithmetic that a tag in a niche costs on every match. A sender fits in
// one cache line, and a receiver takes no more of them than it needs.
#[repr(u8, align(64))]
pub(crate) enum Node {
    Link(Link<Segment>),
    /// A link with another service.
    Served(AnyServedLink<Segment>),
    Line(CopyLine<Segment>),
    /// A link with the only line behind it.
    Pipe(Pipe<Segment>),
    /// In place of the line of the pipe with this number, whose packets come out here.
    PipeEnd(usize),
    /// A line whose delay has changed.
    ChangingLine(ChangingLine<Segment>),
    Jitter(Jitter<Segment>),
    Impairment(Box<dyn Element<Segment> + Send>),
    Sender(SendingHost),
    Receiver(ReceivingHost),
}

/// The role of an element in the event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Link,
    Sender,
    Receiver,
    /// It may drop packets and make copies.
    Impairment,
    /// It only delays.
    Delay,
}

impl From<PathElement<Segment>> for Node {
    fn from(element: PathElement<Segment>) -> Self {
        match element {
            PathElement::Link(link) => Self::Link(link),
            PathElement::Served(link) => Self::Served(link),
            PathElement::Line(line) => Self::Line(line.into()),
            PathElement::Impairment(element) => Self::Impairment(element),
        }
    }
}

impl Node {
    #[inline]
    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Link(_) | Self::Served(_) | Self::Pipe(_) => Role::Link,
            Self::Sender(_) => Role::Sender,
            Self::Receiver(_) => Role::Receiver,
            Self::Impairment(_) => Role::Impairment,
            Self::Line(_) | Self::PipeEnd(_) | Self::ChangingLine(_) | Self::Jitter(_) => {
                Role::Delay
            }
        }
    }

    /// Takes a packet that arrives at `now`.
    #[inline]
    pub(crate) fn receive(&mut self, packet: &Packet<Segment>, now: Time) {
        match self {
            Self::Link(link) => link.receive(*packet, now),
            Self::Line(line) => line.receive(*packet, now),
            Self::ChangingLine(line) => line.receive(*packet, now),
            Self::Jitter(jitter) => jitter.receive(*packet, now),
            Self::Sender(host) => host.receive(packet, now),
            Self::Receiver(host) => host.receive(packet, now),
            Self::Served(link) => link.receive(*packet, now),
            Self::Impairment(element) => element.receive(*packet, now),
            Self::Pipe(pipe) => pipe.receive(*packet, now),
            Self::PipeEnd(_) => unreachable!("packets reach the end of a pipe in the pipe"),
        }
    }

    /// The next due packet; hosts and pipes have their own methods.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Departure<Segment>> {
        match self {
            Self::Link(link) => link.poll(now),
            Self::Line(line) => line.poll(now),
            Self::ChangingLine(line) => line.poll(now),
            Self::Jitter(jitter) => jitter.poll(now),
            Self::Served(link) => link.poll(now),
            Self::Impairment(element) => element.poll(now),
            Self::Sender(_) | Self::Receiver(_) | Self::Pipe(_) | Self::PipeEnd(_) => None,
        }
    }

    /// When it must be woken next; a pipe never is, but its end.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        match self {
            Self::Link(link) => link.next_deadline(),
            Self::Line(line) => line.next_deadline(),
            Self::ChangingLine(line) => line.next_deadline(),
            Self::Jitter(jitter) => jitter.next_deadline(),
            Self::Sender(host) => host.next_deadline(),
            Self::Receiver(host) => host.next_deadline(),
            Self::Served(link) => link.next_deadline(),
            Self::Impairment(element) => element.next_deadline(),
            Self::Pipe(_) | Self::PipeEnd(_) => None,
        }
    }

    /// Returns `true` if the node may have dropped a packet that hasn't been taken yet.
    #[inline]
    pub(crate) fn may_have_dropped(&self) -> bool {
        match self {
            Self::Link(link) => link.has_dropped(),
            Self::Pipe(pipe) => pipe.has_dropped(),
            Self::Served(_) | Self::Impairment(_) => true,
            Self::Line(_) | Self::PipeEnd(_) | Self::ChangingLine(_) | Self::Jitter(_) => false,
            Self::Sender(_) | Self::Receiver(_) => false,
        }
    }

    /// The next packet that it dropped.
    pub(crate) fn take_dropped(&mut self) -> Option<DroppedPacket<Segment>> {
        match self {
            Self::Link(link) => link.take_dropped(),
            Self::Pipe(pipe) => pipe.take_dropped(),
            Self::Served(link) => link.take_dropped(),
            Self::Impairment(element) => element.take_dropped(),
            Self::Line(_) | Self::PipeEnd(_) | Self::ChangingLine(_) | Self::Jitter(_) => None,
            Self::Sender(_) | Self::Receiver(_) => None,
        }
    }

    /// Brings a link up to `now`.
    pub(crate) fn catch_up(&mut self, now: Time) {
        match self {
            Self::Link(link) => link.catch_up(now),
            Self::Pipe(pipe) => pipe.catch_up(now),
            Self::Served(link) => link.catch_up(now),
            _ => {}
        }
    }

    /// The queue of a link, as of the last instant that it has reached.
    ///
    /// # Panics
    /// If it isn't a link.
    pub(crate) fn queue(&self) -> QueueState {
        match self {
            Self::Link(link) => link.queue(),
            Self::Pipe(pipe) => pipe.queue(),
            Self::Served(link) => link.queue(),
            _ => unreachable!("a link's number names a link"),
        }
    }

    /// Restarts the count of a link's queue depth at `now`, which the link has reached.
    ///
    /// # Panics
    /// If it isn't a link.
    pub(crate) fn restart_depth(&mut self, now: Time) {
        match self {
            Self::Link(link) => link.restart_depth(now),
            Self::Pipe(pipe) => pipe.restart_depth(now),
            Self::Served(link) => link.restart_depth(now),
            _ => unreachable!("a link's number names a link"),
        }
    }

    /// The backlog in bytes, weighted by ns, until the last instant that the link has
    /// reached.
    ///
    /// # Panics
    /// If it isn't a link.
    pub(crate) fn depth_histogram(&mut self) -> &Histogram {
        match self {
            Self::Link(link) => link.depth_histogram(),
            Self::Pipe(pipe) => pipe.depth_histogram(),
            Self::Served(link) => link.depth_histogram(),
            _ => unreachable!("a link's number names a link"),
        }
    }

    /// Packets inside.
    pub(crate) fn packets_inside(&self) -> usize {
        match self {
            Self::Link(link) => link.packet_count(),
            Self::Pipe(pipe) => pipe.packet_count(),
            Self::Served(link) => link.packet_count(),
            Self::Line(line) => line.packet_count(),
            Self::ChangingLine(line) => line.packet_count(),
            Self::Jitter(jitter) => jitter.packet_count(),
            Self::Impairment(element) => element.packet_count(),
            Self::PipeEnd(_) | Self::Sender(_) | Self::Receiver(_) => 0,
        }
    }

    /// Packets that it has made.
    pub(crate) fn packets_created(&self) -> u64 {
        match self {
            Self::Impairment(element) => element.copies(),
            _ => 0,
        }
    }
}
