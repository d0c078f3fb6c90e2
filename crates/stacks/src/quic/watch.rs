//! Watches what a connection tells its congestion control, and changes nothing.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::proto::congestion::{Controller, ControllerFactory};
use crate::events::ConnectionEvents;

/// Makes watched controls.
pub(super) struct Watch {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    seen: Arc<Mutex<ConnectionEvents>>,
}

impl Watch {
    pub(super) fn new(
        inner: Arc<dyn ControllerFactory + Send + Sync>,
        seen: &Arc<Mutex<ConnectionEvents>>,
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
pub(super) struct Watched {
    pub(super) inner: Box<dyn Controller>,
    seen: Arc<Mutex<ConnectionEvents>>,
}

impl Watched {
    pub(super) fn lock_events(&self) -> MutexGuard<'_, ConnectionEvents> {
        self.seen.lock().expect("no end panicked")
    }

    pub(super) fn copy(&self) -> Self {
        Self { inner: self.inner.clone_box(), seen: Arc::clone(&self.seen) }
    }
}
