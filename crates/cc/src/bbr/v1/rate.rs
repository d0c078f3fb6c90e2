//! The pacing rate.

use narrows_base::Duration;

use super::{Bbr, Mode};
use crate::bbr::units::HIGH_GAIN;

impl Bbr {
    /// `bbr_init_pacing_rate_from_rtt`.
    pub(super) fn init_pacing_rate(&mut self, srtt: Option<Duration>) {
        self.pacing.init(self.window.cwnd, HIGH_GAIN, self.mss, srtt);
    }

    /// Paces at `bw * gain`. Until the pipe was full the rate only rises
    /// (`bbr_set_pacing_rate`).
    pub(super) fn set_pacing_rate(&mut self, bw: u32, gain: u32, srtt: Option<Duration>) {
        let first = self.pacing.first_rtt(srtt);
        if first.is_some() && self.profile.initial_rate_from_first_rtt {
            self.init_pacing_rate(first);
        }
        let may_fall = if self.profile.slows_only_when_full {
            self.full_pipe.reached
        } else {
            self.mode != Mode::Startup
        };
        self.pacing.set(bw, gain, self.mss, may_fall);
        if let Some(capacity) = self.startup_capacity() {
            self.pacing.limit(capacity, self.mss);
        }
    }

    /// The capacity that limits STARTUP, if it is estimated and known.
    pub(super) fn startup_capacity(&self) -> Option<u32> {
        self.proposals.as_ref()?.capacity.as_ref().filter(|_| self.mode == Mode::Startup)?.bw()
    }
}
