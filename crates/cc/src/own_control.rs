//! Helpers of the adapters for controls written in other languages.

use std::ops::RangeInclusive;

use narrows_base::Duration;

use crate::events::AckSample;

/// The windows that a user's control may request, in packets.
pub const OWN_WINDOWS: RangeInclusive<f64> = 1.0..=1e7;
/// The pacing rates that a user's control may request, in payload bit/s.
pub const OWN_RATES: RangeInclusive<f64> = 8.0..=1e13;

/// Returns a duration, or `None` for a placeholder of an unmeasured one: zero or `Duration::MAX`.
#[must_use]
pub fn drop_placeholder(duration: Duration) -> Option<Duration> {
    (!duration.is_zero() && duration < Duration::MAX).then_some(duration)
}

/// Counts round trips by the packets delivered (as `bbr_update_bw` does).
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrips {
    /// The round ends when a packet is acknowledged that was sent after this many were delivered.
    end: u64,
}

impl RoundTrips {
    /// Returns whether this ACK ends a round, and so starts the next.
    pub fn start(&mut self, sample: &AckSample) -> bool {
        let started = sample.rate.is_some_and(|rate| rate.prior_delivered >= self.end);
        if started {
            self.end = sample.delivered;
        }
        started
    }
}
