//! CUBIC as in RFC 9438: real-valued, and following the RFC where Linux differs.
//!
//! The differences are: the Reno emulation grows by a whole packet a round trip once it
//! has passed the old maximum (section 4.3), the target is a smoothed RTT ahead
//! (4.2), and an undo restores the whole curve (4.9).

use narrows_base::{Duration, Time};

use super::root::real_cube_root;

/// C in packets per second cubed (section 5).
const C: f64 = 0.4;

#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Time to the plateau in seconds.
    k: f64,
    w_est: f64,
}

/// The real-valued curve.
#[derive(Clone, Debug)]
pub(super) struct Rfc9438 {
    beta: f64,
    fast_convergence: bool,
    friendly: bool,
    w_max: f64,
    /// The window before the last reduction, where Reno's emulation speeds up.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// Earned parts of a packet.
    credit: f64,
    saved: Option<Box<Self>>,
}

impl Rfc9438 {
    pub(super) const fn new(beta: f64, fast_convergence: bool, friendly: bool) -> Self {
        Self {
            beta,
            fast_convergence,
            friendly,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            credit: 0.0,
            saved: None,
        }
    }

    /// When the epoch began.
    pub(super) fn epoch(&self) -> Option<Time> {
        self.epoch.map(|epoch| epoch.start)
    }

    /// Ends the epoch at a window of `cwnd`; returns the new threshold (sections
    /// 4.6 and 4.7).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that becomes a whole number saturates"
    )]
    pub(super) fn end_epoch(&mut self, cwnd: u32) -> u32 {
        self.saved = None;
        self.saved = Some(Box::new(self.clone()));
        let window = f64::from(cwnd);
        let yields = self.fast_convergence && window < self.w_max;
        self.w_max = if yields { window * (1.0 + self.beta) / 2.0 } else { window };
        self.cwnd_prior = window;
        self.epoch = None;
        self.credit = 0.0;
        ((window * self.beta) as u32).max(2)
    }

    /// After a timeout the curve starts from wherever slow start ends (section 4.8).
    pub(super) fn forget(&mut self) {
        self.w_max = 0.0;
        self.epoch = None;
    }

    /// Restores what the last reduction changed (section 4.9).
    pub(super) fn undo(&mut self) {
        if let Some(saved) = self.saved.take() {
            *self = *saved;
        }
    }

    /// The flow sends again after `pause`: it doesn't count as time of the epoch
    /// (section 4.2's last paragraph).
    pub(super) fn skip_pause(&mut self, now: Time, pause: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + pause).min(now);
        }
    }

    /// Takes `acked` packets; returns whole packets to grow by.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that becomes a whole number saturates"
    )]
    pub(super) fn growth(&mut self, now: Time, srtt: Duration, cwnd: u32, acked: u32) -> u32 {
        let window = f64::from(cwnd);
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now, window));
        epoch.w_est += self.alpha(epoch.w_est) * f64::from(acked) / window;
        self.epoch = Some(epoch);
        let elapsed = now.saturating_since(epoch.start).as_secs_f64();
        let step = if self.friendly && self.w_cubic(&epoch, elapsed) < epoch.w_est {
            epoch.w_est - (window + self.credit)
        } else {
            let ahead = self.w_cubic(&epoch, elapsed + srtt.as_secs_f64());
            let target = ahead.clamp(window, 1.5 * window);
            (target - window) / window * f64::from(acked)
        };
        self.credit += step.max(0.0);
        let whole = self.credit as u32;
        self.credit -= f64::from(whole);
        whole
    }

    fn begin_epoch(&mut self, now: Time, window: f64) -> Epoch {
        self.w_max = self.w_max.max(window);
        let k = real_cube_root((self.w_max - window) / C);
        Epoch { start: now, k, w_est: window }
    }

    /// `W_cubic(t) = C (t - K)^3 + W_max` (section 4.2, figure 1).
    fn w_cubic(&self, epoch: &Epoch, elapsed: f64) -> f64 {
        let offset = elapsed - epoch.k;
        C * offset * offset * offset + self.w_max
    }

    /// The additive increase of the emulated Reno flow (section 4.3).
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) }
    }

    /// Shows the internals to the recorder.
    pub(super) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_last_max", self.w_max);
        visit("k_s", self.epoch.map_or(0.0, |epoch| epoch.k));
        visit("reno_cwnd", self.epoch.map_or(0.0, |epoch| epoch.w_est));
    }
}
