//! Environments of agents: steps of many runs at once.

use std::num::NonZero;

use crate::common::{SECOND, bdp, scenario};
use narrows_base::{Duration, Rate, Stream, Time};
use narrows_cc::Setting;
use narrows_record::NullObserver;
use narrows_sim::{Controls, Environments, Simulation, View};
use narrows_spec::scenario::{Level, Scenario};

const STEP: Duration = Duration::from_millis(40);

fn draw_scenario(place: u64) -> Scenario {
    let mut made = scenario(5 + place, 30, bdp(5 + place, 30, 100), &["fixed", "cubic"]);
    made.seed = place;
    made.path.loss = 0.01;
    made.run.record = Level::Summary;
    (made.run.duration_ns, made.run.warmup_ns) = (2 * SECOND, 0);
    made
}

/// The last views after random settings, run on `threads` threads.
fn views(threads: usize) -> (Vec<View>, Environments) {
    let (count, start) = (11, Time::from_nanos(60_000_000));
    let (mut environments, mut random) = (Environments::new(count), Stream::new(1, "agent"));
    for place in 0..count {
        environments.reset(place, draw_scenario(place as u64), start).expect("it can be run");
    }
    let mut seen = Vec::new();
    for _ in 0..50 {
        let mut setting = |_| Setting {
            window: Some(2 + u32::try_from(random.below(60)).expect("a small number")),
            pacing_rate: Some(Rate::from_bps(1_000_000 + random.below(20_000_000))),
        };
        let settings: Vec<_> = (0..count).map(&mut setting).collect();
        seen = environments.step(&settings, STEP, NonZero::new(threads).expect("a thread"));
    }
    (seen, environments)
}

#[test]
fn threads_change_nothing() {
    let (one, _) = views(1);
    assert!(one.iter().all(|view| view.over && view.delivered > 100), "{one:?}");
    for threads in [2, 3, 9] {
        assert_eq!(views(threads).0, one, "{threads} threads");
    }
}

/// An agent's actions are recorded in a scenario, and a run of it gives what the agent saw.
#[test]
fn an_episode_is_repeated_from_its_record() {
    let (seen, environments) = views(2);
    for (place, view) in seen.iter().enumerate() {
        let recorded = environments.scenario(place).clone();
        let mut run = Simulation::new(recorded, Controls::new(), NullObserver).expect("it ran");
        run.run_until(view.now);
        let flow = run.flow(0);
        let found = (flow.sent, flow.delivered, flow.lost, flow.cwnd, flow.in_flight);
        assert_eq!(found, (view.sent, view.delivered, view.lost, view.cwnd, view.in_flight));
    }
}
