//! The receiver's handling of marks (`__tcp_ecn_check_ce`, tcp_dctcp.h, RFC 9768
//! section 3.2.2.5.1).

use narrows_base::Ecn;

use crate::ecn::EcnMode;
use crate::segment::{Data, Seq};

/// The most marked packets that an ACK may report with accurate counts.
const MAX_UNTOLD: u16 = 2;

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
    /// Whether the last packet was marked.
    marked: bool,
    /// `rcv_nxt` at the packet before.
    prior_next: Seq,
    /// Marked packets.
    pub(super) total: u16,
    /// The number that no ACK has reported.
    untold: u16,
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
            total: 0,
            untold: 0,
        }
    }

    pub(super) fn is_off(&self) -> bool {
        self.mode == EcnMode::Off
    }

    /// The first SYN decides whether there is ECN (`tcp_ecn_create_request`).
    pub(super) fn negotiate(&mut self, offered: bool) {
        if !offered && !self.negotiated {
            self.mode = EcnMode::Off;
        }
        self.negotiated = true;
    }

    /// The sender has reduced (`tcp_ecn_accept_cwr`): returns whether `data` says so. Its window
    /// may be one packet, so such data are acknowledged at once.
    pub(super) fn accept_cwr(&mut self, data: &Data) -> bool {
        if data.cwr {
            self.ece = false;
        }
        data.cwr
    }

    /// Counts marks of arrived packets, including old ones.
    pub(super) fn count(&mut self, unit: &[Data]) {
        if self.mode == EcnMode::L4s {
            let marked = unit.iter().filter(|data| data.ecn == Ecn::Ce).count();
            let marked = u16::try_from(marked).expect("a unit has 45 packets at most");
            self.total = self.total.wrapping_add(marked);
            self.untold = self.untold.saturating_add(marked);
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
            EcnMode::Off => Request::Nothing,
            EcnMode::Classic => self.take_classic(marked),
            EcnMode::Dctcp => self.take_each(marked, next, delayed),
            EcnMode::L4s => self.take_counted(marked),
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
        // `ece` follows in `told_before`, when the delayed ACK has left.
        if delayed {
            Request::Twice(prior)
        } else {
            self.ece = marked;
            Request::Now
        }
    }

    /// The delayed ACK has left with the old echo.
    pub(super) fn told_before(&mut self) {
        self.ece = self.marked;
    }

    fn take_counted(&mut self, marked: bool) -> Request {
        let change = marked && !self.marked;
        self.marked = marked;
        if change || self.untold >= MAX_UNTOLD { Request::Now } else { Request::Nothing }
    }

    /// An ACK with the count left.
    pub(super) fn ack_sent(&mut self) {
        self.untold = 0;
    }
}
