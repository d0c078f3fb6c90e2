//! HyStart: leaves slow start before the queue overflows (Ha and Rhee 2011, as in
//! Linux's `hystart_update`).

use crate::progress::{Mark, Progress};
use narrows_base::{Duration, Jiffies, Time};

use crate::events::DeliveredSample;
use crate::profile::{CubicProfile, HystartClock, RoundReset};

/// Delay samples before a round's lowest counts.
const MIN_SAMPLES: u8 = 8;
/// Bytes in the largest TSO burst (`sk_gso_max_size`).
const GSO_BYTES: u64 = 65_536;

impl HystartClock {
    /// An instant in this clock's unit.
    const fn at(self, now: Time) -> u64 {
        match self {
            Self::Milliseconds => now.as_micros() / 1_000,
            Self::Microseconds => now.as_micros(),
        }
    }

    /// A delay: microseconds, or eighths of a millisecond; at least 1.
    pub(crate) fn delay(self, rtt: Duration) -> u64 {
        let delay = match self {
            Self::Milliseconds => (rtt.as_micros() << 3) / 1_000,
            Self::Microseconds => rtt.as_micros(),
        };
        delay.max(1)
    }

    /// Half a delay, in the unit of instants.
    const fn half(self, delay: u64) -> u64 {
        match self {
            Self::Milliseconds => delay >> 4,
            Self::Microseconds => delay >> 1,
        }
    }

    /// All of a delay, in the unit of instants.
    const fn whole(self, delay: u64) -> u64 {
        match self {
            Self::Milliseconds => delay >> 3,
            Self::Microseconds => delay,
        }
    }

    /// How much the delay may rise: an eighth, from 4 to 16 ms.
    fn tolerance(self, delay_min: u64) -> u64 {
        let millisecond = match self {
            Self::Milliseconds => 8,
            Self::Microseconds => 1_000,
        };
        (delay_min >> 3).clamp(4 * millisecond, 16 * millisecond)
    }

    /// A delay in jiffies, rounded up.
    pub(crate) const fn jiffies(self, delay: u64, clock: Jiffies) -> u64 {
        match self {
            Self::Milliseconds => clock.ceil_millis(delay >> 3),
            Self::Microseconds => clock.ceil_micros(delay),
        }
    }

    /// A delay in milliseconds, for the recorder.
    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    pub(crate) fn millis(self, delay: u64) -> f64 {
        match self {
            Self::Milliseconds => delay as f64 / 8.0,
            Self::Microseconds => delay as f64 / 1_000.0,
        }
    }

    /// Microseconds in the unit of instants.
    const fn span(self, micros: u64) -> u64 {
        match self {
            Self::Milliseconds => micros / 1_000,
            Self::Microseconds => micros,
        }
    }
}

/// The parameters of the detectors, as Linux's module parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HystartParameters {
    /// Detect by a train of ACKs as long as the RTT.
    pub(crate) by_train: bool,
    /// Detect by a rise of the delay.
    pub(crate) by_delay: bool,
    /// Smallest window in packets (`hystart_low_window`).
    pub(crate) low_window: u32,
    /// Largest gap in a train in us (`hystart_ack_delta_us`).
    pub(crate) ack_delta_us: u32,
}

impl Default for HystartParameters {
    /// Linux's defaults.
    fn default() -> Self {
        Self { by_train: true, by_delay: true, low_window: 16, ack_delta_us: 2_000 }
    }
}

/// Both detectors and their current round.
#[derive(Clone, Debug)]
pub(crate) struct Hystart {
    parameters: HystartParameters,
    profile: CubicProfile,
    found: bool,
    round_start: u64,
    last_ack: u64,
    /// The round ends when something sent after this is acknowledged (`end_seq`).
    round_end: Mark,
    round_rtt: u64,
    samples: u8,
    /// How far the flow has come, from the RTT hook.
    progress: Progress,
}

