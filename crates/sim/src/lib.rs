//! The simulator: a scenario in, events out.
//!
//! No operating system, no thread, no clock: the same scenario gives the same
//! events, bit for bit, in any build and on any machine.

#![warn(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

mod account;
pub mod agenda;
mod controls;
mod draw;
mod ending;
mod engine;
mod host;
mod network;
mod sampler;
mod setup;
mod sim_tap;

use std::ops::ControlFlow;

use narrows_base::Time;
use narrows_record::{NullTap, Observer};
use narrows_spec::ScenarioError;
use narrows_spec::scenario::Scenario;
use narrows_tcp::profile;

pub use controls::{Controls, Make};
use engine::Engine;
use network::Network;
use setup::{hosts, sampler, stop_when};
pub use sim_tap::SimTap;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The end of the run.
    pub end: Time,
    /// Data packets that left the bottleneck.
    pub packets: u64,
}

/// Runs a scenario and tells `observer` what happens.
///
/// `progress` hears the simulated time and the packets through the bottleneck from
/// time to time, and may break the run off.
///
/// # Errors
/// If the scenario can't be run: the place, what was found and what would be right.
///
/// # Panics
/// If a packet goes missing, or a quantity overflows: the result would be wrong.
pub fn run<O: Observer>(
    scenario: &Scenario,
    observer: &mut O,
    progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
) -> Result<Outcome, ScenarioError> {
    run_tapped(scenario, observer, &mut NullTap, progress)
}

/// The same with a `tap` that looks at the packets; it changes nothing.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_tapped<O: Observer, T: SimTap>(
    scenario: &Scenario,
    observer: &mut O,
    tap: &mut T,
    progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
) -> Result<Outcome, ScenarioError> {
    run_with(scenario, &Controls::new(), observer, tap, progress)
}

/// The same with flows that may name controls which the registry doesn't have.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_with<O: Observer, T: SimTap>(
    scenario: &Scenario,
    controls: &Controls,
    observer: &mut O,
    tap: &mut T,
    progress: &mut dyn FnMut(Time, u64) -> ControlFlow<()>,
) -> Result<Outcome, ScenarioError> {
    narrows_spec::check(scenario, &|name| controls.has(name))?;
    let profile = profile(&scenario.host.profile).expect("the scenario was checked");
    let hosts = hosts(scenario, controls, profile, tap.wants_senders());
    let network = Network::new(scenario, hosts);
    let mut engine = Engine::new(network, sampler(scenario), stop_when(scenario), observer, tap);
    let end = engine.run(Time::from_nanos(scenario.run.duration_ns), progress);
    Ok(Outcome { end, packets: engine.data_packets() })
}
