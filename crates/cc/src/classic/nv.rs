//! New Vegas as in Linux (`tcp_nv.c`): it compares its window with what the measured rate needs at
//! the lowest RTT.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Jiffies, Stream};

use super::{Classic, Hooks, SenderState};
use crate::config::{CcConfig, Entry};
use crate::control::INFINITE_SSTHRESH;
use crate::events::{AckSample, DeliveredSample};
use crate::progress::{Mark, Progress};
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static NV: Entry = Entry {
    info: Info {
        name: "nv",
        title: "NV",
        family: "delay",
        summary: "the window that its highest rate needs at the lowest RTT, plus 10 packets; \
                  for data centers",
        source: "Brakmo, TCP-NV: Congestion Avoidance for Data Centers, 2010; Linux tcp_nv.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            Parameter::packets(
                "pad",
                ParameterDefault::Whole(10),
                "packets that may wait in the queue",
            )
            .at_least(2)
            .at_most(1_000_000),
            Parameter::duration(
                "reset_period",
                ParameterDefault::secs(5),
                "time after which the lowest RTT is forgotten, varied at random by a quarter",
            )
            .at_least(1_000_000_000)
            .at_most(3_600_000_000_000)
            .in_steps_of(1_000_000_000),
            Parameter::packets(
                "min_cwnd",
                ParameterDefault::Whole(2),
                "the smallest window without losses",
            )
            .positive()
            .at_most(1_000_000),
        ],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Nv::new(&config))),
};

/// The window isn't grown if fewer packets are missing in the queue (`nv_pad_buffer`).
const PAD_BUFFER: u64 = 2;
/// Part of the excess that congestion takes away, in 1/128 (`nv_cong_dec_mult`).
const CONGESTION_CUT: u64 = 30 * 128 / 100;
/// Part of the window that a loss leaves, in 1/1024 (`nv_loss_dec_factor`).
const LOSS_KEEPS: u64 = 819;
/// Decisions without congestion after which a slow growth is doubled (`nv_cwnd_growth_rate_neg`).
const CALM: u32 = 8;
/// Samples needed to shrink, to grow, and to leave slow start (`nv_*_eval_min_calls`).
const SAMPLES_TO_SHRINK: u8 = 60;
const SAMPLES_TO_GROW: u8 = 20;
const SAMPLES_TO_LEAVE: u8 = 30;
/// Round trips without a decision after which growth stops (`nv_stop_rtt_cnt`), and those before a
/// decision to shrink (`nv_rtt_min_cnt`).
const ROUNDS_TO_STOP: u8 = 10;
const ROUNDS_TO_SHRINK: u8 = 2;
/// Smallest windows that are judged: at first, its growth, and its bound.
const LEAST_JUDGED: u8 = 4;
const LEAST_JUDGED_STEP: u8 = 2;
const LEAST_JUDGED_BOUND: u8 = 81;
/// Bytes per us in the unit of rates, 100 bit/s.
const RATE_UNIT: u64 = 80_000;

#[derive(Clone, Debug)]
struct Nv {
    jiffies: Jiffies,
    mss: u64,
    pad: u64,
    reset_period_s: u64,
    min_cwnd: u32,
    random: Stream,
    /// When the lowest RTT is forgotten, in jiffies; `None` before the flow begins.
    reset_at: Option<u64>,
    /// The window grows by 2^n packets per round trip (`cwnd_growth_factor`).
    growth: i8,
    may_grow: bool,
    /// A loss was seen: the control starts over once it is out of recovery.
    resets: bool,
    /// Smallest window that is judged.
    least_judged: u8,
    samples: u8,
    rounds: u8,
    /// The averaged RTT, zero before the first, and the lowest ones of this and the next period, in
    /// us.
    rtt: u64,
    min_rtt: u64,
    next_min_rtt: u64,
    /// The highest rate of the round, in 100 bit/s.
    max_rate: u32,
    round_end: Mark,
    /// The progress at the last sample.
    last: Progress,
    calm: u32,
}

impl Nv {
    fn new(config: &CcConfig) -> Self {
        Self {
            jiffies: Jiffies::new(config.profile.hz),
            mss: u64::from(config.mss),
            pad: config.options.packets("pad"),
            reset_period_s: config.options.duration("reset_period").as_micros() / 1_000_000,
            min_cwnd: config.options.packets("min_cwnd"),
            random: config.random.clone(),
            reset_at: None,
            growth: 0,
            may_grow: true,
            resets: false,
            least_judged: LEAST_JUDGED,
            samples: 0,
            rounds: 0,
            rtt: 0,
            min_rtt: u64::from(u32::MAX),
            next_min_rtt: u64::from(u32::MAX),
            max_rate: 0,
            round_end: Mark::START,
            last: Progress::default(),
            calm: 0,
        }
    }

    /// Starts over after a loss (`tcpnv_reset`).
    const fn reset(&mut self, progress: Progress) {
        self.resets = false;
        self.calm = 0;
        self.rounds = 0;
        self.rtt = 0;
        self.max_rate = 0;
        self.round_end = progress.acked_mark();
        self.samples = 0;
        self.last = progress;
    }

