//! A sender's counters and latest samples, for observers.

use narrows_base::{Duration, Rate};
use narrows_cc::RateSample;

/// Totals since the connection began, in packets.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Data packets sent, including retransmissions.
    pub(super) sent: u64,
    pub(super) retransmitted: u64,
    pub(super) timeouts: u64,
    /// Probes of a closed window without an answer (`icsk_probes_out`).
    pub(super) window_probes: u32,
    /// Packets that the receiver reported as duplicates.
    pub(super) duplicates: u64,
}

/// The latest samples.
#[derive(Debug, Default)]
pub(super) struct LatestSamples {
    rtt: Option<Duration>,
    unreported_rtt: Option<Duration>,
    rate: Option<RateSample>,
}

impl LatestSamples {
    pub(super) fn note_rtt(&mut self, rtt: Duration) {
        self.rtt = Some(rtt);
        self.unreported_rtt = Some(rtt);
    }

    /// Keeps a rate sample, if it measured the path or is the highest so far
    /// (`tcp_rate_gen`).
    pub(super) fn note_rate(&mut self, sample: RateSample) {
        let product = |a: u64, b: Duration| u128::from(a) * u128::from(b.as_micros());
        let faster = |old: RateSample| {
            product(sample.delivered, old.interval) >= product(old.delivered, sample.interval)
        };
        if !sample.app_limited || self.rate.is_none_or(faster) {
            self.rate = Some(sample);
        }
    }

    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    pub(super) fn take_rtt(&mut self) -> Option<Duration> {
        self.unreported_rtt.take()
    }

    /// The delivery rate in payload bits.
    pub(super) fn delivery_rate(&self, mss: u32) -> Option<Rate> {
        let mss_bits = u64::from(mss) * 8_000_000;
        self.rate.map(|sample| {
            Rate::from_bps(sample.delivered * mss_bits / sample.interval.as_micros().max(1))
        })
    }
}
