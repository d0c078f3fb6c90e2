//! The sender's use of ECN.

use narrows_base::{Ecn, Time};

use crate::accecn::{AccEcnOption, AccurateEnd, Ace, OptionSlot};
use crate::ecn::EcnMode;

/// The sender's side: codepoints, the pending CWR flag, and accurate counts.
#[derive(Debug)]
pub(crate) struct SenderEcn {
    mode: EcnMode,
    /// The next new packet reports that the window was reduced (`TCP_ECN_QUEUE_CWR`).
    cwr_owed: bool,
    /// The flags of packets of data with accurate ECN.
    ace: Ace,
    /// With accurate ECN.
    accurate: Option<Box<AccurateEnd>>,
}

impl SenderEcn {
    pub(crate) fn new(mode: EcnMode, accurate: Option<Box<AccurateEnd>>) -> Self {
        let mut ecn = Self { mode, cwr_owed: false, ace: Ace::NONE, accurate };
        ecn.update_ace();
        ecn.heed_checks();
        ecn
    }

    /// Codepoint and CWR flag of a data packet that leaves (`tcp_ecn_send`).
    pub(crate) fn stamp(&mut self, retransmission: bool) -> (Ecn, bool) {
        if retransmission {
            return (self.mode.of_the_rest(), false);
        }
        (self.mode.of_new_data(), std::mem::take(&mut self.cwr_owed))
    }

    /// The flags of a packet of data with accurate ECN.
    #[inline]
    pub(crate) fn ace(&self) -> Ace {
        self.ace
    }

    /// The state of accurate ECN, if both ends use it.
    #[inline]
    pub(crate) fn accurate(&mut self) -> Option<&mut AccurateEnd> {
        self.accurate.as_deref_mut()
    }

    /// Flags and option of the handshake's third packet.
    pub(crate) fn third_packet(&mut self, now: Time) -> (Ace, Option<AccEcnOption>) {
        let Some(accurate) = &mut self.accurate else { return (Ace::NONE, None) };
        let slot = OptionSlot::beside_timestamps(now);
        (accurate.reflect(), accurate.compose(&slot).map(|one| one.0))
    }

    /// Counts an ACK that arrived with a mark, which the next headers report.
    #[cold]
    pub(crate) fn count_marked_ack(&mut self) {
        if let Some(accurate) = &mut self.accurate {
            accurate.receive(Ecn::Ce, 1, 0);
            self.update_ace();
        }
    }

    fn update_ace(&mut self) {
        self.ace = self.accurate.as_deref_mut().map_or(Ace::NONE, AccurateEnd::report);
    }

    /// Turns ECN off if the checks of the handshake or of a header demand it.
    #[cold]
    pub(crate) fn heed_checks(&mut self) {
        if self.accurate.as_ref().is_some_and(|end| end.codepoint() == Ecn::NotEct) {
            self.mode = EcnMode::Off;
        }
    }

    /// The window was reduced (`tcp_ecn_queue_cwr`).
    pub(crate) fn owe_cwr(&mut self) {
        self.cwr_owed = self.mode.echoes();
    }

    /// The reduction was undone (`tcp_ecn_withdraw_cwr`).
    pub(crate) fn withdraw_cwr(&mut self) {
        self.cwr_owed = false;
    }

    /// Returns `true` if an ACK with this flag echoes a mark (`tcp_ecn_rcv_ecn_echo`).
    pub(crate) fn is_echo(&self, ece: bool) -> bool {
        ece && self.mode.echoes()
    }
}
