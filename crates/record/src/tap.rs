//! Taps, which see the packets themselves at points of the path.

use narrows_base::{FlowId, Heading, Point, Time};

/// Sees packets of type `P` and senders' states of type `V`, in the order of events.
///
/// As with an [`Observer`](crate::Observer), a run is generic over its tap: one that never wants
/// anything costs nothing. A tap can't change a run.
pub trait Tap<P, V> {
    /// Returns whether it wants packets. The answer never changes.
    fn wants_packets(&self) -> bool;

    /// Returns whether it wants senders' states. The answer never changes.
    fn wants_senders(&self) -> bool;

    /// A packet passes a point.
    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &P);

    /// A packet whose payload bytes are known passes a point. A tap that doesn't need them treats it
    /// as any other.
    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &P,
        _bytes: &[u8],
    ) {
        self.packet(point, heading, at, packet);
    }

    /// A sender marks its packet with the number `seq`, or its retransmission, as lost.
    fn packet_lost(&mut self, flow: FlowId, at: Time, seq: u32);

    /// A sender has done everything due at this instant.
    fn sender(&mut self, flow: FlowId, at: Time, view: &V);
}

impl<P, V, T: Tap<P, V>> Tap<P, V> for &mut T {
    #[inline]
    fn wants_packets(&self) -> bool {
        (**self).wants_packets()
    }

    #[inline]
    fn wants_senders(&self) -> bool {
        (**self).wants_senders()
    }

    #[inline]
    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &P) {
        (**self).packet(point, heading, at, packet);
    }

    #[inline]
    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &P,
        bytes: &[u8],
    ) {
        (**self).packet_of_bytes(point, heading, at, packet, bytes);
    }

    fn packet_lost(&mut self, flow: FlowId, at: Time, seq: u32) {
        (**self).packet_lost(flow, at, seq);
    }

    #[inline]
    fn sender(&mut self, flow: FlowId, at: Time, view: &V) {
        (**self).sender(flow, at, view);
    }
}

impl<P, V, T: Tap<P, V>> Tap<P, V> for Option<T> {
    fn wants_packets(&self) -> bool {
        self.as_ref().is_some_and(Tap::wants_packets)
    }

    fn wants_senders(&self) -> bool {
        self.as_ref().is_some_and(Tap::wants_senders)
    }

    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &P) {
        if let Some(tap) = self {
            tap.packet(point, heading, at, packet);
        }
    }

    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &P,
        bytes: &[u8],
    ) {
        if let Some(tap) = self {
            tap.packet_of_bytes(point, heading, at, packet, bytes);
        }
    }

    fn packet_lost(&mut self, flow: FlowId, at: Time, seq: u32) {
        if let Some(tap) = self {
            tap.packet_lost(flow, at, seq);
        }
    }

    fn sender(&mut self, flow: FlowId, at: Time, view: &V) {
        if let Some(tap) = self {
            tap.sender(flow, at, view);
        }
    }
}

/// Two taps of the same run.
impl<P, V, A: Tap<P, V>, B: Tap<P, V>> Tap<P, V> for (A, B) {
    fn wants_packets(&self) -> bool {
        self.0.wants_packets() || self.1.wants_packets()
    }

    fn wants_senders(&self) -> bool {
        self.0.wants_senders() || self.1.wants_senders()
    }

    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &P) {
        self.0.packet(point, heading, at, packet);
        self.1.packet(point, heading, at, packet);
    }

    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &P,
        bytes: &[u8],
    ) {
        self.0.packet_of_bytes(point, heading, at, packet, bytes);
        self.1.packet_of_bytes(point, heading, at, packet, bytes);
    }

    fn packet_lost(&mut self, flow: FlowId, at: Time, seq: u32) {
        self.0.packet_lost(flow, at, seq);
        self.1.packet_lost(flow, at, seq);
    }

    fn sender(&mut self, flow: FlowId, at: Time, view: &V) {
        self.0.sender(flow, at, view);
        self.1.sender(flow, at, view);
    }
}

/// A tap that wants nothing.
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
    fn packet(&mut self, _point: Point, _direction: Heading, _at: Time, _packet: &P) {}

    #[inline]
    fn packet_lost(&mut self, _flow: FlowId, _at: Time, _seq: u32) {}

    #[inline]
    fn sender(&mut self, _flow: FlowId, _at: Time, _view: &V) {}
}
