//! HyStart++ (RFC 9406): a slower slow start once the delay rises, and congestion avoidance only if
//! it stays high.

use crate::events::DeliveredSample;
use crate::progress::Mark;

/// Lowest and highest rise of the RTT that counts, in us (MIN/MAX_RTT_THRESH).
const RTT_THRESHOLD_US: (u64, u64) = (4_000, 16_000);
/// The rise as a part of the RTT (MIN_RTT_DIVISOR).
const RTT_DIVISOR: u64 = 8;
/// Samples that a round needs (N_RTT_SAMPLE).
const MIN_SAMPLES: u32 = 8;
/// How much slower conservative slow start grows (CSS_GROWTH_DIVISOR).
const CSS_GROWTH_DIVISOR: u32 = 4;
/// Rounds of conservative slow start (CSS_ROUNDS).
const CSS_ROUNDS: u32 = 5;
/// Most packets of growth an ACK may cause if the sender doesn't pace (L).
const UNPACED_LIMIT: u32 = 8;

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline_us: u64,
    rounds: u32,
    credit: u32,
}

/// The rounds of slow start and the current phase.
#[derive(Clone, Debug)]
pub(crate) struct HystartPlus {
    done: bool,
    window_end: Mark,
    last_round_us: Option<u64>,
    round_us: Option<u64>,
    samples: u32,
    conservative: Option<Conservative>,
    paced: bool,
}

impl HystartPlus {
    pub(crate) const fn new() -> Self {
        Self {
            done: false,
            window_end: Mark::START,
            last_round_us: None,
            round_us: None,
            samples: 0,
            conservative: None,
            paced: false,
        }
    }

    /// Takes an RTT sample in slow start; returns whether slow start is over
    /// (RFC 9406 section 4.2).
    pub(crate) fn on_sample(&mut self, sample: &DeliveredSample, rtt_us: u64) -> bool {
        self.paced = sample.paced;
        if self.done {
            return false;
        }
        // The round's last byte is the one before windowEnd.
        if sample.progress.has_passed(self.window_end) {
            self.end_round(sample.progress.mark());
        }
        self.round_us = Some(self.round_us.map_or(rtt_us, |lowest| lowest.min(rtt_us)));
        self.samples += 1;
        if !self.done && self.samples >= MIN_SAMPLES {
            self.judge();
        }
        self.done
    }

    fn end_round(&mut self, window_end: Mark) {
        self.window_end = window_end;
        self.last_round_us = self.round_us.take();
        self.samples = 0;
        if let Some(css) = &mut self.conservative {
            css.rounds += 1;
            self.done = css.rounds >= CSS_ROUNDS;
        }
    }

    /// Enters conservative slow start when the delay has risen, and leaves it when
    /// that proves spurious.
    fn judge(&mut self) {
        let Some(round_us) = self.round_us else { return };
        match (&self.conservative, self.last_round_us) {
            (Some(css), _) if round_us < css.baseline_us => self.conservative = None,
            (None, Some(last)) if round_us >= last + threshold(last) => {
                self.conservative =
                    Some(Conservative { baseline_us: round_us, rounds: 0, credit: 0 });
            }
            _ => {}
        }
    }

    /// How much of `acked` counts as growth in slow start.
    pub(crate) fn growth(&mut self, acked: u32) -> u32 {
        if self.done {
            return acked;
        }
        let allowed = if self.paced { acked } else { acked.min(UNPACED_LIMIT) };
        let Some(css) = &mut self.conservative else { return allowed };
        css.credit += allowed;
        let grown = css.credit / CSS_GROWTH_DIVISOR;
        css.credit %= CSS_GROWTH_DIVISOR;
        grown
    }

    /// Congestion ends the first slow start, and HyStart++ with it (section 4.3).
    pub(crate) const fn stop(&mut self) {
        self.done = true;
        self.conservative = None;
    }

    /// Returns `true` in conservative slow start.
    pub(crate) const fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }
}

fn threshold(last_us: u64) -> u64 {
    let (lowest, highest) = RTT_THRESHOLD_US;
    (last_us / RTT_DIVISOR).clamp(lowest, highest)
}
