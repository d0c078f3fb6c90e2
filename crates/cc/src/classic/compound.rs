//! Compound TCP, once the control of Windows: Reno's window, and one beside it that follows the delay.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};

use super::{Classic, Hooks, SenderState, half};
use crate::config::Entry;
use crate::events::{AckSample, DeliveredSample};
use crate::progress::Mark;
use crate::samples::RecoveryState;
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static COMPOUND: Entry = Entry {
    info: Info {
        name: "compound",
        title: "Compound TCP",
        family: "loss",
        summary: "Reno's window plus one that grows fast while little is queued, and shrinks when more is",
        source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            Parameter::flag(
                "tuning",
                true,
                "whether losses adapt gamma, the queued packets above which the delay window \
                 shrinks; else it is 30 (section 5)",
            ),
            Parameter::packets(
                "low_window",
                ParameterDefault::Whole(38),
                "up to this window it behaves as Reno does (section 6)",
            )
            .at_most(1_000_000),
        ],
    },
    build: |config| {
        let compound =
            Compound::new(config.options.flag("tuning"), config.options.packets("low_window"));
        Box::new(Classic::new(config.initial_cwnd, compound))
    },
};

/// The delay window grows by this part of a power of the window in a round, less one packet.
const ALPHA: f64 = 0.125;
/// A loss leaves this part of the delay window, as of Reno's (1 - beta).
const KEPT: f64 = 0.5;
/// The bounds of gamma; it begins with the upper one.
const GAMMA: (f64, f64) = (5.0, 30.0);
/// The part of what Reno's window alone would queue that becomes gamma.
const GAMMA_PART: f64 = 0.75;
/// The weight of a loss's sample in gamma (lambda). The draft leaves it open; the control's port to
/// Linux 2.6 has one half.
const GAMMA_WEIGHT: f64 = 0.5;
/// The weight of a sample in the smoothed RTT (RFC 6298).
const RTT_WEIGHT: f64 = 0.125;

/// The delay window. The sender's window is the sum of its whole packets and of Reno's window, which
/// is what the delay window leaves of the sum.
#[derive(Clone, Debug)]
struct Compound {
    tuning: bool,
    low_window: u32,
    /// The round ends when more than this is acknowledged.
    round_end: Mark,
    /// The lowest and the smoothed RTT (`basertt`, `srtt`), in s.
    rtts: Option<(f64, f64)>,
    /// In packets (`dwnd`).
    delay_window: f64,
    /// The delay window before the last reduction.
    prior: f64,
    /// Queued packets above which the delay window shrinks.
    gamma: f64,
    /// Packets that Reno's window alone would have queued in the last round (`diff_reno`); none
    /// after a loss has used it.
    reno_queue: Option<f64>,
}

/// `x` to the power of k, which is 3/4.
fn power(x: f64) -> f64 {
    let root = x.sqrt();
    root * root.sqrt()
}

impl Compound {
    const fn new(tuning: bool, low_window: u32) -> Self {
        Self {
            tuning,
            low_window,
            round_end: Mark::START,
            rtts: None,
            delay_window: 0.0,
            prior: 0.0,
            gamma: GAMMA.1,
            reno_queue: None,
        }
    }

    fn take_rtt(&mut self, rtt: f64) {
        let (lowest, smoothed) = self.rtts.unwrap_or((rtt, rtt));
        self.rtts = Some((lowest.min(rtt), smoothed + RTT_WEIGHT * (rtt - smoothed)));
    }

