//! The receiver's handling of marks (`__tcp_ecn_check_ce`, tcp_dctcp.h, include/net/tcp_ecn.h).

use narrows_base::Ecn;

use crate::accecn::{AccEcnSettings, AccurateEnd, Ace, OptionSlot};
use crate::ecn::EcnMode;
use crate::segment::{Data, SackBlocks, Seq};

/// The effect of a packet's codepoint on the ACK policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Nothing,
    /// A few quick ACKs, since the sender's window may be very small.
    Quick,
    /// An ACK at once.
    Now,
    /// First the delayed ACK, up to this packet and with the previous echo, then one at once.
    Twice(Seq),
}

/// The state of the echo.
#[derive(Debug)]
pub(super) struct Echo {
    mode: EcnMode,
    negotiated: bool,
    /// An ECN-capable packet has arrived (`TCP_ECN_SEEN`).
    seen: bool,
    /// ACKs carry ECE (`TCP_ECN_DEMAND_CWR`).
    pub(super) ece: bool,
    /// True if the last packet was marked.
    marked: bool,
    /// `rcv_nxt` at the packet before.
    prior_next: Seq,
    /// With accurate ECN, once the handshake began.
    accurate: Option<Box<AccurateEnd>>,
}

impl Echo {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self {
            mode,
            negotiated: false,
            seen: false,
            ece: false,
            marked: false,
            prior_next: 0,
            accurate: None,
        }
    }

    pub(super) fn is_off(&self) -> bool {
        self.mode == EcnMode::Off
    }

    /// The first SYN, with these flags and this codepoint, decides which ECN there is.
    pub(super) fn negotiate(&mut self, ace: Ace, ecn: Ecn, settings: AccEcnSettings) {
        if self.negotiated {
            if let Some(accurate) = &mut self.accurate {
                accurate.take_repeated_request(ace, ecn);
            }
            return;
        }
        self.negotiated = true;
        self.mode = ace.accept(self.mode, ecn);
        if self.mode.counts() {
            self.accurate = Some(Box::new(AccurateEnd::new(self.mode, settings, ecn)));
        }
    }

    /// The flags of an answer to the SYN, of which `timeouts` were in vain
    /// (`tcp_ecn_make_synack`).
    pub(super) fn answer(&self, timeouts: u32) -> Ace {
        match (self.mode, &self.accurate) {
            (EcnMode::Off, _) => Ace::NONE,
            (_, Some(_)) if timeouts > 1 => Ace::NONE,
            (_, Some(accurate)) => accurate.reflect(),
            (_, None) => Ace::CLASSIC_ANSWER,
        }
    }

    pub(super) fn mode(&self) -> EcnMode {
        self.mode
    }

    /// The state of accurate ECN, if both ends use it.
    #[inline]
    pub(super) fn accurate(&mut self) -> Option<&mut AccurateEnd> {
        self.accurate.as_deref_mut()
    }

    /// The codepoint of packets after the handshake.
    pub(super) fn of_the_rest(&self) -> Ecn {
        self.accurate.as_ref().map_or(self.mode.of_the_rest(), |end| end.codepoint())
    }

    /// The sender has reduced (`tcp_ecn_accept_cwr`): returns whether `data` says so. Its window
    /// may be one packet, so such data are acknowledged at once.
    pub(super) fn accept_cwr(&mut self, data: &Data) -> bool {
        if data.cwr {
            self.ece = false;
        }
        data.cwr
    }

    /// Counts packets that arrived as one, old ones too; returns whether to acknowledge at once.
    #[cold]
    pub(super) fn count(&mut self, ecn: Ecn, packets: u32, bytes: u32, stamp: u32) -> bool {
        let Some(accurate) = &mut self.accurate else { return false };
        self.seen |= ecn != Ecn::NotEct;
        let is_edge = accurate.receive(ecn, packets, bytes);
        accurate.must_report_soon(stamp) || is_edge
    }

    /// Returns the count in an ACK that leaves.
    #[inline]
    pub(super) fn report(&mut self) -> Ace {
        self.accurate.as_mut().map_or(Ace::NONE, |accurate| accurate.report())
    }

    /// Adds the option to the SACK blocks of an ACK.
    #[cold]
    pub(super) fn add_option(&mut self, sack: &mut SackBlocks, slot: &OptionSlot) {
        let composed = self.accurate.as_mut().and_then(|accurate| accurate.compose(slot));
        if let Some((option, blocks)) = composed {
            sack.truncate(blocks);
            let fits = sack.add_option(&option);
            debug_assert!(fits, "beside timestamps an option has the room of missing blocks");
        }
    }

    /// Handles a new packet; `next` is the next packet expected after it. `delayed` says whether an
    /// ACK waits for its timer.
    pub(super) fn take(&mut self, ecn: Ecn, next: Seq, delayed: bool) -> Request {
        let first_unmarkable = ecn == Ecn::NotEct && self.seen;
        self.seen |= ecn != Ecn::NotEct;
        if ecn == Ecn::NotEct {
            // Probably a retransmission.
            return if first_unmarkable { Request::Quick } else { Request::Nothing };
        }
        let marked = ecn == Ecn::Ce;
        match self.mode {
            EcnMode::Off | EcnMode::Accurate | EcnMode::L4s => Request::Nothing,
            EcnMode::Classic => self.take_classic(marked),
            EcnMode::Dctcp => self.take_each(marked, next, delayed),
        }
    }

    fn take_classic(&mut self, marked: bool) -> Request {
        let news = marked && !self.ece;
        self.ece |= marked;
        if news { Request::Quick } else { Request::Nothing }
    }

    /// `dctcp_ece_ack_update`.
    fn take_each(&mut self, marked: bool, next: Seq, delayed: bool) -> Request {
        let prior = std::mem::replace(&mut self.prior_next, next);
        if self.marked == marked {
            self.ece = marked;
            return Request::Nothing;
        }
        self.marked = marked;
        // `ece` follows in `on_delayed_ack_sent`, when the delayed ACK has left.
        if delayed {
            Request::Twice(prior)
        } else {
            self.ece = marked;
            Request::Now
        }
    }

    /// The delayed ACK has left with the old echo.
    pub(super) fn on_delayed_ack_sent(&mut self) {
        self.ece = self.marked;
    }
}
