//! Settings of a kernel that a person may change.

use crate::accecn::AccEcnSettings;

/// The settings (`net.ipv4.tcp_*`) that affect a sender, with Linux's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sysctls {
    /// True if the window decays while nothing is sent (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// True if there are tail loss probes (`tcp_early_retrans` of 3 or 4).
    pub loss_probes: bool,
    /// Fewest packets in a burst, for a control that doesn't set them (`tcp_min_tso_segs`); `None`
    /// leaves them to the control.
    pub min_tso_segs: Option<u32>,
    /// A burst waits only below this fraction of the window (`tcp_tso_win_divisor`).
    pub tso_win_divisor: u32,
    /// The initial size of a send buffer in bytes (`tcp_wmem[1]`).
    pub first_send_buffer: u32,
    /// Options and fallbacks of accurate ECN.
    pub accurate_ecn: AccEcnSettings,
}

impl Default for Sysctls {
    fn default() -> Self {
        Self {
            slow_start_after_idle: true,
            loss_probes: true,
            min_tso_segs: None,
            tso_win_divisor: 3,
            first_send_buffer: 16_384,
            accurate_ecn: AccEcnSettings::default(),
        }
    }
}
