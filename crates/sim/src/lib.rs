//! The simulator: a scenario in, events out.
//!
//! No operating system, no thread, no clock: the same scenario gives the same
//! events, bit for bit, in any build and on any machine.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! // A CUBIC flow for ten seconds at 10 Mbit/s with 40 ms of round trip.
//! let scenario = serde_json::from_str(r#"{
//!     "name": "first", "seed": 1,
//!     "path": {
//!         "rate_bps": 10000000, "rtt_ns": 40000000, "buffer": {"bytes": 50000},
//!         "queue": {"kind": "droptail"}, "service": {"kind": "constant"}, "loss": 0.0,
//!         "impairments": [], "links": [], "reverse": null
//!     },
//!     "flows": [{
//!         "name": "cubic-1", "cca": "cubic", "options": {}, "ecn": "off",
//!         "start_ns": 0, "stop_ns": null, "size_bytes": null, "workload": null,
//!         "receive_window_bytes": null, "rtt_ns": null, "reverse": false, "links": null,
//!         "repeat_gap_ns": null, "while": null
//!     }],
//!     "host": {
//!         "profile": "linux-6.12", "fq": false, "jitter_ns": 0, "timer_lateness_ns": 0,
//!         "gso": false, "metrics_save": false, "gro_ns": 0, "socket_buffers": "raised"
//!     },
//!     "run": {
//!         "duration_ns": 10000000000, "warmup_ns": 0, "stop_when": null,
//!         "sample_interval_ns": 100000000, "record": "summary"
//!     }
//! }"#)?;
//! let mut digest = narrows_record::Digest::default();
//! let outcome = narrows_sim::run(&scenario, &mut digest, &mut |_, _| ControlFlow::Continue(()))?;
//! assert!((7_500..8_334).contains(&outcome.packets), "{} of 1500 bytes", outcome.packets);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod account;
pub mod agenda;
mod changes;
mod controls;
mod ending;
mod engine;
mod environments;
mod host;
mod network;
mod sampler;
mod setup;
mod sim_tap;
mod simulation;
pub mod stacks;

use std::ops::ControlFlow;

use narrows_base::Time;
use narrows_record::{NullTap, Observer};
use narrows_spec::Problems;
use narrows_spec::scenario::Scenario;

use changes::Changes;
pub use controls::{ControlFn, Controls};
use engine::Engine;
pub use environments::{Environments, View};
use network::Network;
use setup::{hosts, sampler, stop_when};
pub use sim_tap::SimTap;
pub use simulation::Simulation;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The end of the run.
    pub end: Time,
    /// Data packets that left the bottleneck.
    pub packets: u64,
    /// Data packets that each impairment dropped from the warm-up on, in the order of the scenario.
    pub impairments_dropped: Vec<u64>,
    /// Data packets lost by the path's own loss from the warm-up on.
    pub path_lost: u64,
}

/// Runs a scenario and reports its events to `observer`.
///
/// `progress` is called from time to time with the simulated time and the packets through the
/// bottleneck, and may stop the run.
///
/// # Errors
/// If the scenario can't be run: every place, what was found there and what would be right.
///
/// # Panics
/// If a packet goes missing or a quantity overflows, since the result would be wrong.
pub fn run<O: Observer>(
    scenario: &Scenario,
    observer: &mut O,
    progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    run_tapped(scenario, observer, &mut NullTap, progress)
}

/// Runs a scenario with a `tap` that sees the packets without changing anything.
///
/// # Errors
/// The same as for [`run`].
///
/// # Panics
/// The same as for [`run`].
pub fn run_tapped<O: Observer, T: SimTap>(
    scenario: &Scenario,
    observer: &mut O,
    tap: &mut T,
    progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    run_with(scenario, &Controls::new(), observer, tap, progress)
}

/// Runs a scenario whose flows may name unregistered controls.
///
/// # Errors
/// The same as for [`run`].
///
/// # Panics
/// The same as for [`run`].
pub fn run_with<O: Observer, T: SimTap>(
    scenario: &Scenario,
    controls: &Controls,
    observer: &mut O,
    tap: &mut T,
    progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
) -> Result<Outcome, Problems> {
    narrows_spec::check(scenario, &|name| controls.has(name))?;
    setup::refuse_what_is_missing(scenario, controls)?;
    let hosts = hosts(scenario, controls, tap.wants_senders());
    let network = Network::new(scenario, hosts);
    let (changes, stop_when) = (Changes::of(scenario), stop_when(scenario));
    let mut engine = Engine::new(network, sampler(scenario), changes, stop_when, observer, tap);
    engine.run(Time::from_nanos(scenario.run.duration_ns), progress);
    Ok(outcome(scenario, &engine))
}

fn outcome<O: Observer, T: SimTap>(scenario: &Scenario, engine: &Engine<O, T>) -> Outcome {
    Outcome {
        end: engine.now(),
        packets: engine.data_packets(),
        impairments_dropped: engine.impairments_dropped(scenario.path.impairments.len()),
        path_lost: engine.accounts.lost_by_path(),
    }
}
