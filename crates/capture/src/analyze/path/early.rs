//! Packets read at the second capture before the first: files of equal times come in any order, and
//! clocks may run apart a little.

use std::collections::VecDeque;

/// An arrival may appear this long before its departure, in ns.
pub(super) const APART: u64 = 10_000_000;
/// The most arrivals without a departure that are remembered.
const MOST: usize = 256;

/// Arrivals without a departure: the content by which each packet is known, and its time.
#[derive(Clone, Debug)]
pub(super) struct EarlyArrivals<T>(VecDeque<(T, u64)>);

impl<T> Default for EarlyArrivals<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: PartialEq> EarlyArrivals<T> {
    pub(super) fn add(&mut self, content: T, time: u64) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((content, time));
    }

    /// Removes the packet that departs now; returns true if it had already arrived.
    pub(super) fn take(&mut self, content: &T, departure: u64) -> bool {
        while self.0.front().is_some_and(|&(_, arrival)| arrival + APART < departure) {
            self.0.pop_front();
        }
        let at = self.0.iter().position(|(early, _)| early == content);
        at.and_then(|at| self.0.remove(at)).is_some()
    }
}
