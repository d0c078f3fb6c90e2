//! The pacing rate.

use narrows_base::{Duration, Rate};

use super::units;
use crate::profile::PacingUnits;

/// `sk_pacing_rate` in bytes/s, in the units of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Pacing {
    units: PacingUnits,
    bytes_per_sec: u64,
    has_seen_rtt: bool,
}

impl Pacing {
    /// No rate yet.
    pub(super) const fn new(units: PacingUnits) -> Self {
        Self { units, bytes_per_sec: 0, has_seen_rtt: false }
    }

    /// The initial rate: a window each round trip, times a gain
    /// (`bbr_init_pacing_rate_from_rtt`). Without an RTT it assumes 1 ms.
    pub(super) fn init(&mut self, cwnd: u32, gain: u32, mss: u32, srtt: Option<Duration>) {
        let micros = srtt.map_or(1_000, |rtt| rtt.as_micros().max(1));
        self.has_seen_rtt |= srtt.is_some();
        let bw = units::bandwidth(u64::from(cwnd), micros);
        self.bytes_per_sec = units::rate_bytes(bw, gain, mss, self.units);
    }

    /// The RTT in `srtt`, if it is the flow's first.
    pub(super) fn first_rtt(&self, srtt: Option<Duration>) -> Option<Duration> {
        srtt.filter(|srtt| !self.has_seen_rtt && !srtt.is_zero())
    }

    /// Paces at `bw * gain`; a lower rate than before counts only if `may_fall`
    /// (`bbr_set_pacing_rate`).
    pub(super) fn set(&mut self, bw: u32, gain: u32, mss: u32, may_fall: bool) {
        let rate = units::rate_bytes(bw, gain, mss, self.units);
        if may_fall || rate > self.bytes_per_sec {
            self.bytes_per_sec = rate;
        }
    }

    /// Paces at `bw` at most.
    pub(super) fn limit(&mut self, bw: u32, mss: u32) {
        let most = units::rate_bytes(bw, units::UNIT, mss, self.units);
        self.bytes_per_sec = self.bytes_per_sec.min(most);
    }

    /// The rate for the pacer. It never reaches zero, or nothing would ever be sent again.
    pub(super) fn rate(&self) -> Rate {
        Rate::from_bytes_per_sec(self.bytes_per_sec.clamp(1, u64::MAX / 8))
    }

    /// The rate in bytes per second.
    pub(super) const fn bytes_per_sec(&self) -> u64 {
        self.bytes_per_sec
    }

    /// Packets in a burst of version 3 at this rate, on a path of this lowest RTT.
    pub(super) fn tso_segs_near(&self, mss: u32, min_rtt_us: u32) -> u32 {
        units::tso_segs_near(self.bytes_per_sec, mss, min_rtt_us)
    }

    /// Packets in a burst at this rate.
    pub(super) fn tso_segs_goal(&self, mss: u32) -> u32 {
        units::tso_segs_goal(self.bytes_per_sec, mss)
    }
}
