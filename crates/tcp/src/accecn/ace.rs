//! The flags AE, CWR and ECE as a number (RFC 9768 section 3).

use narrows_base::Ecn;

use crate::ecn::EcnMode;

/// The three flags; ECE is the lowest bit. In a handshake they negotiate, later they count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ace(u8);

/// The count before any mark (RFC 9768 section 3.2.1).
const FIRST_COUNT: u32 = 5;
pub(super) const MASK: u32 = 7;

impl Ace {
    /// No flag: no ECN.
    pub const NONE: Self = Self(0);
    /// ECE: the answer to a request for the ECN of RFC 3168.
    pub const CLASSIC_ANSWER: Self = Self(0b001);
    /// CWR and ECE: a request for the ECN of RFC 3168.
    pub const CLASSIC_REQUEST: Self = Self(0b011);
    /// All: a request for accurate ECN.
    pub const ACCURATE_REQUEST: Self = Self(0b111);

    /// The flags with these bits; others are ignored.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 7)
    }

    /// The three bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The request of an end that would use `mode`.
    #[must_use]
    pub const fn request(mode: EcnMode) -> Self {
        match mode {
            EcnMode::Off => Self::NONE,
            EcnMode::Classic | EcnMode::Dctcp => Self::CLASSIC_REQUEST,
            EcnMode::Accurate | EcnMode::L4s => Self::ACCURATE_REQUEST,
        }
    }

    /// Tells with which codepoint the peer's packet of the handshake arrived
    /// (`tcp_accecn_reflector_flags`).
    #[must_use]
    pub const fn reflecting(ecn: Ecn) -> Self {
        Self(match ecn {
            Ecn::NotEct => 0b010,
            Ecn::Ect1 => 0b011,
            Ecn::Ect0 => 0b100,
            Ecn::Ce => 0b110,
        })
    }

    /// The codepoint with which our packet of the handshake arrived
    /// (`tcp_accecn_extract_syn_ect`).
    pub(super) const fn reflected_ecn(self) -> Ecn {
        match self.0 {
            0b010 => Ecn::NotEct,
            0b110 => Ecn::Ce,
            0b000 | 0b100 => Ecn::Ect0,
            _ => Ecn::Ect1,
        }
    }

    /// The lowest bits of a count of marked packets.
    #[must_use]
    pub const fn of_count(marked: u32) -> Self {
        Self((marked.wrapping_add(FIRST_COUNT) & MASK) as u8)
    }

    /// The lowest bits of the count that it stands for.
    pub(super) fn count(self) -> u32 {
        u32::from(self.0).wrapping_sub(FIRST_COUNT) & MASK
    }

    /// True if a SYN with these flags asks for accurate ECN or a future version of it
    /// (`tcp_accecn_syn_requested`).
    #[must_use]
    pub const fn asks_for_accurate(self) -> bool {
        !matches!(self, Self::NONE | Self::CLASSIC_REQUEST)
    }

    /// True if CWR and ECE are set, as in every SYN that asks for ECN.
    pub(crate) const fn asks_for_any(self) -> bool {
        self.0 & 0b011 == 0b011
    }

    /// The ECN of a connection to whose SYN with this codepoint an end with `mode` answers
    /// (`tcp_ecn_create_request`).
    #[must_use]
    pub(crate) fn accept(self, mode: EcnMode, ecn: Ecn) -> EcnMode {
        let is_accurate = matches!(mode, EcnMode::Accurate | EcnMode::L4s);
        if is_accurate && self.asks_for_accurate() {
            return mode;
        }
        // A SYN that could be marked, unless by a later kind of ECN, was changed on the way.
        let plain = ecn == Ecn::NotEct || self.asks_for_accurate();
        match mode {
            EcnMode::Dctcp if self.asks_for_any() => EcnMode::Dctcp,
            EcnMode::Classic | EcnMode::Accurate if self.asks_for_any() && plain => {
                EcnMode::Classic
            }
            _ => EcnMode::Off,
        }
    }

    /// The ECN of a connection whose request for `mode` got this answer (`tcp_ecn_rcv_synack`).
    #[must_use]
    pub fn agree(self, mode: EcnMode) -> EcnMode {
        match mode {
            EcnMode::Off => EcnMode::Off,
            EcnMode::Classic | EcnMode::Dctcp if self.0 & 0b011 == 0b001 => mode,
            EcnMode::Classic | EcnMode::Dctcp => EcnMode::Off,
            EcnMode::Accurate | EcnMode::L4s => match self.0 {
                0b000 | 0b111 => EcnMode::Off,
                // Scalable controls don't fall back (`tcp_ca_no_fallback_rfc3168`).
                0b001 if mode == EcnMode::L4s => EcnMode::Off,
                0b001 => EcnMode::Classic,
                _ => mode,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_tells_each_codepoint() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            assert_eq!(Ace::reflecting(ecn).reflected_ecn(), ecn);
        }
    }

    #[test]
    fn counts_have_three_bits() {
        let bits = |count| Ace::of_count(count).bits();
        assert_eq!([0, 1, 2, 3, 8].map(bits), [5, 6, 7, 0, 5]);
        assert_eq!(Ace::of_count(3).count(), 3);
        assert_eq!(Ace::of_count(9).count(), 1);
    }

    #[test]
    fn both_ends_agree_on_the_best_that_both_have() {
        use EcnMode::{Accurate, Classic, L4s, Off};
        let agree = |ours: EcnMode, theirs: EcnMode| {
            let there = Ace::request(ours).accept(theirs, Ecn::NotEct);
            let answer = match there {
                Off => Ace::NONE,
                Accurate | L4s => Ace::reflecting(Ecn::NotEct),
                _ => Ace::CLASSIC_ANSWER,
            };
            (there, answer.agree(ours))
        };
        assert_eq!(agree(Accurate, Accurate), (Accurate, Accurate));
        assert_eq!(agree(Accurate, Classic), (Classic, Classic));
        assert_eq!(agree(Classic, Accurate), (Classic, Classic));
        assert_eq!(agree(Accurate, Off), (Off, Off));
        assert_eq!(agree(Off, Accurate), (Off, Off));
        // A scalable control has no fallback.
        assert_eq!(agree(L4s, Classic).1, Off);
        assert_eq!(agree(Classic, L4s), (Off, Off));
    }

    #[test]
    fn a_classic_request_that_could_be_marked_was_changed_on_the_way() {
        let accept = |ace: Ace| ace.accept(EcnMode::Classic, Ecn::Ect0);
        assert_eq!(accept(Ace::CLASSIC_REQUEST), EcnMode::Off);
        assert_eq!(accept(Ace::ACCURATE_REQUEST), EcnMode::Classic);
    }
}
