//! The size of a queue.

use narrows_base::Bytes;
use serde::{Deserialize, Serialize};

/// How much may wait in a queue, not counting the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Limit {
    /// A number of bytes, as in `tc`'s bfifo: a packet is admitted if the backlog with
    /// it stays within the limit.
    Bytes(Bytes),
    /// A number of packets of any size, as in `tc`'s pfifo.
    Packets(u64),
}

impl Limit {
    /// The limit in packets; checked to be in packets.
    pub(crate) fn packets(self) -> u64 {
        match self {
            Self::Packets(packets) => packets,
            Self::Bytes(_) => panic!("a limit in bytes: it wasn't checked"),
        }
    }

    /// The limit in bytes; checked to be in bytes.
    pub(crate) fn bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Packets(_) => panic!("a limit in packets: it wasn't checked"),
        }
    }
}

/// A limit of bytes and of packets, one of which is out of reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    bytes: u64,
    packets: usize,
}

impl Capacity {
    pub(crate) fn new(limit: Limit) -> Self {
        let (bytes, packets) = match limit {
            Limit::Bytes(most) => (most.get(), usize::MAX),
            Limit::Packets(most) => (u64::MAX, usize::try_from(most).unwrap_or(usize::MAX)),
        };
        Self { bytes, packets }
    }

    /// Returns whether a packet may join `others` packets, if `bytes` wait then.
    #[inline]
    pub(crate) const fn admits(&self, bytes: u64, others: usize) -> bool {
        bytes <= self.bytes && others < self.packets
    }
}
