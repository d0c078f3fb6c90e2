//! Drops and marks of queue disciplines.

use std::collections::VecDeque;

use narrows_base::{Ecn, Packet, Time};

use crate::element::{DropReason, DroppedPacket};

/// The drops and marks of a queue discipline: drops are returned, marks are counted. It costs
/// nothing while there are none.
#[derive(Clone, Debug)]
pub struct Verdicts<B> {
    dropped: VecDeque<DroppedPacket<B>>,
    dropped_packets: u64,
    marked_packets: u64,
}

impl<B> Verdicts<B> {
    /// No verdict yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { dropped: VecDeque::new(), dropped_packets: 0, marked_packets: 0 }
    }

    /// Drops `packet` at the instant `at`.
    pub fn drop(&mut self, packet: Packet<B>, at: Time, reason: DropReason) {
        self.dropped_packets += 1;
        self.dropped.push_back(DroppedPacket { packet, at, reason });
    }

    /// Marks `packet` as having met congestion (RFC 3168 section 5). False, without effect, if the
    /// packet isn't ECN-capable.
    #[must_use]
    pub fn mark(&mut self, packet: &mut Packet<B>) -> bool {
        if !packet.ecn.is_capable() {
            return false;
        }
        packet.ecn = Ecn::Ce;
        self.marked_packets += 1;
        true
    }

    /// Returns `true` if a dropped packet hasn't been taken yet.
    #[inline]
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// The next drop that hasn't been taken yet.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        self.dropped.pop_front()
    }

    /// Drops so far, taken or not.
    #[must_use]
    pub const fn dropped_packets(&self) -> u64 {
        self.dropped_packets
    }

    /// Marks so far. As in Linux, a packet that arrived with a mark counts when the queue marks it
    /// again.
    #[must_use]
    pub const fn marked_packets(&self) -> u64 {
        self.marked_packets
    }
}

impl<B> Default for Verdicts<B> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::FlowId;

    use super::*;

    #[test]
    fn only_capable_packets_are_marked() {
        let mut verdicts = Verdicts::new();
        let marked = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|ecn| {
            let mut packet = Packet { flow: FlowId(0), size: 1500, ecn, body: () };
            (verdicts.mark(&mut packet), packet.ecn)
        });
        assert_eq!(marked[0], (false, Ecn::NotEct));
        assert!(marked[1..].iter().all(|&m| m == (true, Ecn::Ce)));
        assert_eq!(verdicts.marked_packets(), 3);
    }
}
