//! Forwards calls to quinn's controller and records them.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::events::ConnectionEvents;

/// Makes recorded controls.
pub(super) struct RecordedControlFactory {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    seen: Arc<Mutex<ConnectionEvents>>,
}

impl RecordedControlFactory {
    pub(super) fn new(
        inner: Arc<dyn ControllerFactory + Send + Sync>,
        seen: &Arc<Mutex<ConnectionEvents>>,
    ) -> Self {
        Self { inner, seen: Arc::clone(seen) }
    }
}

impl ControllerFactory for RecordedControlFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        Box::new(RecordedControl { inner, seen: Arc::clone(&self.seen) })
    }
}

/// A recorded control.
struct RecordedControl {
    inner: Box<dyn Controller>,
    seen: Arc<Mutex<ConnectionEvents>>,
}

impl RecordedControl {
    fn lock_events(&self) -> MutexGuard<'_, ConnectionEvents> {
        self.seen.lock().expect("no end panicked")
    }
}

impl Controller for RecordedControl {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.lock_events().in_flight += bytes;
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
        self.lock_events().on_ack(now, sent);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.lock_events().in_flight = in_flight;
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.lock_events().on_congestion(now, sent, lost_bytes);
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
