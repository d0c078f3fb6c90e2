//! Observers of a run.

use narrows_base::{FlowId, Histogram, Time};

use crate::event::{Event, EventKind, RttSample};

/// Takes the events of a run in their order.
///
/// A run is generic over its observer: if [`Observer::wants`] is constant, unwanted events cost
/// nothing.
pub trait Observer {
    /// Returns `true` if the observer wants events of this kind. The answer never changes.
    fn wants(&self, kind: EventKind) -> bool;

    /// Takes a wanted event.
    fn on(&mut self, at: Time, event: &Event);

    /// Takes a wanted RTT sample. Most events are RTT samples, so an observer may have a faster path.
    /// In runs of many flows a sample comes a few ACKs late, unless the observer wants packets.
    #[inline]
    fn on_rtt(&mut self, at: Time, sample: RttSample) {
        self.on(at, &Event::Rtt(sample));
    }

    /// Begins to load what a flow's RTT samples change; one comes soon.
    fn prefetch_rtts(&self, flow: FlowId) {
        let _ = flow;
    }

    /// Begins to load what this RTT sample changes, once [`Self::prefetch_rtts`] has loaded its flow's.
    fn prefetch_rtt(&self, sample: RttSample) {
        let _ = sample;
    }

    /// Takes the distribution of a link's backlog in bytes, weighted by ns, once at the end of a run,
    /// for [`EventKind::QueueDepth`].
    fn on_queue(&mut self, link: u32, held: &Histogram) {
        let _ = (link, held);
    }

    /// Makes the event and takes it if its kind is wanted.
    #[inline]
    fn offer(&mut self, at: Time, kind: EventKind, event: impl FnOnce() -> Event)
    where
        Self: Sized,
    {
        if self.wants(kind) {
            self.on(at, &event());
        }
    }
}

/// Wants no events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    #[inline]
    fn wants(&self, _kind: EventKind) -> bool {
        false
    }

    #[inline]
    fn on(&mut self, _at: Time, _event: &Event) {}
}

impl<O: Observer> Observer for &mut O {
    #[inline]
    fn wants(&self, kind: EventKind) -> bool {
        (**self).wants(kind)
    }

    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        (**self).on(at, event);
    }

    #[inline(always)]
    fn on_rtt(&mut self, at: Time, sample: RttSample) {
        (**self).on_rtt(at, sample);
    }

    fn prefetch_rtts(&self, flow: FlowId) {
        (**self).prefetch_rtts(flow);
    }

    fn prefetch_rtt(&self, sample: RttSample) {
        (**self).prefetch_rtt(sample);
    }

    fn on_queue(&mut self, link: u32, held: &Histogram) {
        (**self).on_queue(link, held);
    }
}

/// Two observers of the same run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline]
    fn wants(&self, kind: EventKind) -> bool {
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

    fn on_queue(&mut self, link: u32, held: &Histogram) {
        self.0.on_queue(link, held);
        self.1.on_queue(link, held);
    }
}
