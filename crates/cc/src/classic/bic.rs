//! BIC as in Linux (`tcp_bic.c`): it searches for the window of the last loss.

use narrows_base::Jiffies;
use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};

use super::{Classic, Hooks, SenderState, half};
use crate::config::{CcConfig, Entry};
use crate::events::{AckSample, DeliveredSample};
use crate::samples::RecoveryState;
use crate::window::LossWindow;

const fn packets(name: &'static str, default: u64, what: &'static str) -> Parameter {
    Parameter::packets(name, ParameterDefault::Whole(default), what).at_least(1).at_most(1_000_000)
}

/// The registry's entry.
pub(crate) static BIC: Entry = Entry {
    info: Info {
        name: "bic",
        title: "BIC",
        family: "loss",
        summary: "a binary search for the window of the last loss, then beyond it",
        source: "Xu, Harfoush and Rhee, INFOCOM 2004; Linux tcp_bic.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            Parameter::flag(
                "fast_convergence",
                true,
                "whether a flow that lost below its last window leaves room for others",
            ),
            packets("max_increment", 16, "the window grows by at most this in a round trip"),
            packets("low_window", 14, "up to this window it behaves as Reno does"),
            Parameter::whole(
                "beta",
                ParameterDefault::Whole(819),
                "part of the window kept on loss, in 1/1024",
            )
            .at_least(1)
            .at_most(1_024),
            Parameter::whole(
                "smooth_part",
                ParameterDefault::Whole(20),
                "round trips that the last packets of the search take",
            )
            .at_least(1)
            .at_most(1_000),
        ],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Bic::new(&config))),
};

/// The scale of `beta` (`BICTCP_BETA_SCALE`).
const SCALE: u64 = 1_024;
/// The search advances by this part of the remaining distance (`BICTCP_B`).
const PART: u32 = 4;
/// The growth per round trip before the first loss: 5 % (`bictcp_update`).
const FIRST_COUNT: u32 = 20;
/// Packets per ACK are kept in 1/16 (`ACK_RATIO_SHIFT`).
const RATIO_SHIFT: u32 = 4;

#[derive(Clone, Debug)]
struct Bic {
    fast_convergence: bool,
    max_increment: u32,
    low_window: u32,
    beta: u64,
    smooth_part: u32,
    /// Acknowledged packets that let the window grow by one (`cnt`).
    count: u32,
    /// The window at the last loss, or a lower target (`last_max_cwnd`).
    target: u32,
    /// The window, and the time of the last update in jiffies (`last_cwnd`, `last_time`).
    looked_at: (u32, u64),
    /// Packets per ACK (`delayed_ack`).
    ratio: u32,
    jiffies: Jiffies,
}

impl Bic {
    fn new(config: &CcConfig) -> Self {
        let options = config.options;
        Self {
            fast_convergence: options.flag("fast_convergence"),
            max_increment: options.packets("max_increment"),
            low_window: options.packets("low_window"),
            beta: options.whole("beta"),
            smooth_part: options.whole("smooth_part"),
            count: 0,
            target: 0,
            looked_at: (0, 0),
            ratio: 2 << RATIO_SHIFT,
            jiffies: Jiffies::new(config.profile.hz),
        }
    }

    /// `bictcp_update`.
    fn update(&mut self, cwnd: u32, now: u64) {
        let (seen, at) = self.looked_at;
        if seen == cwnd && now - at <= self.jiffies.per_second() / 32 {
            return;
        }
        self.looked_at = (cwnd, now);
        if cwnd <= self.low_window {
            self.count = cwnd;
            return;
        }
        let mut count = self.acks_per_packet(cwnd);
        if self.target == 0 {
            count = count.min(FIRST_COUNT);
        }
        self.count = ((count << RATIO_SHIFT) / self.ratio).max(1);
    }

    /// How many acknowledged packets let the window grow by one, by its distance from the target.
    fn acks_per_packet(&self, cwnd: u32) -> u32 {
        let smooth = u64::from(cwnd) * u64::from(self.smooth_part) / u64::from(PART);
        let smooth = u32::try_from(smooth).unwrap_or(u32::MAX >> RATIO_SHIFT);
        if cwnd < self.target {
            match (self.target - cwnd) / PART {
                step if step > self.max_increment => cwnd / self.max_increment,
                0 | 1 => smooth,
                step => cwnd / step,
            }
        } else {
            match cwnd - self.target {
                beyond if beyond < PART => smooth,
                beyond if beyond < self.max_increment * (PART - 1) => cwnd * (PART - 1) / beyond,
                _ => cwnd / self.max_increment,
            }
        }
    }

    /// `bictcp_reset`.
    fn reset(&mut self) {
        (self.count, self.target, self.looked_at) = (0, 0, (0, 0));
        self.ratio = 2 << RATIO_SHIFT;
    }
}

impl Hooks for Bic {
    /// `bictcp_acked`.
    fn on_delivered(&mut self, _: &mut LossWindow, state: RecoveryState, sample: &DeliveredSample) {
        if state == RecoveryState::Open {
            self.ratio = self.ratio + sample.acked - (self.ratio >> RATIO_SHIFT);
        }
    }

    /// `bictcp_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if let Some(acked) = window.after_slow_start(sample, |acked| acked) {
            self.update(window.cwnd, self.jiffies.at(sample.now));
            window.additive_increase(self.count, acked);
        }
    }

    /// `bictcp_recalc_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        let scaled = |by: u64, of: u64| u32::try_from(u64::from(cwnd) * by / of).expect("smaller");
        self.target = if cwnd < self.target && self.fast_convergence {
            scaled(SCALE + self.beta, 2 * SCALE)
        } else {
            cwnd
        };
        if cwnd <= self.low_window { half(cwnd) } else { scaled(self.beta, SCALE).max(2) }
    }

    /// `bictcp_state`.
    fn on_state(&mut self, state: RecoveryState, _: &SenderState) {
        if state == RecoveryState::Loss {
            self.reset();
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("target_cwnd", f64::from(self.target));
    }
}
