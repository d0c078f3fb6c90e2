//! Losses in bursts.

use narrows_base::registry::{Info, Parameter, ParameterDefault, Role};
use narrows_base::{Packet, Stream, Time};

use super::filter::{Fate, Rule};
use crate::element::DropReason;

/// The registry's entry.
pub(crate) static INFO: Info = Info {
    name: "gilbert_elliott",
    title: "Gilbert-Elliott loss",
    family: "loss",
    summary: "loses packets in bursts, by a chain of a good and a bad state",
    source: "Gilbert 1960, Elliott 1963; Linux netem loss gemodel (loss_gilb_ell)",
    role: Role::Impairment,
    parameters: &[
        Parameter::share(
            "p",
            ParameterDefault::Required,
            "probability, per packet, of changing from good to bad",
        ),
        Parameter::share(
            "r",
            ParameterDefault::Off,
            "probability, per packet, of changing back; 1 - p if none",
        ),
        Parameter::share(
            "loss_bad",
            ParameterDefault::Number(1.0),
            "probability of a loss in the bad state: tc's 1-h",
        ),
        Parameter::share(
            "loss_good",
            ParameterDefault::Number(0.0),
            "probability of a loss in the good state: tc's 1-k",
        ),
    ],
};

/// The parameters of `tc`'s `netem loss gemodel`, as probabilities. The default
/// loses nothing: the state never turns bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliottParams {
    /// Per packet, of changing from the good state to the bad: `p`.
    pub p: f64,
    /// Per packet, of changing back: `r`. 1 minus `p` if not given.
    pub r: Option<f64>,
    /// Probability of a loss in the bad state: `1-h`, 1.
    pub loss_bad: f64,
    /// Probability of a loss in the good state: `1-k`, 0.
    pub loss_good: f64,
}

impl Default for GilbertElliottParams {
    fn default() -> Self {
        Self { p: 0.0, r: None, loss_bad: 1.0, loss_good: 0.0 }
    }
}

/// A Markov chain of a good and a bad state, a step for each packet (Gilbert
/// 1960, Elliott 1963; Linux `loss_gilb_ell`).
///
/// As in Linux, a packet's fate depends on the state before its step.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    params: GilbertElliottParams,
    bad: bool,
    random: Stream,
}

impl GilbertElliott {
    /// Begins in the good state.
    ///
    /// # Panics
    /// If a probability isn't in 0 to 1.
    #[must_use]
    pub fn new(params: &GilbertElliottParams, random: Stream) -> Self {
        let back = params.r.unwrap_or(1.0 - params.p);
        for probability in [params.p, back, params.loss_bad, params.loss_good] {
            assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        }
        Self { params: *params, bad: false, random }
    }

    /// Decides whether the next packet is lost.
    pub fn loses_next(&mut self) -> bool {
        let GilbertElliottParams { p, r, loss_bad, loss_good } = self.params;
        let (turn, loss) = if self.bad { (r.unwrap_or(1.0 - p), loss_bad) } else { (p, loss_good) };
        if self.random.chance(turn) {
            self.bad = !self.bad;
        }
        self.random.chance(loss)
    }
}

impl<B> Rule<B> for GilbertElliott {
    fn fate(&mut self, _: &Packet<B>, now: Time) -> Fate {
        if self.loses_next() { Fate::Dropped(DropReason::RandomLoss) } else { Fate::Passes(now) }
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
mod tests {
    use super::*;

    fn fates(params: GilbertElliottParams) -> Vec<bool> {
        let mut loss = GilbertElliott::new(&params, Stream::new(1, "loss"));
        (0..400_000).map(|_| loss.loses_next()).collect()
    }

    /// Bad p/(p+r) = 1/11 of the time, in bursts of 1/r = 10 packets.
    #[test]
    fn losses_come_in_bursts_of_the_expected_length() {
        let fates = fates(GilbertElliottParams {
            p: 0.01,
            r: Some(0.1),
            ..GilbertElliottParams::default()
        });
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let bursts = fates.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
        assert!((lost / 400_000.0 - 1.0 / 11.0).abs() < 0.004, "{}", lost / 400_000.0);
        assert!((lost / bursts - 10.0).abs() < 0.4, "{}", lost / bursts);
    }

    #[test]
    fn both_states_may_lose_some() {
        let params = GilbertElliottParams { p: 0.1, r: Some(0.1), loss_bad: 0.5, loss_good: 0.1 };
        let lost = fates(params).iter().filter(|&&lost| lost).count() as f64 / 400_000.0;
        assert!((lost - 0.3).abs() < 0.006, "{lost}");
        assert!(!fates(GilbertElliottParams::default()).contains(&true));
    }
}