impl Hystart {
    pub(crate) fn new(parameters: HystartParameters, profile: CubicProfile) -> Self {
        Self {
            parameters,
            profile,
            found: false,
            round_start: 0,
            last_ack: 0,
            round_end: Mark::START,
            round_rtt: u64::MAX,
            samples: 0,
            progress: Progress::default(),
        }
    }

    /// Restarts the detection after a timeout.
    pub(crate) fn rearm(&mut self, now: Time, sent: Mark) {
        self.found = false;
        self.begin_round(now, sent);
    }

    /// Begins a round that ends when everything sent so far is acknowledged
    /// (`bictcp_hystart_reset`).
    pub(crate) fn begin_round(&mut self, now: Time, sent: Mark) {
        self.round_start = self.profile.clock.at(now);
        self.last_ack = self.round_start;
        self.round_end = sent;
        self.round_rtt = u64::MAX;
        self.samples = 0;
    }

    /// Notes how far the flow has come; every ACK, before anything else.
    pub(crate) const fn on_ack(&mut self, sample: &DeliveredSample) {
        self.progress = sample.progress;
    }

    /// Takes a delay sample in slow start with a window of `cwnd`; returns whether
    /// slow start should end.
    pub(crate) fn on_sample(
        &mut self,
        sample: &DeliveredSample,
        cwnd: u32,
        delay: u64,
        delay_min: u64,
    ) -> bool {
        if self.found {
            return false;
        }
        if self.profile.round_reset == RoundReset::RttHook {
            self.end_round(sample.now);
        }
        if cwnd < self.parameters.low_window {
            return false;
        }
        if self.profile.round_reset == RoundReset::RttHookFromLowWindow {
            self.end_round(sample.now);
        }
        let train = self.parameters.by_train && self.is_train(sample, delay_min);
        let rise = self.parameters.by_delay && self.is_rise(delay, delay_min);
        self.found = train || rise;
        self.found
    }

    /// The growth hook in slow start, where older kernels end a round.
    pub(crate) fn on_growth(&mut self, now: Time) {
        if self.profile.round_reset == RoundReset::GrowthHook {
            self.end_round(now);
        }
    }

    fn end_round(&mut self, now: Time) {
        if self.progress.has_passed(self.round_end) {
            self.begin_round(now, self.progress.mark());
        }
    }

    /// Returns `true` if a train of closely spaced ACKs has lasted as long as the path's delay.
    fn is_train(&mut self, sample: &DeliveredSample, delay_min: u64) -> bool {
        let clock = self.profile.clock;
        let now = clock.at(sample.now);
        if now - self.last_ack > clock.span(u64::from(self.parameters.ack_delta_us)) {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > self.train_threshold(sample, delay_min)
    }

    fn train_threshold(&self, sample: &DeliveredSample, delay_min: u64) -> u64 {
        let profile = &self.profile;
        let aggregation = if profile.ack_delay { ack_delay(sample) } else { 0 };
        let length = delay_min + aggregation;
        // Pacing spreads a round over the RTT; unpaced bursts of slow start take half of it.
        if profile.pacing_aware && sample.paced {
            profile.clock.whole(length)
        } else {
            profile.clock.half(length)
        }
    }

    /// Returns `true` if the round's lowest delay is clearly above the lowest ever.
    fn is_rise(&mut self, delay: u64, delay_min: u64) -> bool {
        let sampling = self.samples < MIN_SAMPLES;
        if sampling || !self.profile.frozen_round_rtt {
            self.round_rtt = self.round_rtt.min(delay);
        }
        if sampling {
            self.samples += 1;
            return false;
        }
        self.round_rtt > delay_min + self.profile.clock.tolerance(delay_min)
    }

    /// Returns `true` once an exit was found.
    pub(crate) const fn has_exit(&self) -> bool {
        self.found
    }
}

/// Time in us that bursts of the sending host add (`hystart_ack_delay`).
fn ack_delay(sample: &DeliveredSample) -> u64 {
    match sample.pacing_rate.as_bytes_per_sec() {
        0 => 0,
        rate => (GSO_BYTES * 4 * 1_000_000 / rate).min(1_000),
    }
}
