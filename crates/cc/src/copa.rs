//! Copa (Arun and Balakrishnan, NSDI 2018): a target rate from the queueing delay, with
//! a competitive mode beside flows that fill the buffer.

use narrows_base::registry::{Info, Parameter, Role};
use narrows_base::{Duration, Rate, Time};

use crate::config::{CcConfig, Entry};
use crate::control::{CongestionControl, Control, INFINITE_SSTHRESH, Needs};
use crate::events::{AckSample, CongestionEvent, UndoEvent};
use crate::extreme::{Extreme, SlidingExtreme};
use crate::samples::Congestion;

/// The registry's entry.
pub(crate) static COPA: Entry = Entry {
    info: Info {
        name: "copa",
        title: "Copa",
        family: "delay",
        summary: "sends at 1/(delta x queueing delay); competes where the queue never empties",
        source: "Arun and Balakrishnan, NSDI 2018; the authors' genericCC",
        role: Role::Control { ecn: None, paces: true },
        parameters: &[
            Parameter::number(
                "delta",
                0.5,
                "weight of delay against rate: about 1/delta packets queue per flow",
            )
            .between(0.001, 1.0),
            Parameter::flag("competitive", true, "switch to AIMD on 1/delta beside buffer-fillers"),
            Parameter::number(
                "resolution",
                1.0,
                "this many of its own packets in the queue count as none; 0 as published",
            )
            .between(0.0, 10.0),
        ],
    },
    build: |config| Box::new(Copa::new(&config)),
};

/// Window of the lowest RTT.
const MIN_WINDOW: Duration = Duration::from_secs(10);
/// Round trips over which the highest RTT is taken.
const MAX_ROUNDS: u64 = 4;
/// Round trips within which the queue of Copa flows nearly empties.
const EMPTY_ROUNDS: u64 = 5;
/// Round trips in one direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Fewest packets.
const MIN_CWND: f64 = 2.0;
/// The most packets; a larger window is useless.
const MAX_CWND: f64 = 1e7;

/// How fast the window moves (section 2.2 of the paper).
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    rises: bool,
    rounds: u32,
    /// The window and the time at the last update.
    cwnd: f64,
    at: Time,
}

/// Copa.
#[derive(Clone, Debug)]
struct Copa {
    mss: u32,
    cwnd: f64,
    slow_start: bool,
    default_delta: f64,
    may_compete: bool,
    /// How many of its own packets a queueing delay must exceed to count.
    resolution: f64,
    /// 1/delta in force.
    inverse_delta: f64,
    competes: bool,
    lowest: SlidingExtreme,
    standing: SlidingExtreme,
    highest: SlidingExtreme,
    standing_rtt: Option<Duration>,
    queueing: Duration,
    /// When the queue was last nearly empty.
    emptied: Time,
    velocity: Velocity,
    /// The last increase or decrease of 1/delta while competing.
    adjusted: Time,
    is_lossy: bool,
    initial_rtt: Duration,
}

impl Copa {
    fn new(config: &CcConfig) -> Self {
        let cwnd = f64::from(config.initial_cwnd);
        let delta = config.options.number("delta");
        Self {
            mss: config.mss,
            cwnd,
            slow_start: true,
            default_delta: delta,
            may_compete: config.options.flag("competitive"),
            resolution: config.options.number("resolution"),
            inverse_delta: 1.0 / delta,
            competes: false,
            lowest: SlidingExtreme::new(Extreme::Lowest),
            standing: SlidingExtreme::new(Extreme::Lowest),
            highest: SlidingExtreme::new(Extreme::Highest),
            standing_rtt: None,
            queueing: Duration::ZERO,
            emptied: Time::ZERO,
            velocity: Velocity { value: 1.0, rises: true, rounds: 0, cwnd, at: Time::ZERO },
            adjusted: Time::ZERO,
            is_lossy: false,
            initial_rtt: config.initial_rtt.unwrap_or(Duration::from_millis(1)),
        }
    }

    /// Takes an RTT sample; the standing RTT leaves out ACK compression.
    fn take_rtt(&mut self, now: Time, rtt: Duration, srtt: Duration) {
        if self.standing_rtt.is_none() {
            (self.emptied, self.velocity.at, self.adjusted) = (now, now, now);
        }
        let lowest = self.lowest.update(now, MIN_WINDOW, rtt);
        let standing = self.standing.update(now, srtt / 2, rtt);
        let highest = self.highest.update(now, srtt * MAX_ROUNDS, rtt);
        self.standing_rtt = Some(standing);
        self.queueing = standing.saturating_sub(lowest);
        if self.is_nearly_empty(standing, highest.saturating_sub(lowest)) {
            self.emptied = now;
        }
    }

    /// Returns `true` if the queueing delay is below a tenth of its recent swing (section 2.2).
    ///
    /// The queue of Copa flows touches zero once in five round trips and swings by 2.5/delta
    /// packets of each, so a tenth is half of a packet. ACKs for two packets each don't
    /// resolve that: the RTT of the second contains the first. The paper's receiver
    /// acknowledges every packet; the authors' code for Linux (ccp_copa) adds 100 us to the
    /// tenth. Here it is the time between the flow's own packets, which fits any rate. Beside
    /// a full buffer it is at most half of the delay: 1/delta packets of each flow queue.
    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    fn is_nearly_empty(&self, standing: Duration, swing: Duration) -> bool {
        let noise = self.resolution * standing.as_nanos() as f64 / self.cwnd;
        (self.queueing.as_nanos() as f64 - noise) * 10.0 <= swing.as_nanos() as f64
    }

