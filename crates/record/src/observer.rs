//! Who listens to a run.

use narrows_base::Time;

use crate::{Event, Kind};

/// Takes the events of a run, in the order in which they happen.
///
/// A run is compiled for its observer: where [`Observer::wants`] is constant,
/// events that nobody wants cost nothing.
pub trait Observer {
    /// Whether events of this kind are of use. The answer never changes.
    fn wants(&self, kind: Kind) -> bool;

    /// Takes an event that was wanted.
    fn on(&mut self, at: Time, event: &Event);

    /// Makes the event and takes it, if its kind is wanted.
    #[inline]
    fn offer(&mut self, at: Time, kind: Kind, event: impl FnOnce() -> Event)
    where
        Self: Sized,
    {
        if self.wants(kind) {
            self.on(at, &event());
        }
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    #[inline]
    fn wants(&self, _kind: Kind) -> bool {
        false
    }

    #[inline]
    fn on(&mut self, _at: Time, _event: &Event) {}
}

/// Two observers of the same run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline]
    fn wants(&self, kind: Kind) -> bool {
        self.0.wants(kind) || self.1.wants(kind)
    }

    fn on(&mut self, at: Time, event: &Event) {
        if self.0.wants(event.kind()) {
            self.0.on(at, event);
        }
        if self.1.wants(event.kind()) {
            self.1.on(at, event);
        }
    }
}
