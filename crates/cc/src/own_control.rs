//! Shared by the adapters of controls written in other languages.

use std::ops::RangeInclusive;

use narrows_base::Duration;

use crate::samples::AckSample;

/// The windows that such a control may request, in packets.
pub const OWN_WINDOWS: RangeInclusive<f64> = 1.0..=1e7;
/// The pacing rates that it may request, in payload bit/s.
pub const OWN_RATES: RangeInclusive<f64> = 8.0..=1e13;

/// A duration, unless it is the placeholder of one that wasn't measured yet: zero or endless.
#[must_use]
pub fn drop_placeholder(duration: Duration) -> Option<Duration> {
    (!duration.is_zero() && duration < Duration::MAX).then_some(duration)
}

/// Tells when a round trip has passed, by what was delivered (as `bbr_update_bw` does).
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrips {
    /// The round ends when a packet is acknowledged that was sent after this many were delivered.
    end: u64,
}

impl RoundTrips {
    /// Whether this ACK ends a round, and so starts the next.
    pub fn start(&mut self, sample: &AckSample) -> bool {
        let started = sample.rate.is_some_and(|rate| rate.prior_delivered >= self.end);
        if started {
            self.end = sample.delivered;
        }
        started
    }
}
