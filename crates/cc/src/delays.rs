//! The queueing delay as LEDBAT measures it (RFC 6817 section 2.4.2), of round trips.

use std::collections::VecDeque;

use narrows_base::{Duration, Time};

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
    /// Remembers the base for so many minutes, and so many latest samples.
    pub(crate) const fn new(base_history: usize, current_filter: usize) -> Self {
        Self {
            base_history,
            current_filter,
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
