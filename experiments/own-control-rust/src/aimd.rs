//! Additive increase, multiplicative decrease (Chiu and Jain, 1989).

use narrows_cc::{
    AckSample, CcConfig, Congestion, CongestionControl, CongestionEvent, Control, UndoEvent,
};

/// A packet more in every round trip; half of the window less after a loss.
pub struct Aimd {
    cwnd: f64,
    ssthresh: u32,
}

impl Aimd {
    pub fn new(config: &CcConfig) -> Self {
        Self { cwnd: f64::from(config.initial_cwnd), ssthresh: narrows_cc::INFINITE_SSTHRESH }
    }
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.may_grow && sample.cwnd_limited {
            self.cwnd += f64::from(sample.acked) / self.cwnd;
        }
    }

    /// PRR moves the window to the one that is set here.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.cwnd = match event.kind {
            Congestion::Timeout { .. } => 1.0,
            _ => (f64::from(event.cwnd) / 2.0).max(2.0),
        };
        self.ssthresh = self.cwnd as u32;
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(f64::from(event.cwnd));
    }

    fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd as u32,
            ssthresh: self.ssthresh,
            pacing_rate: None,
            app_limited: false,
        }
    }
}
