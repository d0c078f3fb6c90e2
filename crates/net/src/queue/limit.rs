//! The size of a queue.

use narrows_base::Bytes;
use serde::{Deserialize, Serialize};

/// How much may wait in a queue, the packet in transmission not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Limit {
    /// So many bytes, as `tc`'s bfifo: a packet is admitted if the backlog with
    /// it stays within the limit.
    Bytes(Bytes),
    /// So many packets of any size, as `tc`'s pfifo.
    Packets(u64),
}

impl Limit {
    /// The packets of a limit that was checked to count packets.
    pub(crate) fn packets(self) -> u64 {
        match self {
            Self::Packets(packets) => packets,
            Self::Bytes(_) => panic!("a limit in bytes: it wasn't checked"),
        }
    }

    /// The bytes of a limit that was checked to count bytes.
    pub(crate) fn bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Packets(_) => panic!("a limit in packets: it wasn't checked"),
        }
    }
}