    /// Switches modes, and runs AIMD on 1/delta while competing (section 2.3).
    fn choose_mode(&mut self, now: Time, srtt: Duration) {
        let filled = now.saturating_since(self.emptied) > srtt * EMPTY_ROUNDS;
        let default = 1.0 / self.default_delta;
        if !(self.may_compete && filled) {
            self.competes = false;
            self.inverse_delta = default;
        } else if !self.competes {
            self.competes = true;
            self.adjusted = now;
            self.is_lossy = false;
        }
        if self.competes && now.saturating_since(self.adjusted) >= srtt {
            let wanted =
                if self.is_lossy { self.inverse_delta / 2.0 } else { self.inverse_delta + 1.0 };
            self.inverse_delta = wanted.clamp(default, MAX_CWND);
            self.is_lossy = false;
            self.adjusted = now;
        }
    }

    /// Returns `true` if the window is below the target rate's.
    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    fn is_below_target(&self, standing: Duration) -> bool {
        // cwnd / standing <= 1 / (delta x queueing)
        let queueing = self.queueing.as_nanos() as f64;
        self.cwnd * queueing <= self.inverse_delta * standing.as_nanos() as f64
    }

    /// Once a round trip: doubles the velocity after three in the same direction.
    fn update_velocity(&mut self, now: Time, srtt: Duration) {
        let velocity = &mut self.velocity;
        if now.saturating_since(velocity.at) < srtt {
            return;
        }
        let rises = self.cwnd > velocity.cwnd;
        if rises == velocity.rises {
            velocity.rounds += 1;
            if velocity.rounds >= STEADY_ROUNDS {
                velocity.value *= 2.0;
            }
        } else {
            (velocity.rises, velocity.rounds, velocity.value) = (rises, 0, 1.0);
        }
        // The window at most doubles in a round trip.
        velocity.value = velocity.value.min(self.cwnd / self.inverse_delta).max(1.0);
        (velocity.cwnd, velocity.at) = (self.cwnd, now);
    }

    fn move_window(&mut self, sample: &AckSample, standing: Duration) {
        let below = self.is_below_target(standing);
        if below && !sample.cwnd_limited {
            return;
        }
        let acked = f64::from(sample.acked);
        if self.slow_start && below {
            self.cwnd += acked;
        } else {
            self.slow_start = false;
            if below != self.velocity.rises {
                // Past the target: no momentum beyond it.
                self.velocity.value = 1.0;
                self.velocity.rounds = 0;
                self.velocity.rises = below;
            }
            let step = self.velocity.value * self.inverse_delta * acked / self.cwnd;
            self.cwnd += if below { step } else { -step };
        }
        self.cwnd = self.cwnd.clamp(MIN_CWND, MAX_CWND);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that becomes a whole number saturates"
    )]
    fn window(&self) -> u32 {
        self.cwnd as u32
    }
}

impl CongestionControl for Copa {
    fn needs(&self) -> Needs {
        Needs { burst_bound: true, ..Needs::OWN_RECOVERY }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.mss = sample.mss;
        self.is_lossy |= sample.lost > 0;
        let Some(rtt) = sample.rtt.filter(|rtt| !rtt.is_zero()) else { return };
        let srtt = if sample.srtt.is_zero() { rtt } else { sample.srtt };
        self.take_rtt(sample.now, rtt, srtt);
        self.choose_mode(sample.now, srtt);
        self.update_velocity(sample.now, srtt);
        self.move_window(sample, self.standing_rtt.unwrap_or(rtt));
    }

    /// Losses affect the window only through 1/delta. A timeout starts over.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.is_lossy = true;
        if matches!(event.kind, Congestion::Timeout { .. }) {
            self.cwnd = f64::from(event.in_flight.saturating_add(1)).max(MIN_CWND);
            self.slow_start = true;
            self.velocity.value = 1.0;
        }
    }

    fn on_undo(&mut self, _event: &UndoEvent) {}

    /// Paces at twice the window per standing RTT, to avoid bursts only.
    fn control(&self) -> Control {
        let standing = self.standing_rtt.unwrap_or(self.initial_rtt).as_micros().max(1);
        let bits = u128::from(self.window()) * u128::from(self.mss) * 8 * 2;
        let bps = u64::try_from(bits * 1_000_000 / u128::from(standing)).unwrap_or(u64::MAX);
        Control {
            cwnd: self.window(),
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: Some(Rate::from_bps(bps.max(1))),
            app_limited: false,
        }
    }

    /// Packet by packet, as the authors' sender: with bursts Copa finds its own queue and mistakes
    /// it for that of flows that fill the buffer.
    fn max_tso_segs(&self) -> u32 {
        1
    }

    fn min_tso_segs(&self, _pacing_rate: Rate) -> u32 {
        1
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("delta", 1.0 / self.inverse_delta);
        visit("velocity", self.velocity.value);
        visit("queueing_ms", self.queueing.as_secs_f64() * 1_000.0);
        visit("competes", f64::from(u8::from(self.competes)));
    }

    fn state(&self) -> &'static str {
        match (self.slow_start, self.competes) {
            (true, _) => "slow_start",
            (false, true) => "competitive",
            (false, false) => "default",
        }
    }
}
