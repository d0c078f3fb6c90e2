//! The simulator's time as that of the standard library.

use std::time::{Duration, Instant};

use narrows_base::Time;

/// The instants of a run. Stacks only compare them and take differences, so its beginning can be
/// any instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "there is no other way to an Instant")]
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn instant(self, time: Time) -> Instant {
        self.0 + Duration::from_nanos(time.as_nanos())
    }

    pub(crate) fn time(self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.0))
    }
}

/// A duration of the standard library as one of the simulator.
pub(crate) fn span(duration: Duration) -> narrows_base::Duration {
    narrows_base::Duration::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2))
}