    /// Averages the RTT, and keeps the round's highest rate.
    fn take(&mut self, rtt_us: u64, delivered: u64) {
        self.rtt = if self.rtt > 0 {
            (rtt_us * 128 + self.rtt * 128) >> 8
        } else {
            self.min_rtt = rtt_us << 1;
            rtt_us
        };
        let bytes = (self.mss * delivered) & u64::from(u32::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "Linux truncates as well")]
        let rate = (bytes * RATE_UNIT / self.rtt.max(1)) as u32;
        self.max_rate = self.max_rate.max(rate);
        self.samples = self.samples.saturating_add(1);
        self.min_rtt = self.min_rtt.min(self.rtt);
        self.next_min_rtt = self.next_min_rtt.min(self.rtt);
    }

    /// Forgets the lowest RTT of the last period.
    fn renew_min_rtt(&mut self, now: u64) {
        if self.reset_at.is_none_or(|at| now < at) {
            return;
        }
        self.min_rtt = std::mem::replace(&mut self.next_min_rtt, u64::from(u32::MAX));
        let varied = 384 + (self.random.next_u64() >> 56);
        self.reset_at =
            Some(now + ((self.reset_period_s * varied * self.jiffies.per_second()) >> 9));
        self.least_judged = (self.least_judged / 2).max(LEAST_JUDGED);
    }

    /// A round with a single sample: the window is too small to be judged.
    fn is_too_small(&mut self, acked: u64, progress: Progress) -> bool {
        let small = self.samples == 1
            && acked >= u64::from(self.least_judged - 1)
            && self.least_judged < LEAST_JUDGED_BOUND;
        if small {
            self.least_judged = (self.least_judged + LEAST_JUDGED_STEP).min(LEAST_JUDGED_BOUND);
            self.round_end = progress.mark().later(u64::from(self.least_judged));
            self.samples = 0;
            self.may_grow = true;
        }
        small
    }

    /// Compares the window with the one that the round's highest rate needs.
    fn judge(&mut self, window: &mut LossWindow) {
        let needed = u64::from(self.max_rate) * self.min_rtt / (RATE_UNIT * self.mss);
        let most = u32::try_from(needed + self.pad).unwrap_or(u32::MAX);
        let decided = if window.cwnd > most {
            self.shrink(window, most)
        } else {
            u64::from(window.cwnd) + PAD_BUFFER <= u64::from(most) && self.allow_growth()
        };
        if decided {
            (self.samples, self.rounds, self.max_rate) = (0, 0, 0);
            window.cwnd = window.cwnd.max(self.min_cwnd);
        }
    }

    /// Shrinks the window to `most` by and by, if there were enough samples.
    fn shrink(&mut self, window: &mut LossWindow, most: u32) -> bool {
        if self.rounds < ROUNDS_TO_SHRINK {
            return false;
        }
        if window.ssthresh == INFINITE_SSTHRESH {
            if self.samples < SAMPLES_TO_LEAVE {
                return false;
            }
        } else if self.samples < SAMPLES_TO_SHRINK {
            self.may_grow &= self.rounds <= ROUNDS_TO_STOP;
            return false;
        }
        self.may_grow = false;
        window.ssthresh = most;
        let excess = window.cwnd - most;
        window.cwnd -= if excess > 2 {
            let cut = (u64::from(excess) * CONGESTION_CUT) >> 7;
            u32::try_from(cut).expect("less than the excess").max(2)
        } else {
            excess
        };
        self.growth = self.growth.min(0);
        self.calm = 0;
        true
    }

    const fn allow_growth(&mut self) -> bool {
        if self.samples < SAMPLES_TO_GROW {
            return false;
        }
        self.may_grow = true;
        self.calm += 1;
        if self.growth < 0 && self.calm > CALM {
            self.growth += 1;
            self.calm = 0;
        }
        true
    }
}

impl Hooks for Nv {
    /// `tcpnv_acked`.
    fn on_delivered(
        &mut self,
        window: &mut LossWindow,
        state: RecoveryState,
        sample: &DeliveredSample,
    ) {
        let Some(rtt) = sample.rtt.filter(|_| state <= RecoveryState::Disorder) else { return };
        let acked = sample.progress.acked_since(self.last);
        self.last = sample.progress;
        let delivered = sample.delivered - sample.prior_delivered;
        if delivered == 0 {
            return;
        }
        self.take(rtt.as_micros(), delivered);
        self.renew_min_rtt(self.jiffies.at(sample.now));
        if !sample.progress.has_passed(self.round_end) {
            return;
        }
        self.round_end = sample.progress.mark();
        self.rounds = self.rounds.saturating_add(1);
        if !self.is_too_small(acked, sample.progress) {
            self.judge(window);
        }
    }

    /// `tcpnv_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if !self.may_grow {
            return;
        }
        if let Some(acked) = window.after_slow_start(sample, |acked| acked) {
            let per = if self.growth < 0 {
                let per = u64::from(window.cwnd) << -self.growth;
                u32::try_from(per).unwrap_or(u32::MAX)
            } else {
                (window.cwnd >> self.growth).max(4)
            };
            window.additive_increase(per, acked);
        }
    }

    /// `tcpnv_recalc_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        let kept = (u64::from(cwnd) * LOSS_KEEPS) >> 10;
        u32::try_from(kept).expect("less than the window").max(2)
    }

    /// `tcpnv_state`.
    fn on_state(&mut self, state: RecoveryState, moment: &SenderState) {
        match state {
            RecoveryState::Open if self.resets => self.reset(moment.progress),
            RecoveryState::Open | RecoveryState::Disorder => {}
            _ => {
                self.resets = true;
                self.may_grow = false;
                if state == RecoveryState::Loss {
                    self.growth = (self.growth.min(0) - 1).max(-8);
                }
            }
        }
    }

    /// The flow begins (`tcpnv_init`).
    fn on_restart(&mut self, moment: &SenderState) {
        let first_period = 2 * self.jiffies.per_second();
        self.reset_at.get_or_insert(self.jiffies.at(moment.now) + first_period);
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("growth", f64::from(self.growth));
        visit("min_rtt_ms", if self.rtt > 0 { self.min_rtt as f64 / 1e3 } else { 0.0 });
        visit("rate_mbps", f64::from(self.max_rate) * 1e-4);
    }
}
