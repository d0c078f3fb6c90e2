//! The queueing delay as LEDBAT measures it (RFC 6817 section 2.4.2), from RTTs.

use std::collections::VecDeque;

use narrows_base::registry::{FormerNumbers, Parameter, ParameterDefault, Values};
use narrows_base::{Duration, Time};

/// The unit of the base's memory, in ns.
const MINUTE: u64 = 60_000_000_000;

/// The option for how long the base delay is remembered.
pub(crate) const BASE_HISTORY: Parameter = Parameter::duration(
    "base_history",
    ParameterDefault::Whole(10 * MINUTE),
    "how long the lowest RTT is remembered, in whole minutes",
)
.at_least(MINUTE)
.at_most(1_000 * MINUTE)
.in_steps_of(MINUTE)
.formerly("base_history", FormerNumbers::Unit("min"));
/// The option for how many samples the current delay is the minimum of.
pub(crate) const CURRENT_FILTER: Parameter = Parameter::whole(
    "current_filter",
    ParameterDefault::Whole(4),
    "latest RTT samples whose lowest counts",
)
.positive()
.at_most(1_000);

/// The lowest RTT of each of the last minutes, and the latest RTTs.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    base_history: usize,
    current_filter: usize,
    /// In us.
    base: VecDeque<u64>,
    minute: u64,
    /// In us.
    current: VecDeque<u64>,
}

impl Delays {
    /// Uses the values of [`BASE_HISTORY`] and [`CURRENT_FILTER`].
    pub(crate) fn new(options: &Values) -> Self {
        let minutes = options.duration(BASE_HISTORY.name).as_nanos() / MINUTE;
        Self {
            base_history: usize::try_from(minutes).expect("within its range"),
            current_filter: options.whole(CURRENT_FILTER.name),
            base: VecDeque::new(),
            minute: 0,
            current: VecDeque::new(),
        }
    }

    /// `update_base_delay` and `update_current_delay`.
    pub(crate) fn take(&mut self, now: Time, rtt: Duration) {
        let us = rtt.as_micros();
        let minute = now.as_micros() / 60_000_000;
        match self.base.back_mut() {
            Some(lowest) if minute == self.minute => *lowest = us.min(*lowest),
            _ => self.base.push_back(us),
        }
        self.minute = minute;
        if self.base.len() > self.base_history {
            self.base.pop_front();
        }
        self.current.push_back(us);
        if self.current.len() > self.current_filter {
            self.current.pop_front();
        }
    }

    /// The lowest RTT in us.
    pub(crate) fn base(&self) -> Option<u64> {
        self.base.iter().min().copied()
    }

    /// The queueing delay in us.
    #[expect(clippy::cast_precision_loss, reason = "delays and counts are far below 2^53")]
    pub(crate) fn queueing(&self) -> Option<f64> {
        let current = self.current.iter().min()?;
        Some(current.saturating_sub(self.base()?) as f64)
    }
}
