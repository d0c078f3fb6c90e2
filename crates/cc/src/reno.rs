//! Reno (RFC 5681) as Linux's fallback control does it, with early exits from slow
//! start on demand.

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::profile::HystartClock;
use crate::samples::{Congestion, Unused};
use crate::slow_start::hystart::HystartParameters;
use crate::slow_start::{self, Delay, Exit};
use crate::window::LossWindow;
use narrows_base::registry::{Info, Role};

/// The registry's entry.
pub(crate) static RENO: Entry = Entry {
    info: Info {
        name: "reno",
        title: "Reno",
        family: "loss",
        summary: "additive increase by a packet a round trip, halving on loss",
        source: "RFC 5681; Linux tcp_cong.c; RFC 9406; draft-chung-ccwg-search-09",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[slow_start::option("off")],
    },
    build: |config| Box::new(Reno::new(&config)),
};

/// Slow start, one packet a round trip after it, half the window on loss.
#[derive(Clone, Debug)]
struct Reno {
    window: LossWindow,
    exit: Exit,
    clock: HystartClock,
    /// Lowest delay in the clock's unit.
    delay_min: u64,
    started: bool,
}

impl Reno {
    fn new(config: &CcConfig) -> Self {
        Self {
            window: LossWindow::new(config.initial_cwnd),
            exit: Exit::new(HystartParameters::default(), config),
            clock: config.profile.cubic.clock,
            delay_min: u64::MAX,
            started: false,
        }
    }

    /// Looks for the end of slow start; Linux's Reno ends it only on loss.
    fn look_for_exit(&mut self, sample: &DeliveredSample) {
        self.exit.on_ack(sample);
        let Some(rtt) = sample.rtt else { return };
        let latest = self.clock.delay(rtt);
        self.delay_min = self.delay_min.min(latest);
        let cwnd = sample.prr_cwnd.unwrap_or(self.window.cwnd);
        let delay = Delay { latest, lowest: self.delay_min };
        if cwnd < self.window.ssthresh && self.exit.on_sample(sample, cwnd, delay) {
            self.window.ssthresh = cwnd;
            self.window.cwnd = cwnd;
        }
    }
}

impl CongestionControl for Reno {
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        if !matches!(self.exit, Exit::AtLoss) {
            self.look_for_exit(sample);
        }
    }

    /// `tcp_reno_cong_avoid`.
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.may_grow {
            let exit = &mut self.exit;
            self.window.grow_as_reno(sample, |acked| exit.growth(sample.now, acked));
        }
    }

    /// `tcp_reno_ssthresh`: half, at least 2 packets.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.window.on_congestion(event, |cwnd| (cwnd >> 1).max(2));
        self.exit.on_congestion();
        if matches!(event.kind, Congestion::Timeout { .. }) {
            self.delay_min = u64::MAX;
            self.exit.rearm(event);
        }
    }

    fn on_start(&mut self, event: &StartEvent) {
        if !self.started {
            self.started = true;
            self.exit.start(event.now);
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.window.on_undo(event);
    }

    fn on_threshold(&mut self, ssthresh: u32) {
        self.window.ssthresh = ssthresh;
    }

    fn on_unused(&mut self, unused: Unused) {
        self.window.on_unused(unused);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> &'static str {
        if self.exit.is_conservative() && self.window.in_slow_start() {
            "conservative_slow_start"
        } else {
            self.window.phase()
        }
    }
}
