//! A run in steps, whose state can be read and changed in its course.

use std::ops::ControlFlow;

use narrows_base::{FlowId, Time};
use narrows_cc::Setting;
use narrows_record::{FlowSample, NullTap, Observer, QueueSample};
use narrows_spec::scenario::{Change, Flow, Scenario};
use narrows_spec::{Place, Problem, ProblemKind, Problems};

use crate::changes::Changes;
use crate::controls::Controls;
use crate::engine::Engine;
use crate::network::Network;
use crate::sampler::{flow_sample, queue_sample};
use crate::setup::{hosts, refuse_what_is_missing, sampler, stop_when};
use crate::{Outcome, outcome};

/// A run that advances step by step.
///
/// Its scenario records every change, so that a run of [`Simulation::scenario`] repeats it and gives
/// the same results.
///
/// ```
/// # let scenario = serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/steps.json")))?;
/// use narrows_base::{Duration, Time};
/// use narrows_record::NullObserver;
/// use narrows_sim::{Controls, Simulation};
/// use narrows_spec::scenario::Change;
///
/// let mut simulation = Simulation::new(scenario, Controls::new(), NullObserver)?;
/// simulation.run_until(Time::ZERO + Duration::from_secs(2));
/// let before = simulation.flow(0).wire;
/// simulation.change(Change { rate_bps: Some(5_000_000), ..Change::default() })?;
/// simulation.run_until(Time::ZERO + Duration::from_secs(3));
/// assert!(simulation.flow(0).wire - before <= narrows_base::Bytes::new(625_000 + 1_500));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<O> {
    scenario: Scenario,
    controls: Controls,
    engine: Engine<O, NullTap>,
}

impl<O: Observer> Simulation<O> {
    /// A run at its beginning, which reports its events to `observer`.
    ///
    /// # Errors
    /// If the scenario can't be run: every place, what was found there and what would be right.
    pub fn new(scenario: Scenario, controls: Controls, observer: O) -> Result<Self, Problems> {
        narrows_spec::check(&scenario, &|name| controls.has(name))?;
        refuse_what_is_missing(&scenario, &controls)?;
        let network = Network::new(&scenario, hosts(&scenario, &controls, false));
        let (changes, stop_when) = (Changes::of(&scenario), stop_when(&scenario));
        let sampler = sampler(&scenario);
        let engine = Engine::new(network, sampler, changes, stop_when, observer, NullTap);
        Ok(Self { scenario, controls, engine })
    }

    /// Returns an independent copy of the run so far. The run is repeated from its beginning,
    /// and so takes as long as the run so far.
    ///
    /// # Panics
    /// As [`Self::run_until`].
    #[must_use]
    pub fn fork(&self, observer: O) -> Self {
        self.rerun(self.scenario.clone(), observer).expect("the scenario was checked")
    }

    /// Returns the run with another flow, which starts now. The run is repeated from its beginning, as
    /// the flow is a part of it from then on.
    ///
    /// # Errors
    /// If the flow can't be a part of it.
    ///
    /// # Panics
    /// As [`Self::run_until`].
    pub fn with(&self, flow: Flow, observer: O) -> Result<Self, Problems> {
        let mut scenario = self.scenario.clone();
        scenario.flows.push(Flow { start_ns: self.now().as_nanos(), ..flow });
        self.rerun(scenario, observer)
    }

    fn rerun(&self, scenario: Scenario, observer: O) -> Result<Self, Problems> {
        let mut repeated = Self::new(scenario, self.controls.clone(), observer)?;
        if self.now() > Time::ZERO {
            repeated.run_until(self.now());
        }
        Ok(repeated)
    }

