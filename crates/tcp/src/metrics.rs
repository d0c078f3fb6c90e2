//! A host's metrics of a destination, kept from one connection to the next (tcp_metrics.c).

use narrows_cc::INFINITE_SSTHRESH;

use crate::rtt::RttEstimator;

/// The metrics of one destination (`struct tcp_metrics_block`) that the next connection uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Slow-start threshold in packets. Kernels from 5.6 on don't keep it
    /// (`tcp_no_ssthresh_metrics_save`).
    pub(crate) ssthresh: Option<u32>,
    /// Smoothed RTT in us, times 8; 0 if the last connection had none.
    pub(crate) srtt8: u64,
    /// The reordering distance in packets (`TCP_METRIC_REORDERING`).
    pub(crate) reordering: Option<u32>,
}

/// The state at the end of a connection from which the metrics are updated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// True if the recovery state is Open.
    pub(crate) open: bool,
    /// `tp->reordering`, if it isn't the default.
    pub(crate) reordering: Option<u32>,
    /// True if the profile's kernel keeps the threshold.
    pub(crate) keeps_ssthresh: bool,
}

impl Metrics {
    /// Updates the metrics at the end of a connection (`tcp_update_metrics`).
    pub(crate) fn update(&mut self, rtt: &RttEstimator, ending: Ending) {
        if rtt.is_backed_off() || rtt.srtt8() == 0 {
            self.srtt8 = 0;
            return;
        }
        self.update_rtt(rtt.srtt8());
        if ending.keeps_ssthresh {
            self.update_ssthresh(ending);
        }
        if ending.is_unfinished() && self.reordering < ending.reordering {
            self.reordering = ending.reordering;
        }
    }

    /// A longer RTT replaces the old one; a shorter one counts 1/8.
    fn update_rtt(&mut self, srtt8: u64) {
        self.srtt8 =
            if srtt8 >= self.srtt8 { srtt8 } else { self.srtt8 - ((self.srtt8 - srtt8) >> 3) };
    }

    fn update_ssthresh(&mut self, ending: Ending) {
        let Ending { cwnd, ssthresh, .. } = ending;
        if ending.is_in_first_slow_start() {
            self.ssthresh = self.ssthresh.map(|known| known.max(cwnd >> 1));
        } else if ending.is_unfinished() {
            self.ssthresh = self.ssthresh.map(|known| known.max(ssthresh));
        } else {
            self.ssthresh = Some(ssthresh.max(cwnd >> 1));
        }
    }
}

impl Ending {
    /// `tcp_in_initial_slowstart`.
    fn is_in_first_slow_start(self) -> bool {
        self.ssthresh >= INFINITE_SSTHRESH
    }

    /// Returns `true` if a later slow start or loss recovery was in progress, so that the window is
    /// meaningless.
    fn is_unfinished(self) -> bool {
        !self.is_in_first_slow_start() && (self.cwnd < self.ssthresh || !self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_base::Jiffies;

    fn after(srtt_us: u64) -> RttEstimator {
        let mut rtt = RttEstimator::new(Jiffies::new(250));
        rtt.update(srtt_us, 0, 0);
        rtt
    }

    fn ending(cwnd: u32, ssthresh: u32) -> Ending {
        Ending { cwnd, ssthresh, open: true, reordering: None, keeps_ssthresh: true }
    }

    #[test]
    fn a_connection_that_avoided_congestion_leaves_its_threshold() {
        let mut metrics = Metrics::default();
        metrics.update(&after(50_000), ending(40, 28));
        assert_eq!(metrics.ssthresh, Some(28));
        metrics.update(&after(50_000), ending(80, 28));
        assert_eq!(metrics.ssthresh, Some(40), "half the window is more");
    }

    #[test]
    fn slow_starts_only_raise_a_known_threshold() {
        let mut metrics = Metrics::default();
        metrics.update(&after(50_000), ending(80, INFINITE_SSTHRESH));
        metrics.update(&after(50_000), ending(10, 30));
        assert_eq!(metrics.ssthresh, None);
        metrics.update(&after(50_000), ending(30, 20));
        metrics.update(&after(50_000), ending(10, 18));
        assert_eq!(metrics.ssthresh, Some(20));
        metrics.update(&after(50_000), ending(10, 30));
        assert_eq!(metrics.ssthresh, Some(30));
        metrics.update(&after(50_000), ending(100, INFINITE_SSTHRESH));
        assert_eq!(metrics.ssthresh, Some(50));
    }

    #[test]
    fn recovery_in_progress_only_raises_the_threshold() {
        let mut metrics = Metrics::default();
        metrics.update(&after(50_000), ending(30, 20));
        metrics.update(&after(50_000), Ending { open: false, ..ending(12, 10) });
        assert_eq!(metrics.ssthresh, Some(20));
    }

    #[test]
    fn newer_kernels_keep_no_threshold() {
        let mut metrics = Metrics::default();
        metrics.update(&after(50_000), Ending { keeps_ssthresh: false, ..ending(40, 28) });
        assert_eq!(metrics, Metrics { ssthresh: None, srtt8: 400_000, reordering: None });
    }

    #[test]
    fn a_longer_rtt_counts_at_once_and_a_shorter_one_an_eighth() {
        let mut metrics = Metrics::default();
        for (srtt_us, kept) in [(50_000, 400_000), (90_000, 720_000), (10_000, 640_000)] {
            metrics.update(&after(srtt_us), ending(40, 28));
            assert_eq!(metrics.srtt8, kept);
        }
    }

    #[test]
    fn reordering_is_kept_from_recovery_only() {
        let mut metrics = Metrics::default();
        let seen = Ending { reordering: Some(7), ..ending(40, 28) };
        metrics.update(&after(50_000), seen);
        assert_eq!(metrics.reordering, None);
        metrics.update(&after(50_000), Ending { open: false, ..seen });
        assert_eq!(metrics.reordering, Some(7));
    }

    #[test]
    fn an_unanswered_timeout_clears_the_rtt() {
        let mut metrics = Metrics::default();
        let mut rtt = after(50_000);
        metrics.update(&rtt, ending(40, 28));
        rtt.back_off();
        metrics.update(&rtt, ending(40, 60));
        assert_eq!((metrics.srtt8, metrics.ssthresh), (0, Some(28)));
    }
}