    /// The delay window's part of the sender's window.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it isn't negative, and a larger one would be the largest number"
    )]
    const fn delay_part(&self) -> u32 {
        self.delay_window as u32
    }

    /// Reno's window. Where something else has cut the sender's window below the delay window, all
    /// of the rest is Reno's.
    fn reno_part(&mut self, cwnd: u32) -> u32 {
        if self.delay_part() >= cwnd {
            self.delay_window = 0.0;
        }
        cwnd - self.delay_part()
    }

    /// The end of a round: what the windows keep in the queue decides on the delay window.
    fn judge(&mut self, window: &mut LossWindow) {
        let Some((lowest, smoothed)) = self.rtts else { return };
        let queued = |packets: u32| f64::from(packets) * (smoothed - lowest) / smoothed;
        let reno = self.reno_part(window.cwnd);
        self.reno_queue = Some(queued(reno));
        if window.in_slow_start() || window.cwnd <= self.low_window {
            return;
        }
        let queue = queued(window.cwnd);
        self.delay_window = if queue < self.gamma {
            // The draft writes the delay window's own power, from which zero would never grow; its
            // response function (section 4), the paper and the port have the whole window's.
            self.delay_window + (ALPHA * power(f64::from(window.cwnd)) - 1.0).max(0.0)
        } else {
            (self.delay_window - queue).max(0.0)
        };
        window.cwnd = reno.saturating_add(self.delay_part()).max(2);
        // Reno's part alone decides on slow start, and it hasn't shrunk.
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }

    /// Takes a loss's sample of Reno's own queue; gamma should be 75 % of it.
    fn tune(&mut self) {
        let Some(queue) = self.reno_queue.take().filter(|_| self.tuning) else { return };
        let gamma = self.gamma + GAMMA_WEIGHT * (GAMMA_PART * queue - self.gamma);
        self.gamma = gamma.clamp(GAMMA.0, GAMMA.1);
    }
}

impl Hooks for Compound {
    /// Samples of recovery don't count (section 6).
    fn on_delivered(&mut self, _: &mut LossWindow, state: RecoveryState, sample: &DeliveredSample) {
        if matches!(state, RecoveryState::Open | RecoveryState::Disorder) {
            sample.rtt.into_iter().for_each(|rtt| self.take_rtt(rtt.as_secs_f64()));
        }
    }

    /// Reno's part grows by one packet for each window acknowledged, that of both parts.
    fn grow(&mut self, window: &mut LossWindow, sample: &AckSample, moment: &SenderState) {
        window.grow_as_reno(sample, |acked| acked);
        if sample.cwnd_limited && moment.progress.has_passed(self.round_end) {
            self.judge(window);
            self.round_end = moment.progress.mark();
        }
    }

    /// Both parts are halved, so that the window is.
    fn ssthresh(&mut self, cwnd: u32, _: &SenderState) -> u32 {
        self.tune();
        self.prior = self.delay_window;
        self.delay_window *= KEPT;
        half(cwnd)
    }

    /// After a timeout the path may be another one (section 3); a round doesn't include recovery.
    fn on_state(&mut self, state: RecoveryState, moment: &SenderState) {
        match state {
            RecoveryState::Open => self.round_end = moment.progress.mark(),
            RecoveryState::Loss => (self.delay_window, self.rtts) = (0.0, None),
            _ => {}
        }
    }

    fn on_undo(&mut self) {
        self.delay_window = self.prior;
    }