    /// The scenario with all changes so far.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The instant up to which everything has happened.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.engine.now()
    }

    /// Returns `true` if the run has come to its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.engine.is_over() || self.now() >= self.end()
    }

    fn end(&self) -> Time {
        Time::from_nanos(self.scenario.run.duration_ns)
    }

    /// Runs until `at`, that instant included, but not beyond the end of the run; returns the
    /// instant that was reached.
    ///
    /// # Panics
    /// If a quantity overflows, since the result would be wrong.
    pub fn run_until(&mut self, at: Time) -> Time {
        let at = at.min(self.end());
        if !self.engine.is_over() && at >= self.now() {
            self.engine.advance(at, &mut |_, _| ControlFlow::Continue(()));
        }
        self.now()
    }

    /// The state of the flow with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn flow(&mut self, flow: usize) -> FlowSample {
        self.engine.catch_up_links(self.engine.now());
        flow_sample(number(flow), &self.engine.network, &self.engine.accounts)
    }

    /// The state of the queue of the link with this number in the tables: the path's first link,
    /// the others, then the reverse link.
    ///
    /// # Panics
    /// If there is none.
    pub fn queue(&mut self, link: usize) -> QueueSample {
        self.engine.catch_up_links(self.engine.now());
        queue_sample(link, &self.engine.network)
    }

    /// How many links there are.
    #[must_use]
    pub const fn links(&self) -> usize {
        self.engine.network.links.len()
    }

    /// Shows the named internals of a flow's control and workload.
    ///
    /// # Panics
    /// If there is no flow of this number.
    pub fn inspect(&self, flow: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        self.engine.network.sender(flow).inspect(self.now(), visit);
    }

    /// The observer of the run.
    pub const fn observer(&mut self) -> &mut O {
        &mut self.engine.observer
    }

    /// Makes a change now, whatever its `at_ns` says.
    ///
    /// # Errors
    /// If it can't be made; then nothing changes.
    pub fn change(&mut self, change: Change) -> Result<(), Problems> {
        if self.is_over() {
            let found = "a change after the end of the run";
            let remedy = "a longer `run.duration`";
            let place = Place::default().key("changes");
            return Err(Problems(vec![Problem::new(ProblemKind::Relation, place, found, remedy)]));
        }
        self.reach_now();
        let change = Change { at_ns: self.now().as_nanos(), ..change };
        let place = self.place();
        self.scenario.changes.insert(place, change);
        let checked = narrows_spec::check(&self.scenario, &|name| self.controls.has(name));
        if let Err(problems) = checked {
            self.scenario.changes.remove(place);
            return Err(problems);
        }
        self.engine.changes.insert(&self.scenario.changes[place], &self.scenario);
        self.engine.change(self.now());
        self.reach_now();
        Ok(())
    }

    /// Sets window and rate of the flow with this number now, whose control must be `fixed`. It is
    /// the same as a change, but quicker.
    ///
    /// # Panics
    /// If the flow has another control or hasn't started, or a window or a rate is zero.
    pub fn set(&mut self, flow: usize, setting: Setting) {
        self.reach_now();
        let (at_ns, place) = (self.now().as_nanos(), self.place());
        let Flow { name, cca, start_ns, .. } = &self.scenario.flows[flow];
        assert!(cca == "fixed" && *start_ns <= at_ns, "flow {name} can't be set");
        let above_zero = setting.window != Some(0);
        assert!(above_zero && setting.pacing_rate.is_none_or(|rate| rate.as_bps() > 0));
        let change = Change {
            at_ns,
            flow: Some(name.clone()),
            window_packets: setting.window,
            pacing_rate_bps: setting.pacing_rate.map(narrows_base::Rate::as_bps),
            ..Change::default()
        };
        self.scenario.changes.insert(place, change);
        self.engine.changes.insert_setting(self.engine.now(), flow, setting);
        self.engine.change(self.engine.now());
        self.reach_now();
    }

    /// Lets everything of this instant happen: before the first step nothing has, and a change may
    /// cause more.
    fn reach_now(&mut self) {
        self.run_until(self.now());
    }

    /// Where a change of this instant belongs among the changes.
    fn place(&self) -> usize {
        let now = self.now().as_nanos();
        self.scenario.changes.partition_point(|change| change.at_ns <= now)
    }

    /// Ends the run now, unless it is over: returns the scenario with this end as its last change,
    /// what happened, and the observer.
    ///
    /// # Panics
    /// If a packet is missing, since the result would be wrong.
    pub fn finish(mut self) -> (Scenario, Outcome, O) {
        if !self.is_over() {
            self.end_now();
        }
        self.engine.finish();
        let outcome = outcome(&self.scenario, &self.engine);
        (self.scenario, outcome, self.engine.observer)
    }

    /// Ends the run as a change: its duration may not be shorter than the warm-up, nor end before
    /// the start of a flow.
    fn end_now(&mut self) {
        self.reach_now();
        self.scenario.end_at(self.now().as_nanos());
    }
}

fn number(flow: usize) -> FlowId {
    FlowId(u32::try_from(flow).expect("flows fit 32 bits"))
}
