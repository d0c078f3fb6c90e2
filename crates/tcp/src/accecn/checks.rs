//! The failures of ECN on the path that an end has found (`accecn_fail_mode`, `saw_accecn_opt`).

use narrows_base::Ecn;

use super::ace::Ace;
use super::option::{AccEcnOption, SeenOption};

/// The findings of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// The peer's flags, or ours at the peer, are changed on the way.
    pub(super) flags_change: bool,
    /// The peer's options don't tell anything.
    pub(super) options_change: bool,
    /// Our options are dropped.
    pub(super) options_vanish: bool,
    pub(super) seen: SeenOption,
    /// True if our SYN-ACK arrived with a mark.
    pub(super) answer_was_marked: bool,
}

impl Checks {
    /// Returns `true` if packets may carry a codepoint (`tcp_ecn_send`).
    pub(super) fn trusts_flags(&self) -> bool {
        !self.flags_change
    }

    /// Looks at the first option with counters: a byte counter of zero was zeroed on the way
    /// (`tcp_accecn_option_init`).
    pub(super) fn see(&mut self, option: &AccEcnOption) {
        if self.seen >= SeenOption::Counters {
            return;
        }
        self.seen = option.first_look();
        self.options_change |= self.seen == SeenOption::Zeroed;
    }

    /// It is too late for a first option: a counter may have wrapped.
    pub(super) fn give_options_up(&mut self) {
        self.seen = SeenOption::Zeroed;
        self.options_change = true;
    }

    /// Returns `true` if a packet of the handshake that left as `sent` may arrive as the peer says
    /// (`tcp_accecn_validate_syn_feedback`).
    pub(super) fn validate(&mut self, ace: Ace, sent: Ecn, falls_back: bool) -> bool {
        let arrived = ace.reflected_ecn();
        let is_valid =
            arrived == sent || sent != Ecn::NotEct && arrived != Ecn::NotEct && sent != Ecn::Ce;
        self.flags_change |= falls_back && !is_valid;
        is_valid || !falls_back
    }

    /// Looks at the flags of the handshake's third packet, with or without payload (table 4 of
    /// RFC 9768, `tcp_accecn_third_ack`).
    pub(super) fn take_third(&mut self, ace: Ace, is_bare: bool, sent: Ecn, falls_back: bool) {
        match ace.bits() {
            0b000 => {
                self.flags_change = true;
                self.options_change = true;
            }
            0b001 | 0b101 | 0b111 => {}
            _ if is_bare && self.validate(ace, sent, falls_back) => {
                self.answer_was_marked |= ace.reflected_ecn() == Ecn::Ce;
            }
            _ => {}
        }
    }

    /// Adds what the other half of the same end knows.
    pub(super) fn merge(&mut self, other: Self) {
        self.flags_change |= other.flags_change;
        self.options_change |= other.options_change;
        self.options_vanish |= other.options_vanish;
        self.seen = self.seen.max(other.seen);
        self.answer_was_marked |= other.answer_was_marked;
    }
}
