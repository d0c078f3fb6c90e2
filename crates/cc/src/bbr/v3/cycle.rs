//! The state machine (draft-ietf-ccwg-bbr-06 section 5.3).

use narrows_base::{Duration, Time};

use super::state::{AckPhase, Mode, Signals};
use super::{Bbr3, UNBOUNDED, part};
use crate::bbr::units::UNIT;
use crate::events::AckSample;

/// Maximum rounds between probes, so that Reno can keep up.
const RENO_ROUNDS: u32 = 63;
/// The gain while probing for bandwidth.
const UP_GAIN: u32 = UNIT * 5 / 4;

impl Bbr3 {
    /// `IsProbingBW`.
    pub(super) const fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up)
    }

    /// The pacing gain in 1/256 (section 5.6.1).
    pub(super) const fn pacing_gain(&self) -> u32 {
        match self.mode {
            Mode::Startup => self.version.startup_gain,
            Mode::Drain => self.version.drain_gain,
            Mode::Down => self.version.down_gain,
            Mode::Up => UP_GAIN,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => UNIT,
        }
    }

    /// The window's gain in 1/256.
    pub(super) const fn cwnd_gain(&self) -> u32 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.version.startup_cwnd_gain,
            Mode::Up => self.version.up_cwnd_gain,
            Mode::ProbeRtt => self.version.probe_rtt_cwnd_gain,
            Mode::Down | Mode::Cruise | Mode::Refill => 2 * UNIT,
        }
    }

    /// `EnterDrain`.
    pub(super) fn enter_drain(&mut self) {
        // 5.3.2: "switching to a pacing_gain well below 1.0, until any estimated queue has been
        // drained"
        self.enter(Mode::Drain);
        self.window.ssthresh = self.inflight(self.max_bw(), UNIT);
        self.drain_start_round = self.round.count;
        if self.version.rules.drain_forgets_losses {
            self.loss_round.reset();
        }
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, sample: &AckSample) {
        // 5.3.2: "In that case, BBR enters ProbeBW after 3 round-trips"
        let last_round = self.drain_start_round.saturating_add(self.version.drain_rounds);
        let drained =
            self.in_network(sample.in_flight, sample) <= self.inflight(self.max_bw(), UNIT);
        if self.mode == Mode::Drain && (drained || self.round.count > last_round) {
            self.start_down(sample.now, sample.delivered);
        }
    }

    /// `StartProbeBW_DOWN`.
    fn start_down(&mut self, now: Time, delivered: u64) {
        self.loss_round.reset();
        self.probe.acked_per_step = UNBOUNDED;
        // 5.3.3.8.2: "We randomize both the T_bbr and T_reno parameters, for better mixing and
        // fairness convergence."
        self.probe.rounds = u32::from(self.random.chance(0.5));
        let spread = self.random.below(1_000_000);
        self.probe.wait = Duration::from_micros(2_000_000 + spread);
        self.probe.began = now;
        self.probe.ack_phase = AckPhase::Stopping;
        self.round.restart(delivered);
        self.enter_phase(Mode::Down);
    }

    /// `StartProbeBW_CRUISE`.
    fn start_cruise(&mut self) {
        if self.version.rules.cruise_lowers_short && self.bounds.short != UNBOUNDED {
            self.bounds.short = self.bounds.short.min(self.bounds.long);
        }
        self.enter_phase(Mode::Cruise);
    }

    /// Every transition.
    fn enter(&mut self, next: Mode) {
        debug_assert!(self.mode.may_become(next), "from {:?} to {next:?}", self.mode);
        self.mode = next;
    }

    /// Enters a phase of PROBE_BW; window and rate follow.
    fn enter_phase(&mut self, phase: Mode) {
        self.enter(phase);
        self.settled = false;
    }

    /// `StartProbeBW_REFILL`.
    fn start_refill(&mut self, delivered: u64) {
        // 5.3.3.3: "the flow pivots, discarding its short-term model"
        self.reset_short_term();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0;
        self.probe.precautionary = false;
        self.probe.ack_phase = AckPhase::Init;
        self.round.restart(delivered);
        self.enter_phase(Mode::Refill);
    }

    /// `StartProbeBW_UP`.
    pub(super) fn start_up(&mut self, now: Time, delivered: u64, bw: u32) {
        self.probe.is_sample = true;
        self.probe.ack_phase = AckPhase::Starting;
        self.probe.began = now;
        self.round.restart(delivered);
        self.full_pipe.reset(bw);
        self.enter_phase(Mode::Up);
        self.raise_slope();
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, sample: &AckSample, signals: &Signals) {
        if !self.full_pipe.reached || self.adapt_long_term(sample, signals) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(sample.now) => {
                self.start_refill(sample.delivered);
            }
            Mode::Down if self.is_time_to_cruise(self.cycle_in_flight(sample)) => {
                self.start_cruise();
            }
            // 5.3.3.3: "to send at a rate that matches the current estimated available bandwidth,
            // for one packet-timed round trip"
            Mode::Refill if self.round.start => {
                self.start_up(sample.now, sample.delivered, signals.bw);
            }
            Mode::Up => self.check_time_to_go_down(sample, signals),
            _ => {}
        }
    }

    fn check_time_to_go_down(&mut self, sample: &AckSample, signals: &Signals) {
        if self.is_time_to_go_down(sample, signals) {
            self.probe.too_high = false;
            self.start_down(sample.now, sample.delivered);
        }
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, now: Time) -> bool {
        // 5.3.3.8.2: "T_probe = min(T_bbr, T_reno)"
        let reno_rounds = self.target_inflight().min(RENO_ROUNDS);
        let waited = if self.version.rules.kernel_clock {
            self.phase_us(now) > self.probe.wait.as_micros()
        } else {
            now > self.probe.began + self.probe.wait
        };
        waited || self.probe.rounds >= reno_rounds
    }

    /// Microseconds since the phase began.
    fn phase_us(&self, now: Time) -> u64 {
        if self.version.rules.kernel_clock {
            return now.as_micros().saturating_sub(self.probe.began.as_micros());
        }
        now.saturating_since(self.probe.began).as_micros()
    }

    /// The volume in flight by which PROBE_BW's phases end.
    fn cycle_in_flight(&self, sample: &AckSample) -> u32 {
        let prior = self.version.rules.prior_in_flight;
        self.in_network(if prior { sample.prior_in_flight } else { sample.in_flight }, sample)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, in_flight: u32) -> bool {
        // 5.3.3.1: "enters CRUISE when the flow estimates that both of the following conditions
        // have been met"
        in_flight <= self.with_headroom() && in_flight <= self.inflight(self.max_bw(), UNIT)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, sample: &AckSample, signals: &Signals) -> bool {
        let in_network = self.cycle_in_flight(sample);
        // 5.3.3.7: "the flow stops the bandwidth probe early"
        if self.probe.too_high && in_network >= self.bounds.long {
            self.probe.precautionary = true;
            return true;
        }
        if self.version.rules.up_ends_at_volume {
            let elapsed = self.phase_us(sample.now) > self.min_rtt.us.into();
            return elapsed && in_network >= self.inflight(self.max_bw(), UP_GAIN);
        }
        // 5.3.3.7: "the flow cannot fully explore the available bandwidth, and so it resets the
        // \"full pipe\" estimator"
        if sample.cwnd_limited && self.window.cwnd >= self.bounds.long {
            self.full_pipe.reset(signals.bw);
        }
        self.full_pipe.now
    }

    /// `AdaptLongTermModel`; returns whether it decided what to do.
    fn adapt_long_term(&mut self, sample: &AckSample, signals: &Signals) -> bool {
        let phase = self.probe.ack_phase;
        if phase == AckPhase::Starting && self.round.start {
            self.probe.ack_phase = AckPhase::Feedback;
        }
        if phase == AckPhase::Stopping && self.round.start && self.end_feedback(sample, signals) {
            return true;
        }
        if self.is_too_high(signals) {
            // The ACK takes part in the phase that this begins.
            if self.version.rules.acks_end_probe && self.probe.is_sample {
                let Signals { tx_in_flight, app_limited, .. } = *signals;
                self.handle_too_high(sample.now, sample.delivered, tx_in_flight, app_limited);
            }
        } else if self.bounds.long != UNBOUNDED {
            self.bounds.long = self.bounds.long.max(signals.tx_in_flight);
            if self.mode == Mode::Up {
                self.probe_upward(sample);
            }
        }
        false
    }

    /// The last ACKs of a probe have arrived; a cautious probe without loss is repeated.
    fn end_feedback(&mut self, sample: &AckSample, signals: &Signals) -> bool {
        self.probe.is_sample = false;
        self.probe.ack_phase = AckPhase::Init;
        if !self.mode.is_probe_bw() {
            return false;
        }
        if !signals.app_limited {
            self.advance_max_bw();
        }
        // 5.3.3.6: "the flow immediately returns to ProbeBW_REFILL to probe for bandwidth again"
        let again = self.probe.precautionary && !self.probe.too_high;
        if again {
            self.start_refill(sample.delivered);
        }
        again
    }

    /// `HandleInflightTooHigh`.
    pub(super) fn handle_too_high(
        &mut self,
        now: Time,
        delivered: u64,
        in_flight: u32,
        app_limited: bool,
    ) {
        self.probe.too_high = true;
        self.probe.is_sample = false;
        if !app_limited {
            // 5.5.10.2: "the BBR.Beta (0.7x) bound is to try to ensure that BBR does not react
            // more dramatically than CUBIC's 0.7x multiplicative decrease factor"
            let floor = part(self.target_inflight(), self.settings.beta);
            self.bounds.long = in_flight.max(floor).max(self.version.rules.least_long);
        }
        if self.mode == Mode::Up {
            self.saved.mode = Some(Mode::Up);
            self.start_down(now, delivered);
        }
    }

    /// `RaiseInflightLongtermSlope`.
    pub(super) fn raise_slope(&mut self) {
        // 5.3.3.5: "BBR.inflight_longterm grows (in units of C.SMSS) by 1, 2, 4, 8, 16, etc, with
        // the increases spread uniformly across the entire round trip"
        self.probe.acked_per_step = (self.window.cwnd >> self.probe.up_rounds).max(1);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
    }

    /// `ProbeInflightLongtermUpward`.
    pub(super) fn probe_upward(&mut self, sample: &AckSample) {
        if !sample.cwnd_limited || self.window.cwnd < self.bounds.long {
            if self.version.rules.unused_window_restarts_growth {
                self.probe.up_acked = 0;
            }
            return;
        }
        let probe = &mut self.probe;
        probe.up_acked = probe.up_acked.saturating_add(sample.acked);
        let steps = probe.up_acked / probe.acked_per_step;
        probe.up_acked -= steps * probe.acked_per_step;
        self.bounds.long = self.bounds.long.saturating_add(steps);
        self.settled &= steps == 0 || self.version.rules.settled_through_growth;
        if self.round.start {
            self.raise_slope();
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, sample: &AckSample) {
        // 5.3.4.2: "when restarting from idle and finding that the BBR.probe_rtt_min_delay has
        // expired, BBR does not enter ProbeRTT"
        let wanted = !self.settings.probe_rtt_time.is_zero() && !self.idle_restart;
        if wanted && self.min_rtt.expired && self.mode != Mode::ProbeRtt {
            self.window.save(self.version.rules.probe_rtt_keeps_saved_window);
            self.enter(Mode::ProbeRtt);
            self.min_rtt.done = None;
            self.probe.ack_phase = AckPhase::Stopping;
            self.round.restart(sample.delivered);
        }
        self.ignores_samples = self.mode == Mode::ProbeRtt;
        if self.mode == Mode::ProbeRtt {
            self.run_probe_rtt(sample);
        }
        if sample.acked > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT`.
    fn run_probe_rtt(&mut self, sample: &AckSample) {
        // 5.3.4.1: "for at least BBR.ProbeRTTDuration (200 ms) and at least one packet-timed round
        // trip"
        if self.min_rtt.done.is_some() {
            self.min_rtt.round_done |= self.round.start;
            if self.min_rtt.round_done {
                self.check_probe_rtt_done(sample.now, sample.delivered);
            }
        } else if sample.in_flight <= self.probe_rtt_cwnd() {
            self.min_rtt.done = Some(self.coarse(sample.now) + self.settings.probe_rtt_time);
            self.min_rtt.round_done = false;
            self.round.restart(sample.delivered);
        }
    }

    /// `CheckProbeRTTDone`, `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, delivered: u64) {
        let coarse = self.coarse(now);
        if self.min_rtt.done.is_none_or(|done| coarse <= done) {
            return;
        }
        self.min_rtt.probe_stamp = coarse;
        self.window.restore();
        // 5.3.4.4: "any congestion encountered in ProbeRTT may have pulled it far below the
        // capacity of the path"
        self.reset_short_term();
        if self.full_pipe.reached {
            // 5.3.4.4: "the algorithm resets the bandwidth-probing clock by starting the cycle at
            // ProbeBW_DOWN()"
            self.start_down(now, delivered);
            self.start_cruise();
        } else {
            self.enter(Mode::Startup);
        }
    }

    /// Goes back to the probing that a spurious loss ended (section 5.5.11.2).
    pub(super) fn return_to_probing(&mut self, delivered: u64) {
        let back = self.saved.mode.take();
        let away = back.is_some_and(|mode| mode != self.mode);
        if !away {
            return;
        }
        // 5.5.11.2: "BBR returns to the state it was in before the loss recovery episode"
        if back == Some(Mode::Startup) {
            self.full_pipe.reached = false;
        }
        match (self.mode, back) {
            (Mode::ProbeRtt, _) => {}
            (_, Some(Mode::Startup)) => self.enter(Mode::Startup),
            _ => self.start_refill(delivered),
        }
    }
}
