//! The queueing delay as LEDBAT measures it (RFC 6817 section 2.4.2), of round trips.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};

use crate::registry::{CcConfig, Info, OptionInfo};

/// Option of the controls that measure this way: how long the base is remembered.
pub(crate) const BASE_HISTORY: OptionInfo = OptionInfo {
    name: "base_history",
    default: 10.0,
    range: 1.0..=1_000.0,
    whole: true,
    what: "minutes for which the lowest RTT is remembered",
};
/// Option of the same: how many samples the current delay is the lowest of.
pub(crate) const CURRENT_FILTER: OptionInfo = OptionInfo {
    name: "current_filter",
    default: 4.0,
    range: 1.0..=1_000.0,
    whole: true,
    what: "latest RTT samples whose lowest counts",
};

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
    /// As [`BASE_HISTORY`] and [`CURRENT_FILTER`] are set for the control of `info`.
    pub(crate) fn new(config: &CcConfig, info: &Info) -> Self {
        let count = |option: OptionInfo| {
            usize::try_from(config.whole(info, option.name)).expect("within its range")
        };
        Self {
            base_history: count(BASE_HISTORY),
            current_filter: count(CURRENT_FILTER),
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
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn queueing(&self) -> Option<f64> {
        let current = self.current.iter().min()?;
        Some(current.saturating_sub(self.base()?) as f64)
    }
}
