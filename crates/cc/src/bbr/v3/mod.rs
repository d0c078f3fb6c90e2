//! BBR version 3 as Google publishes it for Linux, or after draft-ietf-ccwg-bbr-06; version 2
//! where it differs.
//!
//! Losses bound the model: a long-term volume that probing found to be too much, and short-term
//! bounds between probes. Names follow the draft; volumes are in packets, bandwidths and gains in
//! the fixed point of version 1. Sentences in quotation marks behind a section's number are the
//! draft's (`tools/check_quotations.py` finds them there). `versions` lists what the versions and
//! their texts do differently.

mod cycle;
mod model;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod versions;
mod volume;

use narrows_base::registry::{Info, Role};
use narrows_base::{Duration, Rate, Stream, Time};

use self::settings::{OPTIONS, Settings};
use self::state::{FullPipe, LossRound, MinRtt, Mode, Probe, Round, Signals, since};
use self::versions::{V2, V2_DRAFT, V3, V3_DRAFT, Version};
use crate::bbr::aggregation::Aggregation;
use crate::bbr::pacing::Pacing;
use crate::bbr::units::{self, UNIT};
use crate::bbr::window::Window;
use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control, Needs};
use crate::events::{AckSample, CongestionEvent, LostPacket, StartEvent, UndoEvent};
use crate::samples::{Congestion, RecoveryState};

/// The registry's entry of version 3.
pub(crate) static BBR3: Entry = Entry {
    info: Info {
        name: "bbr3",
        title: "BBRv3",
        family: "bbr",
        summary: "version 3: bbr that bounds what is in flight where probing loses over 2 %",
        source: "google/bbr v3 (tcp_bbr.c); draft-ietf-ccwg-bbr-06",
        role: Role::Control { ecn: None, paces: true },
        parameters: &OPTIONS,
    },
    build: |config| {
        let version = if by_the_code(&config) { V3 } else { V3_DRAFT };
        Box::new(Bbr3::new(config, version))
    },
};

/// The registry's entry of version 2.
pub(crate) static BBR2: Entry = Entry {
    info: Info {
        name: "bbr2",
        title: "BBRv2",
        family: "bbr",
        summary: "version 2: as bbr3 with stronger gains and probes that end at 1.25 BDP",
        source: "google/bbr v2alpha (tcp_bbr2.c); Cardwell et al., BBRv2 at IETF 104 to 106",
        role: Role::Control { ecn: None, paces: true },
        parameters: &OPTIONS,
    },
    build: |config| {
        let version = if by_the_code(&config) { V2 } else { V2_DRAFT };
        Box::new(Bbr3::new(config, version))
    },
};

/// Returns `true` if the options choose Google's code over the draft.
fn by_the_code(config: &CcConfig) -> bool {
    config.options.word("rules") == "linux"
}

/// No bound.
const UNBOUNDED: u32 = u32::MAX;

/// Upper bounds of the model; [`UNBOUNDED`] without losses.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// `bw_shortterm`.
    bw_short: u32,
    /// `inflight_shortterm`.
    short: u32,
    /// `inflight_longterm`.
    long: u32,
}

const FREE: Bounds = Bounds { bw_short: UNBOUNDED, short: UNBOUNDED, long: UNBOUNDED };

/// The state to which an undone recovery returns (section 5.5.11).
#[derive(Clone, Copy, Debug)]
struct UndoState {
    bounds: Bounds,
    /// The probing state that losses ended.
    mode: Option<Mode>,
}

/// BBR version 3 or 2.
#[derive(Clone, Debug)]
struct Bbr3 {
    version: Version,
    settings: Settings,
    random: Stream,
    mss: u32,
    initial_cwnd: u32,
    mode: Mode,
    /// Highest bandwidths of the previous and this cycle.
    cycles: [u32; 2],
    bounds: Bounds,
    saved: UndoState,
    round: Round,
    loss_round: LossRound,
    full_pipe: FullPipe,
    probe: Probe,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    drain_start_round: u32,
    pacing: Pacing,
    window: Window,
    /// The pacing gain since the ACK before.
    gain: u32,
    /// A tick of the kernel's coarse clock.
    tick: Duration,
    /// True if the window is at its target (`try_fast_path`).
    settled: bool,
    idle_restart: bool,
    ignores_samples: bool,
    started: bool,
}

