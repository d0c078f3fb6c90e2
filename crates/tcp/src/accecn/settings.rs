//! The settings of a host.

/// When the option is sent (`tcp_ecn_option`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionUse {
    /// Never.
    Never,
    /// When a counter's news need it, and a few times in a round trip.
    Sparse,
    /// In each packet, as far as the peer's packets show that options pass.
    Full,
    /// The same, though options may be dropped on the way.
    Always,
}

/// The settings of a host (`net.ipv4.tcp_ecn_*`); by default as Linux has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnSettings {
    /// When the option is sent (`tcp_ecn_option`).
    pub option: OptionUse,
    /// How often in a round trip it is sent at least (`tcp_ecn_option_beacon`).
    pub beacons: u64,
    /// True if ECN stops if a handshake's codepoint changed on the way as none may
    /// (`tcp_ecn_fallback`).
    pub falls_back: bool,
}

impl Default for AccEcnSettings {
    fn default() -> Self {
        Self { option: OptionUse::Full, beacons: 3, falls_back: true }
    }
}
