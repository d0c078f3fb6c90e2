//! BBR version 3 after draft-ietf-ccwg-bbr-06, and version 2 where it differs.
//!
//! Losses bound the model: a long-term volume that probing found to be too much, and short-term
//! bounds between probes. Names follow the draft; volumes are in packets, bandwidths and gains in
//! the fixed point of version 1.

mod cycle;
mod model;
mod state;
#[cfg(test)]
mod tests;
mod volume;

use narrows_base::registry::{Fallback, Info, Parameter, Role, Values};
use narrows_base::{Duration, Rate, Stream, Time};

use self::state::{FullPipe, LossRound, MinRtt, Mode, Probe, Round, Signals, since};
use crate::bbr::aggregation::Aggregation;
use crate::bbr::options;
use crate::bbr::pacing::Pacing;
use crate::bbr::units::{self, UNIT};
use crate::bbr::window::Window;
use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::samples::{AckSample, Congestion, CongestionEvent, LostPacket, StartEvent, UndoEvent};

/// The registry's entry of version 3.
pub(crate) static BBR3: Entry = Entry {
    info: Info {
        name: "bbr3",
        title: "BBRv3",
        family: "bbr",
        summary: "version 3: bbr that bounds what is in flight where probing loses over 2 %",
        source: "draft-ietf-ccwg-bbr-06; google/bbr v3",
        role: Role::Control { ecn: None, paces: true },
        parameters: &OPTIONS,
    },
    build: |config| Box::new(Bbr3::new(config, V3)),
};

/// The registry's entry of version 2.
pub(crate) static BBR2: Entry = Entry {
    info: Info {
        name: "bbr2",
        title: "BBRv2",
        family: "bbr",
        summary: "version 2: as bbr3 with stronger gains and probes that end at 1.25 BDP",
        source: "Cardwell et al., BBRv2 at IETF 104 to 106; google/bbr v2alpha; otherwise as bbr3",
        role: Role::Control { ecn: None, paces: true },
        parameters: &OPTIONS,
    },
    build: |config| Box::new(Bbr3::new(config, V2)),
};

const OPTIONS: [Parameter; 5] = [
    Parameter::share(
        "loss_thresh",
        Fallback::Number(0.02),
        "share of lost packets above which a volume is too much",
    ),
    Parameter::share(
        "beta",
        Fallback::Number(0.7),
        "share that bounds keep at least when losses lower them",
    )
    .between(0.1, 1.0),
    Parameter::share(
        "headroom",
        Fallback::Number(0.15),
        "part of the long-term volume that cruising leaves to others",
    )
    .between(0.0, 0.9),
    options::probe_rtt_interval(5, "time without a lower RTT after which PROBE_RTT begins"),
    options::PROBE_RTT,
];

/// No bound.
const UNBOUNDED: u32 = u32::MAX;
/// Fewest packets in flight (`BBR.MinPipeCwnd`).
const MIN_PIPE: u32 = 4;

/// The differences of the versions; gains in 1/256.
#[derive(Clone, Copy, Debug)]
struct Version {
    startup_gain: u32,
    startup_cwnd_gain: u32,
    drain_gain: u32,
    down_gain: u32,
    up_cwnd_gain: u32,
    /// ACKs with losses in a round that may end STARTUP.
    full_loss_events: u32,
    /// Whether UP lasts until bandwidth stops growing rather than until 1.25 BDP are in flight.
    up_until_plateau: bool,
    /// Whether a STARTUP ended by loss may keep the volume delivered in a round.
    keeps_delivered_volume: bool,
    /// Rounds after which DRAIN gives up.
    drain_rounds: u32,
}

/// Section 5.6.1 of the draft; 277, 50, 90, 225 percent.
const V3: Version = Version {
    startup_gain: UNIT * 277 / 100 + 1,
    startup_cwnd_gain: 2 * UNIT,
    drain_gain: UNIT / 2,
    down_gain: UNIT * 90 / 100,
    up_cwnd_gain: UNIT * 9 / 4,
    full_loss_events: 6,
    up_until_plateau: true,
    keeps_delivered_volume: true,
    drain_rounds: 3,
};

/// `bbr_*` parameters of google/bbr v2alpha.
const V2: Version = Version {
    startup_gain: units::HIGH_GAIN,
    startup_cwnd_gain: units::HIGH_GAIN,
    drain_gain: units::DRAIN_GAIN,
    down_gain: UNIT * 3 / 4,
    up_cwnd_gain: 2 * UNIT,
    full_loss_events: 8,
    up_until_plateau: false,
    keeps_delivered_volume: false,
    drain_rounds: u32::MAX,
};

/// The options; shares are in 1/256.
#[derive(Clone, Copy, Debug)]
struct Settings {
    loss_thresh: u32,
    beta: u32,
    headroom: u32,
    probe_rtt_interval: Duration,
    probe_rtt_time: Duration,
}

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
struct Saved {
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
    saved: Saved,
    round: Round,
    loss_round: LossRound,
    full_pipe: FullPipe,
    probe: Probe,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    drain_start_round: u32,
    pacing: Pacing,
    window: Window,
    idle_restart: bool,
    ignores_samples: bool,
    started: bool,
}

