//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): it grows more slowly than Reno, reduces in
//! proportion to its window, and slows down periodically to measure the path without its own queue.

use narrows_base::registry::{Info, Parameter, Role};
use narrows_base::{Duration, Time};

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::delays::{BASE_HISTORY, CURRENT_FILTER, Delays};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, UndoEvent};
use crate::ledbat::{MIN_CWND, change, target, target_us};
use crate::samples::{Congestion, Unused};
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static LEDBAT_PP: Entry = Entry {
    info: Info {
        name: "ledbat_pp",
        title: "LEDBAT++",
        family: "delay",
        summary: "LEDBAT++: LEDBAT with a shorter target, gentler growth and periodic slowdowns",
        source: "draft-irtf-iccrg-ledbat-plus-plus",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            target(60, "queueing delay to keep"),
            Parameter::flag("slowdown", true, "periodic slowdowns, for a tenth of the time"),
            BASE_HISTORY,
            CURRENT_FILTER,
        ],
    },
    build: |config| Box::new(LedbatPp::new(&config)),
};

/// The largest divisor of Reno's growth.
const MAX_DIVISOR: f64 = 16.0;
/// Weight of the excess delay in the decrease (`Constant`).
const DECREASE: f64 = 1.0;
/// Part of the target at which the first slow start ends.
const EXIT: f64 = 0.75;
/// Round trips that a slowdown lasts, and from slow start to the first one.
const ROUNDS: u64 = 2;
/// From a slowdown's end to the next, as a multiple of its length.
const PAUSE: u64 = 9;

/// Its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first slow start: growing until the delay rises.
    First,
    /// Keeping the delay at the target.
    Steady,
    /// Holding two packets until this time.
    Slow { until: Time },
    /// Growing back to the window before a slowdown or a timeout.
    Ramp,
}

/// LEDBAT++.
#[derive(Clone, Debug)]
struct LedbatPp {
    window: LossWindow,
    /// Part of a packet beyond the window.
    fraction: f64,
    target_us: f64,
    may_slow: bool,
    delays: Delays,
    phase: Phase,
    srtt: Duration,
    /// When the last slowdown began, and when the next will.
    slowed: Time,
    next: Option<Time>,
}

impl LedbatPp {
    fn new(config: &CcConfig) -> Self {
        Self {
            window: LossWindow::new(config.initial_cwnd),
            fraction: 0.0,
            target_us: target_us(config.options),
            may_slow: config.options.flag("slowdown"),
            delays: Delays::new(config.options),
            phase: Phase::First,
            srtt: config.initial_rtt.unwrap_or(Duration::from_millis(1)),
            slowed: Time::ZERO,
            next: None,
        }
    }

    /// Part of Reno's growth (`GAIN`): 1 / min(16, ceil(2 * TARGET / base)).
    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    fn gain(&self) -> f64 {
        let base = self.delays.base().map_or(1.0, |us| us.max(1) as f64);
        1.0 / (2.0 * self.target_us / base).ceil().clamp(1.0, MAX_DIVISOR)
    }

    /// Begins to keep the delay, and plans the next slowdown.
    fn settle(&mut self, now: Time) {
        let pause = match self.phase {
            Phase::First => self.srtt * ROUNDS,
            _ => now.saturating_since(self.slowed) * PAUSE,
        };
        self.next = self.may_slow.then(|| now + pause);
        self.phase = Phase::Steady;
    }

    /// Begins and ends slowdowns.
    fn keep_schedule(&mut self, now: Time) {
        match self.phase {
            Phase::Steady if self.next.is_some_and(|next| now >= next) => {
                self.window.ssthresh = self.window.cwnd.max(MIN_CWND);
                self.window.cwnd = MIN_CWND;
                self.fraction = 0.0;
                (self.slowed, self.next) = (now, None);
                self.phase = Phase::Slow { until: now + self.srtt * ROUNDS };
            }
            Phase::Slow { until } if now >= until => self.phase = Phase::Ramp,
            _ => {}
        }
    }

    /// Slow start with the gain, and its end.
    fn ramp(&mut self, sample: &AckSample, queueing: f64) {
        if self.phase == Phase::First && queueing > EXIT * self.target_us {
            self.window.ssthresh = self.window.cwnd;
            return self.settle(sample.now);
        }
        if sample.cwnd_limited {
            self.change(self.gain() * f64::from(sample.acked));
        }
        if self.window.cwnd >= self.window.ssthresh {
            self.window.cwnd = self.window.ssthresh;
            self.settle(sample.now);
        }
    }

    /// Applies one ACK's part of a round trip's change.
    fn steer(&mut self, sample: &AckSample, queueing: f64) {
        let cwnd = f64::from(self.window.cwnd);
        let over = queueing / self.target_us - 1.0;
        let per_round = if over <= 0.0 {
            self.gain()
        } else {
            (self.gain() - DECREASE * cwnd * over).max(-cwnd / 2.0)
        };
        if per_round < 0.0 || sample.cwnd_limited {
            self.change(per_round * f64::from(sample.acked) / cwnd);
        }
    }

    fn change(&mut self, packets: f64) {
        change(&mut self.window, &mut self.fraction, packets);
    }
}

impl CongestionControl for LedbatPp {
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        if let Some(rtt) = sample.rtt {
            self.delays.take(sample.now, rtt);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.srtt.is_zero() {
            self.srtt = sample.srtt;
        }
        self.keep_schedule(sample.now);
        let Some(queueing) = self.delays.queueing().filter(|_| sample.may_grow) else { return };
        match self.phase {
            Phase::First | Phase::Ramp => self.ramp(sample, queueing),
            Phase::Steady => self.steer(sample, queueing),
            Phase::Slow { .. } => {}
        }
    }

    /// Halves on loss, which ends slow start; the sender reports loss once a round trip.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.fraction = 0.0;
        self.window.on_congestion(event, |cwnd| (cwnd >> 1).max(MIN_CWND));
        if matches!(event.kind, Congestion::Timeout { .. }) {
            (self.phase, self.slowed, self.next) = (Phase::Ramp, event.now, None);
        } else if self.phase != Phase::Steady {
            self.settle(event.now);
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.window.on_undo(event);
    }

    fn on_unused(&mut self, unused: Unused) {
        self.window.on_unused(unused);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("gain", self.gain());
        if let Some(us) = self.delays.queueing() {
            visit("queueing_ms", us / 1_000.0);
        }
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::First => "slow_start",
            Phase::Steady => "steady",
            Phase::Slow { .. } => "slowdown",
            Phase::Ramp => "ramp",
        }
    }
}
