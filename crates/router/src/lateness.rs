//! How late packets were taken and released.

use serde::Serialize;

use crate::config::LatenessLimits;

/// The lateness of every packet, in ns.
#[derive(Clone, Debug, Default)]
pub struct Lateness(Vec<u32>);

/// Percentiles of the lateness, in ns; zero without packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatenessSummary {
    /// Packets taken or released.
    pub packets: usize,
    /// Half of them were no later.
    pub p50: u32,
    /// 99 % of them were no later.
    pub p99: u32,
    /// 99.9 % of them were no later.
    pub p999: u32,
    /// The latest one.
    pub max: u32,
}

impl Lateness {
    /// Notes one packet; more than 4 s counts as 4 s.
    #[inline]
    pub fn push(&mut self, nanos: u64) {
        self.0.push(u32::try_from(nanos).unwrap_or(u32::MAX));
    }

    /// The percentiles (nearest rank).
    #[must_use]
    pub fn summary(&self) -> LatenessSummary {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = |per_mille: usize| {
            let rank = (sorted.len() * per_mille).div_ceil(1000);
            sorted.get(rank.max(1) - 1).copied().unwrap_or(0)
        };
        LatenessSummary {
            packets: sorted.len(),
            p50: at(500),
            p99: at(990),
            p999: at(999),
            max: at(1000),
        }
    }
}

impl LatenessSummary {
    /// Why a run whose packets were `done` ("released") this late is invalid; `None` if that is
    /// within `limits`.
    #[must_use]
    pub fn excess(&self, done: &str, limits: &LatenessLimits) -> Option<String> {
        let parts = [("99 %", self.p99, limits.p99), ("99.9 %", self.p999, limits.p999)];
        parts.into_iter().find(|&(_, found, limit)| u64::from(found) > limit).map(
            |(share, found, limit)| {
                let (found, limit) = (found / 1000, limit / 1000);
                format!("{share} of the packets were {done} up to {found} us late; the limit is {limit} us")
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = u64>) -> LatenessSummary {
        let mut lateness = Lateness::default();
        values.for_each(|v| lateness.push(v));
        lateness.summary()
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let summary = of((1..=1000).rev());
        assert_eq!((summary.p50, summary.p99, summary.p999, summary.max), (500, 990, 999, 1000));
        assert_eq!(of([7, u64::MAX].into_iter()).max, u32::MAX);
        assert_eq!(of(std::iter::empty()), LatenessSummary::default());
    }

    #[test]
    fn a_run_is_invalid_beyond_a_limit_and_not_at_it() {
        let summary = of((1..=1000).map(|v| v * 1000));
        let excess = |p99, p999| summary.excess("released", &LatenessLimits { p99, p999 });
        assert_eq!(excess(990_000, 999_000), None);
        assert!(excess(989_999, 999_000).is_some_and(|text| text.starts_with("99 %")));
        assert!(excess(990_000, 998_999).is_some_and(|text| text.starts_with("99.9 %")));
    }
}
