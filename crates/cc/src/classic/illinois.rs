//! Illinois as in Linux (`tcp_illinois.c`): loss decides when, delay decides how much.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};

use super::{Classic, Hooks, SenderState};
use crate::config::{CcConfig, Entry};
use crate::events::{AckSample, DeliveredSample};
use crate::progress::Mark;
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static ILLINOIS: Entry = Entry {
    info: Info {
        name: "illinois",
        title: "Illinois",
        family: "loss",
        summary: "grows fast and gives up little while the queueing delay is low",
        source: "Liu, Başar and Srikant, VALUETOOLS 2006; Linux tcp_illinois.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            Parameter::packets(
                "win_thresh",
                ParameterDefault::Whole(15),
                "below this window it behaves as Reno does",
            )
            .at_most(1_000_000),
            Parameter::whole(
                "theta",
                ParameterDefault::Whole(5),
                "round trips of low delay after which it grows fastest again",
            )
            .at_most(255),
        ],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Illinois::new(&config))),
};

/// Packets a round trip that the window grows by: lowest, Reno's and highest, in 1/128.
const ALPHA: (u64, u64, u64) = (38, 128, 1_280);
/// The decrease on loss: minimum, and maximum, which is also Reno's, in 1/64.
const BETA: (u64, u64) = (8, 32);
/// The longest RTT that counts, in us (`RTT_MAX`).
const LONGEST_US: u64 = (u32::MAX / 1_280) as u64;
/// No RTT yet (`tcp_illinois_init`).
const UNKNOWN_US: u64 = 0x7fff_ffff;

#[derive(Clone, Debug)]
struct Illinois {
    threshold: u32,
    theta: u64,
    /// In 1/128 and 1/64.
    alpha: u64,
    beta: u64,
    /// The round ends when more than this is acknowledged (`end_seq`).
    round_end: Mark,
    sum_us: u64,
    samples: u64,
    lowest_us: u64,
    highest_us: u64,
    /// Packets that the latest ACK acknowledged.
    acked: u32,
    /// True if the delay has left its low range (`rtt_above`).
    was_high: bool,
    /// The round trips since it came back (`rtt_low`).
    low_rounds: u64,
}

impl Illinois {
    fn new(config: &CcConfig) -> Self {
        Self {
            threshold: config.options.packets("win_thresh"),
            theta: config.options.whole("theta"),
            alpha: ALPHA.2,
            beta: BETA.1,
            round_end: Mark::START,
            sum_us: 0,
            samples: 0,
            lowest_us: UNKNOWN_US,
            highest_us: 0,
            acked: 0,
            was_high: false,
            low_rounds: 0,
        }
    }

    /// `rtt_reset`.
    const fn begin_round(&mut self, moment: &SenderState) {
        self.round_end = moment.progress.mark();
        (self.samples, self.sum_us) = (0, 0);
    }

    /// `update_params`.
    fn update(&mut self, cwnd: u32, moment: &SenderState) {
        if cwnd < self.threshold {
            (self.alpha, self.beta) = (ALPHA.1, BETA.1);
        } else if let Some(mean_us) = self.sum_us.checked_div(self.samples) {
            let most = self.highest_us - self.lowest_us;
            let mean = mean_us - self.lowest_us;
            self.alpha = self.alpha_for(mean, most);
            self.beta = beta_for(mean, most);
        }
        self.begin_round(moment);
    }

    /// The growth at a mean queueing delay, of at most `most` us (`alpha`).
    fn alpha_for(&mut self, mean: u64, most: u64) -> u64 {
        let low = most / 100;
        if mean > low {
            self.was_high = true;
            let (mean, most) = (mean - low, most - low);
            return most * ALPHA.2 / (most + mean * (ALPHA.2 - ALPHA.0) / ALPHA.0);
        }
        if self.was_high {
            // A single round of low delay mustn't make the window jump.
            self.low_rounds += 1;
            if self.low_rounds < self.theta {
                return self.alpha;
            }
            (self.low_rounds, self.was_high) = (0, false);
        }
        ALPHA.2
    }
}

/// The decrease on loss at a mean queueing delay (`beta`).
const fn beta_for(mean: u64, most: u64) -> u64 {
    let (low, high) = (most / 10, 8 * most / 10);
    if mean <= low {
        return BETA.0;
    }
    if mean >= high || high <= low {
        return BETA.1;
    }
    // It is on the line from the minimum at the low delay to the maximum at the high one.
    (BETA.0 * high + (BETA.1 - BETA.0) * mean - BETA.1 * low) / (high - low)
}

impl Hooks for Illinois {
    /// `tcp_illinois_acked`.
    fn on_delivered(&mut self, _: &mut LossWindow, _: RecoveryState, sample: &DeliveredSample) {
        self.acked = sample.acked;
        let Some(rtt) = sample.rtt else { return };
        let us = rtt.as_micros().min(LONGEST_US);
        self.lowest_us = self.lowest_us.min(us);
        self.highest_us = self.highest_us.max(us);
        self.samples += 1;
        self.sum_us += us;
    }

    /// `tcp_illinois_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, moment: &SenderState) {
        if moment.progress.has_passed(self.round_end) {
            self.update(window.cwnd, moment);
        }
        if !window.is_past_slow_start(sample) {
            return;
        }
        window.credit += std::mem::replace(&mut self.acked, 1);
        let earned = (u64::from(window.credit) * self.alpha) >> 7;
        if earned >= u64::from(window.cwnd) {
            let steps = earned / u64::from(window.cwnd);
            window.cwnd = window.cwnd.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
            window.credit = 0;
        }
    }

    /// `tcp_illinois_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        let cut = (u64::from(cwnd) * self.beta) >> 6;
        (cwnd - u32::try_from(cut).expect("at most half the window")).max(2)
    }

    /// `tcp_illinois_state`.
    fn on_state(&mut self, state: RecoveryState, moment: &SenderState) {
        if state == RecoveryState::Loss {
            (self.alpha, self.beta) = (ALPHA.1, BETA.1);
            (self.low_rounds, self.was_high) = (0, false);
            self.begin_round(moment);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "both are at most 1,280")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha as f64 / ALPHA.1 as f64);
        visit("beta", self.beta as f64 / 64.0);
    }
}
