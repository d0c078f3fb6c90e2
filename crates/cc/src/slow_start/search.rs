//! SEARCH (draft-chung-ccwg-search-09): leaves slow start when the path delivers less than was sent
//! a round trip before.
//!
//! Time is cut into bins. A window of ten of them, 3.5 first round trips long, is
//! compared with the same window one round trip earlier: the data sent then should have arrived
//! now. The draft's optional reset after missed bins is included, but not its draining of the
//! window after the exit, which Firefox's neqo leaves out, too. Sent packets between two bins are
//! interpolated backwards: the draft's forward interpolation is a mistake, as neqo notes.

use crate::progress::Progress;
use narrows_base::{Duration, Time};

use crate::events::DeliveredSample;

/// Bins of a window (W).
const BINS: u64 = 10;
/// How many bins back the RTT may reach (`EXTRA_BINS`).
const EXTRA_BINS: u64 = 15;
/// The window as a multiple of the first RTT, in tenths (`WINDOW_SIZE_FACTOR`).
const WINDOW_TENTHS: u64 = 35;
/// Part of the sent data that may be missing, in percent (`THRESH`).
const THRESHOLD: u64 = 26;
const KEPT: usize = 26;

/// The bins since slow start began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// The flow's progress at the end of each bin.
    bins: [Progress; KEPT],
    current: u64,
    /// Length of a bin; `None` before the first sample.
    length: Option<Duration>,
    bin_ends: Time,
}

impl Search {
    /// Starts over with the next sample.
    pub(crate) fn reset(&mut self) {
        self.length = None;
    }

    /// Takes an ACK; returns whether slow start should end.
    pub(crate) fn on_sample(&mut self, sample: &DeliveredSample, rtt: Duration) -> bool {
        let Some(length) = self.length else {
            self.begin(sample, rtt);
            return false;
        };
        if sample.now <= self.bin_ends {
            return false;
        }
        if !self.update_bins(sample, length) {
            return false;
        }
        self.has_flattened(rtt, length)
    }

    fn begin(&mut self, sample: &DeliveredSample, rtt: Duration) {
        let nanos = rtt.as_nanos() * WINDOW_TENTHS / 10 / BINS;
        let length = Duration::from_nanos(nanos.max(1));
        self.length = Some(length);
        self.bin_ends = sample.now + length;
        self.current = 0;
        self.bins[0] = sample.progress;
    }

    /// Fills the bins that have passed; false if it starts over because too many were missed.
    fn update_bins(&mut self, sample: &DeliveredSample, length: Duration) -> bool {
        let late = sample.now.saturating_since(self.bin_ends).as_nanos();
        let passed = late / length.as_nanos() + 1;
        if passed > BINS {
            self.reset();
            return false;
        }
        let before = *self.bin(self.current);
        for missed in 1..passed {
            *self.bin(self.current + missed) = before;
        }
        self.current += passed;
        self.bin_ends += length * passed;
        *self.bin(self.current) = sample.progress;
        true
    }

    fn bin(&mut self, index: u64) -> &mut Progress {
        let kept = self.bins.len() as u64;
        let place = usize::try_from(index % kept).expect("a remainder fits");
        &mut self.bins[place]
    }

    /// Returns `true` if too little arrived of the data sent a round trip ago.
    fn has_flattened(&mut self, rtt: Duration, length: Duration) -> bool {
        let back = rtt.as_nanos() / length.as_nanos();
        if back >= EXTRA_BINS || self.current <= BINS + back {
            return false;
        }
        let then = self.current - back;
        let part = rtt.as_nanos() % length.as_nanos() * 100 / length.as_nanos();
        let before = *self.bin(self.current - BINS);
        let arrived = self.bin(self.current).acked_since(before);
        let sent =
            (self.packets_sent(then - 1) * part + self.packets_sent(then) * (100 - part)) / 100;
        sent > 0 && sent.saturating_sub(arrived) * 100 / sent >= THRESHOLD
    }

    /// Packets sent in the window that ends with a bin.
    fn packets_sent(&mut self, end: u64) -> u64 {
        let before = *self.bin(end - BINS);
        self.bin(end).sent_since(before)
    }
}
