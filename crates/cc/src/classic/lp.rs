//! TCP-LP as in Linux (`tcp_lp.c`): Reno that halves its window as soon as the one-way delay shows a
//! queue, and yields everything if that doesn't help.

use narrows_base::Time;
use narrows_base::registry::{Info, Parameter, Role};

use super::{Classic, Hooks, SenderState, half};
use crate::config::{CcConfig, Entry};
use crate::events::{AckSample, DeliveredSample};
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static LP: Entry = Entry {
    info: Info {
        name: "lp",
        title: "TCP-LP",
        family: "delay",
        summary: "background transfer: Reno that yields to a queue, seen in the one-way delay",
        source: "Kuzmanovic and Knightly, INFOCOM 2003; Linux tcp_lp.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[Parameter::flag(
            "random_timestamps",
            true,
            "the receiver's clock shows a random time, as with net.ipv4.tcp_timestamps = 1; the \
             control overlooks the queue if that is over 2^29 ms, in 7 of 8 connections. Without, \
             it is as with net.ipv4.tcp_timestamps = 2",
        )],
    },
    build: |config| Box::new(Classic::new(config.initial_cwnd, Lp::new(&config))),
};

/// Ticks of the timestamps in a second (`TCP_TS_HZ`).
const TICKS: u32 = 1_000;
/// A delay above this part of the range is a queue, in %.
const THRESHOLD: u32 = 15;

/// The rate of the receiver's clock, in ticks per second (`tcp_lp_remote_hz_estimator`).
#[derive(Clone, Debug, Default)]
struct RemoteClock {
    hz: u32,
    /// The last timestamps of the receiver and of the sender; zero before the first.
    remote: u32,
    local: u32,
}

impl RemoteClock {
    /// Takes a pair of timestamps; returns the estimate, zero if there is none.
    fn take(&mut self, remote: u32, local: u32) -> u32 {
        let mut estimate = i64::from(self.hz << 6);
        if self.remote != 0 && self.local != 0 && remote != self.remote && local != self.local {
            let passed = TICKS.wrapping_mul(remote.wrapping_sub(self.remote));
            let rate = i64::from(passed / local.wrapping_sub(self.local));
            if estimate > 0 {
                estimate += rate - (estimate >> 6);
            } else {
                estimate = rate << 6;
            }
        }
        (self.remote, self.local) = (remote, local);
        self.hz = low_bits(estimate >> 6);
        self.hz
    }
}

/// The one-way delay, which contains the clocks' difference; all in ms modulo 2^32, as in Linux.
#[derive(Clone, Debug)]
struct Delay {
    /// Smoothed, times 8 (`sowd`); zero before the first sample.
    smoothed: u32,
    min: u32,
    max: u32,
    /// The highest, which isn't yet believed (`owd_max_rsv`).
    reserve: u32,
}

impl Delay {
    fn take(&mut self, delay: u32) {
        self.min = self.min.min(delay);
        if delay > self.max {
            self.max =
                if delay <= self.reserve || self.reserve == 0 { delay } else { self.reserve };
            self.reserve = self.reserve.max(delay);
        }
        self.smoothed = if self.smoothed == 0 {
            delay << 3
        } else {
            self.smoothed.wrapping_add(delay.wrapping_sub(self.smoothed >> 3))
        };
    }

    /// Returns `true` if the queue is short (`LP_WITHIN_THR`).
    const fn is_low(&self) -> bool {
        let range = self.max.wrapping_sub(self.min).wrapping_mul(THRESHOLD) / 100;
        self.smoothed >> 3 < self.min.wrapping_add(range)
    }

    /// Forgets the range after a reduction.
    const fn renew(&mut self) {
        self.min = self.smoothed >> 3;
        self.max = self.smoothed >> 2;
        self.reserve = self.smoothed >> 2;
    }
}

#[derive(Clone, Debug)]
struct Lp {
    clock: RemoteClock,
    /// The difference of the clocks in ms.
    ahead: u32,
    delay: Delay,
    /// How long a reduction is given to take effect, in ms (`inference`).
    inference: u32,
    /// When the window was last reduced, in ms; zero if never (`last_drop`).
    reduced_at: u32,
    is_waiting: bool,
}

impl Lp {
    fn new(config: &CcConfig) -> Self {
        let mut random = config.random.clone();
        let ahead =
            if config.options.flag("random_timestamps") { random.next_u64() >> 32 } else { 0 };
        Self {
            clock: RemoteClock::default(),
            ahead: u32::try_from(ahead).expect("32 bits"),
            delay: Delay { smoothed: 0, min: u32::MAX, max: 0, reserve: 0 },
            inference: 0,
            reduced_at: 0,
            is_waiting: false,
        }
    }

    /// Measures the one-way delay (`tcp_lp_rtt_sample`).
    fn measure(&mut self, remote: u32, local: u32) {
        let hz = self.clock.take(remote, local);
        if hz == 0 {
            return;
        }
        let delay = remote.wrapping_mul(TICKS / hz).wrapping_sub(local);
        if delay > 0 {
            self.delay.take(delay);
        }
    }
}

/// The lower 32 bits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as in Linux")]
const fn low_bits(number: i64) -> u32 {
    number as u32
}

/// The sender's clock of timestamps (`tcp_time_stamp_ts`).
fn millis(now: Time) -> u32 {
    u32::try_from(now.as_micros() / 1_000 % (1 << 32)).expect("a remainder")
}

impl Hooks for Lp {
    /// `tcp_lp_pkts_acked`.
    fn on_delivered(
        &mut self,
        window: &mut LossWindow,
        state: RecoveryState,
        sample: &DeliveredSample,
    ) {
        let now = millis(sample.now);
        if sample.rtt.is_some_and(|rtt| rtt.as_micros() > 0) {
            self.measure(sample.stamp_ms.wrapping_add(self.ahead), sample.echo_ms);
        }
        let rtt = now.wrapping_sub(sample.echo_ms);
        if rtt != 0 && rtt < 1 << 31 {
            self.inference = rtt.wrapping_mul(3);
        }
        self.is_waiting =
            self.reduced_at != 0 && now.wrapping_sub(self.reduced_at) < self.inference;
        if self.delay.is_low() {
            return;
        }
        self.delay.renew();
        if !state.is_reducing() {
            window.cwnd = if self.is_waiting { 1 } else { (window.cwnd >> 1).max(1) };
        }
        self.reduced_at = now;
    }

    /// `tcp_lp_cong_avoid`.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, _: &SenderState) {
        if !self.is_waiting {
            window.grow_as_reno(sample, |acked| acked);
        }
    }

    /// `tcp_reno_ssthresh`.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        half(cwnd)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let over = |delay: u32| f64::from(delay.saturating_sub(self.delay.min));
        visit("delay_ms", over(self.delay.smoothed >> 3));
        visit("highest_delay_ms", over(self.delay.max));
        visit("remote_hz", f64::from(self.clock.hz));
    }
}
