//! One end of a connection with accurate ECN.

use narrows_base::Ecn;

use super::ace::Ace;
use super::checks::Checks;
use super::delivered::{Delivered, Delivery};
use super::option::{AccEcnOption, OptionOrder};
use super::received::{FIRST_BYTES, OptionSlot, ReceivedCounters, may_send, place};
use super::settings::{AccEcnSettings, OptionUse};
use crate::ecn::EcnMode;

/// Answers after which our flags are taken to be changed on the way.
const SUSPICIOUS_ANSWERS: u32 = 1;

/// The state of an end (the fields of `struct tcp_sock` that accurate ECN added).
///
/// A socket that sends and receives has two halves here, each with such a state; they share their
/// [`Checks`] ([`AccurateEnd::share`]).
#[derive(Clone, Copy, Debug)]
pub struct AccurateEnd {
    mode: EcnMode,
    settings: AccEcnSettings,
    /// The codepoint with which the peer's packet of the handshake arrived (`syn_ect_rcv`).
    arrived: Ecn,
    checks: Checks,
    received: ReceivedCounters,
    delivered: Delivered,
}

impl AccurateEnd {
    /// The end that answers a SYN, which arrived with that codepoint.
    pub(crate) fn new(mode: EcnMode, settings: AccEcnSettings, arrived: Ecn) -> Self {
        Self {
            mode,
            settings,
            arrived,
            checks: Checks::default(),
            received: ReceivedCounters::default(),
            delivered: Delivered::default(),
        }
    }

    /// The end whose SYN got an answer with these flags, which arrived with that codepoint
    /// (`tcp_ecn_rcv_synack`).
    pub(crate) fn from_answer(
        mode: EcnMode,
        settings: AccEcnSettings,
        answer: (Ace, Option<AccEcnOption>),
        ecn: Ecn,
    ) -> Self {
        let (ace, option) = answer;
        let mut end = Self::new(mode, settings, ecn);
        if let Some(option) = option {
            end.checks.see(&option);
            end.received.begin(Ecn::NotEct, 2);
        }
        let reserved = ace.bits() == 0b101;
        let sent = mode.of_handshake();
        if ecn == Ecn::Ce && (reserved || end.checks.validate(ace, sent, settings.falls_back)) {
            end.received.count_answer();
        }
        let answer = Delivery {
            option,
            is_progress: true,
            is_answer: true,
            packets: 1,
            bytes: 1,
            ..Delivery::default()
        };
        end.take_ack(&answer);
        end
    }

    /// Nothing was delivered yet, since the peer's SYN began the connection; its last packet had the
    /// timestamp `stamp` in ms.
    pub fn begin_after_request(&mut self, stamp: u32) {
        self.delivered = Delivered::after(stamp);
    }

    /// Sets the host's settings from now on.
    pub fn set(&mut self, settings: AccEcnSettings) {
        self.settings = settings;
    }

    /// Takes a repeated SYN with these flags (`tcp_check_req`).
    pub(crate) fn take_repeated_request(&mut self, ace: Ace, ecn: Ecn) {
        self.arrived = ecn;
        self.checks.flags_change |= ace == Ace::NONE;
    }

    /// Notes that the SYN-ACK was repeated, for the `times`th time.
    pub(crate) fn note_repeated_answer(&mut self, times: u32) {
        self.checks.flags_change |= times > SUSPICIOUS_ANSWERS;
    }

    /// Takes the packet that completes the handshake; it has no payload if it `is_bare`
    /// (`tcp_ecn_openreq_child`).
    pub(crate) fn take_third(&mut self, ace: Ace, option: Option<AccEcnOption>, is_bare: bool) {
        if let Some(option) = option {
            self.checks.see(&option);
        }
        let (sent, falls_back) = (self.mode.of_handshake(), self.settings.falls_back);
        self.checks.take_third(ace, is_bare, sent, falls_back);
        self.received.begin(self.arrived, 1);
    }

