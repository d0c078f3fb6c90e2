//! When each connection of a host must be polled.

use std::collections::{BTreeMap, BTreeSet};

use narrows_base::Time;

/// The deadlines of connections.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    ordered: BTreeSet<(Time, u32)>,
    of: BTreeMap<u32, Time>,
}

impl Deadlines {
    pub(super) fn set(&mut self, instance: u32, deadline: Option<Time>) {
        let old = match deadline {
            Some(at) => self.of.insert(instance, at),
            None => self.of.remove(&instance),
        };
        if old == deadline {
            return;
        }
        if let Some(old) = old {
            self.ordered.remove(&(old, instance));
        }
        self.ordered.extend(deadline.map(|at| (at, instance)));
    }

    pub(super) fn earliest(&self) -> Option<(Time, u32)> {
        self.ordered.first().copied()
    }

    /// A due connection.
    pub(super) fn due(&self, now: Time) -> Option<u32> {
        self.earliest().filter(|&(at, _)| at <= now).map(|(_, instance)| instance)
    }
}
