//! BBR version 1 as in Linux (`tcp_bbr.c`): a model of the path from its delivery
//! rate and its lowest RTT.

mod buffer;
mod cap;
mod capacity;
mod long_term;
mod machine;
mod mode;
mod options;
mod prr;
mod rate;
mod rtprop;
mod startup;
#[cfg(test)]
mod tests;
mod volume;

use narrows_base::registry::{Info, Role};
use narrows_base::{Jiffies, Rate, Stream, Time};

use self::buffer::BufferModel;
use self::cap::AdaptiveCap;
use self::capacity::Capacity;
use self::long_term::{Counters, Evidence, LongTerm, LongTermUpdate};
use self::mode::Mode;
pub use self::mode::transitions;
use self::options::{Settings, options};
use self::prr::Prr;
use self::rtprop::Confirmation;
use self::startup::EarlyExit;
use crate::bbr::aggregation::Aggregation;
use crate::bbr::pacing::Pacing;
use crate::bbr::units;
use crate::bbr::window::Window;
use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control, Needs};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::filter::WindowedMax;
use crate::profile::{BbrProfile, CcProfile};
use crate::samples::{Congestion, RecoveryState};

/// The registry's entry.
pub(crate) static BBR: Entry = Entry {
    info: Info {
        name: "bbr",
        title: "BBR",
        family: "bbr",
        summary: "version 1: paces at the bandwidth that it measures, two BDP in flight",
        source: "Cardwell et al., CACM 2017; Linux tcp_bbr.c",
        role: Role::Control { ecn: None, paces: true },
        parameters: &options(2.0),
    },
    build: |config| Box::new(Bbr::new(config)),
};

/// The registry's entry of the variant with a smaller window.
pub(crate) static BBR_SHALLOW: Entry = Entry {
    info: Info {
        name: "bbr_shallow",
        title: "BBR Shallow",
        family: "bbr",
        summary: "BBR with 1.5 BDP in flight instead of 2",
        source: "Claypool et al., AICT 2019, section IV-E1; Linux tcp_bbr.c",
        role: Role::Control { ecn: None, paces: true },
        parameters: &options(1.5),
    },
    build: |config| Box::new(Bbr::new(config)),
};

/// Bandwidth, and the rounds of its filter.
#[derive(Clone, Debug, Default)]
struct Bandwidth {
    max: WindowedMax,
    rounds: u32,
    /// True if this ACK began a round.
    round_start: bool,
    /// The round ends when a packet is acknowledged that was sent after this many were delivered.
    next_round: u64,
}

/// The lowest RTT and its age.
#[derive(Clone, Debug)]
struct MinRtt {
    /// In us; `u32::MAX` before the first sample.
    us: u32,
    /// When it was taken, and for how long it holds, in jiffies.
    stamp: u64,
    window: u64,
}

/// Detection of a full pipe in STARTUP.
#[derive(Clone, Debug, Default)]
struct FullPipe {
    reached: bool,
    bw: u32,
    rounds: u8,
}

/// PROBE_RTT's progress.
#[derive(Clone, Debug, Default)]
struct ProbeRtt {
    /// When it may end, in jiffies; set once little is in flight.
    done: Option<u64>,
    round_done: bool,
    /// True if BBR was in PROBE_RTT at the latest ACK.
    ignores_samples: bool,
}

/// The state of published proposals.
#[derive(Clone, Debug)]
struct Proposals {
    early_exit: Option<EarlyExit>,
    capacity: Option<Capacity>,
    cap: Option<AdaptiveCap>,
    buffer: Option<BufferModel>,
    prr: Option<Prr>,
}

impl Proposals {
    /// The state of those that the settings ask for; `None` if they ask for none.
    fn new(settings: &Settings, profile: &CcProfile) -> Option<Box<Self>> {
        let memory = settings.buffer_model;
        let proposals = Self {
            early_exit: settings.startup_hystart.then(|| EarlyExit::new(profile.cubic)),
            capacity: settings.startup_capacity.then(Capacity::default),
            cap: settings.adaptive_cap.then(|| AdaptiveCap::new(settings.cwnd_gain)),
            buffer: memory.map(|memory| BufferModel::new(memory, settings.buffer_growth)),
            prr: None,
        };
        let is_any = proposals.early_exit.is_some()
            || proposals.capacity.is_some()
            || proposals.cap.is_some()
            || proposals.buffer.is_some()
            || settings.prr;
        is_any.then(|| Box::new(proposals))
    }
}

