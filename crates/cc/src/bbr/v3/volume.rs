//! Target volumes in flight, and the pacing rate (draft-ietf-ccwg-bbr-06 section 5.6).

use narrows_base::Duration;

use super::state::Mode;
use super::versions::MIN_PIPE;
use super::{Bbr3, UNBOUNDED, part};
use crate::bbr::units::{self, UNIT};
use crate::events::AckSample;
use crate::samples::RecoveryState;

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
        // 5.6.4.2: "enough quanta in flight on the sending and receiving hosts to reach high
        // throughput even in environments using offload mechanisms"
        let bursts = 3 * self.burst();
        let probes = if self.mode == Mode::Up { 2 } else { 0 };
        volume.max(bursts).max(MIN_PIPE).saturating_add(probes)
    }

    /// Packets of a burst (`bbr_tso_segs_goal`).
    fn burst(&self) -> u32 {
        let by_rate = if self.version.rules.bursts_by_rtt {
            self.pacing.tso_segs_near(self.mss, self.min_rtt.us)
        } else {
            self.pacing.tso_segs_goal(self.mss)
        };
        by_rate.max(self.least_burst(self.pacing.bytes_per_sec()))
    }

    /// The fewest packets of a burst at a rate in bytes/s.
    pub(super) fn least_burst(&self, rate: u64) -> u32 {
        // 5.6.3: "C.send_quantum = max(C.send_quantum, 2 * C.SMSS)"
        units::min_tso_segs(rate).max(self.version.rules.least_burst)
    }

    /// Packets in the network when the next burst leaves, given the packets in flight now
    /// (`bbr_packets_in_net_at_edt`), or that itself.
    pub(super) fn in_network(&self, in_flight: u32, sample: &AckSample) -> u32 {
        if !self.version.rules.departure_times {
            return in_flight;
        }
        let wait = sample.departure.saturating_since(sample.now).as_micros();
        let burst = if self.gain > UNIT { self.burst() } else { 0 };
        let delivered = units::packets_in(self.bw(), wait);
        let delivered = u32::try_from(delivered).unwrap_or(u32::MAX);
        in_flight.saturating_add(burst).saturating_sub(delivered)
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, bw: u32, gain: u32) -> u32 {
        self.with_budget(self.bdp(bw, gain))
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self) -> u32 {
        let bdp = self.bdp(self.bw(), UNIT);
        let wanted = if self.version.rules.target_has_budget { self.with_budget(bdp) } else { bdp };
        wanted.min(self.window.cwnd)
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
        if !self.version.rules.only_timeouts_cut && self.leaves_recovery(sample.state) {
            self.window.restore();
        }
        if sample.acked > 0 {
            self.approach_target(sample);
        }
        if self.mode == Mode::ProbeRtt {
            // 5.6.4.5: "its goal is to quickly reduce C.inflight and drain the bottleneck queue"
            self.window.cwnd = self.window.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Returns `true` if the window returns to its saved value.
    pub(super) fn leaves_recovery(&self, state: RecoveryState) -> bool {
        use RecoveryState::{Loss, Recovery};
        let cut = self.window.prior_state;
        if self.version.rules.only_timeouts_cut {
            cut == Loss && state != Loss
        } else {
            cut >= Recovery && state < Recovery
        }
    }

    /// Grows by the packets delivered; shrinks to the target once the pipe was full.
    fn approach_target(&mut self, sample: &AckSample) {
        let bw = self.bw();
        // 5.6.4.2: "inflight_cap += BBR.extra_acked"
        let cap = if self.version.rules.caps_aggregation { bw } else { UNBOUNDED };
        let extra = self.aggregation.allowance(cap);
        let target = self.with_budget(self.bdp(bw, self.cwnd_gain()).saturating_add(extra));
        let starts = if self.version.rules.starts_by_window {
            self.window.cwnd < 2 * self.initial_cwnd
        } else {
            sample.delivered < u64::from(self.initial_cwnd)
        };
        // 5.6.4.6: "increasing C.cwnd by no more than the amount of data acknowledged"
        let full = self.full_pipe.reached;
        let grown = self.window.cwnd.saturating_add(sample.acked);
        self.settled = if full { grown >= target } else { self.window.cwnd >= target && !starts };
        self.window.approach(target, full, sample.acked, starts);
        self.window.cwnd = self.window.cwnd.max(MIN_PIPE);
    }

    /// `BoundCwndForModel`. The draft's table bounds DRAIN as well, but its text doesn't; this
    /// follows the text.
    fn bound_cwnd(&mut self) {
        let long = match self.mode {
            // 5.6.4.7: "BBR bounds C.cwnd based on recent congestion"
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
