//! The simulator: a scenario in, events out.
//!
//! No operating system, no thread, no clock: the same scenario gives the same
//! events, bit for bit, in any build and on any machine.

mod account;
pub mod agenda;
mod controls;
mod draw;
mod ending;
mod engine;
mod host;
mod network;
mod sampler;
mod taps;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use narrows_base::{Bytes, Duration, FlowId, Packet, Rate, Stream, Time};
use narrows_cc::CcConfig;
use narrows_record::{NullTap, Observer, Tap};
use narrows_spec::ScenarioError;
use narrows_spec::scenario::{Ecn, Flow, Level, Scenario, SocketBuffers, Workload};
use narrows_tcp::{
    BufferLimits, EcnMode, MSS, MakeControl, Metrics, ReceiverConfig, Segment, SenderConfig,
    SenderView, TcpProfile, profile,
};

pub use controls::{Controls, Make};
use draw::Draws;
use ending::StopWhen;
use engine::Engine;
use host::{Chain, ControlFactory, Plan, ReceivingHost, SendingHost};
use network::Network;
use sampler::Sampler;

/// Initial window in packets (RFC 6928).
const INITIAL_CWND: u32 = 10;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The end of the run.
    pub end: Time,
    /// Data packets that left the bottleneck.
    pub packets: u64,
}

/// What can look into a run of the simulator: the packets with their segments, the
/// senders as `ss` and `tcp_probe` show them.
pub trait SimTap: Tap<Packet<Segment>, SenderView> {}

impl<T: Tap<Packet<Segment>, SenderView>> SimTap for T {}

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
    let stop_when = match scenario.run.stop_when.as_deref() {
        None => StopWhen::Never,
        Some("all") => StopWhen::AllSizedDone,
        Some(name) => index_of(scenario, name).map_or(StopWhen::Never, StopWhen::Done),
    };
    let mut engine = Engine::new(network, sampler(scenario), stop_when, observer, tap);
    let end = engine.run(Time::from_nanos(scenario.run.duration_ns), progress);
    Ok(Outcome { end, packets: engine.data_packets() })
}

fn sampler(scenario: &Scenario) -> Sampler {
    let interval = (scenario.run.record > Level::Summary)
        .then(|| Duration::from_nanos(scenario.run.sample_interval_ns));
    let rate = Rate::from_bps(scenario.path.rate_bps);
    let packet_time = rate.time_to_send(Bytes::new(1500));
    Sampler::new(interval, Time::from_nanos(scenario.run.warmup_ns), packet_time)
}

fn index_of(scenario: &Scenario, name: &str) -> Option<usize> {
    scenario.flows.iter().position(|flow| flow.name == name)
}

fn hosts(
    scenario: &Scenario,
    controls: &Controls,
    profile: &'static TcpProfile,
    note_lost: bool,
) -> Vec<(SendingHost, ReceivingHost)> {
    let limits = match scenario.host.socket_buffers {
        SocketBuffers::Stock => BufferLimits::Stock,
        SocketBuffers::Raised => BufferLimits::Raised,
        SocketBuffers::Unlimited => BufferLimits::Unlimited,
    };
    let flows = scenario.flows.iter().enumerate();
    let numbers: BTreeMap<&str, usize> =
        flows.clone().map(|(index, flow)| (flow.name.as_str(), index)).collect();
    let host = |(index, flow): (usize, &Flow)| {
        let id = FlowId(u32::try_from(index).expect("flows fit 32 bits"));
        let plan = Plan {
            start: Time::from_nanos(flow.start_ns),
            stop: flow.stop_ns.map(Time::from_nanos),
            repeat_gap: flow.repeat_gap_ns.map(Duration::from_nanos),
            while_flow: flow.while_flow.as_deref().and_then(|name| numbers.get(name).copied()),
        };
        let config = SenderConfig {
            flow: id,
            mss: MSS,
            initial_cwnd: INITIAL_CWND,
            profile,
            fq: scenario.host.fq,
            timer_lateness: Duration::from_nanos(scenario.host.timer_lateness_ns),
            limits,
            size: flow.size_bytes,
            closes: true,
            ecn: ecn_mode(flow.ecn),
            gso: scenario.host.gso,
            instance: 0,
            note_lost,
            metrics: scenario.host.metrics_save.then(Metrics::default),
        };
        let factory = control_factory(scenario.seed, flow, controls, profile);
        let chain = Chain::new(plan, config, factory);
        let draws = Draws { seed: scenario.seed, flow: &flow.name };
        let sender = SendingHost::new(chain, flow.workload.as_ref(), draws);
        let receiver = ReceivingHost::new(
            ReceiverConfig {
                flow: id,
                profile,
                limits,
                gro: Duration::from_nanos(scenario.host.gro_ns),
                ecn: ecn_mode(flow.ecn),
                window_clamp: flow.receive_window_bytes,
                instance: 0,
            },
            matches!(flow.workload, Some(Workload::Arrivals { .. })),
        );
        (sender, receiver)
    };
    flows.map(host).collect()
}

fn ecn_mode(ecn: Ecn) -> EcnMode {
    match ecn {
        Ecn::Off => EcnMode::Off,
        Ecn::Classic => EcnMode::Classic,
        Ecn::Dctcp => EcnMode::Dctcp,
        Ecn::L4s => EcnMode::L4s,
    }
}

/// Makes the flow's congestion controls, one for each connection of its chain.
fn control_factory(
    seed: u64,
    flow: &Flow,
    controls: &Controls,
    profile: &'static TcpProfile,
) -> ControlFactory {
    let (name, options) = (flow.name.clone(), flow.options.clone());
    let make = controls.maker(&flow.cca);
    Box::new(move |instance| -> MakeControl {
        let random = Stream::new(seed, &format!("cc/{name}/{instance}"));
        let (make, options) = (Arc::clone(&make), options.clone());
        Box::new(move |_now, rtt, initial_cwnd| {
            make(CcConfig {
                mss: MSS,
                initial_cwnd,
                initial_rtt: Some(rtt),
                profile: &profile.cc,
                random,
                options,
            })
        })
    })
}
