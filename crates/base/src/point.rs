//! The observation points of a path.

/// A point of the path where packets can be captured, as on the machines of a testbed.
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

/// The direction of a packet at a point, from that point's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heading {
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
