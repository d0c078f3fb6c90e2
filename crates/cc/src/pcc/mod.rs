//! PCC tries rates and keeps those with the greater utility.
//!
//! Both versions send at one rate for a monitor interval, observe the fate of its packets, and
//! compute a utility. They differ in the utility and in how they move: [`allegro`] in steps,
//! [`vivace`] up the gradient. While results are pending, packets leave at the rate in between.
//!
//! Here intervals begin with an ACK, and the window is twice what the rate needs, so that a path
//! that stops responding isn't flooded (the authors' sender has no window; their kernel module has
//! this one).

mod allegro;
mod monitor;
mod real;
mod vivace;

use narrows_base::{Duration, Rate, Stream, Time};

pub(crate) use self::allegro::PCC_ALLEGRO;
use self::monitor::{Monitor, Outcome};
pub use self::real::exponential;
pub(crate) use self::vivace::PCC_VIVACE;
use crate::config::CcConfig;
use crate::control::{CongestionControl, Control, INFINITE_SSTHRESH, Needs};
use crate::events::{AckSample, CongestionEvent, UndoEvent};

/// Fewest packets of an interval: with fewer a loss rate means nothing.
const MIN_PACKETS: u64 = 10;
/// Fewest packets sent in a round trip.
const MIN_CWND: f64 = 2.0;
/// Highest rate, in Mbit/s.
const MAX_MBPS: f64 = 1e6;

/// The rate of an interval in Mbit/s, and whether its results are wanted.
#[derive(Clone, Copy, Debug)]
struct Trial {
    mbps: f64,
    wanted: bool,
}

/// The decisions of a version of PCC.
trait Strategy: Send + 'static {
    /// How long the next interval lasts, in round trips.
    fn round_trips(&self, random: &mut Stream) -> f64;

    /// The next interval.
    fn next(&mut self, random: &mut Stream) -> Trial;

    /// Takes the results of a wanted interval, in the order of the trials.
    fn take(&mut self, outcome: &Outcome);

    /// The rate between the trials, in Mbit/s.
    fn mbps(&self) -> f64;

    /// Keeps the rate between two limits.
    fn clamp(&mut self, lowest: f64, highest: f64);

    /// The name of the phase.
    fn phase(&self) -> &'static str;

    /// The utility of the latest results.
    fn utility(&self) -> f64;
}

/// The part that both versions share.
struct Pcc<S> {
    strategy: S,
    monitor: Monitor,
    random: Stream,
    mss: u32,
    srtt: Duration,
    /// The rate of the current interval.
    mbps: f64,
    interval_ends: Option<Time>,
}

impl<S: Strategy> Pcc<S> {
    fn new(config: CcConfig, strategy: S) -> Self {
        let srtt = config.initial_rtt.unwrap_or(Duration::from_millis(100));
        let mbps = strategy.mbps();
        let (monitor, random) = (Monitor::default(), config.random);
        Self { strategy, monitor, random, mss: config.mss, srtt, mbps, interval_ends: None }
    }

    /// Ends the current interval and begins the next.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that becomes a whole number saturates"
    )]
    fn begin_interval(&mut self, sample: &AckSample) {
        let trial = self.strategy.next(&mut self.random);
        self.mbps = trial.mbps;
        self.monitor.begin(sample, trial.wanted);
        let length = self.srtt.as_secs_f64() * self.strategy.round_trips(&mut self.random);
        let nanos = (length * 1e9) as u64;
        self.interval_ends = Some(sample.now + Duration::from_nanos(nanos));
    }

    fn is_over(&self, sample: &AckSample) -> bool {
        let enough = self.monitor.progress(sample).is_none_or(|(_, sent)| sent >= MIN_PACKETS);
        enough && self.interval_ends.is_none_or(|end| end <= sample.now)
    }

    /// Packets in flight at a rate of `mbps`.
    fn packets(&self, mbps: f64) -> f64 {
        mbps * 1e6 * self.srtt.as_secs_f64() / (f64::from(self.mss) * 8.0)
    }
}

impl<S: Strategy> CongestionControl for Pcc<S> {
    fn needs(&self) -> Needs {
        Needs::OWN_RECOVERY
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.srtt.is_zero() {
            self.srtt = sample.srtt;
        }
        let mut decided = false;
        if let Some(outcome) = self.monitor.on_ack(sample) {
            self.strategy.take(&outcome);
            let packet = f64::from(self.mss) * 8e-6 / self.srtt.as_secs_f64();
            self.strategy.clamp((MIN_CWND * packet).min(MAX_MBPS), MAX_MBPS);
            decided = self.monitor.is_idle();
        }
        if decided || self.is_over(sample) {
            self.begin_interval(sample);
        }
    }

    /// Loss counts only in the utility.
    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    fn on_undo(&mut self, _event: &UndoEvent) {}

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that becomes a whole number saturates"
    )]
    fn control(&self) -> Control {
        let window = 2.0 * self.packets(self.mbps);
        Control {
            cwnd: window.clamp(2.0 * MIN_CWND, 1e7) as u32,
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: Some(Rate::from_bps(((self.mbps * 1e6) as u64).max(1))),
            app_limited: false,
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rate_mbps", self.strategy.mbps());
        visit("utility", self.strategy.utility());
    }

    fn state(&self) -> &'static str {
        self.strategy.phase()
    }
}

/// The rate that sends the initial window in a round trip, in Mbit/s.
fn initial_mbps(config: &CcConfig) -> f64 {
    let rtt = config.initial_rtt.unwrap_or(Duration::from_millis(100)).as_secs_f64().max(1e-6);
    let bits = f64::from(config.initial_cwnd) * f64::from(config.mss) * 8.0;
    (bits / rtt / 1e6).min(MAX_MBPS)
}
