//! The policer detector: a steady, lossy delivery rate over two intervals
//! (`bbr_lt_bw_sampling`; Flach et al., SIGCOMM 2016).

use crate::bbr::units::{GAIN_SCALE, UNIT, bandwidth, rate_bytes};
use crate::profile::PacingUnits;

/// Minimum rounds in an interval; the maximum is four times as many.
const MIN_ROUNDS: u32 = 4;
/// Lost per delivered packet above which a path may be policed, in 1/256.
const LOSS_THRESHOLD: u64 = 50;
/// Intervals agree if they differ by at most this share of their bandwidth, in 1/256.
const RATIO: u64 = (UNIT / 8) as u64;
/// Intervals agree, too, if they differ by at most this many bytes/s.
const DIFFERENCE: u64 = 4_000 / 8;
/// Rounds for which the policer's rate is used.
const USE_ROUNDS: u32 = 48;

/// The flow's counters at an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    /// Packets delivered.
    pub(super) delivered: u64,
    /// Packets marked lost.
    pub(super) lost: u64,
    /// When `delivered` last grew, in us.
    pub(super) delivered_us: u64,
}

/// The meaning of an ACK for the detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) counters: Counters,
    /// True if packets were found lost.
    pub(super) losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    pub(super) probing_bw: bool,
}

/// The result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongTermUpdate {
    /// Nothing new.
    None,
    /// The path is policed: use the rate from now on.
    Policed,
    /// The rate has been used for long enough: probe again.
    Expired,
}

/// Sampling intervals and the rate that they agree on.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    sampling: bool,
    rounds: u32,
    in_use: bool,
    bw: u32,
    from: Counters,
}

impl LongTerm {
    /// The policer's rate, while it is used.
    pub(super) fn in_use(&self) -> Option<u32> {
        self.in_use.then_some(self.bw)
    }

    /// The latest interval's bandwidth or the policer's; zero if unknown.
    pub(super) const fn bw(&self) -> u32 {
        self.bw
    }

    /// Forgets everything (`bbr_reset_lt_bw_sampling`).
    pub(super) fn reset(&mut self, counters: Counters) {
        *self = Self { from: counters, ..Self::default() };
    }

    /// Takes an ACK or a timeout.
    pub(super) fn update(
        &mut self,
        ack: &Evidence,
        mss: u32,
        units: PacingUnits,
    ) -> LongTermUpdate {
        if self.in_use {
            return self.count_down(ack);
        }
        // Before the first loss a policer's tokens inflate the rate.
        if !self.sampling {
            if !ack.losses {
                return LongTermUpdate::None;
            }
            self.begin_interval(ack.counters);
            self.sampling = true;
        }
        if ack.app_limited {
            self.reset(ack.counters);
            return LongTermUpdate::None;
        }
        self.rounds += u32::from(ack.round_start);
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(ack.counters);
        } else if self.rounds >= MIN_ROUNDS && ack.losses {
            // Ending on a loss means that the tokens are used up again.
            return self.end_interval(ack.counters, mss, units);
        }
        LongTermUpdate::None
    }

    fn count_down(&mut self, ack: &Evidence) -> LongTermUpdate {
        if !(ack.probing_bw && ack.round_start) {
            return LongTermUpdate::None;
        }
        self.rounds += 1;
        if self.rounds < USE_ROUNDS {
            return LongTermUpdate::None;
        }
        self.reset(ack.counters);
        LongTermUpdate::Expired
    }

    fn begin_interval(&mut self, counters: Counters) {
        self.from = counters;
        self.rounds = 0;
    }

    fn end_interval(&mut self, now: Counters, mss: u32, units: PacingUnits) -> LongTermUpdate {
        let lost = now.lost - self.from.lost;
        let delivered = now.delivered - self.from.delivered;
        if delivered == 0 || lost << GAIN_SCALE < LOSS_THRESHOLD * delivered {
            return LongTermUpdate::None;
        }
        let millis = now.delivered_us / 1_000 - self.from.delivered_us / 1_000;
        if millis == 0 {
            return LongTermUpdate::None;
        }
        self.compare(bandwidth(delivered, millis * 1_000), now, mss, units)
    }

    /// `bbr_lt_bw_interval_done`.
    fn compare(&mut self, bw: u32, now: Counters, mss: u32, units: PacingUnits) -> LongTermUpdate {
        if self.bw > 0 && self.agrees(bw, mss, units) {
            self.bw = self.bw.midpoint(bw);
            self.in_use = true;
            self.rounds = 0;
            return LongTermUpdate::Policed;
        }
        self.bw = bw;
        self.begin_interval(now);
        LongTermUpdate::None
    }

    fn agrees(&self, bw: u32, mss: u32, units: PacingUnits) -> bool {
        let difference = bw.abs_diff(self.bw);
        u64::from(difference) << GAIN_SCALE <= RATIO * u64::from(self.bw)
            || rate_bytes(difference, UNIT, mss, units) <= DIFFERENCE
    }
}