impl Bbr3 {
    /// `OnInit`.
    fn new(config: CcConfig, version: Version) -> Self {
        let mut bbr = Self {
            version,
            settings: Settings::new(&config.options),
            mss: config.mss,
            initial_cwnd: config.initial_cwnd,
            mode: Mode::Startup,
            cycles: [0; 2],
            bounds: FREE,
            saved: Saved { bounds: FREE, mode: None },
            round: Round::default(),
            loss_round: LossRound::default(),
            full_pipe: FullPipe::default(),
            probe: Probe::default(),
            min_rtt: MinRtt::new(config.initial_rtt),
            aggregation: Aggregation::default(),
            drain_start_round: 0,
            pacing: Pacing::new(config.profile.bbr.pacing),
            window: Window::new(config.initial_cwnd),
            idle_restart: false,
            ignores_samples: false,
            started: false,
            random: config.random,
        };
        bbr.init_pacing_rate(config.initial_rtt);
        bbr
    }

    /// The flow's first packet: clocks start here, not with the run.
    fn start(&mut self, now: Time) {
        if !self.started {
            self.started = true;
            self.min_rtt.start(now);
            self.aggregation.begin_epoch(now.as_micros());
        }
    }

    /// `SaveStateUponLoss`.
    fn save_state(&mut self) {
        self.window.save(self.mode == Mode::ProbeRtt);
        self.saved = Saved { bounds: self.bounds, mode: None };
    }

    /// `UpdateModelAndState`.
    fn update_model(&mut self, sample: &AckSample, signals: Option<&Signals>) {
        self.round.start = false;
        self.loss_round.start = false;
        if sample.lost > 0 {
            self.note_loss(sample.delivered);
            self.loss_round.events += 1;
        }
        if let Some(signals) = signals {
            self.update_latest(signals, sample.delivered);
            self.update_congestion(signals, sample.delivered);
            self.update_aggregation(sample);
            self.check_full_pipe(signals);
            self.check_startup_done(sample, signals);
        }
        self.check_drain_done(sample);
        if let Some(signals) = signals {
            self.update_cycle(sample, signals);
        }
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample);
        if let Some(signals) = signals {
            self.loss_round.advance(signals);
        }
    }

    /// `UpdateACKAggregation`.
    fn update_aggregation(&mut self, sample: &AckSample) {
        if sample.acked == 0 {
            return;
        }
        if self.round.start {
            // In STARTUP one round is remembered, later five to ten.
            self.aggregation.begin_round_of(if self.full_pipe.reached { 5 } else { 1 });
        }
        let delivered_us = sample.delivered_at.as_micros();
        self.aggregation.update(sample.acked, delivered_us, self.bw(), self.window.cwnd);
    }
}

impl CongestionControl for Bbr3 {
    /// `UpdateOnACK`.
    fn on_ack(&mut self, sample: &AckSample) {
        self.start(sample.now);
        self.mss = sample.mss;
        let signals = sample.rate.map(|rate| Signals::new(&rate, sample));
        self.update_model(sample, signals.as_ref());
        self.set_pacing_rate(self.pacing_gain(), Some(sample.srtt));
        self.set_cwnd(sample);
    }

    fn watches_packets(&self) -> bool {
        true
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
            return self.window.save(self.mode == Mode::ProbeRtt);
        };
        if reduce {
            self.save_state();
        }
        if !self.is_probing() && self.bounds.short == UNBOUNDED {
            // The short-term bound starts from the window before the timeout.
            self.bounds.short = self.window.cwnd.max(self.window.prior_cwnd);
        }
        self.window.collapse(event.in_flight);
    }

    /// `HandleSpuriousLossDetection`.
    fn on_undo(&mut self, event: &UndoEvent) {
        self.window.restore();
        self.loss_round.is_lossy = false;
        self.full_pipe.reset(0);
        let (now, then) = (self.bounds, self.saved.bounds);
        self.bounds = Bounds {
            bw_short: now.bw_short.max(then.bw_short),
            short: now.short.max(then.short),
            long: now.long.max(then.long),
        };
        self.return_to_probing(event.delivered);
    }

    /// `HandleRestartFromIdle`.
    fn on_start(&mut self, event: &StartEvent) {
        self.start(event.now);
        if !event.app_limited {
            return;
        }
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

    fn owns_recovery(&self) -> bool {
        true
    }

    fn min_tso_segs(&self, pacing_rate: Rate) -> u32 {
        units::min_tso_segs(pacing_rate.as_bytes_per_sec())
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

impl Settings {
    fn new(options: &Values) -> Self {
        let share = |name| share_in_units(options.number(name));
        Self {
            loss_thresh: share("loss_thresh"),
            beta: share("beta"),
            headroom: share("headroom"),
            probe_rtt_interval: options.duration("probe_rtt_interval"),
            probe_rtt_time: options.duration("probe_rtt"),
        }
    }
}

/// Rounded to the nearest 1/256, as Linux's constants are to the next.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares are from 0 to 1"
)]
fn share_in_units(share: f64) -> u32 {
    (share * f64::from(UNIT) + 0.5) as u32
}

/// `value * share`, the share in 1/256, rounded down.
fn part(value: u32, share: u32) -> u32 {
    let scaled = (u64::from(value) * u64::from(share)) >> units::GAIN_SCALE;
    u32::try_from(scaled).unwrap_or(u32::MAX)
}
