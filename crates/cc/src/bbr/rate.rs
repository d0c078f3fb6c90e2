//! The pacing rate.

use narrows_base::{Duration, Rate};

use super::units::{self, HIGH_GAIN};
use super::{Bbr, Mode};

impl Bbr {
    /// The initial rate: a window each round trip, times the high gain
    /// (`bbr_init_pacing_rate_from_rtt`). Without an RTT it takes 1 ms for one.
    pub(super) fn init_pacing_rate(&mut self, srtt: Option<Duration>) {
        let micros = srtt.map_or(1_000, |rtt| rtt.as_micros().max(1));
        self.has_seen_rtt |= srtt.is_some();
        let bw = units::bandwidth(u64::from(self.cwnd), micros);
        self.pacing = self.rate_bytes(bw, HIGH_GAIN);
    }

    /// Paces at `bw * gain`. Until the pipe was full the rate only rises
    /// (`bbr_set_pacing_rate`).
    pub(super) fn set_pacing_rate(&mut self, bw: u32, gain: u32, srtt: Option<Duration>) {
        let known = srtt.filter(|srtt| !srtt.is_zero());
        if !self.has_seen_rtt && known.is_some() && self.profile.initial_rate_from_first_rtt {
            self.init_pacing_rate(known);
        }
        let rate = self.rate_bytes(bw, gain);
        let may_fall = if self.profile.slows_only_when_full {
            self.full_pipe.reached
        } else {
            self.mode != Mode::Startup
        };
        if may_fall || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// The rate for the pacer (`sk_pacing_rate`). It never reaches zero, or nothing
    /// would ever be sent again.
    pub(super) fn pacing_rate(&self) -> Rate {
        Rate::from_bytes_per_sec(self.pacing.clamp(1, u64::MAX / 8))
    }

    /// Packets in a burst at the rate in force.
    pub(super) fn tso_segs_goal(&self) -> u32 {
        units::tso_segs_goal(self.pacing, self.mss)
    }

    fn rate_bytes(&self, bw: u32, gain: u32) -> u64 {
        units::rate_bytes(bw, gain, self.mss, self.profile.pacing)
    }
}
