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
    /// RFC 9331: every packet is ECT(1); each ACK carries the count of marked packets,
    /// as accurate ECN does (RFC 9768).
    L4s,
}

impl EcnMode {
    /// The codepoint of new data.
    #[must_use]
    pub const fn of_new_data(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Dctcp => Ecn::Ect0,
            Self::L4s => Ecn::Ect1,
        }
    }

    /// The codepoint of other packets: handshake, pure ACKs, retransmissions. RFC 3168
    /// sections 6.1.4 and 6.1.5 keep them unmarked; scalable controls don't.
    #[must_use]
    pub const fn of_the_rest(self) -> Ecn {
        match self {
            Self::Off | Self::Classic => Ecn::NotEct,
            Self::Dctcp | Self::L4s => self.of_new_data(),
        }
    }

    /// Whether the receiver echoes marks by the ECE flag.
    pub(crate) const fn echoes(self) -> bool {
        matches!(self, Self::Classic | Self::Dctcp)
    }
}

/// The sender's side: codepoints, the pending CWR flag, and reported marks.
#[derive(Debug)]
pub(crate) struct SenderEcn {
    mode: EcnMode,
    /// The next new packet reports that the window was reduced (`TCP_ECN_QUEUE_CWR`).
    cwr_owed: bool,
    /// The receiver's count of marked packets, as far as known.
    marked: u16,
}

impl SenderEcn {
    pub(crate) fn new(mode: EcnMode) -> Self {
        Self { mode, cwr_owed: false, marked: 0 }
    }

    /// Codepoint and CWR flag of a data packet that leaves (`tcp_ecn_send`).
    pub(crate) fn stamp(&mut self, retransmission: bool) -> (Ecn, bool) {
        if retransmission {
            return (self.mode.of_the_rest(), false);
        }
        (self.mode.of_new_data(), std::mem::take(&mut self.cwr_owed))
    }

    /// The window was reduced (`tcp_ecn_queue_cwr`).
    pub(crate) fn owe_cwr(&mut self) {
        self.cwr_owed = self.mode.echoes();
    }

    /// The reduction was undone (`tcp_ecn_withdraw_cwr`).
    pub(crate) fn withdraw_cwr(&mut self) {
        self.cwr_owed = false;
    }

    /// Whether an ACK with this flag echoes a mark (`tcp_ecn_rcv_ecn_echo`).
    pub(crate) fn is_echo(&self, ece: bool) -> bool {
        ece && self.mode.echoes()
    }

    /// Marked packets newly reported by an ACK with this count. A reordered ACK reports none.
    pub(crate) fn newly_marked(&mut self, count: u16) -> u16 {
        let news = count.wrapping_sub(self.marked);
        if self.mode != EcnMode::L4s || news > u16::MAX / 2 {
            return 0;
        }
        self.marked = count;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_reordering_and_wrapping() {
        let mut ecn = SenderEcn::new(EcnMode::L4s);
        assert_eq!(ecn.newly_marked(3), 3);
        assert_eq!(ecn.newly_marked(2), 0, "overtaken");
        ecn.marked = u16::MAX;
        assert_eq!(ecn.newly_marked(1), 2);
        assert_eq!(SenderEcn::new(EcnMode::Dctcp).newly_marked(5), 0);
    }

    #[test]
    fn a_packet_still_fits_a_cache_line() {
        assert!(size_of::<narrows_base::Packet<crate::Segment>>() <= 64);
    }
}
