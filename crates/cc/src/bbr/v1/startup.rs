//! A STARTUP that also ends on HyStart's signals, as CUBIC's slow start does
//! (Ha and Rhee 2011).

use narrows_base::Time;

use crate::events::DeliveredSample;
use crate::profile::{CubicProfile, HystartClock};
use crate::progress::Mark;
use crate::slow_start::hystart::{Hystart, HystartParameters};

/// The detectors, and the lowest delay that they compare with.
#[derive(Clone, Debug)]
pub(super) struct EarlyExit {
    hystart: Hystart,
    clock: HystartClock,
    delay_min: Option<u64>,
}

impl EarlyExit {
    /// The detectors of a kernel.
    pub(super) fn new(profile: CubicProfile) -> Self {
        Self {
            hystart: Hystart::new(HystartParameters::default(), profile),
            clock: profile.clock,
            delay_min: None,
        }
    }

    /// The flow's first packet leaves.
    pub(super) fn start(&mut self, now: Time) {
        self.hystart.begin_round(now, Mark::START);
    }

    /// Takes an RTT sample; returns whether STARTUP should end.
    pub(super) fn update(&mut self, sample: &DeliveredSample, cwnd: u32) -> bool {
        self.hystart.on_ack(sample);
        let Some(rtt) = sample.rtt else { return false };
        let delay = self.clock.delay(rtt);
        let delay_min = self.delay_min.map_or(delay, |lowest| lowest.min(delay));
        self.delay_min = Some(delay_min);
        let found = self.hystart.on_sample(sample, cwnd, delay, delay_min);
        self.hystart.on_growth(sample.now);
        found
    }
}
