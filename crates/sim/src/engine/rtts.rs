//! RTT samples on their way to the observer.

use narrows_base::Time;
use narrows_record::{Observer, RttSample};

/// The latest RTT samples, which the observer takes once the memory that they change is loaded. With
/// many flows it is in none of the processor's caches, and each sample would wait for it twice.
#[derive(Default)]
pub(super) struct PendingRtts {
    older: Option<(Time, RttSample)>,
    newer: Option<(Time, RttSample)>,
}

impl PendingRtts {
    /// Adds a sample; the observer takes the oldest of three.
    #[inline(never)]
    pub(super) fn push(&mut self, at: Time, sample: RttSample, observer: &mut impl Observer) {
        if let Some((at, sample)) = self.older.take() {
            observer.on_rtt(at, sample);
        }
        observer.prefetch_rtts(sample.flow);
        self.older = self.newer.replace((at, sample));
        if let Some((_, sample)) = self.older {
            observer.prefetch_rtt(sample);
        }
    }

    /// The observer takes all samples.
    pub(super) fn flush(&mut self, observer: &mut impl Observer) {
        for (at, sample) in [self.older.take(), self.newer.take()].into_iter().flatten() {
            observer.on_rtt(at, sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Duration, FlowId};
    use narrows_record::{Event, EventKind};

    use super::*;

    #[derive(Default)]
    struct Log(Vec<(Time, RttSample)>);

    impl Observer for Log {
        fn wants(&self, kind: EventKind) -> bool {
            kind == EventKind::Rtt
        }

        fn on(&mut self, _: Time, _: &Event) {}

        fn on_rtt(&mut self, at: Time, sample: RttSample) {
            self.0.push((at, sample));
        }
    }

    #[test]
    fn samples_come_two_late_and_in_order() {
        let sample = |n: u32| {
            let rtt = Duration::from_millis(u64::from(n));
            (Time::from_nanos(u64::from(n)), RttSample { flow: FlowId(n), rtt })
        };
        let (mut pending, mut log) = (PendingRtts::default(), Log::default());
        for n in 0..5 {
            let (at, rtt) = sample(n);
            pending.push(at, rtt, &mut log);
        }
        assert_eq!(log.0, [0, 1, 2].map(sample));
        pending.flush(&mut log);
        assert_eq!(log.0, [0, 1, 2, 3, 4].map(sample));
        pending.flush(&mut log);
        assert_eq!(log.0.len(), 5);
    }
}
