//! Target volumes in flight.

use narrows_base::Time;

use super::{Bbr, Mode, Prr};
use crate::bbr::units::{self, CWND_FLOOR, CYCLE, INITIAL_CWND, UNIT};
use crate::events::AckSample;
use crate::profile::ProbeBudget;
use crate::samples::RecoveryState;

impl Bbr {
    /// `bbr_bdp`.
    pub(super) fn bdp(&self, bw: u32, gain: u32) -> u32 {
        match self.min_rtt.us {
            u32::MAX => INITIAL_CWND,
            us => units::bdp(bw, us, gain),
        }
    }

    /// Room for whole bursts at both ends, for pairs, and for probing a tiny path
    /// (`bbr_quantization_budget`).
    fn with_budget(&self, volume: u32, gain: u32) -> u32 {
        let volume = volume.saturating_add(3 * self.pacing.tso_segs_goal(self.mss));
        let even = volume.saturating_add(volume & 1);
        let probes = self.mode == Mode::ProbeBw
            && match self.profile.probe_budget {
                ProbeBudget::Never => false,
                ProbeBudget::GainAboveOne => gain > UNIT,
                ProbeBudget::FirstPhase => self.cycle == 0,
            };
        even.saturating_add(if probes { 2 } else { 0 })
    }

    /// The volume in flight at a gain (`bbr_inflight`).
    pub(super) fn inflight(&self, bw: u32, gain: u32) -> u32 {
        self.with_budget(self.bdp(bw, gain), gain)
    }

    /// Packets that will be in the network when the next burst leaves, given those in flight now
    /// (`bbr_packets_in_net_at_edt`).
    pub(super) fn in_network(&self, in_flight: u32, now: Time, departure: Time) -> u32 {
        if !self.profile.departure_times {
            return in_flight;
        }
        let wait = departure.saturating_since(now).as_micros();
        let burst = if self.pacing_gain > UNIT { self.pacing.tso_segs_goal(self.mss) } else { 0 };
        let delivered = units::packets_in(self.bw(), wait);
        let delivered = u32::try_from(delivered).unwrap_or(u32::MAX);
        in_flight.saturating_add(burst).saturating_sub(delivered)
    }

    /// `bbr_set_cwnd`.
    pub(super) fn set_cwnd(&mut self, sample: &AckSample, bw: u32) {
        if sample.acked > 0 {
            let conserving = if self.settings.prr {
                self.glide_or_restore(sample, bw)
            } else {
                self.recover_or_restore(sample)
            };
            if !conserving {
                self.approach_target(sample, bw);
            }
        } else if !self.profile.caps_without_delivery {
            return;
        }
        if self.mode == Mode::ProbeRtt {
            self.window.cwnd = self.window.cwnd.min(self.probe_rtt_cwnd());
        }
    }

    /// The volume that PROBE_RTT leaves in flight: four packets unless an option asks for more.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        match self.settings.probe_rtt_gain {
            0 => CWND_FLOOR,
            gain => self.bdp(self.bw(), gain).max(CWND_FLOOR),
        }
    }

    /// The volume at which the probing phase has seen enough: no more than the window
    /// may hold, or the phase would never end.
    pub(super) fn probe_volume(&self, bw: u32) -> u32 {
        self.bound_by_buffer(self.inflight(bw, CYCLE[0]), bw)
    }

    /// Limits the window to half of the flow's own share of the buffer.
    fn bound_by_buffer(&self, cwnd: u32, bw: u32) -> u32 {
        let room = self.buffer().and_then(|buffer| buffer.allowed_queue(bw, self.min_rtt.us));
        room.map_or(cwnd, |room| cwnd.min(self.bdp(bw, UNIT).saturating_add(room)))
    }

    /// Grows by the packets delivered; shrinks to the target once the pipe was full.
    fn approach_target(&mut self, sample: &AckSample, bw: u32) {
        let mut target = self.bdp(bw, self.cwnd_gain);
        if self.profile.extra_acked && self.full_pipe.reached {
            target = target.saturating_add(self.aggregation.allowance(bw));
        }
        let target = self.with_budget(target, self.cwnd_gain);
        let starts = sample.delivered < u64::from(INITIAL_CWND);
        self.window.approach(target, self.full_pipe.reached, sample.acked, starts);
        if let Some(capacity) = self.startup_capacity() {
            self.window.cwnd = self.window.cwnd.min(self.inflight(capacity, UNIT));
        }
        self.window.cwnd = self.bound_by_buffer(self.window.cwnd, bw).max(CWND_FLOOR);
    }

    /// Packet conservation for the first round of recovery, and the return from it
    /// (`bbr_set_cwnd_to_recover_or_restore`). Returns whether it conserves.
    fn recover_or_restore(&mut self, sample: &AckSample) -> bool {
        use RecoveryState::Recovery;
        let conserved = sample.in_flight.saturating_add(sample.acked);
        if sample.lost > 0 {
            self.window.cwnd = self.window.cwnd.saturating_sub(sample.lost).max(1);
        }
        if sample.state == Recovery && self.window.prior_state != Recovery {
            self.packet_conservation = true;
            self.bandwidth.next_round = sample.delivered;
            self.window.cwnd = conserved;
        } else if self.window.prior_state >= Recovery && sample.state < Recovery {
            self.window.restore();
            self.packet_conservation = false;
        }
        self.window.prior_state = sample.state;
        if self.packet_conservation {
            self.window.cwnd = self.window.cwnd.max(conserved);
        }
        self.packet_conservation
    }

    /// Lets recovery glide to one BDP, or restores the window. After recovery the window grows by
    /// the packets delivered.
    fn glide_or_restore(&mut self, sample: &AckSample, bw: u32) -> bool {
        use RecoveryState::{Loss, Recovery};
        let mut prr = self.proposals.as_mut().and_then(|all| all.prr.take());
        if sample.state == Recovery && self.window.prior_state != Recovery {
            prr = Some(Prr::new(sample, self.inflight(bw, UNIT)));
        } else if self.window.prior_state == Loss && sample.state < Recovery {
            self.window.restore();
        }
        self.window.prior_state = sample.state;
        prr = prr.filter(|_| sample.state == Recovery);
        if let Some(prr) = &prr {
            self.window.cwnd = prr.cwnd(sample).max(1);
        }
        let glides = prr.is_some();
        if let Some(proposals) = &mut self.proposals {
            proposals.prr = prr;
        }
        glides
    }
}
