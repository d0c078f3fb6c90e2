//! H-TCP as in Linux (`tcp_htcp.c`): the longer the last loss is ago, the faster it grows.

use narrows_base::Jiffies;
use narrows_base::registry::{Info, Parameter, Role};

use super::{Classic, Hooks, SenderState};
use crate::config::{CcConfig, Entry};
use crate::events::{AckSample, DeliveredSample};
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static HTCP: Entry = Entry {
    info: Info {
        name: "htcp",
        title: "H-TCP",
        family: "loss",
        summary: "grows faster the longer the last loss is ago, and falls by the RTT's range",
        source: "Leith and Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06; Linux tcp_htcp.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            Parameter::flag("use_rtt_scaling", true, "whether growth is scaled by the RTT"),
            Parameter::flag(
                "use_bandwidth_switch",
                true,
                "whether a change of the bandwidth by a fifth halves the window on loss",
            ),
        ],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Htcp::new(&config))),
};

/// 1 in the fixed point of `alpha` and `beta` (`ALPHA_BASE`).
const ONE: u32 = 1 << 7;
/// The part of the window kept on loss, at least and at most (`BETA_MIN`, `BETA_MAX`).
const KEPT: (u32, u32) = (1 << 6, 102);
/// An RTT below this may belong to a path without a queue, in ms (`htcp_beta_update`).
const SHORT_MS: u64 = 10;
/// The highest RTT may rise by at most this at once, in ms (`measure_rtt`).
const RISE_MS: u64 = 20;

/// The state that an undo restores.
#[derive(Clone, Copy, Debug)]
struct UndoState {
    lost_at: u64,
    highest_rtt: u64,
    old_highest: u64,
}

/// Times are in jiffies, bandwidths in packets per second.
#[derive(Clone, Debug)]
struct Htcp {
    scales_by_rtt: bool,
    switches: bool,
    jiffies: Jiffies,
    /// Packets a round trip that the window grows by, in 1/128.
    alpha: u32,
    /// The part of the window kept on loss, in 1/128.
    beta: u32,
    /// True if `beta` follows the RTT, which it does after a loss without a change of bandwidth.
    adapts: bool,
    /// Packets that the latest ACK acknowledged (`pkts_acked`).
    acked: u32,
    lowest_rtt: u64,
    highest_rtt: u64,
    /// When the last reduction ended (`last_cong`); `None` before the flow's first event.
    lost_at: Option<u64>,
    before: Option<UndoState>,
    bandwidth: u64,
    /// The highest bandwidth since the last loss and before it (`maxB`, `old_maxB`).
    highest: u64,
    old_highest: u64,
    /// Packets acknowledged since `counted_since`.
    counted: u64,
    counted_since: u64,
}

impl Htcp {
    fn new(config: &CcConfig) -> Self {
        Self {
            scales_by_rtt: config.options.flag("use_rtt_scaling"),
            switches: config.options.flag("use_bandwidth_switch"),
            jiffies: Jiffies::new(config.profile.hz),
            alpha: ONE,
            beta: KEPT.0,
            adapts: false,
            acked: 1,
            lowest_rtt: 0,
            highest_rtt: 0,
            lost_at: None,
            before: None,
            bandwidth: 0,
            highest: 0,
            old_highest: 0,
            counted: 0,
            counted_since: 0,
        }
    }

    /// `measure_rtt`.
    fn measure_rtt(&mut self, rtt: u64, state: RecoveryState) {
        if self.lowest_rtt > rtt || self.lowest_rtt == 0 {
            self.lowest_rtt = rtt;
        }
        if state == RecoveryState::Open {
            self.highest_rtt = self.highest_rtt.max(self.lowest_rtt);
            if rtt <= self.highest_rtt + self.jiffies.ceil_millis(RISE_MS) {
                self.highest_rtt = self.highest_rtt.max(rtt);
            }
        }
    }

    /// The rest of `measure_achieved_throughput`.
    fn measure_bandwidth(&mut self, cwnd: u32, acked: u32, now: u64) {
        self.counted += u64::from(acked);
        let window = u64::from(cwnd.wrapping_sub((self.alpha >> 7).max(1)));
        let span = now - self.counted_since;
        if self.counted < window || span < self.lowest_rtt || self.lowest_rtt == 0 {
            return;
        }
        let latest = self.counted * self.jiffies.per_second() / span;
        if self.since_loss(now) / self.lowest_rtt <= 3 {
            (self.highest, self.bandwidth) = (latest, latest);
        } else {
            self.bandwidth = (3 * self.bandwidth + latest) / 4;
            self.highest = self.highest.max(self.bandwidth);
        }
        (self.counted, self.counted_since) = (0, now);
    }

