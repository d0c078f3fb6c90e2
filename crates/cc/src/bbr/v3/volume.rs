//! Target volumes in flight, and the pacing rate (draft-ietf-ccwg-bbr-06 section 5.6).

use narrows_base::Duration;

use super::state::Mode;
use super::{Bbr3, MIN_PIPE, UNBOUNDED, part};
use crate::bbr::units::{self, UNIT};
use crate::samples::{AckSample, RecoveryState};

impl Bbr3 {
    /// `BDPMultiple`.
    fn bdp(&self, bw: u32, gain: u32) -> u32 {
        match self.min_rtt.us {
            u32::MAX => self.initial_cwnd,
            us => units::bdp(bw, us, gain),
        }
    }

    /// `QuantizationBudget`: room for whole bursts, and for probing a tiny path.
    fn with_budget(&self, volume: u32) -> u32 {
        let bursts = 3 * self.pacing.tso_segs_goal(self.mss);
        let probes = if self.mode == Mode::Up { 2 } else { 0 };
        volume.max(bursts).max(MIN_PIPE).saturating_add(probes)
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, bw: u32, gain: u32) -> u32 {
        self.with_budget(self.bdp(bw, gain))
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self) -> u32 {
        self.bdp(self.bw(), UNIT).min(self.window.cwnd)
    }

    /// `InflightWithHeadroom`.
    pub(super) fn with_headroom(&self) -> u32 {
        if self.bounds.long == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = part(self.bounds.long, self.settings.headroom).max(1);
        self.bounds.long.saturating_sub(headroom).max(MIN_PIPE)
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bw(), UNIT / 2).max(MIN_PIPE)
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, sample: &AckSample) {
        use RecoveryState::Recovery;
        if self.window.prior_state >= Recovery && sample.state < Recovery {
            self.window.restore();
        }
        self.window.prior_state = sample.state;
        if sample.acked > 0 {
            self.approach_target(sample);
        }
        if self.mode == Mode::ProbeRtt {
            self.window.cwnd = self.window.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Grows by the packets delivered; shrinks to the target once the pipe was full.
    fn approach_target(&mut self, sample: &AckSample) {
        let bw = self.bw();
        let extra = self.aggregation.allowance(bw);
        let target = self.with_budget(self.bdp(bw, self.cwnd_gain()).saturating_add(extra));
        self.window.approach(target, self.full_pipe.reached, sample, self.initial_cwnd);
        self.window.cwnd = self.window.cwnd.max(MIN_PIPE);
    }

    /// `BoundCwndForModel`. The draft's table bounds DRAIN as well, but its text doesn't; this
    /// follows the text.
    fn bound_cwnd(&mut self) {
        let long = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.long,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
            Mode::Startup | Mode::Drain => UNBOUNDED,
        };
        self.window.cwnd = self.window.cwnd.min(long.min(self.bounds.short).max(MIN_PIPE));
    }

    /// `InitPacingRate`.
    pub(super) fn init_pacing_rate(&mut self, srtt: Option<Duration>) {
        self.pacing.init(self.window.cwnd, self.version.startup_gain, self.mss, srtt);
    }

    /// `SetPacingRateWithGain`: until the pipe was full the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: u32, srtt: Option<Duration>) {
        if let first @ Some(_) = self.pacing.first_rtt(srtt) {
            self.init_pacing_rate(first);
        }
        self.pacing.set(self.bw(), gain, self.mss, self.full_pipe.reached);
    }
}
