//! The path's model: bandwidth, lowest RTT, and their bounds by losses
//! (draft-ietf-ccwg-bbr-06 section 5.5).

use narrows_base::Duration;

use super::state::{Mode, Signals};
use super::versions::Growth;
use super::{Bbr3, Bounds, UNBOUNDED, part};
use crate::bbr::units::{self, UNIT};
use crate::events::AckSample;
use crate::samples::RecoveryState;

/// Length of the filter of the lowest RTT (`BBR.MinRTTFilterLen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Rounds without a quarter more bandwidth after which the pipe is full.
const FULL_ROUNDS: u8 = 3;

impl Bbr3 {
    /// `BBR.max_bw`: the highest of this cycle and the one before.
    pub(super) fn max_bw(&self) -> u32 {
        self.cycles[0].max(self.cycles[1])
    }

    /// `BBR.bw` (`BoundBWForModel`).
    pub(super) fn bw(&self) -> u32 {
        self.max_bw().min(self.bounds.bw_short)
    }

    /// `AdvanceMaxBwFilter`; a cycle without a sample doesn't count.
    pub(super) const fn advance_max_bw(&mut self) {
        if self.cycles[1] > 0 {
            self.cycles = [self.cycles[1], 0];
        }
    }

    /// `NoteLoss`, at each lost packet.
    pub(super) fn note_loss(&mut self, delivered: u64) {
        if !self.loss_round.is_lossy {
            self.loss_round.ends_at = delivered;
            if !self.version.rules.saves_at_recovery {
                self.save_state();
            }
        }
        self.loss_round.is_lossy = true;
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, signals: &Signals, delivered: u64) {
        let round = &mut self.loss_round;
        round.bw = round.bw.max(signals.bw);
        round.volume = round.volume.max(signals.delivered);
        if signals.prior_delivered >= round.ends_at {
            round.ends_at = delivered;
            round.start = true;
        }
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_congestion(&mut self, signals: &Signals, delivered: u64) {
        self.update_max_bw(signals);
        let rules = self.version.rules;
        if rules.latest_in_model {
            self.update_latest(signals, delivered);
        }
        if !self.loss_round.start {
            return;
        }
        // 5.5.10.3: "Upon the ACK at the end of each round that encountered a newly-marked loss"
        if self.loss_round.is_lossy && !self.is_probing() {
            self.lower_bounds();
        }
        if rules.latest_in_model {
            self.loss_round.advance(signals);
        }
        self.loss_round.is_lossy = false;
    }

    /// `UpdateRound`.
    pub(super) fn update_round(&mut self, signals: &Signals, delivered: u64) {
        if signals.prior_delivered >= self.round.next_delivered {
            self.round.restart(delivered);
            self.round.count += 1;
            self.round.start = true;
            self.probe.rounds = self.probe.rounds.saturating_add(1);
        }
    }

    /// `UpdateMaxBw`.
    fn update_max_bw(&mut self, signals: &Signals) {
        // 5.5.4: "the estimator does use application-limited samples if the measured delivery rate
        // happens to be larger than the current BBR.max_bw estimate"
        if signals.bw >= self.max_bw() || !signals.app_limited {
            self.cycles[1] = self.cycles[1].max(signals.bw);
        }
    }

    /// `InitLowerBounds`, `LossLowerBounds`: once a round, down towards the delivery rate and
    /// volume.
    fn lower_bounds(&mut self) {
        let Bounds { bw_short, short, .. } = self.bounds;
        let bw = if bw_short == UNBOUNDED { self.max_bw() } else { bw_short };
        let volume = if short == UNBOUNDED { self.window.cwnd } else { short };
        self.bounds.bw_short = self.loss_round.bw.max(part(bw, self.settings.beta)).max(1);
        self.bounds.short = self.loss_round.volume.max(part(volume, self.settings.beta));
    }

    /// `ResetShortTermModel`.
    pub(super) const fn reset_short_term(&mut self) {
        self.bounds.bw_short = UNBOUNDED;
        self.bounds.short = UNBOUNDED;
    }

    /// `CheckFullBWReached`.
    pub(super) fn check_full_pipe(&mut self, signals: &Signals) {
        let growth = self.version.rules.growth;
        if growth == Growth::Maximum {
            return self.check_full_pipe_by_maximum(signals.app_limited);
        }
        let waits = growth == Growth::RoundStart && !self.round.start;
        let full = &mut self.full_pipe;
        if full.now || waits || signals.app_limited {
            return;
        }
        if full.is_exceeded_by(signals.bw) {
            return full.reset(signals.bw);
        }
        if !self.round.start {
            return;
        }
        // 5.3.1.2: "BBR waits three packet-timed round trips to have reasonable evidence"
        full.rounds += 1;
        full.now = full.rounds >= FULL_ROUNDS;
        full.reached |= full.now;
    }

    /// `bbr_check_full_bw_reached` of version 2 takes the highest bandwidth, once a round.
    fn check_full_pipe_by_maximum(&mut self, app_limited: bool) {
        let bw = self.max_bw();
        let full = &mut self.full_pipe;
        if full.reached || !self.round.start || app_limited {
            return;
        }
        if full.is_exceeded_by(bw) {
            return full.reset(bw);
        }
        full.rounds += 1;
        full.reached = full.rounds >= FULL_ROUNDS;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss`.
    pub(super) fn check_startup_loss(&mut self, sample: &AckSample, signals: &Signals) {
        if self.mode != Mode::Startup && self.version.rules.loss_events_in_startup_only {
            self.loss_round.events = 0;
            return;
        }
        // 5.3.1.3: "if the following criteria are all met"
        let lossy = self.loss_round.start
            && sample.state == RecoveryState::Recovery
            && self.loss_round.events >= self.version.full_loss_events
            && self.is_too_high(signals);
        if lossy && !self.full_pipe.reached {
            self.saved.mode = Some(Mode::Startup);
            self.full_pipe.reached = true;
            // 5.3.1.3: "max(BBR.bdp, BBR.inflight_latest)"
            let is_bdp = self.version.rules.startup_bound_is_bdp;
            let volume = if is_bdp { 0 } else { self.loss_round.volume };
            self.bounds.long = self.inflight(self.max_bw(), UNIT).max(volume);
        }
        if self.loss_round.start {
            self.loss_round.events = 0;
        }
    }

    /// `IsInflightTooHigh`.
    pub(super) fn is_too_high(&self, signals: &Signals) -> bool {
        self.exceeds_threshold(signals.lost, signals.tx_in_flight)
    }

    /// Returns `true` if too many of the packets in flight were lost.
    pub(super) fn exceeds_threshold(&self, lost: u32, in_flight: u32) -> bool {
        in_flight > 0 && lost > part(in_flight, self.settings.loss_thresh)
    }

    /// `InflightAtLoss`: how much was in flight when the losses exceeded the threshold, if the
    /// packet lost last caused that; `lost` and `in_flight` include it.
    pub(super) fn inflight_at_loss(&self, lost: u32, in_flight: u32) -> u32 {
        let thresh = self.settings.loss_thresh;
        let (before, lost_before) = (in_flight.saturating_sub(1), lost.saturating_sub(1));
        let budget = (u64::from(before) * u64::from(thresh)).div_ceil(u64::from(UNIT));
        let spare = budget.saturating_sub(u64::from(lost_before));
        // The losses in the part of the window that was sent after them count as well.
        let prefix = spare * u64::from(UNIT) / u64::from(UNIT.saturating_sub(thresh).max(1));
        before.saturating_add(u32::try_from(prefix).unwrap_or(u32::MAX))
    }

    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, sample: &AckSample) {
        let (rules, now) = (self.version.rules, self.coarse(sample.now));
        let rtt = &mut self.min_rtt;
        rtt.expired = now > rtt.probe_stamp + self.settings.probe_rtt_interval;
        if let Some(us) = sample.rtt.map(units::micros)
            && (us < rtt.probe_us
                || (rules.probe_rtt_ties_refresh && us == rtt.probe_us)
                || (rtt.expired && !(rules.min_rtt_skips_delayed_acks && sample.ack_delayed)))
        {
            rtt.probe_us = us;
            rtt.probe_stamp = now;
        }
        // 5.3.4.1: "allows the flow's BBR.min_rtt filter window to generally include RTT samples
        // from two ProbeRTT episodes"
        let as_low =
            rtt.probe_us < rtt.us || (rules.min_rtt_ties_refresh && rtt.probe_us == rtt.us);
        if as_low || now > rtt.stamp + MIN_RTT_WINDOW {
            rtt.us = rtt.probe_us;
            rtt.stamp = rtt.probe_stamp;
        }
    }
}
