//! The three methods and their results.

use narrows_base::{Packet, Time};

/// A packet on its way out of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<B> {
    /// When it was due to leave, however late the element was polled.
    pub at: Time,
    /// The packet.
    pub packet: Packet<B>,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The queue had no room.
    Overflow,
    /// The queue discipline dropped it early: active queue management.
    Early,
    /// Random loss after the queue: a lossy medium.
    RandomLoss,
    /// It exceeded the rate and the burst of a policer.
    Policed,
    /// Nothing got through at the time.
    Outage,
    /// A newer packet has its information: a thinned acknowledgement.
    Merged,
}

/// A packet that an element dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPacket<B> {
    /// The packet.
    pub packet: Packet<B>,
    /// When it was dropped, however late the element was polled.
    pub at: Time,
    /// The reason.
    pub reason: DropReason,
}

/// An element that holds packets for some time. The crate's documentation states the calling
/// contract.
pub trait Element<B> {
    /// Takes a packet that arrives at `now`.
    ///
    /// # Panics
    /// If `now` is before an instant that the element has already reached and
    /// its results would suffer.
    fn receive(&mut self, packet: Packet<B>, now: Time);

    /// The next packet that was due to leave at or before `now`.
    fn poll(&mut self, now: Time) -> Option<Departure<B>>;

    /// When `poll` should be called next; nothing leaves earlier. `None` if
    /// nothing happens before the next arrival.
    fn next_deadline(&self) -> Option<Time>;

    /// How many packets are inside: waiting, in transmission, or due and not yet polled.
    fn packet_count(&self) -> usize;

    /// How many copies of packets it has made so far.
    fn copies(&self) -> u64 {
        0
    }

    /// The next packet of those dropped so far, in the order of their drops.
    /// They are kept until they are taken.
    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        None
    }
}
