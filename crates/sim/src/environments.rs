//! Many runs side by side, each with a flow that an agent controls.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use narrows_base::{Duration, Time};
use narrows_cc::Setting;
use narrows_record::{Event, EventKind, Observer};
use narrows_spec::Problems;
use narrows_spec::scenario::Scenario;

use crate::controls::Controls;
use crate::simulation::Simulation;

/// The number of the agent's flow.
const AGENT: usize = 0;
/// As many environments a thread takes at a time. Their steps differ in length, and another program
/// may slow a thread down, so equal shares would make the others wait.
const TAKEN: usize = 4;

/// An agent's view after a step. Counters run from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// The instant.
    pub now: Time,
    /// True if the run is over.
    pub over: bool,
    /// Data packets that the agent's flow sent, with retransmissions.
    pub sent: u64,
    /// Its packets delivered, as far as the sender knows.
    pub delivered: u64,
    /// Its packets that the sender marked lost.
    pub lost: u64,
    /// The mean of the round-trip times sampled in the step; none without a sample.
    pub rtt: Option<Duration>,
    /// The lowest round-trip time so far.
    pub min_rtt: Option<Duration>,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The window in packets.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// The pacing rate in bit/s.
    pub pacing_bps: u64,
}

/// The round-trip times of the agent's flow in a step.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrips {
    sum_nanos: u64,
    count: u64,
}

impl Observer for RoundTrips {
    #[inline]
    fn wants(&self, kind: EventKind) -> bool {
        kind == EventKind::Rtt
    }

    #[inline]
    fn on(&mut self, _at: Time, event: &Event) {
        if let Event::Rtt(sample) = event
            && sample.flow.index() == AGENT
        {
            self.sum_nanos += sample.rtt.as_nanos();
            self.count += 1;
        }
    }
}

impl RoundTrips {
    fn take_mean(&mut self) -> Option<Duration> {
        let taken = std::mem::take(self);
        (taken.count > 0).then(|| Duration::from_nanos(taken.sum_nanos / taken.count))
    }
}

/// A run whose first flow an agent controls.
struct Environment(Simulation<RoundTrips>);

impl Environment {
    fn step(&mut self, setting: Setting, span: Duration) -> View {
        if !self.0.is_over() {
            self.0.set(AGENT, setting);
            self.0.run_until(self.0.now() + span);
        }
        self.view()
    }

    fn view(&mut self) -> View {
        let rtt = self.0.observer().take_mean();
        let flow = self.0.flow(AGENT);
        View {
            now: self.0.now(),
            over: self.0.is_over(),
            sent: flow.sent,
            delivered: flow.delivered,
            lost: flow.lost,
            rtt,
            min_rtt: flow.min_rtt,
            srtt: flow.srtt,
            cwnd: flow.cwnd,
            in_flight: flow.in_flight,
            pacing_bps: flow.pacing_rate.map_or(0, narrows_base::Rate::as_bps),
        }
    }
}

/// Environments that take their steps together, on several threads.
///
/// Each is a separate run: the number of threads changes no result.
#[derive(Default)]
pub struct Environments {
    runs: Vec<Option<Environment>>,
}

impl Environments {
    /// Places for this many environments.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { runs: (0..count).map(|_| None).collect() }
    }

    /// How many places there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns `true` if there are no environments.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Begins a run in a place, and lets it continue until `start`.
    ///
    /// # Errors
    /// If the scenario can't be run.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn reset(
        &mut self,
        place: usize,
        scenario: Scenario,
        start: Time,
    ) -> Result<View, Problems> {
        let run = Simulation::new(scenario, Controls::new(), RoundTrips::default())?;
        let environment = self.runs[place].insert(Environment(run));
        environment.0.run_until(start);
        Ok(environment.view())
    }

    /// Sets each agent's window and rate, and lets all runs continue for `span`. Runs that are over
    /// stay as they are.
    ///
    /// # Panics
    /// If there isn't a setting for each place, or a place was never reset.
    pub fn step(
        &mut self,
        settings: &[Setting],
        span: Duration,
        threads: NonZero<usize>,
    ) -> Vec<View> {
        assert_eq!(settings.len(), self.runs.len(), "a setting for each environment");
        let mut views = vec![View::default(); settings.len()];
        let runs = self.runs.chunks_mut(TAKEN).zip(settings.chunks(TAKEN));
        let parts = runs.zip(views.chunks_mut(TAKEN));
        let threads = threads.get().min(parts.len());
        let parts = Mutex::new(parts);
        let take = || parts.lock().expect("taking a part doesn't panic").next();
        let work = || {
            while let Some(part) = take() {
                steps(part, span);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        views
    }

    /// The scenario of a place with every setting so far.
    ///
    /// # Panics
    /// If the place was never reset.
    #[must_use]
    pub fn scenario(&self, place: usize) -> &Scenario {
        self.runs[place].as_ref().expect("a place that was reset").0.scenario()
    }
}

type Part<'a> = ((&'a mut [Option<Environment>], &'a [Setting]), &'a mut [View]);

fn steps(((runs, settings), views): Part<'_>, span: Duration) {
    for ((run, setting), view) in runs.iter_mut().zip(settings).zip(views) {
        *view = run.as_mut().expect("a place that was reset").step(*setting, span);
    }
}
