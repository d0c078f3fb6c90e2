//! Who looks at the packets themselves, at points of the path.

use narrows_base::{FlowId, Time};

/// Where packets can be seen, as a capture on a testbed's machines would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// The sending host's network card.
    Sender,
    /// The bottleneck's side that faces the senders: before the queue.
    BeforeQueue,
    /// The bottleneck's side that faces the receivers: after the queue.
    AfterQueue,
    /// The receiving host's network card.
    Receiver,
}

/// Which way a packet goes at a point, from the view of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// It arrives.
    In,
    /// It leaves.
    Out,
}

impl Point {
    /// All points, from sender to receiver.
    pub const ALL: [Self; 4] = [Self::Sender, Self::BeforeQueue, Self::AfterQueue, Self::Receiver];

    /// The point's name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::BeforeQueue => "before-queue",
            Self::AfterQueue => "after-queue",
            Self::Receiver => "receiver",
        }
    }
}

/// Sees packets of type `P` and senders' states of type `V`, in the order in which
/// things happen.
///
/// As with an [`Observer`](crate::Observer), a run is compiled for its tap: one that
/// constantly wants nothing costs nothing. A tap can't change a run.
pub trait Tap<P, V> {
    /// Whether it looks at packets. The answer never changes.
    fn wants_packets(&self) -> bool;

    /// Whether it looks at senders. The answer never changes.
    fn wants_senders(&self) -> bool;

    /// A packet passes a point.
    fn packet(&mut self, point: Point, direction: Direction, at: Time, packet: &P);

    /// A sender takes its packet with the number `seq`, or its retransmission, for lost.
    fn lost(&mut self, flow: FlowId, at: Time, seq: u32);

    /// A sender has done what there was to do at this instant.
    fn sender(&mut self, flow: FlowId, at: Time, view: &V);
}

/// Looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullTap;

impl<P, V> Tap<P, V> for NullTap {
    #[inline]
    fn wants_packets(&self) -> bool {
        false
    }

    #[inline]
    fn wants_senders(&self) -> bool {
        false
    }

    #[inline]
    fn packet(&mut self, _point: Point, _direction: Direction, _at: Time, _packet: &P) {}

    #[inline]
    fn lost(&mut self, _flow: FlowId, _at: Time, _seq: u32) {}

    #[inline]
    fn sender(&mut self, _flow: FlowId, _at: Time, _view: &V) {}
}
