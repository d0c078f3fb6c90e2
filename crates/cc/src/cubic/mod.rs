//! CUBIC: Linux's integer version by default, RFC 9438's and HyStart++ on demand.

mod curve;
mod rfc9438;
mod root;

use narrows_base::Jiffies;
use narrows_base::registry::{FormerNumbers, Info, Parameter, ParameterDefault, Role};
use narrows_base::{Duration, Time};

use self::curve::{Curve, CurveParameters};
use self::rfc9438::Rfc9438;
use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control};
use crate::events::{AckSample, CongestionEvent, DeliveredSample, StartEvent, UndoEvent};
use crate::profile::HystartClock;
use crate::samples::{Congestion, Unused};
use crate::slow_start::hystart::HystartParameters;
use crate::slow_start::{self, Delay, Exit};
use crate::window::LossWindow;

/// The registry's entry.
pub(crate) static CUBIC: Entry = Entry {
    info: Info {
        name: "cubic",
        title: "CUBIC",
        family: "loss",
        summary: "a cubic function of the time since the last loss, Linux's default",
        source: "RFC 9438; Linux tcp_cubic.c; HyStart (Ha and Rhee 2011); RFC 9406; \
                 draft-chung-ccwg-search-09",
        role: Role::Control { ecn: None, paces: false },
        parameters: &[
            slow_start::option("hystart"),
            Parameter::word(
                "hystart_detect",
                &["train", "delay", "both"],
                "both",
                "HyStart's detectors: the ACK train, the delay, or both",
            )
            .formerly(
                "hystart_detect",
                FormerNumbers::Words(&[(1, "train"), (2, "delay"), (3, "both")]),
            ),
            Parameter::packets(
                "hystart_low_window",
                ParameterDefault::Whole(16),
                "smallest window at which HyStart detects",
            )
            .at_most(1_000_000),
            Parameter::duration(
                "hystart_ack_delta",
                ParameterDefault::ms(2),
                "largest gap in a train of ACKs",
            )
            .at_most(1_000_000_000)
            .in_steps_of(1_000)
            .formerly("hystart_ack_delta_us", FormerNumbers::Unit("us")),
            Parameter::whole(
                "beta",
                ParameterDefault::Whole(717),
                "window kept on loss, in 1/1024",
            )
            .positive()
            .at_most(1_023),
            Parameter::whole(
                "bic_scale",
                ParameterDefault::Whole(41),
                "C in 1/102.4 packets per second cubed (not with rfc9438)",
            )
            .positive()
            .at_most(1_024),
            Parameter::flag(
                "fast_convergence",
                true,
                "give up more after a loss below the last maximum",
            ),
            Parameter::flag("tcp_friendliness", true, "grow at least as fast as Reno"),
            Parameter::flag("rfc9438", false, "RFC 9438's real-valued growth instead of Linux's"),
        ],
    },
    build: |config| Box::new(Cubic::new(&config)),
};

/// The growth of the window after slow start.
#[derive(Clone, Debug)]
enum Growth {
    Linux(Curve),
    Rfc(Rfc9438),
}

/// CUBIC.
#[derive(Clone, Debug)]
struct Cubic {
    window: LossWindow,
    growth: Growth,
    exit: Exit,
    jiffies: Jiffies,
    clock: HystartClock,
    /// Lowest delay in the clock's unit; it never expires.
    delay_min: Option<u64>,
    started: bool,
}

impl Cubic {
    fn new(config: &CcConfig) -> Self {
        let jiffies = Jiffies::new(config.profile.hz);
        Self {
            window: LossWindow::new(config.initial_cwnd),
            growth: growth(config, jiffies),
            exit: exit(config),
            jiffies,
            clock: config.profile.cubic.clock,
            delay_min: None,
            started: false,
        }
    }

    /// Returns `true` while RTT samples are ignored: in the first second of an epoch they still
    /// show the queue of the previous one.
    fn discards_samples(&self, now: Time) -> bool {
        match &self.growth {
            Growth::Linux(curve) => curve.epoch().is_some_and(|epoch| {
                self.jiffies.at(now).saturating_sub(epoch) < self.jiffies.per_second()
            }),
            Growth::Rfc(curve) => curve
                .epoch()
                .is_some_and(|epoch| now.saturating_since(epoch) < Duration::from_secs(1)),
        }
    }

    fn congestion_avoidance(&mut self, sample: &AckSample, acked: u32) {
        let cwnd = self.window.cwnd;
        match &mut self.growth {
            Growth::Linux(curve) => {
                let delay = self.clock.jiffies(self.delay_min.unwrap_or(0), self.jiffies);
                let per = curve.update(self.jiffies.at(sample.now), delay, cwnd, acked);
                self.window.additive_increase(per, acked);
            }
            Growth::Rfc(curve) => {
                let growth = curve.growth(sample.now, sample.srtt, cwnd, acked);
                self.window.cwnd = cwnd.saturating_add(growth);
            }
        }
    }

