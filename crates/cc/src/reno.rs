//! Reno (RFC 5681) as Linux's fallback control does it.

use crate::registry::{CcConfig, Info};
use crate::window::LossWindow;
use crate::{AckSample, CongestionControl, CongestionEvent, Control, UndoEvent, Unused};

/// The registry's entry.
pub(crate) const INFO: Info = Info {
    name: "reno",
    summary: "additive increase by a packet a round trip, halving on loss",
    source: "RFC 5681; Linux tcp_cong.c",
    options: &[],
    build: |config| Box::new(Reno::new(&config)),
};

/// Slow start, one packet a round trip after it, half the window on loss.
#[derive(Clone, Debug)]
struct Reno {
    window: LossWindow,
}

impl Reno {
    fn new(config: &CcConfig) -> Self {
        Self { window: LossWindow::new(config.initial_cwnd) }
    }
}

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        INFO.name
    }

    /// `tcp_reno_cong_avoid`.
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.may_grow {
            self.window.grow_as_reno(sample);
        }
    }

    /// `tcp_reno_ssthresh`: half, at least 2 packets.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.window.on_congestion(event, |cwnd| (cwnd >> 1).max(2));
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

    fn state(&self) -> &'static str {
        self.window.phase()
    }
}
