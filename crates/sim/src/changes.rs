//! The changes of a run, with their names resolved.

use std::sync::Arc;

use narrows_base::{Duration, Rate, Time};
use narrows_cc::Setting;
use narrows_spec::Names;
use narrows_spec::scenario::{Change, Scenario};

/// One effect of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// The rate of the link with this number in the tables.
    Rate(usize, Rate),
    /// The two-way delay of flows without their own.
    RoundTrip(Duration),
    /// The path's loss.
    Loss(f64),
    /// These flows stop.
    Stop(Arc<[usize]>),
    /// The window and the rate of these flows.
    Set(Arc<[usize]>, Setting),
    /// The run ends.
    End,
}

/// The changes of a run in their order.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The time of each change, and its effects.
    planned: Vec<(Time, Vec<Effect>)>,
    next: usize,
}

impl Changes {
    /// Resolves the changes of a checked scenario.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let mut changes = Self::default();
        for change in &scenario.changes {
            changes.add(change, scenario);
        }
        changes
    }

    /// Adds a change of a checked scenario, no earlier than those so far.
    pub(crate) fn add(&mut self, change: &Change, scenario: &Scenario) {
        self.planned.push((Time::from_nanos(change.at_ns), acts(change, scenario)));
    }

    /// Inserts a change of a checked scenario that is due, after those already made.
    pub(crate) fn insert(&mut self, change: &Change, scenario: &Scenario) {
        let at = Time::from_nanos(change.at_ns);
        self.planned.insert(self.next, (at, acts(change, scenario)));
    }

    /// Inserts a setting of a flow that is due at `now`, after the changes already made.
    pub(crate) fn insert_setting(&mut self, now: Time, flow: usize, setting: Setting) {
        self.planned.insert(self.next, (now, vec![Effect::Set([flow].into(), setting)]));
    }

    /// The time of the next change.
    pub(crate) fn next(&self) -> Option<Time> {
        self.planned.get(self.next).map(|change| change.0)
    }

    /// Takes the acts of the next change if it is due at `now`; none otherwise.
    pub(crate) fn take_due(&mut self, now: Time) -> Vec<Effect> {
        let Some((_, acts)) = self.planned.get_mut(self.next).filter(|change| change.0 <= now)
        else {
            return Vec::new();
        };
        self.next += 1;
        std::mem::take(acts)
    }
}

fn acts(change: &Change, scenario: &Scenario) -> Vec<Effect> {
    let names = Names::of(&scenario.flows);
    let called = || {
        let named = change.flow.as_deref().and_then(|name| names.flow_numbers(name));
        named.cloned().expect("the scenario was checked")
    };
    let setting = Setting {
        window: change.window_packets,
        pacing_rate: change.pacing_rate_bps.map(Rate::from_bps),
    };
    let rate = change.rate_bps.map(|bps| {
        let link = scenario.path.link_number(change.link.as_deref());
        Effect::Rate(link.expect("the scenario was checked"), Rate::from_bps(bps))
    });
    let round_trip = change.rtt_ns.map(|ns| Effect::RoundTrip(Duration::from_nanos(ns)));
    let loss = change.loss.map(Effect::Loss);
    let set = (setting != Setting::default()).then(|| Effect::Set(called(), setting));
    let stop = change.stop.then(|| Effect::Stop(called()));
    let end = change.end.then_some(Effect::End);
    [rate, round_trip, loss, set, stop, end].into_iter().flatten().collect()
}