impl Bbr3 {
    /// `OnInit`.
    fn new(config: CcConfig, version: Version) -> Self {
        let mut bbr = Self {
            version,
            settings: Settings::new(config.options, &version.rules),
            mss: config.mss,
            initial_cwnd: config.initial_cwnd,
            mode: Mode::Startup,
            cycles: [0; 2],
            bounds: FREE,
            saved: UndoState { bounds: FREE, mode: None },
            round: Round::default(),
            loss_round: LossRound::default(),
            full_pipe: FullPipe::default(),
            probe: Probe::default(),
            min_rtt: MinRtt::new(config.initial_rtt),
            aggregation: Aggregation::default(),
            drain_start_round: 0,
            pacing: Pacing::new(config.profile.bbr.pacing),
            window: Window::new(config.initial_cwnd),
            gain: 0,
            tick: Duration::from_nanos(1_000_000_000 / u64::from(config.profile.hz)),
            settled: false,
            idle_restart: false,
            ignores_samples: false,
            started: false,
            random: config.random,
        };
        bbr.init_pacing_rate(config.initial_rtt);
        bbr
    }

    /// The time by which the lowest RTT ages.
    fn coarse(&self, now: Time) -> Time {
        if !self.version.rules.kernel_clock {
            return now;
        }
        let tick = self.tick.as_nanos();
        Time::ZERO + Duration::from_nanos(now.as_nanos() / tick * tick)
    }

    /// The flow's first packet: clocks start here, not with the run.
    fn start(&mut self, now: Time) {
        if !self.started {
            self.started = true;
            self.min_rtt.start(self.coarse(now));
            self.aggregation.begin_epoch(now.as_micros());
        }
    }

    /// `SaveStateUponLoss`.
    fn save_state(&mut self) {
        self.window.save(self.mode == Mode::ProbeRtt);
        self.saved = UndoState { bounds: self.bounds, mode: None };
    }

    /// `OnEnterFastRecovery`.
    fn begin_episode(&mut self, event: &CongestionEvent) {
        let rules = self.version.rules;
        if !rules.saves_at_recovery {
            return self.window.save(self.mode == Mode::ProbeRtt);
        }
        if rules.only_timeouts_cut {
            self.end_timeout(event.state);
        }
        if event.kind == Congestion::TailLoss && rules.heeds_tail_loss {
            self.note_loss(event.delivered);
            let in_flight = self.loss_round.volume + 1;
            if self.probe.is_sample && self.exceeds_threshold(1, in_flight) {
                self.handle_too_high(event.now, event.delivered, in_flight, false);
            }
        }
        self.save_state();
    }

    /// Gives the window back when a timeout's episode ends (`bbr_exit_loss_recovery`).
    fn end_timeout(&mut self, state: RecoveryState) {
        if self.leaves_recovery(state) {
            self.window.restore();
            self.settled = false;
        }
    }

    /// `UpdateModelAndState`; returns whether window and rate may have changed.
    fn update_model(&mut self, sample: &AckSample, signals: Option<&Signals>) -> bool {
        self.begin_ack(sample, signals);
        let changed = if self.may_rest(signals) {
            let before = (self.mode, self.min_rtt.us);
            self.update_state(sample, signals);
            !self.settled || before != (self.mode, self.min_rtt.us)
        } else {
            self.update_path(sample, signals);
            self.update_state(sample, signals);
            true
        };
        if let Some(signals) = signals.filter(|_| !self.version.rules.latest_in_model) {
            self.loss_round.advance(signals);
        }
        changed
    }

