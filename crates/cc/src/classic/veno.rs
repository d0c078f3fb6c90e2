//! Veno as in Linux (`tcp_veno.c`): Reno that judges by the RTT whether a loss was congestion.

use narrows_base::registry::{Info, Role};

use super::rounds::Rounds;
use super::{Classic, Hooks, SenderState, half};
use crate::config::Entry;
use crate::events::{AckSample, DeliveredSample};
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static VENO: Entry = Entry {
    info: Info {
        name: "veno",
        title: "Veno",
        family: "loss",
        summary: "Reno that gives up a fifth on a loss without a queue; made for wireless paths",
        source: "Fu and Liew, IEEE JSAC 21(2), 2003; Linux tcp_veno.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Veno::new())),
};

/// Packets in the queue are kept in halves (`V_PARAM_SHIFT`).
const HALVES: u32 = 1;
/// With at least this many packets in the queue the path is congested (`beta`).
const CONGESTED: u32 = 3 << HALVES;
/// With fewer RTT samples it is Reno; they are counted from the start of the flow, since Linux
/// doesn't restart with a round.
const ENOUGH_SAMPLES: u16 = 3;

#[derive(Clone, Debug)]
struct Veno {
    rounds: Rounds,
    /// True if the queue is judged (`doing_veno_now`).
    judging: bool,
    /// Packets in the queue, in halves (`diff`).
    queued: u32,
    /// True if the next earned packet counts; in congestion every other one does (`inc`).
    counts: bool,
}

impl Veno {
    const fn new() -> Self {
        Self { rounds: Rounds::new(), judging: true, queued: 0, counts: true }
    }

    /// Computes the part of the window in the queue, from the lowest RTT since the last ACK.
    fn measure(&mut self, cwnd: u32) {
        let (base, latest) = (self.rounds.base_us(), self.rounds.lowest_us());
        let fits = ((u64::from(cwnd) * base) << HALVES) / latest;
        // Without an RTT of this ACK nothing seems to fit, and the whole window is queued.
        let fits = u32::try_from(fits).unwrap_or(u32::MAX);
        self.queued = (cwnd << HALVES).wrapping_sub(fits);
    }

    /// Grows by a packet every other round trip.
    fn grow_slowly(&mut self, window: &mut LossWindow, acked: u32) {
        if window.credit < window.cwnd {
            window.credit += acked;
            return;
        }
        window.credit = 0;
        window.cwnd += u32::from(self.counts);
        self.counts = !self.counts;
    }
}

impl Hooks for Veno {
    /// `tcp_veno_pkts_acked`.
    fn on_delivered(&mut self, _: &mut LossWindow, _: RecoveryState, sample: &DeliveredSample) {
        if let Some(rtt) = sample.rtt {
            self.rounds.take(rtt);
        }
    }

    /// `tcp_veno_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if !self.judging {
            window.grow_as_reno(sample, |acked| acked);
            return;
        }
        if !sample.cwnd_limited {
            return;
        }
        if self.rounds.samples < ENOUGH_SAMPLES {
            window.grow_as_reno(sample, |acked| acked);
        } else {
            self.measure(window.cwnd);
            if let Some(acked) = window.after_slow_start(sample, |acked| acked) {
                if self.queued < CONGESTED {
                    window.additive_increase(window.cwnd, acked);
                } else {
                    self.grow_slowly(window, acked);
                }
            }
            window.cwnd = window.cwnd.max(2);
        }
        self.rounds.forget_lowest();
    }

    /// `tcp_veno_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        if self.queued < CONGESTED {
            let kept = u64::from(cwnd) * 4 / 5;
            u32::try_from(kept).expect("less than the window").max(2)
        } else {
            half(cwnd)
        }
    }

    /// `tcp_veno_state`.
    fn on_state(&mut self, state: RecoveryState, _: &SenderState) {
        self.judging = state == RecoveryState::Open;
        if self.judging {
            self.rounds.forget_lowest();
        }
    }

    /// `tcp_veno_cwnd_event`.
    fn on_restart(&mut self, _: &SenderState) {
        self.rounds.forget_base();
        self.rounds.forget_lowest();
        self.counts = true;
        self.judging = true;
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("queued", f64::from(self.queued) / f64::from(1u32 << HALVES));
    }
}
