//! Watches what a connection tells its congestion control, and changes nothing.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use narrows_base::Duration;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::clock::span;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Packets acknowledged.
    pub(super) delivered: u64,
    /// Bytes in flight, as the connection counts them.
    pub(super) in_flight: u64,
    /// From the departure of a packet to its acknowledgement, with the delay of the other end.
    pub(super) latest_rtt: Option<Duration>,
    /// The same until it is taken.
    pub(super) rtt_sample: Option<Duration>,
    /// Since when the connection is in a recovery period (RFC 9002 section 7.3.2).
    pub(super) recovery_start: Option<Instant>,
}

impl Seen {
    pub(super) fn shared() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::default()))
    }
}

/// Makes watched controls.
pub(super) struct Watch {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    seen: Arc<Mutex<Seen>>,
}

impl Watch {
    pub(super) fn new(
        inner: Arc<dyn ControllerFactory + Send + Sync>,
        seen: &Arc<Mutex<Seen>>,
    ) -> Self {
        Self { inner, seen: Arc::clone(seen) }
    }
}

impl ControllerFactory for Watch {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        Box::new(Watched { inner, seen: Arc::clone(&self.seen) })
    }
}

/// A watched control.
struct Watched {
    inner: Box<dyn Controller>,
    seen: Arc<Mutex<Seen>>,
}

impl Watched {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no end panicked")
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.seen().in_flight += bytes;
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let mut seen = self.seen();
        seen.delivered += 1;
        // Of the packets that one acknowledgement covers, the youngest comes last.
        let sample = Some(span(now.saturating_duration_since(sent)));
        (seen.latest_rtt, seen.rtt_sample) = (sample, sample);
        if seen.recovery_start.is_some_and(|start| sent > start) {
            seen.recovery_start = None;
        }
        drop(seen);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.seen().in_flight = in_flight;
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let mut seen = self.seen();
        seen.in_flight = seen.in_flight.saturating_sub(lost_bytes);
        if seen.recovery_start.is_none_or(|start| sent > start) {
            seen.recovery_start = Some(now);
        }
        drop(seen);
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), seen: Arc::clone(&self.seen) })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