    /// Forgets the queue, since nothing is known of it after a pause.
    fn on_restart(&mut self, moment: &SenderState) {
        (self.delay_window, self.reno_queue) = (0.0, None);
        self.round_end = moment.progress.mark();
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("delay_window", self.delay_window);
        visit("gamma", self.gamma);
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Time;

    use super::*;
    use crate::progress::Progress;

    const MOMENT: SenderState = SenderState { now: Time::ZERO, progress: Progress::new(0, 0) };

    /// Ends a round in which all RTTs had this length; the lowest one is 40 ms.
    fn end_round(compound: &mut Compound, window: &mut LossWindow, rtt_ms: f64) {
        compound.rtts = Some((0.04, rtt_ms / 1_000.0));
        compound.judge(window);
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 0.01
    }

    fn flow(cwnd: u32) -> (Compound, LossWindow) {
        let mut window = LossWindow::new(cwnd);
        window.ssthresh = cwnd;
        (Compound::new(true, 38), window)
    }

    /// 256^(3/4) / 8 - 1 = 7 packets in a round, and none up to a window of 38.
    #[test]
    fn the_delay_window_grows_while_little_is_queued() {
        let (mut compound, mut window) = flow(256);
        end_round(&mut compound, &mut window, 40.0);
        assert!(window.cwnd == 263 && close(compound.delay_window, 7.0), "{compound:?}");
        for (cwnd, grown) in [(38, 38), (81, 83)] {
            let (mut compound, mut window) = flow(cwnd);
            // 81^(3/4) / 8 - 1 = 2.375, of which the window takes whole packets.
            end_round(&mut compound, &mut window, 40.0);
            assert_eq!(window.cwnd, grown);
        }
        let (mut compound, mut window) = flow(256);
        window.ssthresh = 1_000;
        end_round(&mut compound, &mut window, 40.0);
        assert!(window.cwnd == 256 && close(compound.delay_window, 0.0), "slow start");
    }

    /// Of 256 packets at 44 ms, 23.3 are queued, less than 30; at 50 ms a fifth, 51.2.
    #[test]
    fn it_shrinks_by_what_is_queued_beyond_gamma_and_reno_keeps_its_part() {
        let (mut compound, mut window) = flow(256);
        compound.delay_window = 100.0;
        end_round(&mut compound, &mut window, 44.0);
        assert!(window.cwnd == 263 && close(compound.delay_window, 107.0), "{compound:?}");
        (window.cwnd, compound.delay_window) = (256, 100.0);
        end_round(&mut compound, &mut window, 50.0);
        assert!(window.cwnd == 156 + 48 && close(compound.delay_window, 48.8), "{compound:?}");
        for _ in 0..2 {
            end_round(&mut compound, &mut window, 50.0);
        }
        assert!(window.cwnd == 156 && close(compound.delay_window, 0.0), "{compound:?}");
        assert!(!window.in_slow_start());
    }

    /// Reno's 160 packets alone queue 32 at 50 ms; three quarters are 24, and halfway from 30 is 27.
    #[test]
    fn a_loss_halves_both_windows_and_moves_gamma_towards_what_reno_queues() {
        let (mut compound, mut window) = flow(256);
        compound.delay_window = 96.0;
        end_round(&mut compound, &mut window, 50.0);
        compound.delay_window = 96.0;
        assert_eq!(compound.ssthresh(256, &MOMENT), 128);
        assert!(close(compound.delay_window, 48.0) && close(compound.gamma, 27.0), "{compound:?}");
        // One sample moves it once.
        let _ = compound.ssthresh(256, &MOMENT);
        assert!(close(compound.delay_window, 24.0) && close(compound.gamma, 27.0), "{compound:?}");
        compound.on_undo();
        assert!(close(compound.delay_window, 48.0), "a spurious reduction is undone");
        // Short queues don't move it below 5.
        for _ in 0..9 {
            end_round(&mut compound, &mut window, 40.0);
            let _ = compound.ssthresh(256, &MOMENT);
        }
        assert!(close(compound.gamma, 5.0), "{compound:?}");
    }

    /// RTTs of 40, 48 and 40 ms: the smoothed one is 40, 41 and 40.875 ms. A timeout forgets them.
    #[test]
    fn the_rtt_is_smoothed_outside_recovery_and_forgotten_by_a_timeout() {
        let (mut compound, mut window) = flow(256);
        for rtt in [0.040, 0.048, 0.040] {
            compound.take_rtt(rtt);
        }
        let (lowest, smoothed) = compound.rtts.expect("three samples");
        assert!(close(lowest * 1e3, 40.0) && close(smoothed * 1e3, 40.875), "{compound:?}");
        compound.delay_window = 9.0;
        compound.on_state(RecoveryState::Loss, &MOMENT);
        assert!(compound.rtts.is_none() && close(compound.delay_window, 0.0));
        compound.judge(&mut window);
        assert_eq!(window.cwnd, 256, "nothing is known of the path");
        compound.delay_window = 20.0;
        assert_eq!(compound.reno_part(20), 20, "nothing is left for a delay window");
    }

    /// One loss in each 1/p packets and no queue: the mean window is that of section 4, equation (8),
    /// 0.255 / p^0.8, which is 404 packets for p = 10^-4 and 2,552 for 10^-5.
    #[test]
    fn the_response_function_is_the_drafts() {
        for (losses_apart, expected) in [(10_000.0, 404.0), (100_000.0, 2_552.0)] {
            let (mut compound, mut window) = flow(400);
            let (mut sent, mut rounds, mut sum) = (0.0, 0.0, 0.0);
            for round in 0..20_000 {
                // The control begins with all of the window in Reno's part.
                if round >= 5_000 {
                    (rounds, sum) = (rounds + 1.0, sum + f64::from(window.cwnd));
                }
                sent += f64::from(window.cwnd);
                end_round(&mut compound, &mut window, 40.0);
                window.cwnd += 1;
                if sent >= losses_apart {
                    sent -= losses_apart;
                    window.cwnd = compound.ssthresh(window.cwnd, &MOMENT);
                    window.ssthresh = window.cwnd;
                }
            }
            let mean: f64 = sum / rounds;
            assert!((mean / expected - 1.0).abs() < 0.03, "{mean} instead of {expected}");
        }
    }
}
