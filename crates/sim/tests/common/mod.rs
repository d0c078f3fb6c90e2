//! Scenarios for tests, and their results.

#![allow(clippy::cast_precision_loss, reason = "small numbers")]
#![allow(dead_code, reason = "benchmarks use a part of it, too")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use narrows_base::registry::Values;
use narrows_base::{Bytes, Time};
use narrows_net::config::Choice;
use narrows_record::{Event, EventKind, FlowSample, Observer, PacketKind, QueueSample};
use narrows_spec::scenario::{
    EcnMode, Flow, Host, Level, Limit, PathConfig, Run, Scenario, SocketBuffers,
};

pub const SECOND: u64 = 1_000_000_000;
pub const MILLI: u64 = 1_000_000;

/// A path with bulk flows that all start at once.
pub fn scenario(mbps: u64, rtt_ms: u64, buffer: u64, ccas: &[&str]) -> Scenario {
    let flow = |(index, cca): (usize, &&str)| Flow {
        name: format!("{cca}-{}", index + 1),
        cca: (*cca).into(),
        options: Values::default(),
        ecn: EcnMode::Off,
        start_ns: 0,
        stop_ns: None,
        size_bytes: None,
        workload: None,
        receive_window_bytes: None,
        notsent_lowat_bytes: None,
        rtt_ns: None,
        reverse: false,
        links: None,
        deadline_ns: None,
        dscp: None,
        repeat_gap_ns: None,
        while_flow: None,
        stack: None,
        profile: None,
        fq: None,
        kernel: None,
        line_rate_bps: None,
        sysctls: BTreeMap::new(),
        server: Vec::new(),
        client: Vec::new(),
        sender: None,
        syscall_time_ns: None,
        date: None,
    };
    Scenario {
        name: "test".into(),
        seed: 1,
        path: PathConfig {
            rate_bps: mbps * 1_000_000,
            rtt_ns: rtt_ms * MILLI,
            buffer: Limit::Bytes(Bytes::new(buffer)),
            queue: Choice::new("droptail"),
            service: Choice::new("constant"),
            loss: 0.0,
            impairments: Vec::new(),
            links: Vec::new(),
            reverse: None,
        },
        flows: ccas.iter().enumerate().map(flow).collect(),
        host: Host {
            profile: "linux-6.12".into(),
            fq: false,
            jitter_ns: 0,
            timer_lateness_ns: 0,
            gso: false,
            metrics_save: false,
            gro_ns: 0,
            socket_buffers: SocketBuffers::Raised,
        },
        run: Run {
            duration_ns: 60 * SECOND,
            warmup_ns: 10 * SECOND,
            stop_when: None,
            sample_interval_ns: 100 * MILLI,
            record: Level::Samples,
        },
        changes: Vec::new(),
    }
}

/// Bytes of `percent` % of the path's bandwidth-delay product.
pub fn bdp(mbps: u64, rtt_ms: u64, percent: u64) -> u64 {
    mbps * rtt_ms * 125 * percent / 100
}

/// Everything that a run reported about its flows and its queue.
#[derive(Default)]
pub struct Log {
    pub flows: Vec<(Time, FlowSample)>,
    pub queues: Vec<(Time, QueueSample)>,
    pub internals: Vec<(Time, u32, &'static str, f64)>,
}

impl Observer for Log {
    fn wants(&self, kind: EventKind) -> bool {
        matches!(kind, EventKind::Flow | EventKind::Queue | EventKind::Internal)
    }

    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Flow(sample) => self.flows.push((at, *sample)),
            Event::Queue(sample) => self.queues.push((at, *sample)),
            Event::Internal(i) => self.internals.push((at, i.flow.0, i.name, i.value)),
            _ => {}
        }
    }
}

pub fn run(scenario: &Scenario) -> Log {
    let mut log = Log::default();
    narrows_sim::run(scenario, &mut log, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    log
}

/// The same run with an observer that wants every packet.
pub fn run_watched(scenario: &Scenario) -> Log {
    struct EveryPacket;
    impl Observer for EveryPacket {
        fn wants(&self, kind: EventKind) -> bool {
            kind == EventKind::Packet
        }

        fn on(&mut self, _at: Time, _event: &Event) {}
    }
    let mut both = (Log::default(), EveryPacket);
    narrows_sim::run(scenario, &mut both, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    both.0
}

/// The numbers of the ACKs that reach the sender of a single flow.
pub fn acknowledgements(scenario: &Scenario) -> Vec<u64> {
    struct Acks(Vec<u64>);
    impl Observer for Acks {
        fn wants(&self, kind: EventKind) -> bool {
            kind == EventKind::Packet
        }

        fn on(&mut self, _at: Time, event: &Event) {
            if let Event::Packet(packet) = event
                && packet.kind == PacketKind::AckReceived
            {
                self.0.push(packet.seq);
            }
        }
    }
    let mut acks = Acks(Vec::new());
    narrows_sim::run(scenario, &mut acks, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    acks.0
}

/// How long each transfer took, in seconds.
pub fn completions(scenario: &Scenario) -> Vec<f64> {
    struct Ends(Vec<f64>);
    impl Observer for Ends {
        fn wants(&self, kind: EventKind) -> bool {
            kind == EventKind::Completion
        }

        fn on(&mut self, at: Time, event: &Event) {
            if let Event::Completion(done) = event {
                self.0.push((at - done.start).as_secs_f64());
            }
        }
    }
    let mut ends = Ends(Vec::new());
    narrows_sim::run(scenario, &mut ends, &mut |_, _| ControlFlow::Continue(()))
        .expect("the scenario runs");
    ends.0
}

/// When a run ends, in seconds.
pub fn end(scenario: &Scenario) -> f64 {
    let outcome = narrows_sim::run(scenario, &mut narrows_record::NullObserver, &mut |_, _| {
        ControlFlow::Continue(())
    });
    outcome.expect("the scenario runs").end.as_secs_f64()
}

impl Log {
    /// The samples of one flow.
    pub fn flow(&self, id: u32) -> Vec<(f64, FlowSample)> {
        let own = self.flows.iter().filter(|(_, sample)| sample.flow.0 == id);
        own.map(|(at, sample)| (at.as_secs_f64(), *sample)).collect()
    }

    /// A flow's payload received between two instants, in Mbit/s.
    pub fn goodput(&self, id: u32, from: f64, to: f64) -> f64 {
        let at = |when: f64| {
            let rows = self.flow(id);
            let row = rows.iter().find(|(time, _)| (time - when).abs() < 1e-6);
            row.expect("a row at that instant").1.received.get()
        };
        (at(to) - at(from)) as f64 * 8e-6 / (to - from)
    }

    /// Share of the packets that the queue dropped between two instants.
    pub fn drop_rate(&self, from: f64, to: f64) -> f64 {
        let at = |when: f64| {
            let row = self.queues.iter().find(|(time, _)| (time.as_secs_f64() - when).abs() < 1e-6);
            row.expect("a row at that instant").1
        };
        let (a, b) = (at(from), at(to));
        let dropped = (b.dropped - a.dropped) as f64;
        dropped / (dropped + (b.forwarded - a.forwarded) as f64)
    }

    /// Mean backlog between two instants, in bytes.
    pub fn mean_queue(&self, from: f64, to: f64) -> f64 {
        let within = |time: &Time| (from..=to).contains(&time.as_secs_f64());
        let depths: Vec<f64> = self
            .queues
            .iter()
            .filter(|(time, _)| within(time))
            .map(|(_, sample)| sample.backlog.get() as f64)
            .collect();
        depths.iter().sum::<f64>() / depths.len() as f64
    }
}
