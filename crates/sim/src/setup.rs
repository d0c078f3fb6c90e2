//! Sets up a scenario's flows and the sampling of a run.

use narrows_base::{Duration, FlowId, Rate, Stream, Time};
use narrows_cc::CcConfig;
use narrows_media::MediaSchedule;
use narrows_spec::Names;
use narrows_spec::law::Draws;
use narrows_spec::scenario::{Flow, Level, Scenario, SocketBuffers, Workload};
use narrows_spec::text::quote;
use narrows_spec::{Place, Problem, ProblemKind, Problems};
use narrows_tcp::ends::Ends;
use narrows_tcp::{
    AccEcnSettings, BufferLimits, MSS, MakeControl, Metrics, ReceiverConfig, SenderConfig, Sysctls,
    TcpProfile,
};

use crate::controls::{Controls, Maker, Makers};
use crate::ending::StopWhen;
use crate::host::{
    Chain, ControlFactory, Datagrams, Plan, ReceivingHost, SendingHost, Sink, Source, stack_hosts,
};
use crate::sampler::Sampler;
use crate::stacks::Connecting;

/// Initial window in packets (RFC 6928).
const INITIAL_CWND: u32 = 10;

/// The condition for an early end.
pub(crate) fn stop_when(scenario: &Scenario) -> StopWhen {
    match scenario.run.stop_when.as_deref() {
        None => StopWhen::Never,
        Some("all") => StopWhen::AllSizedDone,
        Some(name) => Names::of(&scenario.flows)
            .flow_numbers(name)
            .cloned()
            .map_or(StopWhen::Never, StopWhen::Done),
    }
}

/// The sampling of flows and queues.
pub(crate) fn sampler(scenario: &Scenario) -> Sampler {
    let interval = (scenario.run.record > Level::Summary)
        .then(|| Duration::from_nanos(scenario.run.sample_interval_ns));
    Sampler::new(interval, Time::from_nanos(scenario.run.warmup_ns))
}

/// The ends of all flows.
pub(crate) fn hosts<'a>(
    scenario: &'a Scenario,
    controls: &'a Controls,
    note_lost: bool,
) -> Vec<(SendingHost, ReceivingHost)> {
    let limits = match scenario.host.socket_buffers {
        SocketBuffers::Stock => BufferLimits::Stock,
        SocketBuffers::Raised => BufferLimits::Raised,
        SocketBuffers::Unlimited => BufferLimits::Unlimited,
    };
    let flows = scenario.flows.iter().enumerate();
    let names = Names::of(&scenario.flows);
    let mut makers = Makers::new(controls);
    let host = |(index, flow): (usize, &'a Flow)| {
        let id = FlowId(u32::try_from(index).expect("flows fit 32 bits"));
        let plan = Plan {
            start: Time::from_nanos(flow.start_ns),
            stop: flow.stop_ns.map(Time::from_nanos),
            repeat_gap: flow.repeat_gap_ns.map(Duration::from_nanos),
            deadline_ns: flow.deadline_ns,
            while_flows: flow
                .while_flow
                .as_deref()
                .and_then(|name| names.flow_numbers(name).cloned()),
        };
        if let Some(what) = Datagrams::of(flow.workload.as_ref()) {
            let ecn = flow.ecn.of_new_data();
            let source = SendingHost::other(Source::new(id, ecn, what, &plan));
            return (source, ReceivingHost::other(Sink::new(id, ecn, what)));
        }
        if let Some(ends) = other_ends(scenario, flow, controls, &plan) {
            let times = (plan.start, flow.size_bytes);
            let (sender, receiver) = stack_hosts(id, flow.ecn, copies(scenario), times, ends);
            return (SendingHost::other(sender), ReceivingHost::other(receiver));
        }
        let profile = profile_of(scenario, flow);
        let config = SenderConfig {
            flow: id,
            mss: MSS,
            initial_cwnd: INITIAL_CWND,
            sysctls: Sysctls::default(),
            profile,
            fq: flow.fq.unwrap_or(scenario.host.fq),
            line_rate: flow.line_rate_bps.map(Rate::from_bps),
            timer_lateness: Duration::from_nanos(scenario.host.timer_lateness_ns),
            limits,
            notsent_lowat: flow.notsent_lowat(),
            size: flow.size_bytes,
            closes: true,
            ecn: flow.ecn,
            gso: scenario.host.gso,
            instance: 0,
            note_lost,
            metrics: scenario.host.metrics_save.then(Metrics::default),
        };
        let maker = makers.maker(&flow.cca, &flow.name, &flow.options);
        let factory = control_factory(scenario.seed, flow, maker, profile);
        let chain = Chain::new(plan, config, factory);
        let draws = Draws { seed: scenario.seed, flow: &flow.name };
        let sender = SendingHost::new(chain, flow.workload.as_ref(), draws);
        let receiver = ReceivingHost::new(
            receiver_config(scenario, flow, id, limits),
            matches!(flow.workload, Some(Workload::Arrivals { .. } | Workload::Web { .. })),
        );
        (sender, receiver)
    };
    flows.map(host).collect()
}