/// BBR version 1.
#[derive(Clone, Debug)]
struct Bbr {
    profile: BbrProfile,
    settings: Settings,
    jiffies: Jiffies,
    random: Stream,
    mss: u32,
    mode: Mode,
    bandwidth: Bandwidth,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    probe_rtt: ProbeRtt,
    long_term: LongTerm,
    aggregation: Aggregation,
    confirmation: Confirmation,
    /// Apart, since most flows have none, and every ACK passes over the rest.
    proposals: Option<Box<Proposals>>,
    cycle: usize,
    cycle_us: u64,
    /// Length of a cycle that drains to target, in lowest RTTs.
    cycle_length: u64,
    pacing_gain: u32,
    cwnd_gain: u32,
    pacing: Pacing,
    window: Window,
    packet_conservation: bool,
    idle_restart: bool,
    /// When something was last delivered, in us.
    delivered_us: u64,
    started: bool,
}

impl Bbr {
    /// `bbr_init`.
    fn new(config: CcConfig) -> Self {
        let settings = Settings::new(config.options);
        let jiffies = Jiffies::new(config.profile.hz);
        let mut bbr = Self {
            profile: config.profile.bbr,
            settings,
            jiffies,
            mss: config.mss,
            mode: Mode::Startup,
            bandwidth: Bandwidth::default(),
            min_rtt: MinRtt {
                us: config.initial_rtt.map_or(u32::MAX, units::micros),
                stamp: 0,
                window: jiffies.ceil_micros(settings.min_rtt_window.as_micros()),
            },
            full_pipe: FullPipe::default(),
            probe_rtt: ProbeRtt::default(),
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            confirmation: Confirmation::default(),
            proposals: Proposals::new(&settings, config.profile),
            cycle: 0,
            cycle_us: 0,
            cycle_length: 0,
            pacing_gain: units::HIGH_GAIN,
            cwnd_gain: units::HIGH_GAIN,
            pacing: Pacing::new(config.profile.bbr.pacing),
            window: Window::new(config.initial_cwnd),
            packet_conservation: false,
            idle_restart: false,
            delivered_us: 0,
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
            self.min_rtt.stamp = self.jiffies.at(now);
            self.aggregation.begin_epoch(now.as_micros());
            if let Some(exit) = self.proposals.as_mut().and_then(|all| all.early_exit.as_mut()) {
                exit.start(now);
            }
        }
    }

    /// The model of the buffer, if there is one.
    fn buffer(&self) -> Option<&BufferModel> {
        self.proposals.as_ref()?.buffer.as_ref()
    }

    /// The bandwidth in use (`bbr_bw`).
    fn bw(&self) -> u32 {
        self.long_term.in_use().unwrap_or_else(|| self.bandwidth.max.get())
    }

    const fn counters(&self, delivered: u64, lost: u64) -> Counters {
        Counters { delivered, lost, delivered_us: self.delivered_us }
    }

    /// Takes a delivery-rate sample (`bbr_update_bw`).
    fn update_bandwidth(&mut self, sample: &AckSample) {
        self.bandwidth.round_start = false;
        let Some(rate) = sample.rate else { return };
        if rate.prior_delivered >= self.bandwidth.next_round {
            self.bandwidth.next_round = sample.delivered;
            self.bandwidth.rounds += 1;
            self.bandwidth.round_start = true;
            self.packet_conservation = false;
        }
        let counters = self.counters(sample.delivered, sample.lost_total);
        self.sample_long_term(counters, sample.lost > 0, rate.app_limited);
        let bw = units::bandwidth(rate.delivered, rate.interval.as_micros());
        if !rate.app_limited || bw >= self.bandwidth.max.get() {
            let rounds = self.bandwidth.rounds;
            self.bandwidth.max.update(self.settings.bw_rounds, rounds, bw);
        }
    }

    fn sample_long_term(&mut self, counters: Counters, losses: bool, app_limited: bool) {
        if !self.settings.long_term {
            return;
        }
        let evidence = Evidence {
            counters,
            losses,
            app_limited,
            round_start: self.bandwidth.round_start,
            probing_bw: self.mode == Mode::ProbeBw,
        };
        match self.long_term.update(&evidence, self.mss, self.profile.pacing) {
            LongTermUpdate::None => {}
            LongTermUpdate::Policed => self.pacing_gain = units::UNIT,
            LongTermUpdate::Expired => self.enter_probe_bw(),
        }
    }

    /// Updates the proposals with an ACK.
    fn update_proposals(&mut self, sample: &AckSample) {
        let Some(proposals) = &mut self.proposals else { return };
        let round_start = self.bandwidth.round_start;
        if let Some(capacity) = proposals.capacity.as_mut().filter(|_| self.mode == Mode::Startup) {
            capacity.update(sample);
        }
        if let Some(cap) = &mut proposals.cap {
            let counts = round_start && self.mode == Mode::ProbeBw;
            let rate = sample.rate.filter(|rate| !rate.app_limited);
            let bw = rate.map(|rate| units::bandwidth(rate.delivered, rate.interval.as_micros()));
            cap.update(sample, bw, counts.then_some(self.min_rtt.us));
        }
        if let Some(buffer) = &mut proposals.buffer {
            if round_start {
                buffer.end_round();
            }
            if sample.state == RecoveryState::Recovery && self.window.prior_state != sample.state {
                buffer.begin_recovery(sample.now);
            }
            buffer.update(sample.now, sample.rtt);
        }
    }

