//! Accepts a higher minimum RTT only after several probes confirm it
//! (proposed by Claypool et al., AICT 2019, section IV-E2).

use super::options::Rtprop;
use crate::bbr::units::GAIN_SCALE;

/// The lowest RTTs of visits to PROBE_RTT.
#[derive(Clone, Debug, Default)]
pub(super) struct Confirmation {
    /// The lowest RTT of the visit in us, from when little was in flight.
    visit_us: Option<u32>,
    /// Consecutive visits that agree on a higher RTT.
    visits: u8,
    /// Lowest of them.
    lowest_us: u32,
}

impl Confirmation {
    /// Takes an RTT sample of PROBE_RTT.
    pub(super) fn sample(&mut self, rtt_us: u32) {
        self.visit_us = Some(self.visit_us.map_or(rtt_us, |lowest| lowest.min(rtt_us)));
    }

    /// Ends a visit; returns the RTT to take instead of `min_rtt_us`, if any.
    pub(super) fn end_visit(&mut self, rule: Rtprop, min_rtt_us: u32) -> Option<u32> {
        let seen = self.visit_us.take()?;
        let Rtprop::Confirmed { probes, jump } = rule else { return None };
        if seen <= min_rtt_us.saturating_add(min_rtt_us / 8) {
            self.visits = 0;
            return None;
        }
        if u64::from(seen) << GAIN_SCALE >= u64::from(min_rtt_us) * u64::from(jump) {
            return self.confirm(seen);
        }
        // A longer path is steady; a competitor's queue is not.
        let agrees = seen.abs_diff(self.lowest_us) <= self.lowest_us / 8;
        if self.visits == 0 || !agrees {
            (self.visits, self.lowest_us) = (0, seen);
        }
        self.visits += 1;
        self.lowest_us = self.lowest_us.min(seen);
        if self.visits >= probes { self.confirm(self.lowest_us) } else { None }
    }

    const fn confirm(&mut self, rtt_us: u32) -> Option<u32> {
        self.visits = 0;
        Some(rtt_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rtprop = Rtprop::Confirmed { probes: 3, jump: 4 << GAIN_SCALE };

    /// The result of each visit on a path of 40 ms.
    fn visits(rtts_ms: &[u32]) -> Vec<Option<u32>> {
        let mut confirmation = Confirmation::default();
        let mut visit = |ms: &u32| {
            confirmation.sample(ms * 1_000 + 500);
            confirmation.sample(ms * 1_000);
            confirmation.end_visit(RULE, 40_000).map(|us| us / 1_000)
        };
        rtts_ms.iter().map(&mut visit).collect()
    }

    #[test]
    fn visits_that_agree_confirm() {
        assert_eq!(visits(&[62, 60, 61]), [None, None, Some(60)]);
        assert_eq!(visits(&[45, 60, 61, 60]), [None, None, None, Some(60)], "45 is the path");
        assert_eq!(visits(&[60, 60, 41, 60, 60]), [None; 5]);
        assert_eq!(visits(&[60, 80, 60, 80]), [None; 4], "a competitor's queue varies");
    }

    #[test]
    fn one_drastic_visit_confirms() {
        assert_eq!(visits(&[159, 160]), [None, Some(160)]);
    }

    #[test]
    fn a_visit_without_samples_says_nothing() {
        assert_eq!(Confirmation::default().end_visit(RULE, 40_000), None);
        let mut kept = Confirmation::default();
        kept.sample(900_000);
        assert_eq!(kept.end_visit(Rtprop::Kept, 40_000), None);
    }
}