    /// `htcp_cong_time`.
    fn since_loss(&self, now: u64) -> u64 {
        now - self.lost_at.unwrap_or(now)
    }

    /// `htcp_beta_update`.
    fn update_beta(&mut self) {
        if self.switches {
            let old = std::mem::replace(&mut self.old_highest, self.highest);
            if !(4 * old..=6 * old).contains(&(5 * self.highest)) {
                self.beta = KEPT.0;
                self.adapts = false;
                return;
            }
        }
        if self.adapts
            && self.lowest_rtt > self.jiffies.ceil_millis(SHORT_MS)
            && self.highest_rtt > 0
        {
            let kept = (self.lowest_rtt << 7) / self.highest_rtt;
            self.beta = u32::try_from(kept).expect("at most 1").clamp(KEPT.0, KEPT.1);
        } else {
            self.beta = KEPT.0;
            self.adapts = true;
        }
    }

    /// `htcp_alpha_update`.
    fn update_alpha(&mut self, now: u64) {
        let hz = self.jiffies.per_second();
        let mut factor = 1;
        if let Some(late) = self.since_loss(now).checked_sub(hz).filter(|&late| late > 0) {
            factor = 1 + (10 * late + (late / 2) * (late / 2) / hz) / hz;
        }
        if self.scales_by_rtt && self.lowest_rtt > 0 {
            // The ratio to an RTT of 100 ms, in eighths, from 0.5 to 10.
            let scale = ((hz << 3) / (10 * self.lowest_rtt)).clamp(4, 80);
            factor = ((factor << 3) / scale).max(1);
        }
        let alpha = 2 * factor * u64::from(ONE - self.beta);
        self.alpha = u32::try_from(alpha).unwrap_or(u32::MAX);
    }
}

impl Hooks for Htcp {
    fn on_delivered(
        &mut self,
        window: &mut LossWindow,
        state: RecoveryState,
        sample: &DeliveredSample,
    ) {
        let now = self.jiffies.at(sample.now);
        if state == RecoveryState::Open {
            self.acked = sample.acked;
        }
        if let Some(rtt) = sample.rtt.filter(|rtt| !rtt.is_zero()) {
            self.measure_rtt(self.jiffies.ceil_micros(rtt.as_micros()), state);
        }
        if !self.switches {
            return;
        }
        if state <= RecoveryState::Disorder {
            self.measure_bandwidth(window.cwnd, sample.acked, now);
        } else {
            (self.counted, self.counted_since) = (0, now);
        }
    }

    /// `htcp_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if !window.is_past_slow_start(sample) {
            return;
        }
        let earned = (u64::from(window.credit) * u64::from(self.alpha)) >> 7;
        if earned >= u64::from(window.cwnd) {
            window.cwnd += 1;
            window.credit = 0;
            self.update_alpha(self.jiffies.at(sample.now));
        } else {
            window.credit += self.acked;
        }
        self.acked = 1;
    }

    /// `htcp_recalc_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, moment: &SenderState) -> u32 {
        let (lowest, highest) = (self.lowest_rtt, self.highest_rtt);
        self.update_beta();
        self.update_alpha(self.jiffies.at(moment.now));
        if lowest > 0 && highest > lowest {
            self.highest_rtt = lowest + (highest - lowest) * 95 / 100;
        }
        u32::try_from((u64::from(cwnd) * u64::from(self.beta)) >> 7).expect("smaller").max(2)
    }

    fn on_state(&mut self, state: RecoveryState, moment: &SenderState) {
        let now = self.jiffies.at(moment.now);
        match state {
            RecoveryState::Open => {
                if self.before.take().is_some() {
                    self.lost_at = Some(now);
                }
            }
            RecoveryState::Cwr | RecoveryState::Recovery | RecoveryState::Loss => {
                self.before = Some(UndoState {
                    lost_at: self.lost_at.unwrap_or(now),
                    highest_rtt: self.highest_rtt,
                    old_highest: self.old_highest,
                });
                self.lost_at = Some(now);
            }
            RecoveryState::Disorder => {}
        }
    }

    /// `htcp_cwnd_undo`.
    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.lost_at = Some(before.lost_at);
            self.highest_rtt = before.highest_rtt;
            self.old_highest = before.old_highest;
        }
    }

    /// The first time since the last loss counts from the start of the flow (`htcp_init`).
    fn on_restart(&mut self, moment: &SenderState) {
        let now = self.jiffies.at(moment.now);
        self.lost_at.get_or_insert(now);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", f64::from(self.alpha) / f64::from(ONE));
        visit("beta", f64::from(self.beta) / f64::from(ONE));
    }
}
