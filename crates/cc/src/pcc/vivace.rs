//! PCC Vivace (Dong et al., NSDI 2018): climbs the gradient of a utility that is
//! concave in the rate.

use narrows_base::Stream;
use narrows_base::registry::{Info, Parameter, Role};

use super::monitor::Outcome;
use super::real::power_nine_tenths;
use super::{Pcc, Strategy, Trial, initial_mbps};
use crate::config::{CcConfig, Entry};

/// The registry's entry.
pub(crate) static PCC_VIVACE: Entry = Entry {
    info: Info {
        name: "pcc_vivace",
        title: "PCC Vivace",
        family: "pcc",
        summary: "climbs the gradient of a utility of rate, loss and the RTT's slope",
        source: "Dong et al., PCC Vivace: Online-Learning Congestion Control, NSDI 2018; step limits \
                 of the authors' PCC-Uspace",
        role: Role::Control { ecn: None, paces: true },
        parameters: &[
            Parameter::number(
                "latency",
                900.0,
                "weight b of the RTT's slope; 0 makes it Vivace-Loss",
            )
            .between(0.0, 100_000.0),
            Parameter::number(
                "loss",
                11.35,
                "weight c of the loss rate L: the best rate is (0.9 / (c L))^10 Mbit/s, 100 for 11.35 and 5 %",
            )
            .between(0.0, 10_000.0),
        ],
    },
    build: |config| {
        let strategy = Vivace::new(&config);
        Box::new(Pcc::new(config, strategy))
    },
};

/// Step of a trial (section 4).
const EPSILON: f64 = 0.05;
/// Converts a gradient into Mbit/s.
const THETA: f64 = 1.0;
/// The initial bound of a change, and its increment, as parts of the rate.
const BOUND: (f64, f64) = (0.05, 0.05);
/// Slopes of the RTT below this are noise (section 5).
const SLOPE_NOISE: f64 = 0.01;

/// The phase of the algorithm.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Doubles until the utility falls.
    Starting { last: Option<f64>, tried: bool },
    /// Tries a higher and a lower rate.
    Probing { higher_first: bool, tried: u32, first: Option<f64> },
}

const PROBING: Phase = Phase::Probing { higher_first: false, tried: 0, first: None };

/// Vivace.
#[derive(Clone, Debug)]
struct Vivace {
    weights: (f64, f64),
    mbps: f64,
    phase: Phase,
    /// Consecutive changes in the same direction, and that direction.
    streak: u32,
    up: bool,
    /// How often the bound has been raised.
    raised: f64,
    utility: f64,
}

impl Vivace {
    fn new(config: &CcConfig) -> Self {
        Self {
            weights: (config.options.number("latency"), config.options.number("loss")),
            mbps: initial_mbps(config),
            phase: Phase::Starting { last: None, tried: false },
            streak: 0,
            up: true,
            raised: 0.0,
            utility: 0.0,
        }
    }

    /// x^0.9 - b x dRTT/dt - c x L (section 3).
    fn utility_of(&self, outcome: &Outcome) -> f64 {
        let (latency, loss) = self.weights;
        let rate = outcome.sent_mbps;
        let slope = if outcome.rtt_slope.abs() < SLOPE_NOISE { 0.0 } else { outcome.rtt_slope };
        power_nine_tenths(rate) - latency * rate * slope - loss * rate * outcome.loss
    }

    /// Moves along the gradient within a bound, faster the longer the direction stays the same
    /// (section 4).
    fn climb(&mut self, higher: f64, lower: f64) {
        let gradient = (higher - lower) / (2.0 * EPSILON * self.mbps);
        let up = gradient > 0.0;
        if up != self.up {
            (self.up, self.streak, self.raised) = (up, 0, 0.0);
        }
        self.streak = self.streak.saturating_add(1);
        let change = THETA * confidence(self.streak) * gradient;
        self.mbps += self.bound_change(change);
    }

    fn bound_change(&mut self, change: f64) -> f64 {
        let (first, more) = BOUND;
        let bound = (first + self.raised * more) * self.mbps;
        if change.abs() > bound {
            self.raised += 1.0;
            return if change > 0.0 { bound } else { -bound };
        }
        // The smallest bound that allows this change.
        let needed = (change.abs() / self.mbps - first) / more;
        self.raised = needed.ceil().max(0.0);
        change
    }
}

impl Strategy for Vivace {
    fn round_trips(&self, _random: &mut Stream) -> f64 {
        1.0
    }

    fn next(&mut self, random: &mut Stream) -> Trial {
        match &mut self.phase {
            Phase::Starting { tried, .. } => {
                let wanted = !std::mem::replace(tried, true);
                Trial { mbps: self.mbps, wanted }
            }
            Phase::Probing { tried: 2, .. } => Trial { mbps: self.mbps, wanted: false },
            Phase::Probing { higher_first, tried, .. } => {
                if *tried == 0 {
                    *higher_first = random.chance(0.5);
                }
                let up = *higher_first == (*tried == 0);
                *tried += 1;
                let factor = if up { 1.0 + EPSILON } else { 1.0 - EPSILON };
                Trial { mbps: self.mbps * factor, wanted: true }
            }
        }
    }

    fn take(&mut self, outcome: &Outcome) {
        let utility = self.utility_of(outcome);
        self.utility = utility;
        match self.phase {
            Phase::Starting { last, .. } if last.is_none_or(|last| utility > last) => {
                self.mbps *= 2.0;
                self.phase = Phase::Starting { last: Some(utility), tried: false };
            }
            Phase::Starting { .. } => {
                self.mbps /= 2.0;
                self.phase = PROBING;
            }
            Phase::Probing { higher_first, tried, first: None } => {
                self.phase = Phase::Probing { higher_first, tried, first: Some(utility) };
            }
            Phase::Probing { higher_first, first: Some(first), .. } => {
                let (higher, lower) =
                    if higher_first { (first, utility) } else { (utility, first) };
                self.climb(higher, lower);
                self.phase = PROBING;
            }
        }
    }

    fn mbps(&self) -> f64 {
        self.mbps
    }

    fn clamp(&mut self, lowest: f64, highest: f64) {
        self.mbps = self.mbps.clamp(lowest, highest);
    }

    fn phase(&self) -> &'static str {
        match self.phase {
            Phase::Starting { .. } => "starting",
            Phase::Probing { .. } => "probing",
        }
    }

    fn utility(&self) -> f64 {
        self.utility
    }
}

/// The amplifier m(streak): 1, 2, 3, then two more each time.
fn confidence(streak: u32) -> f64 {
    if streak <= 3 { f64::from(streak) } else { 2.0 * f64::from(streak) - 3.0 }
}
