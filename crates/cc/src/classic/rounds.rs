//! Round trips and their RTTs, as measured by Vegas and the controls based on it.

use narrows_base::Duration;

use super::SenderState;
use crate::progress::Mark;

/// The current round trip, and the RTTs seen in it and ever, in us.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// The round ends when more than this is acknowledged (`beg_snd_nxt`).
    end: Mark,
    /// RTT samples of the round (`cntRTT`), which wrap as Linux's do.
    pub(super) samples: u16,
    lowest: u64,
    base: u64,
}

/// No RTT yet (as in `vegas_enable`).
const UNKNOWN_US: u64 = 0x7fff_ffff;

impl Rounds {
    /// Before the first round.
    pub(super) const fn new() -> Self {
        Self { end: Mark::START, samples: 0, lowest: UNKNOWN_US, base: UNKNOWN_US }
    }

    /// Takes a sample plus one, so that it is never zero (`tcp_vegas_pkts_acked`).
    pub(super) fn take(&mut self, rtt: Duration) {
        let us = rtt.as_micros() + 1;
        self.lowest = self.lowest.min(us);
        self.base = self.base.min(us);
        self.samples = self.samples.wrapping_add(1);
    }

    /// Returns `true` if the current ACK ends the round.
    pub(super) const fn is_over(&self, moment: &SenderState) -> bool {
        moment.progress.has_passed(self.end)
    }

    /// Begins the next round.
    pub(super) const fn begin(&mut self, moment: &SenderState) {
        self.end = moment.progress.mark();
        self.samples = 0;
        self.forget_lowest();
    }

    /// Forgets the round's lowest RTT alone.
    pub(super) const fn forget_lowest(&mut self) {
        self.lowest = UNKNOWN_US;
    }

    /// Forgets the path's RTT, since the path may have changed.
    pub(super) const fn forget_base(&mut self) {
        self.base = UNKNOWN_US;
    }

    /// The round's lowest RTT, in us.
    pub(super) const fn lowest_us(&self) -> u64 {
        self.lowest
    }

    /// The lowest RTT ever, in us.
    pub(super) const fn base_us(&self) -> u64 {
        self.base
    }
}
