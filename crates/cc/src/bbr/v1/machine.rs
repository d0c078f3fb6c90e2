//! The state machine.

use narrows_base::Time;

use super::Bbr;
use super::cap::AdaptiveCap;
use super::mode::Mode;
use super::options::Rtprop;
use crate::bbr::units::{self, CYCLE, DRAIN_GAIN, GAIN_SCALE, HIGH_GAIN, UNIT};
use crate::events::{AckSample, DeliveredSample};

/// PROBE_BW starts at random in all phases but the draining one.
const RANDOM_PHASES: u64 = 7;
/// The probing, the draining and the first cruising phase.
const PROBE: usize = 0;
const DRAIN: usize = 1;
const CRUISE: usize = 2;

impl Bbr {
    fn enter(&mut self, next: Mode) {
        debug_assert!(self.mode.leads_to(next), "no way from {:?} to {next:?}", self.mode);
        self.mode = next;
    }

    /// Ends STARTUP early if the detectors say so and a bandwidth is known.
    pub(super) fn listen_to_hystart(&mut self, sample: &DeliveredSample) {
        let starting = self.mode == Mode::Startup && !self.full_pipe.reached;
        let exit = self.proposals.as_mut().and_then(|all| all.early_exit.as_mut());
        let Some(exit) = exit.filter(|_| starting) else { return };
        let found = exit.update(sample, self.window.cwnd);
        self.full_pipe.reached = found && self.bandwidth.max.get() > 0;
    }

    /// `bbr_reset_probe_bw_mode`.
    pub(super) fn enter_probe_bw(&mut self) {
        self.enter(Mode::ProbeBw);
        if self.settings.drain_to_target {
            return self.begin_cycle(CRUISE);
        }
        let back = usize::try_from(self.random.below(RANDOM_PHASES)).expect("below seven");
        self.cycle = CYCLE.len() - 1 - back;
        self.advance_cycle();
    }