    /// Rounds, losses and the latest delivery.
    fn begin_ack(&mut self, sample: &AckSample, signals: Option<&Signals>) {
        self.round.start = false;
        self.loss_round.start = false;
        if sample.lost > 0 && !self.version.rules.losses_in_model {
            self.note_loss(sample.delivered);
            self.loss_round.events += 1;
        }
        if let Some(signals) = signals {
            self.update_round(signals, sample.delivered);
            if !self.version.rules.latest_in_model {
                self.update_latest(signals, sample.delivered);
            }
        }
    }

    /// Returns `true` if the sample says nothing about the path: the application sends too little,
    /// nothing is lost, and the window is at its target (`bbr_run_fast_path`).
    fn may_rest(&self, signals: Option<&Signals>) -> bool {
        let tells_nothing = |s: &Signals| s.app_limited && s.bw < self.max_bw();
        self.version.rules.fast_path
            && self.settled
            && !self.loss_round.is_lossy
            && signals.is_some_and(tells_nothing)
    }

    /// Updates the model of the path.
    fn update_path(&mut self, sample: &AckSample, signals: Option<&Signals>) {
        if self.version.rules.losses_in_model && sample.lost > 0 {
            self.loss_round.is_lossy |= signals.is_some();
            self.loss_round.events += u32::from(!self.full_pipe.reached);
        }
        let Some(signals) = signals else { return };
        self.update_congestion(signals, sample.delivered);
        self.update_aggregation(sample);
        if self.version.rules.startup_loss_first {
            self.check_startup_loss(sample, signals);
            self.check_full_pipe(signals);
        } else {
            self.check_full_pipe(signals);
            self.check_startup_loss(sample, signals);
        }
    }

    /// The state machine.
    fn update_state(&mut self, sample: &AckSample, signals: Option<&Signals>) {
        self.check_startup_done();
        self.check_drain_done(sample);
        let nothing = self.version.rules.cycle_without_sample.then_some(&Signals::NONE);
        if let Some(signals) = signals.or(nothing) {
            self.update_cycle(sample, signals);
        }
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample);
    }

    /// `UpdateACKAggregation`.
    fn update_aggregation(&mut self, sample: &AckSample) {
        if sample.acked == 0 {
            return;
        }
        if self.round.start {
            // 5.5.9: "the windowed maximum over 1 round trip during STARTUP and 10 round trips
            // after exiting STARTUP"; the filter has two halves.
            self.aggregation.begin_round_of(if self.full_pipe.reached { 5 } else { 1 });
        }
        let delivered_us = sample.delivered_at.as_micros();
        self.aggregation.update(sample.acked, delivered_us, self.bw(), self.window.cwnd);
    }
}

impl CongestionControl for Bbr3 {
    fn needs(&self) -> Needs {
        Needs { packets: true, send_buffer_windows: 3, ..Needs::OWN_RECOVERY }
    }

    /// `UpdateOnACK`.
    fn on_ack(&mut self, sample: &AckSample) {
        self.start(sample.now);
        self.mss = sample.mss;
        let rules = &self.version.rules;
        let signals = sample.rate.map(|rate| Signals::new(&rate, sample, rules.rounds_up));
        if rules.only_timeouts_cut {
            self.end_timeout(sample.state);
        }
        if self.update_model(sample, signals.as_ref()) {
            self.gain = self.pacing_gain();
            self.set_pacing_rate(self.gain, Some(sample.srtt));
            self.set_cwnd(sample);
        }
        self.window.prior_state = sample.state;
    }

    /// `HandleLostPacket`.
    fn on_lost(&mut self, packet: &LostPacket) {
        self.note_loss(packet.delivered);
        let lost = since(packet.lost_total, packet.at_send.lost);
        let in_flight = packet.at_send.in_flight;
        if self.probe.is_sample && self.exceeds_threshold(lost, in_flight) {
            let volume = self.inflight_at_loss(lost, in_flight);
            self.handle_too_high(packet.now, packet.delivered, volume, packet.app_limited);
        }
    }

