//! The adaptive cap: the window's gain follows the path's response (proposed in
//! words by Claypool et al., AICT 2019, section IV-E1; the numbers are ours).

use crate::bbr::units::UNIT;
use crate::events::AckSample;
use crate::filter::WindowedMax;

/// Smallest and largest gain.
const LIMITS: (u32, u32) = (UNIT * 5 / 4, UNIT * 8);
/// The loss rate above which loss is high, in 1/256.
const HIGH_LOSS: u64 = 5;
/// Consecutive rounds after which high loss is persistent.
const PERSISTENT: u8 = 2;
/// Rounds over which the highest bandwidth is kept, the reference for throughput. They must outlast
/// a loss-based competitor's sawtooth.
const BW_ROUNDS: u32 = 64;

/// The measurements of one round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    lost: u64,
    delivered: u64,
    limited: bool,
    best_bw: u32,
    lowest_rtt_us: Option<u64>,
}

/// A gain that changes once a round.
#[derive(Clone, Debug)]
pub(super) struct AdaptiveCap {
    gain: u32,
    bandwidth: WindowedMax,
    rounds: u32,
    lossy_rounds: u8,
    round: Round,
}

impl AdaptiveCap {
    /// Begins at `gain`, in 1/256.
    pub(super) fn new(gain: u32) -> Self {
        Self {
            gain,
            bandwidth: WindowedMax::default(),
            rounds: 0,
            lossy_rounds: 0,
            round: Round::default(),
        }
    }

    /// The gain in 1/256.
    pub(super) const fn gain(&self) -> u32 {
        self.gain
    }

    /// Takes an ACK; `bw` is its bandwidth sample. If a round ends that counts, `round_end` is the
    /// lowest RTT in us.
    pub(super) fn update(&mut self, sample: &AckSample, bw: Option<u32>, round_end: Option<u32>) {
        if let Some(min_rtt_us) = round_end {
            self.end_round(u64::from(min_rtt_us));
        }
        let round = &mut self.round;
        round.lost += u64::from(sample.lost);
        round.delivered += u64::from(sample.acked);
        round.limited |= sample.cwnd_limited;
        round.best_bw = round.best_bw.max(bw.unwrap_or(0));
        let rtt_us = sample.rtt.map(|rtt| rtt.as_micros());
        round.lowest_rtt_us = [round.lowest_rtt_us, rtt_us].into_iter().flatten().min();
    }

    fn end_round(&mut self, min_rtt_us: u64) {
        let round = std::mem::take(&mut self.round);
        self.rounds += 1;
        self.bandwidth.update(BW_ROUNDS, self.rounds, round.best_bw);
        let high = round.lost * 256 > HIGH_LOSS * (round.lost + round.delivered);
        self.lossy_rounds = if high { self.lossy_rounds.saturating_add(1) } else { 0 };
        let starved =
            round.limited && u64::from(round.best_bw) * 16 < u64::from(self.bandwidth.get()) * 15;
        let queued = round.lowest_rtt_us.is_some_and(|rtt| rtt * 4 > min_rtt_us * 5);
        let gain = if self.lossy_rounds >= PERSISTENT {
            self.gain - self.gain / 16
        } else if starved {
            self.gain + self.gain / 32
        } else if queued {
            self.gain - self.gain / 64
        } else {
            self.gain
        };
        self.gain = gain.clamp(LIMITS.0, LIMITS.1);
    }
}
