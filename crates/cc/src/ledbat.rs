//! LEDBAT (RFC 6817): yields to others by keeping its own queueing delay at a target.
//!
//! The RFC measures one-way delay. A TCP sender has the RTT, so this variant takes the RTT above
//! its base for the queueing delay, as LEDBAT++ does; a queue on the reverse path counts too. As in
//! the RFC's pseudocode there is no slow start.

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::delays::{BASE_HISTORY, CURRENT_FILTER, Delays};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, UndoEvent};
use crate::samples::Unused;
use crate::window::LossWindow;
use narrows_base::registry::{FormerNumbers, Info, Parameter, ParameterDefault, Role, Values};

/// The option `target`: the queueing delay to keep, `ms` by default.
pub(crate) const fn target(ms: u64, what: &'static str) -> Parameter {
    Parameter::duration("target", ParameterDefault::ms(ms), what)
        .at_least(1_000_000)
        .at_most(1_000_000_000)
        .formerly("target_ms", FormerNumbers::Unit("ms"))
}

/// Returns the value of the option `target` in us.
#[expect(clippy::cast_precision_loss, reason = "at most a second in ns")]
pub(crate) fn target_us(options: &Values) -> f64 {
    options.duration("target").as_nanos() as f64 / 1_000.0
}

/// The registry's entry.
pub(crate) static LEDBAT: Entry = Entry {
    info: Info {
        name: "ledbat",
        title: "LEDBAT",
        family: "delay",
        summary: "background transfer: keeps a queueing delay and yields to everything above it",
        source: "RFC 6817, with the RTT for the one-way delay",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            target(100, "queueing delay to keep (the RFC allows up to 100 ms)"),
            Parameter::number(
                "gain",
                1.0,
                "packets per round trip that the window grows without a queue",
            )
            .between(0.01, 1.0),
            BASE_HISTORY,
            CURRENT_FILTER,
        ],
    },
    build: |config| Box::new(Ledbat::new(&config)),
};

/// The smallest window in packets (`MIN_CWND`); in LEDBAT++ also the window of a slowdown.
pub(crate) const MIN_CWND: u32 = 2;

/// Changes a window by `packets`; `fraction` carries the part that isn't a whole packet.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float that becomes a whole number saturates"
)]
pub(crate) fn change(window: &mut LossWindow, fraction: &mut f64, packets: f64) {
    let cwnd = f64::from(window.cwnd);
    // A single late ACK removes at most half of the window.
    let wanted = (cwnd + *fraction + packets).max(cwnd / 2.0).max(f64::from(MIN_CWND));
    window.cwnd = wanted as u32;
    *fraction = wanted - f64::from(window.cwnd);
}

/// LEDBAT.
#[derive(Clone, Debug)]
struct Ledbat {
    window: LossWindow,
    /// The part of a packet by which the exact window exceeds `window.cwnd`.
    fraction: f64,
    target_us: f64,
    gain: f64,
    delays: Delays,
}

impl Ledbat {
    fn new(config: &CcConfig) -> Self {
        let mut window = LossWindow::new(config.initial_cwnd);
        window.ssthresh = MIN_CWND;
        Self {
            window,
            fraction: 0.0,
            target_us: target_us(config.options),
            gain: config.options.number("gain"),
            delays: Delays::new(config.options),
        }
    }
}

impl CongestionControl for Ledbat {
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        if let Some(rtt) = sample.rtt {
            self.delays.take(sample.now, rtt);
        }
    }

    /// On each ACK, in proportion to the distance from the target.
    fn on_ack(&mut self, sample: &AckSample) {
        let Some(queueing) = self.delays.queueing().filter(|_| sample.may_grow) else { return };
        let off_target = (self.target_us - queueing) / self.target_us;
        if off_target > 0.0 && !sample.cwnd_limited {
            return;
        }
        let cwnd = f64::from(self.window.cwnd);
        let packets = self.gain * off_target * f64::from(sample.acked) / cwnd;
        change(&mut self.window, &mut self.fraction, packets);
    }

    /// Halves on loss; the sender reports loss once a round trip.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.fraction = 0.0;
        self.window.on_congestion(event, |cwnd| (cwnd >> 1).max(MIN_CWND));
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
        if let Some(us) = self.delays.queueing() {
            visit("queueing_ms", us / 1_000.0);
        }
    }
}
