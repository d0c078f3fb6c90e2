//! Losses unrelated to congestion.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Packet, Stream, Time};

use super::filter::{Fate, Rule};
use crate::element::DropReason;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "loss",
    title: "Random loss",
    family: "loss",
    summary: "loses every packet with the same probability",
    source: "Linux netem loss random (net/sched/sch_netem.c)",
    role: Role::Impairment,
    parameters: &[Parameter::share(
        "probability",
        ParameterDefault::Required,
        "probability of losing a packet",
    )],
};

/// Loses each packet with the same probability, independently of the others.
///
/// It treats all packets alike: to lose data and spare acknowledgements, send
/// only the data through it.
#[derive(Clone, Debug)]
pub struct RandomLoss {
    probability: f64,
    random: Stream,
}

impl RandomLoss {
    /// Loses packets with `probability`. With zero, no random numbers are drawn.
    ///
    /// # Panics
    /// If `probability` isn't in 0 to 1.
    #[must_use]
    pub fn new(probability: f64, random: Stream) -> Self {
        assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        Self { probability, random }
    }

    /// Changes the probability from now on.
    ///
    /// # Panics
    /// If `probability` isn't in 0 to 1.
    pub fn change(&mut self, probability: f64) {
        assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        self.probability = probability;
    }

    /// Decides whether the next packet is lost.
    #[inline]
    pub fn loses_next(&mut self) -> bool {
        self.random.chance(self.probability)
    }
}

impl<B> Rule<B> for RandomLoss {
    #[inline]
    fn fate(&mut self, _: &Packet<B>, now: Time) -> Fate {
        if self.loses_next() { Fate::Dropped(DropReason::RandomLoss) } else { Fate::Passes(now) }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Ecn, FlowId};

    use super::*;
    use crate::{Element as _, Filter};

    const NOW: Time = Time::from_nanos(7);

    fn survivors(probability: f64) -> usize {
        let mut loss = Filter::new(RandomLoss::new(probability, Stream::new(1, "loss")));
        for body in 0..100_000 {
            loss.receive(Packet { flow: FlowId(0), size: 1500, ecn: Ecn::NotEct, body }, NOW);
        }
        let survivors = loss.packet_count();
        let lost: Vec<_> = std::iter::from_fn(|| loss.take_dropped()).collect();
        assert!(lost.iter().all(|d| d.at == NOW && d.reason == DropReason::RandomLoss));
        assert_eq!(survivors + lost.len(), 100_000);
        survivors
    }

    #[test]
    fn the_loss_rate_is_the_probability() {
        assert_eq!(survivors(0.0), 100_000);
        assert!((98_850..99_150).contains(&survivors(0.01)));
        assert_eq!(survivors(1.0), 0);
    }

    #[test]
    #[should_panic(expected = "a probability of 1.5")]
    fn an_impossible_probability_panics() {
        let _ = RandomLoss::new(1.5, Stream::new(1, "loss"));
    }
}
