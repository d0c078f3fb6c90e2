//! The path's model: bandwidth, lowest RTT, and what losses say about both
//! (draft-ietf-ccwg-bbr-06 section 5.5).

use narrows_base::{Duration, Time};

use super::cycle::Mode;
use super::{Bbr3, Bounds, UNBOUNDED, part, since};
use crate::bbr::units::{self, UNIT};
use crate::samples::{AckSample, RateSample, RecoveryState};

/// Length of the filter of the lowest RTT (`BBR.MinRTTFilterLen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Rounds without a quarter more bandwidth that mean a full pipe.
const FULL_ROUNDS: u8 = 3;

/// What an ACK with a rate sample tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// `RS.delivery_rate`.
    pub(super) bw: u32,
    /// `RS.delivered`.
    pub(super) delivered: u32,
    pub(super) prior_delivered: u64,
    /// `RS.tx_in_flight`.
    pub(super) tx_in_flight: u32,
    /// `RS.lost`.
    pub(super) lost: u32,
    pub(super) app_limited: bool,
}

impl Signals {
    /// A rate sample. A sender that keeps nothing for each packet has in flight now what it
    /// had then, and lost what this ACK shows.
    pub(super) fn new(rate: &RateSample, sample: &AckSample) -> Self {
        let (tx_in_flight, lost) = match rate.at_send {
            Some(then) => (then.in_flight, since(sample.lost_total, then.lost)),
            None => (sample.prior_in_flight, sample.lost),
        };
        Self {
            bw: units::bandwidth(rate.delivered, rate.interval.as_micros()),
            delivered: u32::try_from(rate.delivered).unwrap_or(u32::MAX),
            prior_delivered: rate.prior_delivered,
            tx_in_flight,
            lost,
            app_limited: rate.app_limited,
        }
    }
}

/// Packet-timed round trips (section 5.5.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) count: u32,
    /// Whether this ACK began one.
    pub(super) start: bool,
    next_delivered: u64,
}

impl Round {
    /// `StartRound`.
    pub(super) const fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

/// The round of losses under way, and the latest delivery in it.
#[derive(Clone, Debug, Default)]
pub(super) struct LossRound {
    /// Whether this ACK began one.
    pub(super) start: bool,
    /// Whether it has seen a loss.
    pub(super) is_lossy: bool,
    /// ACKs with losses in it.
    pub(super) events: u32,
    ends_at: u64,
    bw: u32,
    /// Most packets delivered over a round trip (`inflight_latest`).
    volume: u32,
}

impl LossRound {
    /// `ResetCongestionSignals`.
    pub(super) const fn reset(&mut self) {
        self.is_lossy = false;
        self.bw = 0;
        self.volume = 0;
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) const fn advance(&mut self, signals: &Signals) {
        if self.start {
            self.bw = signals.bw;
            self.volume = signals.delivered;
        }
    }
}

/// The detector of a full pipe (section 5.3.1.2).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// Whether it ever was full.
    pub(super) reached: bool,
    /// Whether it is in this attempt.
    pub(super) now: bool,
    bw: u32,
    rounds: u8,
}

impl FullPipe {
    /// Begins an attempt from a bandwidth (`ResetFullBW`).
    pub(super) const fn reset(&mut self, bw: u32) {
        self.now = false;
        self.rounds = 0;
        self.bw = bw;
    }
}

/// The lowest RTT and PROBE_RTT's clock (section 5.3.4.3).
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    /// In us; `u32::MAX` before the first sample.
    pub(super) us: u32,
    stamp: Time,
    probe_us: u32,
    pub(super) probe_stamp: Time,
    pub(super) expired: bool,
    /// When PROBE_RTT may end; set once little is in flight.
    pub(super) done: Option<Time>,
    pub(super) round_done: bool,
}

impl MinRtt {
    /// The handshake's RTT, or none.
    pub(super) fn new(initial: Option<Duration>) -> Self {
        let us = initial.map_or(u32::MAX, units::micros);
        Self {
            us,
            stamp: Time::ZERO,
            probe_us: us,
            probe_stamp: Time::ZERO,
            expired: false,
            done: None,
            round_done: false,
        }
    }