    /// A timeout forgets the path and restarts the detection of slow start's end
    /// (`cubictcp_state`).
    fn forget(&mut self, event: &CongestionEvent) {
        self.delay_min = None;
        match &mut self.growth {
            Growth::Linux(curve) => curve.reset(),
            Growth::Rfc(curve) => curve.forget(),
        }
        self.exit.rearm(event);
    }

    /// Begins HyStart's first round with the flow's first packet.
    fn start(&mut self, now: Time) {
        if !self.started {
            self.started = true;
            self.exit.start(now);
        }
    }
}

impl CongestionControl for Cubic {
    /// `cubictcp_acked`.
    fn on_delivered(&mut self, sample: &DeliveredSample) {
        self.start(sample.now);
        self.exit.on_ack(sample);
        let Some(rtt) = sample.rtt else { return };
        if self.discards_samples(sample.now) {
            return;
        }
        let delay = self.clock.delay(rtt);
        let delay_min = self.delay_min.map_or(delay, |lowest| lowest.min(delay));
        self.delay_min = Some(delay_min);
        // While PRR reduces, its window may be below the threshold: Linux uses that one
        // (`tcp_in_slow_start`), and HyStart may still fire.
        let cwnd = sample.prr_cwnd.unwrap_or(self.window.cwnd);
        if cwnd >= self.window.ssthresh {
            return;
        }
        let delay = Delay { latest: delay, lowest: delay_min };
        if self.exit.on_sample(sample, cwnd, delay) {
            self.window.ssthresh = cwnd;
            self.window.cwnd = cwnd;
        }
    }

    /// `cubictcp_cong_avoid`.
    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.may_grow || !sample.cwnd_limited {
            return;
        }
        let mut acked = sample.acked;
        if self.window.in_slow_start() {
            acked = self.window.slow_start(self.exit.growth(sample.now, acked));
            if acked == 0 {
                return;
            }
        }
        self.congestion_avoidance(sample, acked);
    }

    /// `cubictcp_recalc_ssthresh`, and `cubictcp_state` on a timeout.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        let growth = &mut self.growth;
        self.window.on_congestion(event, |cwnd| match growth {
            Growth::Linux(curve) => curve.end_epoch(cwnd),
            Growth::Rfc(curve) => curve.end_epoch(cwnd),
        });
        self.exit.on_congestion();
        if matches!(event.kind, Congestion::Timeout { .. }) {
            self.forget(event);
        }
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.window.on_undo(event);
        if let Growth::Rfc(curve) = &mut self.growth {
            curve.undo();
        }
    }

    /// `CA_EVENT_TX_START`.
    fn on_start(&mut self, event: &StartEvent) {
        self.start(event.now);
        let Some(last) = event.last_sent else { return };
        match &mut self.growth {
            Growth::Linux(curve) => {
                curve.skip_pause(self.jiffies.at(event.now), self.jiffies.at(last));
            }
            Growth::Rfc(curve) => curve.skip_pause(event.now, event.now.saturating_since(last)),
        }
    }

    fn on_threshold(&mut self, ssthresh: u32) {
        self.window.ssthresh = ssthresh;
    }

    fn on_unused(&mut self, unused: Unused) {
        self.window.on_unused(unused);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match &self.growth {
            Growth::Linux(curve) => curve.inspect(visit),
            Growth::Rfc(curve) => curve.inspect(visit),
        }
        if let Some(delay) = self.delay_min {
            visit("delay_min_ms", self.clock.millis(delay));
        }
        if let Some(found) = self.exit.hystart_found() {
            visit("hystart_found", f64::from(u8::from(found)));
        }
    }

    fn state(&self) -> &'static str {
        if self.exit.is_conservative() && self.window.in_slow_start() {
            "conservative_slow_start"
        } else {
            self.window.phase()
        }
    }
}

fn growth(config: &CcConfig, jiffies: Jiffies) -> Growth {
    let beta: u32 = config.options.whole("beta");
    let fast_convergence = config.options.flag("fast_convergence");
    let friendly = config.options.flag("tcp_friendliness");
    if config.options.flag("rfc9438") {
        // RFC 9438 has 0.7, Linux 717/1024.
        let beta = if beta == 717 { 0.7 } else { f64::from(beta) / 1024.0 };
        return Growth::Rfc(Rfc9438::new(beta, fast_convergence, friendly));
    }
    let scale = config.options.whole("bic_scale");
    Growth::Linux(Curve::new(CurveParameters { beta, scale, fast_convergence, friendly }, jiffies))
}

fn exit(config: &CcConfig) -> Exit {
    let ack_delta = config.options.duration("hystart_ack_delta").as_micros();
    let detect = config.options.word("hystart_detect");
    let parameters = HystartParameters {
        by_train: detect != "delay",
        by_delay: detect != "train",
        low_window: config.options.packets("hystart_low_window"),
        ack_delta_us: u32::try_from(ack_delta).expect("at most a second"),
    };
    Exit::new(parameters, config)
}
