//! YeAH as in Linux (`tcp_yeah.c`): Scalable while its queue is short, Reno while it isn't.

use narrows_base::registry::{Info, Role};

use super::rounds::Rounds;
use super::scalable::ACKED_PER_STEP;
use super::{Classic, Hooks, SenderState, half};
use crate::config::Entry;
use crate::events::{AckSample, DeliveredSample};
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static YEAH: Entry = Entry {
    info: Info {
        name: "yeah",
        title: "YeAH",
        family: "loss",
        summary: "grows fast while its queue is short, otherwise as Reno, and drains it",
        source: "Baiocchi, Castellani and Vacirca, PFLDnet 2007; Linux tcp_yeah.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Yeah::new())),
};

/// RTT samples that a round needs: fewer may all be of delayed ACKs.
const ENOUGH_SAMPLES: u16 = 3;
/// Packets of its own in the queue above which it drains (`TCP_YEAH_ALPHA`).
const LONG_QUEUE: u64 = 80;
/// The RTT may exceed the minimum by this part of it (`TCP_YEAH_PHY`).
const DELAY_PART: u64 = 8;
/// A loss costs at least this power of one half (`TCP_YEAH_DELTA`).
const LOSS_SHIFT: u32 = 3;
/// Consecutive slow rounds after which a loss means competition (`TCP_YEAH_RHO`).
const COMPETITION: u32 = 16;
/// Fast rounds after which competition is forgotten (`TCP_YEAH_ZETA`).
const ALONE: u32 = 50;

#[derive(Clone, Debug)]
struct Yeah {
    rounds: Rounds,
    /// Packets of its own in the queue at the end of the last round (`lastQ`).
    queued: u32,
    /// Consecutive slow rounds; zero while it is fast (`doing_reno_now`).
    slow_rounds: u32,
    /// The minimum window that a Reno flow would have (`reno_count`).
    reno_window: u32,
    /// Fast rounds since the last loss (`fast_count`).
    fast_rounds: u32,
}

impl Yeah {
    const fn new() -> Self {
        Self { rounds: Rounds::new(), queued: 0, slow_rounds: 0, reno_window: 2, fast_rounds: 0 }
    }

    /// The end of a round with enough samples.
    fn judge(&mut self, window: &mut LossWindow) {
        let (base, latest) = (self.rounds.base_us(), self.rounds.lowest_us());
        let queue = u64::from(window.cwnd) * (latest - base) / latest;
        self.queued = u32::try_from(queue).expect("less than the window");
        if queue > LONG_QUEUE || latest - base > base / DELAY_PART {
            self.slow_down(window, queue);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > ALONE {
                (self.reno_window, self.fast_rounds) = (2, 0);
            }
            self.slow_rounds = 0;
        }
    }

    fn slow_down(&mut self, window: &mut LossWindow, queue: u64) {
        if queue > LONG_QUEUE && window.cwnd > self.reno_window {
            let drained = window.cwnd - self.queued.min(window.cwnd >> 1);
            window.cwnd = drained.max(self.reno_window);
            window.ssthresh = window.cwnd;
        }
        self.reno_window =
            if self.reno_window <= 2 { half(window.cwnd) } else { self.reno_window + 1 };
        self.slow_rounds = (self.slow_rounds + 1).min(0x00ff_ffff);
    }
}

impl Hooks for Yeah {
    /// `tcp_vegas_pkts_acked`.
    fn on_delivered(&mut self, _: &mut LossWindow, _: RecoveryState, sample: &DeliveredSample) {
        if let Some(rtt) = sample.rtt {
            self.rounds.take(rtt);
        }
    }

    /// `tcp_yeah_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, moment: &SenderState) {
        if !sample.cwnd_limited {
            return;
        }
        if let Some(acked) = window.after_slow_start(sample, |acked| acked) {
            let fast = window.cwnd.min(ACKED_PER_STEP);
            window.additive_increase(if self.slow_rounds == 0 { fast } else { window.cwnd }, acked);
        }
        if self.rounds.is_over(moment) {
            if self.rounds.samples >= ENOUGH_SAMPLES {
                self.judge(window);
            }
            self.rounds.begin(moment);
        }
    }

    /// `tcp_yeah_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        let cut = if self.slow_rounds < COMPETITION {
            self.queued.min(half(cwnd)).max(cwnd >> LOSS_SHIFT)
        } else {
            half(cwnd)
        };
        self.fast_rounds = 0;
        self.reno_window = half(self.reno_window);
        cwnd.saturating_sub(cut).max(2)
    }

    /// `tcp_vegas_state`.
    fn on_state(&mut self, state: RecoveryState, moment: &SenderState) {
        if state == RecoveryState::Open {
            self.rounds.begin(moment);
        }
    }

    /// `tcp_vegas_cwnd_event`.
    fn on_restart(&mut self, moment: &SenderState) {
        self.rounds.forget_base();
        self.rounds.begin(moment);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", f64::from(self.queued));
        visit("reno_cwnd", f64::from(self.reno_window));
    }
}