    /// Takes a SYN-ACK that is repeated after the handshake; returns the flags of the answer.
    pub fn take_repeated_answer(&mut self, ecn: Ecn, option: Option<AccEcnOption>) -> Ace {
        self.arrived = ecn;
        if let Some(option) = option {
            self.checks.see(&option);
            self.received.demand(1);
        }
        self.reflect()
    }

    /// The flags that report how the peer's packet of the handshake arrived.
    #[must_use]
    pub fn reflect(&self) -> Ace {
        Ace::reflecting(self.arrived)
    }

    /// The codepoint of packets after the handshake (`tcp_ecn_send`).
    #[must_use]
    pub fn codepoint(&self) -> Ecn {
        if self.checks.trusts_flags() { self.mode.of_the_rest() } else { Ecn::NotEct }
    }

    /// Packets with `len` bytes of payload arrived as one; returns whether to acknowledge at once.
    pub fn receive(&mut self, ecn: Ecn, packets: u32, len: u32) -> bool {
        self.received.note(ecn, packets, len)
    }

    /// True if marks wait that an ACK must report at once; `stamp` is the packet's timestamp in ms.
    pub(crate) fn must_report_soon(&mut self, stamp: u32) -> bool {
        self.received.must_report_soon(stamp)
    }

    /// Returns the flags of a header that leaves.
    pub fn report(&mut self) -> Ace {
        self.received.report()
    }

    /// Notes that data from `seq` on arrived again (`tcp_rcv_spurious_retrans`).
    pub(crate) fn note_duplicate(&mut self, seq: u32) {
        self.checks.options_vanish |= self.received.is_option_dropped(seq);
    }

    /// The option of a packet that leaves, and the SACK blocks that have room beside it; `None`
    /// without an option.
    pub fn compose(&mut self, slot: &OptionSlot) -> Option<(AccEcnOption, usize)> {
        self.received.compose(slot, &self.settings, &self.checks)
    }

    /// Returns `true` if packets may have the option.
    #[must_use]
    pub fn sends_options(&self) -> bool {
        may_send(&self.settings, &self.checks)
    }

    /// The option of a SYN-ACK, which has room for all counters.
    #[must_use]
    pub fn first_option(&self) -> Option<AccEcnOption> {
        let has_one = self.settings.option != OptionUse::Never;
        has_one.then(|| AccEcnOption::new(OptionOrder::Ect1First, &FIRST_BYTES))
    }

    /// The marked packets that an ACK is the first to report.
    pub(crate) fn take_ack(&mut self, ack: &Delivery) -> u32 {
        self.delivered.take(ack, &mut self.checks)
    }

    /// Returns `true` if our SYN-ACK arrived with a mark.
    pub(crate) fn was_answer_marked(&self) -> bool {
        self.checks.answer_was_marked
    }

    /// Payload bytes that arrived at the peer with that codepoint, according to its options
    /// (`tcpi_delivered_e1_bytes` and others).
    #[must_use]
    pub fn delivered_bytes(&self, ecn: Ecn) -> u32 {
        place(ecn).map_or(0, |place| self.delivered.bytes(place))
    }

    /// Payload bytes that arrived here with that codepoint (`tcpi_received_e1_bytes` and others).
    #[must_use]
    pub fn received_bytes(&self, ecn: Ecn) -> u32 {
        place(ecn).map_or(0, |place| self.received.bytes(place))
    }

    /// Marked packets that arrived here (`tcpi_received_ce`).
    #[must_use]
    pub fn received_ce(&self) -> u32 {
        self.received.received_ce()
    }

    /// Shares between both halves of an end what either has found out.
    pub fn share(&mut self, other: &mut Self) {
        self.checks.merge(other.checks);
        other.checks = self.checks;
    }

    /// Takes the counters of arrived packets from the half that made the handshake.
    pub fn continue_counters(&mut self, other: &Self) {
        self.received = other.received;
        self.arrived = other.arrived;
    }
}