    /// `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, sample: &AckSample) {
        if !self.profile.extra_acked || sample.acked == 0 || sample.rate.is_none() {
            return;
        }
        if self.bandwidth.round_start {
            self.aggregation.begin_round();
        }
        self.aggregation.update(sample.acked, self.delivered_us, self.bw(), self.window.cwnd);
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        Needs {
            deliveries: self.settings.startup_hystart,
            send_buffer_windows: 3,
            ..Needs::OWN_RECOVERY
        }
    }

    /// Takes an RTT sample if STARTUP uses HyStart.
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.start(sample.now);
        self.listen_to_hystart(sample);
    }

    /// `bbr_main`.
    fn on_ack(&mut self, sample: &AckSample) {
        self.start(sample.now);
        self.mss = sample.mss;
        self.delivered_us = sample.delivered_at.as_micros();
        self.update_bandwidth(sample);
        self.update_aggregation(sample);
        self.update_proposals(sample);
        self.update_cycle(sample);
        self.check_full_pipe(sample);
        self.check_drain(sample);
        self.update_min_rtt(sample);
        self.update_gains();
        let bw = self.bw();
        self.set_pacing_rate(bw, self.pacing_gain, Some(sample.srtt));
        self.set_cwnd(sample, bw);
    }

    /// `bbr_ssthresh`, and `bbr_set_state` on a timeout.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let Congestion::Timeout { reduce } = event.kind else {
            return self.window.save(self.mode == Mode::ProbeRtt);
        };
        if reduce {
            self.window.save(self.mode == Mode::ProbeRtt);
        }
        self.window.collapse(event.in_flight);
        self.full_pipe.bw = 0;
        // A timeout ends a round.
        self.bandwidth.round_start = true;
        let counters = self.counters(event.delivered, event.lost_total);
        self.sample_long_term(counters, true, false);
    }

    /// `bbr_undo_cwnd`: the window stays, and the detection of full pipe and policer starts anew.
    fn on_undo(&mut self, event: &UndoEvent) {
        if self.profile.undo_resets_model {
            self.full_pipe.bw = 0;
            self.full_pipe.rounds = 0;
            self.long_term.reset(self.counters(event.delivered, event.lost_total));
        }
    }

    /// `bbr_cwnd_event`: after idling, it paces at the known bandwidth at most.
    fn on_start(&mut self, event: &StartEvent) {
        self.start(event.now);
        if !event.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.begin_epoch(event.now.as_micros());
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(self.bw(), units::UNIT, None),
            Mode::ProbeRtt if self.profile.idle_restart_ends_probe_rtt => {
                self.check_probe_rtt_done(event.now);
            }
            _ => {}
        }
    }

    fn control(&self) -> Control {
        Control {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            pacing_rate: Some(self.pacing.rate()),
            app_limited: self.probe_rtt.ignores_samples,
        }
    }

    fn min_tso_segs(&self, pacing_rate: Rate) -> u32 {
        units::min_tso_segs(pacing_rate.as_bytes_per_sec())
    }

    #[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let mbps = |bw| units::mbps(bw, self.mss);
        let gain = |gain: u32| f64::from(gain) / f64::from(units::UNIT);
        visit("bw_mbps", mbps(self.bw()));
        if self.min_rtt.us != u32::MAX {
            visit("min_rtt_ms", f64::from(self.min_rtt.us) / 1_000.0);
        }
        visit("pacing_gain", gain(self.pacing_gain));
        visit("cwnd_gain", gain(self.cwnd_gain));
        visit("full_bw_mbps", mbps(self.full_pipe.bw));
        visit("full_bw_reached", f64::from(u8::from(self.full_pipe.reached)));
        visit("extra_acked", f64::from(self.aggregation.allowance(u32::MAX)));
        visit("lt_bw_mbps", mbps(self.long_term.bw()));
        visit("lt_use_bw", f64::from(u8::from(self.long_term.in_use().is_some())));
        visit("cycle_idx", f64::from(u32::try_from(self.cycle).expect("eight phases")));
        visit("prior_cwnd", f64::from(self.window.prior_cwnd));
        visit("packet_conservation", f64::from(u8::from(self.packet_conservation)));
        if let Some(full_us) = self.buffer().and_then(BufferModel::full_rtt_us) {
            visit("full_rtt_ms", full_us as f64 / 1_000.0);
        }
    }

    fn state(&self) -> &'static str {
        self.mode.name()
    }
}
