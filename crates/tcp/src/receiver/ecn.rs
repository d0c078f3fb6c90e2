//! What the receiver does about marks (`__tcp_ecn_check_ce`, tcp_dctcp.h, RFC 9768
//! section 3.2.2.5.1).

use narrows_base::Ecn;

use crate::ecn::EcnMode;
use crate::segment::{Data, Seq};

/// Marked packets that an ACK may tell of at most, when accurate counts are kept.
const MAX_UNTOLD: u16 = 2;

/// What a packet's codepoint asks of the ACK policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Nothing,
    /// A few quick ACKs: the sender's window may be very small.
    Quick,
    /// An ACK at once.
    Now,
    /// The delayed ACK first, up to this packet and with the echo of before; then one
    /// at once.
    Twice(Seq),
}

/// What is echoed.
#[derive(Debug)]
pub(super) struct Echo {
    mode: EcnMode,
    negotiated: bool,
    /// A packet that could be marked has come (`TCP_ECN_SEEN`).
    seen: bool,
    /// ACKs carry ECE (`TCP_ECN_DEMAND_CWR`).
    pub(super) ece: bool,
    /// Whether the last packet was marked.
    marked: bool,
    /// `rcv_nxt` at the packet before.
    prior_next: Seq,
    /// Marked packets.
    pub(super) total: u16,
    /// Of these, what no ACK has told of.
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

    /// The sender has reduced (`tcp_ecn_accept_cwr`): returns whether `data` says so.
    /// Its window may be one packet: such data is acknowledged at once.
    pub(super) fn accept_cwr(&mut self, data: &Data) -> bool {
        if data.cwr {
            self.ece = false;
        }
        data.cwr
    }

    /// Counts marks of packets that arrived, also of old ones.
    pub(super) fn count(&mut self, unit: &[Data]) {
        if self.mode == EcnMode::L4s {
            let marked = unit.iter().filter(|data| data.ecn == Ecn::Ce).count();
            let marked = u16::try_from(marked).expect("a unit has 45 packets at most");
            self.total = self.total.wrapping_add(marked);
            self.untold = self.untold.saturating_add(marked);
        }
    }

    /// Takes note of a new packet; `next` is what the receiver waits for after it.
    /// `delayed` tells whether an ACK waits for its timer.
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
        // `ece` follows in `told_before`, when what was delayed has left.
        if delayed {
            Request::Twice(prior)
        } else {
            self.ece = marked;
            Request::Now
        }
    }

    /// What was delayed has left with the old echo.
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