/// The settings of a flow's receiver.
fn receiver_config(
    scenario: &Scenario,
    flow: &Flow,
    id: FlowId,
    limits: BufferLimits,
) -> ReceiverConfig {
    ReceiverConfig {
        flow: id,
        profile: profile_of(scenario, flow),
        limits,
        gro: Duration::from_nanos(scenario.host.gro_ns),
        ecn: flow.ecn,
        accurate_ecn: AccEcnSettings::default(),
        window_clamp: flow.receive_window_bytes,
        instance: 0,
        socket: None,
    }
}

/// Returns `true` if the path may duplicate packets.
fn copies(scenario: &Scenario) -> bool {
    scenario.path.impairments.iter().any(|one| one.element.kind == "duplicate")
}

/// The ends of a flow with a transport other than TCP.
fn other_ends(scenario: &Scenario, flow: &Flow, controls: &Controls, plan: &Plan) -> Option<Ends> {
    if let Some(Workload::Media(media)) = &flow.workload {
        let when =
            MediaSchedule { start: plan.start, stop: plan.stop, ecn: flow.ecn.of_new_data() };
        let draws = Draws { seed: scenario.seed, flow: &flow.name };
        return Some(narrows_media::ends(media, when, draws));
    }
    let make = controls.stack(flow.stack.as_ref()?).expect("it was looked for");
    let (seed, buffers) = (scenario.seed, scenario.host.socket_buffers);
    Some(make(&Connecting { flow: flow.clone(), seed, buffers }))
}

/// Refuses what this simulator doesn't have: stacks that weren't built into it, and keys that only
/// hosts with a real kernel have.
pub(crate) fn refuse_what_is_missing(
    scenario: &Scenario,
    controls: &Controls,
) -> Result<(), Problems> {
    let mut problems = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let Some(stack) = flow.stack.as_ref().filter(|name| controls.stack(name).is_none()) else {
            continue;
        };
        let place = Place::default().key("flows").index(index).key("stack");
        let found = format!("{}, which this build lacks", quote(stack));
        let remedy = "a build with the feature `stacks` of crates/python";
        problems.push(Problem::new(ProblemKind::Relation, place, found, remedy));
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        let given = [
            ("kernel", flow.kernel.is_some(), "`profile`"),
            ("line_rate_bps", sends_datagrams_at_a_line_rate(flow), "--backend uml or kernel"),
            ("sysctls", !flow.sysctls.is_empty(), "--backend uml or kernel"),
            ("server", flow.has_programs(), "--backend uml or kernel"),
        ];
        for (key, _, remedy) in given.into_iter().filter(|(_, given, _)| *given) {
            let place = Place::default().key("flows").index(index).key(key);
            let found = "what only hosts with a real kernel have";
            problems.push(Problem::new(ProblemKind::Relation, place, found, remedy));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}

/// Returns `true` if a card would have to delay datagrams, which leave at once here.
fn sends_datagrams_at_a_line_rate(flow: &Flow) -> bool {
    let is_media = matches!(flow.workload, Some(Workload::Media(_)));
    flow.line_rate_bps.is_some() && (is_media || Datagrams::of(flow.workload.as_ref()).is_some())
}

/// The TCP of a flow's hosts.
fn profile_of(scenario: &Scenario, flow: &Flow) -> &'static TcpProfile {
    let name = flow.profile.as_ref().unwrap_or(&scenario.host.profile);
    narrows_tcp::profile(name).expect("the scenario was checked")
}

/// Makes the flow's congestion controls, one for each connection of its chain.
fn control_factory(
    seed: u64,
    flow: &Flow,
    maker: Maker,
    profile: &'static TcpProfile,
) -> ControlFactory {
    let name = flow.name.clone();
    Box::new(move |instance| -> MakeControl {
        let random = Stream::new(seed, &format!("cc/{name}/{instance}"));
        let Maker { make, options } = maker.clone();
        Box::new(move |_now, rtt, initial_cwnd| {
            make(CcConfig {
                mss: MSS,
                initial_cwnd,
                initial_rtt: Some(rtt),
                profile: &profile.cc,
                random,
                options: &options,
            })
        })
    })
}
