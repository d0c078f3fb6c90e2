//! Vegas as in Linux (`tcp_vegas.c`): it keeps a few packets in the queue, judged by the
//! RTT.

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::progress::{Mark, Progress};
use crate::samples::{Congestion, RecoveryState, Unused};
use crate::window::LossWindow;
use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};

const fn packets(name: &'static str, default: u64, what: &'static str) -> Parameter {
    Parameter::packets(name, ParameterDefault::Whole(default), what).at_most(1_000_000)
}

/// The registry's entry.
pub(crate) static VEGAS: Entry = Entry {
    info: Info {
        name: "vegas",
        title: "Vegas",
        family: "delay",
        summary: "keeps 2 to 4 packets of its own in the queue, judged once a round trip",
        source: "Brakmo and Peterson, JSAC 1995; Linux tcp_vegas.c",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            packets("alpha", 2, "queued packets below which the window grows"),
            packets("beta", 4, "queued packets above which it shrinks"),
            packets("gamma", 1, "queued packets above which slow start ends"),
        ],
    },
    build: |config| Box::new(Vegas::new(&config)),
};

/// RTT samples that a round needs: fewer may all be of delayed ACKs.
const ENOUGH_SAMPLES: u32 = 3;

/// Vegas.
#[derive(Clone, Debug)]
struct Vegas {
    window: LossWindow,
    alpha: u64,
    beta: u64,
    gamma: u64,
    /// True if the queue is judged, which it is only in Open.
    judging: bool,
    state: RecoveryState,
    /// The round ends when something sent after this is acknowledged (`beg_snd_nxt`).
    round_end: Mark,
    /// Lowest RTT ever and of the round, in us plus one, as in Linux.
    base_us: Option<u64>,
    round_us: Option<u64>,
    samples: u32,
    /// How far the flow has come, from the RTT hook.
    progress: Progress,
}

impl Vegas {
    fn new(config: &CcConfig) -> Self {
        let packets = |name| config.options.packets(name);
        Self {
            window: LossWindow::new(config.initial_cwnd),
            alpha: packets("alpha"),
            beta: packets("beta"),
            gamma: packets("gamma"),
            judging: true,
            state: RecoveryState::Open,
            round_end: Mark::START,
            base_us: None,
            round_us: None,
            samples: 0,
            progress: Progress::default(),
        }
    }

    /// `vegas_enable`.
    const fn begin_judging(&mut self) {
        self.judging = true;
        self.begin_round();
    }

    const fn begin_round(&mut self) {
        self.round_end = self.progress.mark();
        self.samples = 0;
        self.round_us = None;
    }

    /// `tcp_vegas_init`, after idling, since the path may have changed.
    const fn forget(&mut self) {
        self.base_us = None;
        self.begin_judging();
    }

    /// `tcp_vegas_state`.
    const fn follow(&mut self, state: RecoveryState) {
        let opens = matches!(state, RecoveryState::Open);
        let was_open = matches!(self.state, RecoveryState::Open);
        if opens && !was_open {
            self.begin_judging();
        }
        self.judging &= opens;
        self.state = state;
    }

    /// The end of a round.
    fn judge(&mut self, sample: &AckSample) {
        match (self.base_us, self.round_us) {
            (Some(base), Some(round)) if self.samples >= ENOUGH_SAMPLES => {
                self.adjust(base, round, sample.acked);
            }
            _ => self.window.grow_as_reno(sample, |acked| acked),
        }
        self.begin_round();
    }

    /// Compares the window with the path's capacity without a queue.
    fn adjust(&mut self, base_us: u64, round_us: u64, acked: u32) {
        let cwnd = u64::from(self.window.cwnd);
        let queued = cwnd * (round_us - base_us) / base_us;
        if self.window.in_slow_start() {
            if queued > self.gamma {
                let fits = u32::try_from(cwnd * base_us / round_us + 1).unwrap_or(u32::MAX);
                self.window.cwnd = self.window.cwnd.min(fits);
                self.lower_threshold();
            } else {
                self.window.slow_start(acked);
            }
        } else if queued > self.beta {
            self.window.cwnd -= 1;
            self.lower_threshold();
        } else if queued < self.alpha {
            self.window.cwnd = self.window.cwnd.saturating_add(1);
        }
        self.window.cwnd = self.window.cwnd.max(2);
        self.window.ssthresh = self.window.remembered_ssthresh(self.window.cwnd);
    }

    /// `tcp_vegas_ssthresh`.
    fn lower_threshold(&mut self) {
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }
}

impl CongestionControl for Vegas {
    /// `tcp_vegas_pkts_acked`.
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.progress = sample.progress;
        let Some(rtt) = sample.rtt else { return };
        let us = rtt.as_micros() + 1;
        self.base_us = Some(self.base_us.map_or(us, |lowest| lowest.min(us)));
        self.round_us = Some(self.round_us.map_or(us, |lowest| lowest.min(us)));
        self.samples += 1;
    }

    /// `tcp_vegas_cong_avoid`. In congestion avoidance it ignores whether the window limits the
    /// flow.
    fn on_ack(&mut self, sample: &AckSample) {
        self.follow(sample.state);
        if !sample.may_grow {
            return;
        }
        if !self.judging {
            self.window.grow_as_reno(sample, |acked| acked);
        } else if self.progress.has_passed(self.round_end) {
            self.judge(sample);
        } else if self.window.in_slow_start() {
            self.window.slow_start(sample.acked);
        }
    }

    /// `tcp_reno_ssthresh`.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.progress = event.progress;
        self.window.on_congestion(event, |cwnd| (cwnd >> 1).max(2));
        match event.kind {
            // CWR begins and ends at once.
            Congestion::TailLoss => self.begin_judging(),
            Congestion::Loss => self.follow(RecoveryState::Recovery),
            Congestion::Ecn => self.follow(RecoveryState::Cwr),
            Congestion::Timeout { .. } => self.follow(RecoveryState::Loss),
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.window.on_undo(event);
    }

    /// `tcp_vegas_cwnd_event`.
    fn on_start(&mut self, _event: &StartEvent) {
        self.forget();
    }

    fn on_threshold(&mut self, ssthresh: u32) {
        self.window.ssthresh = ssthresh;
    }

    fn on_unused(&mut self, unused: Unused) {
        if matches!(unused, Unused::Idle { .. }) {
            self.forget();
        }
        self.window.on_unused(unused);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(us) = self.base_us {
            visit("base_rtt_ms", us as f64 / 1_000.0);
        }
        visit("judging", f64::from(u8::from(self.judging)));
    }

    fn state(&self) -> &'static str {
        self.window.phase()
    }
}
