//! Random quantities: sizes and times drawn from a distribution.

use narrows_base::Stream;

use crate::law::Law;

/// A distribution with its own random stream.
#[derive(Clone, Debug)]
pub struct Draw {
    law: Law,
    random: Stream,
}

impl Draw {
    /// The next value.
    #[expect(clippy::should_implement_trait, reason = "it never ends, and an iterator may")]
    pub fn next(&mut self) -> u64 {
        self.law.at(self.random.next_u64() >> 32)
    }
}

/// Makes the draws of a flow, with a stream for each quantity.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    /// The run's seed.
    pub seed: u64,
    /// The flow's name.
    pub flow: &'a str,
}

impl Draws<'_> {
    /// The draws of a quantity, such as "size".
    #[must_use]
    pub fn of(&self, law: &Law, quantity: &str) -> Draw {
        let name = format!("workload/{}/{quantity}", self.flow);
        Draw { law: law.clone(), random: Stream::new(self.seed, &name) }
    }
}

#[cfg(test)]
mod tests {
    use crate::law::CERTAIN;

    use super::*;

    #[test]
    fn draws_have_the_mean_of_the_law() {
        let law = Law::Points(vec![(0, 100), (CERTAIN / 2, 200), (CERTAIN, 1_200)]);
        let draws = Draws { seed: 1, flow: "f" };
        let mut draw = draws.of(&law, "size");
        let total: u64 = (0..100_000).map(|_| draw.next()).sum();
        assert!((42_000_000..43_000_000).contains(&total), "425 each: {total}");
        let mut other = draws.of(&law, "gap");
        assert_ne!(draw.next(), other.next(), "separate streams");
    }
}
