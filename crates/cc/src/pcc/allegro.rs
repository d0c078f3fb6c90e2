//! PCC Allegro (Dong et al., NSDI 2015): randomised trials around the rate, then steps
//! in the better direction for as long as the utility rises.

use narrows_base::Stream;
use narrows_base::registry::{Info, Role};

use super::monitor::Outcome;
use super::real::exponential;
use super::{Pcc, Strategy, Trial, initial_mbps};
use crate::config::Entry;

/// The registry's entry.
pub(crate) static PCC_ALLEGRO: Entry = Entry {
    info: Info {
        name: "pcc_allegro",
        title: "PCC Allegro",
        family: "pcc",
        summary: "tries rates and moves to the better one; tolerates random loss up to 5 %",
        source: "Dong et al., PCC: Re-architecting Congestion Control, NSDI 2015",
        role: Role::Control { ecn: None, paces: true },
        parameters: &[],
    },
    build: |config| {
        let strategy = Allegro::new(initial_mbps(&config));
        Box::new(Pcc::new(config, strategy))
    },
};

/// Smallest and largest step of a trial (section 3.2).
const EPSILON: (f64, f64) = (0.01, 0.05);
/// Steepness of the cut, and the loss rate that is tolerated (section 3.1).
const ALPHA: f64 = 100.0;
const TOLERATED_LOSS: f64 = 0.05;
/// Two pairs of trials decide.
const TRIALS: usize = 4;

/// The phase of the algorithm.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Doubles until the utility falls.
    Starting { last: Option<f64>, tried: bool },
    /// Tries a higher and a lower rate, twice each.
    Deciding { higher: [bool; TRIALS], tried: usize, utilities: [f64; TRIALS], known: usize },
    /// Moves on until the utility falls: `before` is the previous rate, `last` its utility, `step`
    /// the number of steps.
    Adjusting { up: bool, step: f64, before: f64, last: f64, tried: bool },
}

impl Phase {
    const DECIDING: Self =
        Self::Deciding { higher: [false; TRIALS], tried: 0, utilities: [0.0; TRIALS], known: 0 };
}

/// Allegro.
#[derive(Clone, Debug)]
struct Allegro {
    mbps: f64,
    epsilon: f64,
    phase: Phase,
    utility: f64,
}

impl Allegro {
    fn new(mbps: f64) -> Self {
        let phase = Phase::Starting { last: None, tried: false };
        Self { mbps, epsilon: EPSILON.0, phase, utility: 0.0 }
    }

    /// Both pairs must prefer the same direction.
    fn decide(&mut self, higher: [bool; TRIALS], utilities: [f64; TRIALS]) {
        let prefers_up = |pair: usize| {
            let (first, second) = (2 * pair, 2 * pair + 1);
            (utilities[first] > utilities[second]) == higher[first]
        };
        let up = prefers_up(0);
        if up != prefers_up(1) {
            self.epsilon = (self.epsilon + EPSILON.0).min(EPSILON.1);
            self.phase = Phase::DECIDING;
            return;
        }
        let chosen = (0..TRIALS).filter(|&trial| higher[trial] == up);
        let last = chosen.map(|trial| utilities[trial]).sum::<f64>() / 2.0;
        self.mbps *= if up { 1.0 + self.epsilon } else { 1.0 - self.epsilon };
        self.epsilon = EPSILON.0;
        self.step(up, 1.0, last);
    }

    /// Step `step` from a rate whose utility is `last`.
    fn step(&mut self, up: bool, step: f64, last: f64) {
        let change = step * EPSILON.0;
        let before = self.mbps;
        self.mbps *= if up { 1.0 + change } else { (1.0 - change).max(0.5) };
        self.phase = Phase::Adjusting { up, step, before, last, tried: false };
    }
}

impl Strategy for Allegro {
    /// Drawn anew each time, so that the intervals of several flows don't synchronise.
    fn round_trips(&self, random: &mut Stream) -> f64 {
        1.7 + 0.5 * random.unit()
    }

    fn next(&mut self, random: &mut Stream) -> Trial {
        match &mut self.phase {
            Phase::Starting { tried, .. } | Phase::Adjusting { tried, .. } => {
                let wanted = !std::mem::replace(tried, true);
                Trial { mbps: self.mbps, wanted }
            }
            Phase::Deciding { tried: TRIALS, .. } => Trial { mbps: self.mbps, wanted: false },
            Phase::Deciding { higher, tried, .. } => {
                let up = if *tried % 2 == 0 { random.chance(0.5) } else { !higher[*tried - 1] };
                higher[*tried] = up;
                *tried += 1;
                let factor = if up { 1.0 + self.epsilon } else { 1.0 - self.epsilon };
                Trial { mbps: self.mbps * factor, wanted: true }
            }
        }
    }

    fn take(&mut self, outcome: &Outcome) {
        let utility = utility(outcome);
        self.utility = utility;
        match &mut self.phase {
            Phase::Starting { last, .. } if last.is_none_or(|last| utility > last) => {
                self.mbps *= 2.0;
                self.phase = Phase::Starting { last: Some(utility), tried: false };
            }
            Phase::Starting { .. } => {
                self.mbps /= 2.0;
                self.phase = Phase::DECIDING;
            }
            Phase::Deciding { higher, utilities, known, .. } => {
                utilities[*known] = utility;
                *known += 1;
                if *known == TRIALS {
                    let (higher, utilities) = (*higher, *utilities);
                    self.decide(higher, utilities);
                }
            }
            &mut Phase::Adjusting { before, last, .. } if utility < last => {
                self.mbps = before;
                self.phase = Phase::DECIDING;
            }
            &mut Phase::Adjusting { up, step, .. } => self.step(up, step + 1.0, utility),
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
            Phase::Deciding { .. } => "deciding",
            Phase::Adjusting { .. } => "adjusting",
        }
    }

    fn utility(&self) -> f64 {
        self.utility
    }
}

/// T sigmoid(L - 0.05) - x L, with the received throughput T (section 2.2).
fn utility(outcome: &Outcome) -> f64 {
    let (rate, loss) = (outcome.sent_mbps, outcome.loss);
    let cut = 1.0 / (1.0 + exponential(ALPHA * (loss - TOLERATED_LOSS)));
    outcome.received_mbps * cut - rate * loss
}