    /// `OnEnterFastRecovery`, `OnEnterRTO`.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let Congestion::Timeout { reduce } = event.kind else {
            return self.begin_episode(event);
        };
        if reduce {
            self.save_state();
        }
        self.window.collapse(event.in_flight);
        if self.version.rules.timeout_restarts_full_pipe {
            self.full_pipe.reset(0);
        }
        let bounds_short = self.version.rules.timeout_bounds_short && !self.is_probing();
        if bounds_short && self.bounds.short == UNBOUNDED {
            self.bounds.short = self.window.cwnd.max(self.window.prior_cwnd);
        }
    }

    /// `HandleSpuriousLossDetection`.
    fn on_undo(&mut self, event: &UndoEvent) {
        let rules = self.version.rules;
        self.settled &= rules.settled_through_growth;
        if rules.undo_takes_saved_window && self.window.prior_cwnd > 0 {
            self.window.cwnd = self.window.prior_cwnd;
        } else {
            self.window.restore();
        }
        self.loss_round.is_lossy = false;
        self.full_pipe.reset(0);
        // 5.5.11.2: "restores the short-term and long-term model parameters to be at least the
        // values saved before the loss episode"
        let (now, then) = (self.bounds, self.saved.bounds);
        self.bounds = Bounds {
            bw_short: now.bw_short.max(then.bw_short),
            short: now.short.max(then.short),
            long: now.long.max(then.long),
        };
        if rules.undo_returns_to_probing {
            self.return_to_probing(event.delivered);
        }
    }

    /// `HandleRestartFromIdle`.
    fn on_start(&mut self, event: &StartEvent) {
        self.start(event.now);
        if !event.app_limited {
            return;
        }
        // 5.4.1: "paces packets at exactly BBR.bw, aiming to return as quickly as possible to its
        // target operating point"
        self.idle_restart = true;
        self.aggregation.begin_epoch(event.now.as_micros());
        if self.mode.is_probe_bw() {
            self.set_pacing_rate(UNIT, None);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(event.now, event.delivered);
        }
    }

    fn control(&self) -> Control {
        Control {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            pacing_rate: Some(self.pacing.rate()),
            app_limited: self.ignores_samples,
        }
    }

    fn min_tso_segs(&self, pacing_rate: Rate) -> u32 {
        self.least_burst(pacing_rate.as_bytes_per_sec())
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let mbps = |bw| units::mbps(bw, self.mss);
        let gain = |gain: u32| f64::from(gain) / f64::from(UNIT);
        visit("bw_mbps", mbps(self.bw()));
        visit("max_bw_mbps", mbps(self.max_bw()));
        if self.min_rtt.us != u32::MAX {
            visit("min_rtt_ms", f64::from(self.min_rtt.us) / 1_000.0);
        }
        visit("pacing_gain", gain(self.pacing_gain()));
        visit("cwnd_gain", gain(self.cwnd_gain()));
        visit("full_bw_reached", f64::from(u8::from(self.full_pipe.reached)));
        visit("extra_acked", f64::from(self.aggregation.allowance(u32::MAX)));
        let bounds =
            [("inflight_longterm", self.bounds.long), ("inflight_shortterm", self.bounds.short)];
        for (name, bound) in bounds {
            if bound != UNBOUNDED {
                visit(name, f64::from(bound));
            }
        }
        if self.bounds.bw_short != UNBOUNDED {
            visit("bw_shortterm_mbps", mbps(self.bounds.bw_short));
        }
    }

    fn state(&self) -> &'static str {
        self.mode.name()
    }
}

/// `value * share`, the share in 1/256, rounded down.
fn part(value: u32, share: u32) -> u32 {
    let scaled = (u64::from(value) * u64::from(share)) >> units::GAIN_SCALE;
    u32::try_from(scaled).unwrap_or(u32::MAX)
}
