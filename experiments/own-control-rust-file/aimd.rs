//! Additive increase, multiplicative decrease (Chiu and Jain, 1989), as Linux's Reno counts it.

use narrows_control::*;

/// A packet more in every round trip; a part of the window less after a loss.
struct Aimd {
    cwnd: u32,
    ssthresh: u32,
    /// Packets acknowledged towards the next one.
    credit: u32,
    decrease: f64,
}

impl CongestionControl for Aimd {
    const OPTIONS: &'static [(&'static str, f64)] = &[("decrease", 0.5)];

    fn new(connection: &Connection) -> Self {
        let decrease = connection.option("decrease");
        Self { cwnd: connection.initial_cwnd, ssthresh: INFINITE_SSTHRESH, credit: 0, decrease }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.may_grow || !sample.cwnd_limited {
            return;
        }
        let mut left = sample.acked;
        if self.cwnd < self.ssthresh {
            let grown = (self.cwnd + left).min(self.ssthresh);
            left -= grown - self.cwnd;
            self.cwnd = grown;
        }
        self.credit += left;
        if left > 0 && self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd += 1;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.kind != Congestion::RepeatedTimeout {
            let left = f64::from(event.cwnd) * (1.0 - self.decrease);
            self.ssthresh = (left as u32).max(2);
        }
        self.credit = 0;
        self.cwnd = match event.kind {
            Congestion::Timeout | Congestion::RepeatedTimeout => event.in_flight + 1,
            _ => self.ssthresh,
        };
    }

    fn control(&self) -> Control {
        Control::window(self.cwnd).with_ssthresh(self.ssthresh)
    }

    fn state(&self) -> &'static str {
        if self.cwnd < self.ssthresh { "slow_start" } else { "congestion_avoidance" }
    }
}

narrows_control::export!(Aimd);
