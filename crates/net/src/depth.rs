//! The backlog of a queue over time.

use narrows_base::{Histogram, Time};

/// Integrates a queue's backlog over time. Every change is an instant of the model, so the
/// distribution is exact and doesn't depend on when it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Depth {
    backlog: u64,
    /// When the backlog last changed or was counted.
    since: Time,
    /// The backlog in bytes, weighted by ns.
    held: Histogram,
}

impl Depth {
    /// Sets the backlog from `at` on, in bytes.
    #[inline]
    pub(crate) fn change(&mut self, at: Time, backlog: u64) {
        if backlog != self.backlog {
            self.settle(at);
            self.backlog = backlog;
        }
    }

    /// Counts the present backlog until `at`.
    #[inline]
    pub(crate) fn settle(&mut self, at: Time) {
        let span = at.saturating_since(self.since);
        if !span.is_zero() {
            self.held.add(self.backlog, span.as_nanos());
            self.since = at;
        }
    }

    /// Discards everything before `at`.
    pub(crate) fn restart(&mut self, at: Time) {
        (self.since, self.held) = (at, Histogram::default());
    }

    /// The counted backlog in bytes, weighted by ns.
    pub(crate) const fn histogram(&self) -> &Histogram {
        &self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_counts_once() {
        let at = Time::from_nanos;
        let mut depth = Depth::default();
        depth.change(at(10), 100);
        depth.change(at(10), 50); // 100 bytes waited for no time
        depth.change(at(30), 0);
        depth.settle(at(100));
        assert_eq!(depth.histogram().buckets().collect::<Vec<_>>(), [(0.0, 80), (50.0, 20)]);
        assert_eq!(depth.histogram().extremes(), Some((0, 50)));
        depth.restart(at(100));
        depth.change(at(105), 7);
        depth.settle(at(106));
        assert_eq!(depth.histogram().buckets().collect::<Vec<_>>(), [(0.0, 5), (7.0, 1)]);
    }
}
