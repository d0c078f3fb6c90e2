//! `SCReAM`, RFC 8298 section 4.1.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};
use narrows_spec::scenario::Media;

use crate::control::{Base, Control, Report, milliseconds};
use crate::number::real;

mod rates;

use rates::Rates;

// The constants of section 4.1.1.1; times in s, sizes in bytes.
const QDELAY_TARGET_LO: f64 = 0.1;
const QDELAY_TARGET_HI: f64 = 0.4;
const QDELAY_WEIGHT: f64 = 0.1;
const QDELAY_TREND_TH: f64 = 0.2;
const QDELAY_TREND_LO: f64 = 0.2;
const MIN_CWND: f64 = 3_000.0;
const MAX_BYTES_IN_FLIGHT_HEAD_ROOM: f64 = 1.1;
const GAIN: f64 = 1.0;
const BETA_LOSS: f64 = 0.8;
const BETA_ECN: f64 = 0.9;
const RATE_PACE_MIN: f64 = 50_000.0;
const T_RESUME_FAST_INCREASE: Duration = Duration::from_secs(5);
/// Section 4.1.2: the interval at which delay fractions are sampled, and the samples kept.
const SAMPLING: Duration = Duration::from_millis(50);
const FRACTIONS: usize = 20;
/// Section 4.1.2.2: the time over which the maximum of bytes in flight is taken.
const FLIGHT_WINDOW: Duration = Duration::from_secs(5);
/// Section 4.1.2.3: normalized delays of the variance and of the average (section 4.1.1.2 keeps 100).
const VARIANCE_OF: usize = 200;
const AVERAGE_OF: usize = 50;
const MOST_LOSS_EVENTS: f64 = 0.002;
const MOST_VARIANCE: f64 = 0.2;
/// The weight of a round trip in the rate of loss events, which the RFC leaves open.
const LOSS_EVENT_WEIGHT: f64 = 0.01;

/// The trend of the queuing delay (section 4.1.2, `update_variables`).
#[derive(Debug)]
struct Trend {
    fractions: VecDeque<f64>,
    average: f64,
    trend: f64,
    memory: f64,
    /// When the next sample is due.
    next: Time,
}

impl Trend {
    fn new(start: Time) -> Self {
        let fractions = VecDeque::from(vec![0.0; FRACTIONS]);
        Self { fractions, average: 0.0, trend: 0.0, memory: 0.0, next: start }
    }

    fn sample(&mut self, fraction: f64) {
        self.average = (1.0 - QDELAY_WEIGHT) * self.average + QDELAY_WEIGHT * fraction;
        self.fractions.pop_front();
        self.fractions.push_back(fraction);
        let mean = self.fractions.iter().sum::<f64>() / real(FRACTIONS as u64);
        let around: Vec<f64> = self.fractions.iter().map(|one| one - mean).collect();
        let product = |lag: usize| -> f64 {
            around.iter().zip(&around[lag..]).map(|(one, later)| one * later).sum()
        };
        let power = product(0);
        let coefficient = if power > 0.0 { product(1) / power } else { 0.0 };
        self.trend = (coefficient * self.average).clamp(0.0, 1.0);
        self.memory = (0.99 * self.memory).max(self.trend);
    }
}

/// The target of the queuing delay, which rises beside flows that fill the queue (section 4.1.2.3).
#[derive(Debug)]
struct Target {
    seconds: f64,
    /// The last normalized delays.
    delays: VecDeque<f64>,
    loss_events: f64,
}

impl Target {
    fn adjust(&mut self, delay_s: f64) {
        self.delays.push_back(delay_s / QDELAY_TARGET_LO);
        if self.delays.len() > VARIANCE_OF {
            self.delays.pop_front();
        }
        let mean = |last: usize| {
            let count = last.min(self.delays.len());
            self.delays.iter().rev().take(last).sum::<f64>() / real(count as u64)
        };
        let all = mean(VARIANCE_OF);
        let squares = self.delays.iter().map(|one| (one - all) * (one - all)).sum::<f64>();
        let variance = squares / real(self.delays.len() as u64);
        let new = (mean(AVERAGE_OF) + variance.sqrt()) * QDELAY_TARGET_LO;
        self.seconds = if self.loss_events > MOST_LOSS_EVENTS {
            1.5 * new
        } else if variance < MOST_VARIANCE {
            new
        } else if new < QDELAY_TARGET_LO {
            (self.seconds * 0.5).max(new)
        } else {
            self.seconds * 0.9
        };
        self.seconds = self.seconds.clamp(QDELAY_TARGET_LO, QDELAY_TARGET_HI);
    }
}

/// The state of the control.
pub(crate) struct Scream {
    mss: f64,
    window: f64,
    fast: bool,
    /// Since when the trend has been low.
    calm_since: Time,
    base: Base,
    /// The latest queuing delay in s.
    delay: f64,
    trend: Trend,
    target: Target,
    rates: Rates,
    /// The maximum of bytes in flight in each second (section 4.1.2.2).
    flights: VecDeque<(Time, f64)>,
    in_flight: u64,
    srtt: Duration,
    /// Until when further losses and marks belong to the last event (section 4.1.2.1).
    deaf_until: Time,
    /// When the rate of loss events was last updated.
    counted: Time,
    /// True if there was a loss event since.
    lost: bool,
}

