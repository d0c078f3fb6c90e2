//! Explicit congestion notification, as negotiated by both ends of a connection.

use narrows_base::Ecn;
use serde::{Deserialize, Serialize};

/// How marks are requested and reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnMode {
    /// Packets can't be marked.
    #[default]
    Off,
    /// RFC 3168: new data is ECT(0); the receiver echoes until it sees CWR.
    Classic,
    /// RFC 8257: every packet is ECT(0); the receiver echoes each packet's mark
    /// (Linux's controls with `TCP_CONG_NEEDS_ECN`).
    Dctcp,
    /// RFC 9768: every packet after the handshake is ECT(0); headers count marked packets.
    Accurate,
    /// RFC 9331: every packet is ECT(1); headers count marked packets as accurate ECN does.
    L4s,
}

impl EcnMode {
    /// The codepoint of new data.
    #[must_use]
    pub const fn of_new_data(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Dctcp | Self::Accurate => Ecn::Ect0,
            Self::L4s => Ecn::Ect1,
        }
    }

    /// The codepoint of pure ACKs and retransmissions. RFC 3168 sections 6.1.4 and 6.1.5 keep
    /// them unmarked; scalable controls and accurate ECN don't.
    #[must_use]
    pub const fn of_the_rest(self) -> Ecn {
        match self {
            Self::Off | Self::Classic => Ecn::NotEct,
            Self::Dctcp | Self::Accurate | Self::L4s => self.of_new_data(),
        }
    }

    /// The codepoint of SYN and SYN-ACK: only scalable controls let these be marked.
    #[must_use]
    pub const fn of_handshake(self) -> Ecn {
        match self {
            Self::Off | Self::Classic | Self::Accurate => Ecn::NotEct,
            Self::Dctcp | Self::L4s => self.of_new_data(),
        }
    }

    /// Returns `true` if the receiver echoes marks in the ECE flag.
    pub(crate) const fn echoes(self) -> bool {
        matches!(self, Self::Classic | Self::Dctcp)
    }

    /// Returns `true` if headers count marks (RFC 9768).
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::Accurate | Self::L4s)
    }
}