    fn advance_cycle(&mut self) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_us = self.delivered_us;
        if !self.profile.lt_unity_gain {
            self.pacing_gain = CYCLE[self.cycle];
        }
    }

    /// Begins a cycle of two to eight lowest RTTs in `phase`.
    fn begin_cycle(&mut self, phase: usize) {
        self.cycle = phase;
        self.cycle_us = self.delivered_us;
        self.cycle_length = 2 + self.random.below(RANDOM_PHASES);
    }

    /// Probes until the volume is in flight, drains to one BDP, and cruises for the
    /// rest of the cycle.
    fn update_drain_cycle(&mut self, sample: &AckSample) {
        let elapsed = self.delivered_us.saturating_sub(self.cycle_us);
        let min_rtt = u64::from(self.min_rtt.us);
        if elapsed > self.cycle_length * min_rtt {
            return self.begin_cycle(PROBE);
        }
        let in_network = self.in_network(sample.prior_in_flight, sample.now, sample.departure);
        let bw = self.bandwidth.max.get();
        let probed = elapsed > min_rtt && (sample.lost > 0 || in_network >= self.probe_volume(bw));
        self.cycle = match self.cycle {
            PROBE if probed => DRAIN,
            DRAIN if in_network <= self.inflight(bw, UNIT) => CRUISE,
            phase => phase,
        };
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_cycle(&mut self, sample: &AckSample) {
        if self.settings.drain_to_target {
            if self.mode == Mode::ProbeBw && self.long_term.in_use().is_none() {
                self.update_drain_cycle(sample);
            }
            return;
        }
        let stands_still = !self.profile.lt_unity_gain && self.long_term.in_use().is_some();
        if self.mode == Mode::ProbeBw && !stands_still && self.is_next_phase(sample) {
            self.advance_cycle();
        }
    }

    /// Returns `true` if the phase has lasted long enough or reached its goal
    /// (`bbr_is_next_cycle_phase`).
    fn is_next_phase(&self, sample: &AckSample) -> bool {
        let elapsed = self.delivered_us.saturating_sub(self.cycle_us);
        let full_length = elapsed > u64::from(self.min_rtt.us);
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let in_network = self.in_network(sample.prior_in_flight, sample.now, sample.departure);
        let bw = self.bandwidth.max.get();
        if self.pacing_gain > UNIT {
            // A short buffer may never hold the volume, so a loss also ends the attempt.
            return full_length && (sample.lost > 0 || in_network >= self.probe_volume(bw));
        }
        full_length || in_network <= self.inflight(bw, UNIT)
    }

    /// `bbr_check_full_bw_reached`.
    pub(super) fn check_full_pipe(&mut self, sample: &AckSample) {
        let app_limited = sample.rate.is_none_or(|rate| rate.app_limited);
        if self.full_pipe.reached || !self.bandwidth.round_start || app_limited {
            return;
        }
        let max = self.bandwidth.max.get();
        let full = &mut self.full_pipe;
        let growth = u64::from(self.settings.full_bw_growth);
        if u64::from(max) >= (u64::from(full.bw) * growth) >> GAIN_SCALE {
            full.bw = max;
            full.rounds = 0;
            return;
        }
        full.rounds += 1;
        full.reached = full.rounds >= self.settings.full_bw_rounds;
    }

    /// `bbr_check_drain`.
    pub(super) fn check_drain(&mut self, sample: &AckSample) {
        let bw = self.bandwidth.max.get();
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.enter(Mode::Drain);
            self.window.ssthresh = self.inflight(bw, UNIT);
        }
        if self.mode == Mode::Drain {
            let in_network = self.in_network(sample.in_flight, sample.now, sample.departure);
            if in_network <= self.inflight(bw, UNIT) {
                self.enter_probe_bw();
            }
        }
    }

    /// `bbr_update_min_rtt`, PROBE_RTT included.
    pub(super) fn update_min_rtt(&mut self, sample: &AckSample) {
        let now = self.jiffies.at(sample.now);
        let expired = now > self.min_rtt.stamp + self.min_rtt.window;
        self.take_rtt(sample, now, expired);
        let wanted = !self.settings.probe_rtt.is_zero() && !self.idle_restart;
        if wanted && expired && self.mode != Mode::ProbeRtt {
            // In this order, as in Linux, the larger of this window and the last saved one is kept.
            self.enter(Mode::ProbeRtt);
            self.window.save(self.mode == Mode::ProbeRtt);
            self.probe_rtt.done = None;
        }
        self.probe_rtt.ignores_samples = self.mode == Mode::ProbeRtt;
        if self.mode == Mode::ProbeRtt {
            self.run_probe_rtt(sample, now);
        }
        if sample.acked > 0 || !self.profile.idle_restart_needs_delivery {
            self.idle_restart = false;
        }
    }

    fn take_rtt(&mut self, sample: &AckSample, now: u64, expired: bool) {
        let Some(rtt) = sample.rtt.map(units::micros) else { return };
        let lower = rtt < self.min_rtt.us;
        let tie = rtt == self.min_rtt.us && self.profile.min_rtt_ties_refresh;
        let delayed = sample.ack_delayed && self.profile.min_rtt_skips_delayed_acks;
        let expires = self.settings.rtprop == Rtprop::Expires;
        if expired && !expires && self.idle_restart {
            // As in Linux, idling was as good as a visit to PROBE_RTT.
            self.min_rtt.stamp = now;
        }
        if self.mode == Mode::ProbeRtt && self.probe_rtt.done.is_some() {
            self.confirmation.sample(rtt);
        }
        if lower || tie || (expired && expires && !delayed) {
            self.min_rtt.us = rtt;
            self.min_rtt.stamp = now;
        }
    }

    /// Waits until little is in flight, then for 200 ms and a round.
    fn run_probe_rtt(&mut self, sample: &AckSample, now: u64) {
        if self.probe_rtt.done.is_some() {
            self.probe_rtt.round_done |= self.bandwidth.round_start;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(sample.now);
            }
        } else if sample.in_flight <= self.probe_rtt_cwnd() {
            let stay = self.jiffies.ceil_micros(self.settings.probe_rtt.as_micros());
            self.probe_rtt.done = Some(now + stay);
            self.probe_rtt.round_done = false;
            self.bandwidth.next_round = sample.delivered;
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        let now = self.jiffies.at(now);
        if self.probe_rtt.done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt.stamp = now;
        if let Some(rtt) = self.confirmation.end_visit(self.settings.rtprop, self.min_rtt.us) {
            self.min_rtt.us = rtt;
        }
        self.window.restore();
        if self.full_pipe.reached {
            self.enter_probe_bw();
        } else {
            self.enter(Mode::Startup);
        }
    }

    /// `bbr_update_gains`.
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (self.probe_bw_gain(), self.window_gain()),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn window_gain(&self) -> u32 {
        let cap = self.proposals.as_ref().and_then(|all| all.cap.as_ref());
        cap.map_or(self.settings.cwnd_gain, AdaptiveCap::gain)
    }

    fn probe_bw_gain(&self) -> u32 {
        match (self.long_term.in_use(), self.profile.lt_unity_gain) {
            (Some(_), true) => UNIT,
            (Some(_), false) => self.pacing_gain,
            (None, _) => CYCLE[self.cycle],
        }
    }
}