impl Scream {
    pub(crate) fn new(media: &Media, start: Time) -> Self {
        let delays = VecDeque::with_capacity(VARIANCE_OF + 1);
        Self {
            mss: real(media.packet_bytes),
            window: MIN_CWND,
            fast: true,
            calm_since: start,
            base: Base::default(),
            delay: 0.0,
            trend: Trend::new(start),
            target: Target { seconds: QDELAY_TARGET_LO, delays, loss_events: 0.0 },
            rates: Rates::new(media, start),
            flights: VecDeque::new(),
            in_flight: 0,
            srtt: Duration::ZERO,
            deaf_until: start,
            counted: start,
            lost: false,
        }
    }

    /// Reacts to a loss or a mark, at most once in a round trip (sections 4.1.2.1 and 4.1.2.2).
    fn congestion(&mut self, lost: bool, now: Time) {
        self.deaf_until = now + self.srtt;
        self.fast = false;
        self.calm_since = now;
        self.lost |= lost;
        let scale = if lost { BETA_LOSS } else { BETA_ECN };
        self.window = MIN_CWND.max(self.window * scale);
        self.rates.congestion(lost);
    }

    /// The window after an acknowledgement (section 4.1.2.2, `update_cwnd`).
    fn update_window(&mut self, newly: f64) {
        let in_flight = real(self.in_flight);
        if self.fast {
            if self.trend.trend < QDELAY_TREND_TH {
                if in_flight * 1.5 + newly > self.window {
                    self.window += newly;
                }
                return;
            }
            self.fast = false;
        }
        let off_target = (self.target.seconds - self.delay) / self.target.seconds;
        let unused = in_flight * 1.25 + newly <= self.window;
        if !(off_target > 0.0 && unused) {
            self.window += GAIN * off_target * newly * self.mss / self.window;
        }
        let most = self.flights.iter().map(|&(_, bytes)| bytes).fold(0.0, f64::max);
        self.window = self.window.min(most * MAX_BYTES_IN_FLIGHT_HEAD_ROOM).max(MIN_CWND);
    }

    /// Section 4.1.2.7.
    fn resume_fast(&mut self, now: Time) {
        if self.trend.trend >= QDELAY_TREND_LO {
            self.calm_since = now;
        } else if now.saturating_since(self.calm_since) >= T_RESUME_FAST_INCREASE {
            self.fast = true;
        }
    }

    fn count_loss_events(&mut self, now: Time) {
        if now.saturating_since(self.counted) >= self.srtt {
            let event = if std::mem::take(&mut self.lost) { 1.0 } else { 0.0 };
            self.target.loss_events += LOSS_EVENT_WEIGHT * (event - self.target.loss_events);
            self.counted = now;
        }
    }
}

impl Control for Scream {
    fn report(&mut self, report: &Report, queued: u64) {
        let delay_ms = milliseconds(report.highest.0, report.highest.1);
        self.delay = self.base.excess(delay_ms, report.now) / 1e3;
        (self.srtt, self.in_flight) = (report.srtt, report.in_flight);
        self.rates.on_acked(report.newly_acked);
        let deaf = report.now < self.deaf_until;
        if !deaf && (report.has_losses() || report.has_marks()) {
            self.congestion(report.has_losses(), report.now);
            self.target.adjust(self.delay);
        } else {
            self.update_window(real(report.newly_acked));
            self.target.adjust(self.delay);
            self.resume_fast(report.now);
        }
        self.count_loss_events(report.now);
        self.pass(report.now, queued);
    }

    fn pass(&mut self, now: Time, queued: u64) {
        while self.trend.next <= now {
            self.trend.sample(self.delay / self.target.seconds);
            self.trend.next += SAMPLING;
        }
        self.rates.pass(now, queued, self.fast, (self.trend.trend, self.trend.memory));
    }

    fn on_encoded(&mut self, bytes: u64) {
        self.rates.on_encoded(bytes);
    }

    fn on_sent(&mut self, bytes: u64, in_flight: u64, now: Time) {
        self.rates.on_sent(bytes);
        self.in_flight = in_flight;
        let most = real(in_flight);
        match self.flights.back_mut() {
            Some((since, bytes)) if now < *since + Duration::from_secs(1) => {
                *bytes = bytes.max(most);
            }
            _ => self.flights.push_back((now, most)),
        }
        let old = |&(since, _): &(Time, f64)| since + FLIGHT_WINDOW < now;
        while self.flights.front().is_some_and(old) {
            self.flights.pop_front();
        }
    }

    fn media_bps(&self, _: u64) -> f64 {
        self.rates.target()
    }

    /// Section 4.1.2.6; before the first round trip, the target rate.
    fn pacing_bps(&self, _: u64) -> Option<f64> {
        let srtt = self.srtt.as_secs_f64();
        let rate = if srtt > 0.0 { self.window * 8.0 / srtt } else { self.rates.target() };
        Some(rate.max(RATE_PACE_MIN))
    }

    /// Section 4.1.2.5.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is bounded")]
    fn window(&self) -> Option<u64> {
        let slack = if self.delay <= self.target.seconds { self.mss } else { 0.0 };
        Some((self.window + slack).min(1e12) as u64)
    }

    fn allows_reordering(&self) -> bool {
        true
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window_bytes", self.window);
        visit("queue_delay_ms", self.delay * 1e3);
        visit("queue_delay_target_ms", self.target.seconds * 1e3);
        visit("queue_delay_trend", self.trend.trend);
        visit("fast_increase", if self.fast { 1.0 } else { 0.0 });
        visit("loss_event_rate", self.target.loss_events);
    }
}

#[cfg(test)]
mod tests;