    /// The flow's first packet leaves.
    pub(super) const fn start(&mut self, now: Time) {
        self.stamp = now;
        self.probe_stamp = now;
    }
}

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
            self.save_state();
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
        self.update_max_bw(signals, delivered);
        if !self.loss_round.start {
            return;
        }
        if self.loss_round.is_lossy && !self.is_probing() {
            self.lower_bounds();
        }
        self.loss_round.is_lossy = false;
    }

    /// `UpdateMaxBw`, `UpdateRound`.
    fn update_max_bw(&mut self, signals: &Signals, delivered: u64) {
        if signals.prior_delivered >= self.round.next_delivered {
            self.round.restart(delivered);
            self.round.count += 1;
            self.round.start = true;
            self.probe.rounds = self.probe.rounds.saturating_add(1);
        }
        if signals.bw >= self.max_bw() || !signals.app_limited {
            self.cycles[1] = self.cycles[1].max(signals.bw);
        }
    }

    /// `InitLowerBounds`, `LossLowerBounds`: once a round, down towards what arrives.
    fn lower_bounds(&mut self) {
        let Bounds { bw_short, short, .. } = self.bounds;
        let bw = if bw_short == UNBOUNDED { self.max_bw() } else { bw_short };
        let volume = if short == UNBOUNDED { self.window.cwnd } else { short };
        self.bounds.bw_short = self.loss_round.bw.max(part(bw, self.settings.beta));
        self.bounds.short = self.loss_round.volume.max(part(volume, self.settings.beta));
    }

    /// `ResetShortTermModel`.
    pub(super) const fn reset_short_term(&mut self) {
        self.bounds.bw_short = UNBOUNDED;
        self.bounds.short = UNBOUNDED;
    }

    /// `CheckFullBWReached`.
    pub(super) fn check_full_pipe(&mut self, signals: &Signals) {
        let full = &mut self.full_pipe;
        if full.now || !self.round.start || signals.app_limited {
            return;
        }
        if u64::from(signals.bw) * u64::from(UNIT) >= u64::from(full.bw) * u64::from(UNIT * 5 / 4) {
            return full.reset(signals.bw);
        }
        full.rounds += 1;
        full.now = full.rounds >= FULL_ROUNDS;
        full.reached |= full.now;
    }

    /// `CheckStartupDone`, `CheckStartupHighLoss`.
    pub(super) fn check_startup_done(&mut self, sample: &AckSample, signals: &Signals) {
        if self.mode != Mode::Startup {
            self.loss_round.events = 0;
            return;
        }
        let lossy = self.loss_round.start
            && sample.state == RecoveryState::Recovery
            && self.loss_round.events >= self.version.full_loss_events
            && self.is_too_high(signals);
        if lossy && !self.full_pipe.reached {
            self.saved.mode = Some(Mode::Startup);
            self.full_pipe.reached = true;
            let volume =
                if self.version.keeps_delivered_volume { self.loss_round.volume } else { 0 };
            self.bounds.long = self.inflight(self.max_bw(), UNIT).max(volume);
        }
        if self.loss_round.start {
            self.loss_round.events = 0;
        }
        if self.full_pipe.reached {
            self.enter_drain();
        }
    }

    /// `IsInflightTooHigh`.
    pub(super) fn is_too_high(&self, signals: &Signals) -> bool {
        self.exceeds_threshold(signals.lost, signals.tx_in_flight)
    }

    /// Whether of so many packets in flight too many were lost.
    pub(super) fn exceeds_threshold(&self, lost: u32, in_flight: u32) -> bool {
        lost > part(in_flight, self.settings.loss_thresh)
    }

    /// `InflightAtLoss`: how much was in flight when the losses exceeded the threshold, if the
    /// packet lost last is the one that made them do so; `lost` and `in_flight` are with it.
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
        let rtt = &mut self.min_rtt;
        rtt.expired = sample.now > rtt.probe_stamp + self.settings.probe_rtt_interval;
        if let Some(us) = sample.rtt.map(units::micros)
            && (us < rtt.probe_us || (rtt.expired && !sample.ack_delayed))
        {
            rtt.probe_us = us;
            rtt.probe_stamp = sample.now;
        }
        if rtt.probe_us < rtt.us || sample.now > rtt.stamp + MIN_RTT_WINDOW {
            rtt.us = rtt.probe_us;
            rtt.stamp = rtt.probe_stamp;
        }
    }
}
