//! Events that a connection of another stack reports, and its counters.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use narrows_base::{Duration, Rate};

use crate::clock::span;

/// Acknowledgements and losses, as reported to the congestion control.
#[derive(Debug, Default)]
pub(crate) struct ConnectionEvents {
    /// Packets acknowledged.
    pub(crate) delivered: u64,
    /// Bytes in flight, as the connection counts them.
    pub(crate) in_flight: u64,
    /// From the departure of a packet to its acknowledgement, with the delay of the other end.
    pub(crate) latest_rtt: Option<Duration>,
    /// The lowest of them.
    pub(crate) min_rtt: Option<Duration>,
    /// As `latest_rtt`, until it is taken.
    pub(crate) rtt_sample: Option<Duration>,
    /// Since when the connection is in a recovery period (RFC 9002 section 7.3.2).
    pub(crate) recovery_start: Option<Instant>,
}

impl ConnectionEvents {
    pub(crate) fn new_shared() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::default()))
    }

    /// A packet sent at `sent` was acknowledged. Of those that one acknowledgement covers, the
    /// newest comes last.
    pub(crate) fn on_ack(&mut self, now: Instant, sent: Instant) {
        let rtt = span(now.saturating_duration_since(sent));
        self.delivered += 1;
        (self.latest_rtt, self.rtt_sample) = (Some(rtt), Some(rtt));
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        if self.recovery_start.is_some_and(|start| sent > start) {
            self.recovery_start = None;
        }
    }

    /// Of packets up to one sent at `sent`, these bytes were lost or marked.
    pub(crate) fn on_congestion(&mut self, now: Instant, sent: Instant, lost_bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        if self.recovery_start.is_none_or(|start| sent > start) {
            self.recovery_start = Some(now);
        }
    }
}

/// Counters that a connection reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionCounters {
    /// Packets sent.
    pub(crate) sent: u64,
    /// Packets that it considers lost.
    pub(crate) lost: u64,
    /// Its window in bytes.
    pub(crate) cwnd: u64,
    /// Its slow start threshold in bytes.
    pub(crate) ssthresh: Option<u64>,
    /// Its payload of UDP in bytes.
    pub(crate) mtu: u64,
    /// Its smoothed RTT.
    pub(crate) srtt: Option<Duration>,
    /// The lowest RTT by its own count, if it tells it.
    pub(crate) min_rtt: Option<Duration>,
    /// The rate of its pacer, if that has one.
    pub(crate) pacing_rate: Option<Rate>,
    /// The bandwidth that its control estimates, in bit/s.
    pub(crate) bandwidth: Option<u64>,
    /// How often its control got a congestion event.
    pub(crate) congestion_events: u64,
    /// Packets sent to find a larger MTU.
    pub(crate) mtu_probes_sent: u64,
}
