//! The main loop, which starts, stops, writes and samples until the end.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::SocketAddrV4;
use std::path::Path;

use narrows_base::Point;
use narrows_linux::events::Epoll;
use narrows_linux::process::enter_namespace_at;
use narrows_linux::{clock, device, rtnetlink};
use narrows_pcapng::{Ending, file_name};
use narrows_spec::Names;
use narrows_spec::law::Draws;
use narrows_spec::scenario::{EcnMode, Flow, Program};
use rustix::event::epoll::EventFlags;

use crate::capture::Capture;
use crate::config::TrafficConfig;
use crate::connection::ConnectOptions;
use crate::diag::Sockets;
use crate::flow::{Connections, FlowPrograms, Hosts, OwnSockets, RunningFlow};
use crate::iperf::{self, Iperf, Iperf3Server};
use crate::open_loop::OpenLoopArrivals;
use crate::output::Output;
use crate::packet_file::PacketFile;
use crate::program::{RunningProgram, Start};
use crate::programs::Programs;
use crate::queue::QueueReader;
use crate::receiver::FlowReceiver;
use crate::sender::FlowSender;
use crate::session::Session;
use crate::stage::EpollRegistration;
use crate::stop::StopFiles;
use crate::waits::WaitTimes;

/// Time between the set-up and time 0 of the run, ns.
const LEAD_NS: u64 = 10_000_000;

/// Interval at which the file `progress` is written, with the time so far and the packets
/// forwarded.
const PROGRESS_NS: u64 = 500_000_000;

/// Interval at which the waits of the hosts' programs are read.
const WATCH_NS: u64 = 200_000_000;

/// A run between its hosts, or one host's part of it.
pub struct TrafficRun<'a> {
    config: &'a TrafficConfig,
    flows: Vec<RunningFlow<'a>>,
    /// The flows by their names in `while` and `stop_when`.
    names: Names<'a>,
    /// Present if some flows aren't our own.
    hosts: Option<Hosts>,
    /// Present instead if the other ends of these flows are on other hosts.
    pub own_sockets: Option<OwnSockets>,
    /// How hosts agree on the end by `stop_when`; without it, this one knows of all flows.
    pub stop: Option<StopFiles>,
    /// The bottleneck's queue, if it is sampled here.
    pub queue: Option<QueueReader>,
    epoll: Epoll,
    output: Output,
    /// CLOCK_MONOTONIC at time 0 of the run.
    zero: u64,
    /// When the file `progress` is due again.
    next_progress: u64,
    /// The processes of receivers that aren't our own.
    servers: Vec<u32>,
    watch: WaitTimes,
    /// When the waits are read again.
    next_watch: u64,
}

/// Does the whole run and writes its results.
///
/// The file `zero_ns` holds CLOCK_MONOTONIC at time 0, `progress` the progress of the run. Time 0 is at
/// a tick of the kernel's, as in the simulator: CUBIC's clock, for one, counts ticks.
///
/// # Errors
/// If a namespace, device or congestion control is missing, or a connection breaks.
pub fn run(config: &TrafficConfig) -> Result<()> {
    let missing = || Error::other("a run of both hosts needs namespaces");
    let namespaces = config.namespaces.as_ref().ok_or_else(missing)?;
    enter_namespace_at(&namespaces.receiver)?;
    set_up(config)?;
    if let Some(device) = config.receiver_device.as_ref().filter(|_| config.checksums) {
        device::checksum_offload_off(device)?;
    }
    let mut receivers = Receivers::default();
    receivers.start(config, false)?;
    let their_sockets = open_sockets(config)?;
    let zero = config
        .zero_ns
        .unwrap_or_else(|| (clock::monotonic_ns() + LEAD_NS).next_multiple_of(clock::tick_ns()));
    let at_receiver = packet_file(config, Point::Receiver, zero)?;
    let queue = match &namespaces.router {
        Some(router) => enter_namespace_at(router).and_then(|()| open_queue(config))?,
        None => None,
    };
    enter_namespace_at(&namespaces.sender)?;
    set_up(config)?;
    receivers.start(config, true)?;

    let hosts = open_sockets(config)?
        .zip(their_sockets)
        .zip(config.sender.zip(config.receiver))
        .map(|((sockets, theirs), (sender, receiver))| Hosts {
            sender: (sockets, sender),
            receiver: (theirs, receiver),
        });
    let epoll = Epoll::new()?;
    if !config.scenario.host.gso {
        device::segmentation_offload_off(&config.sender_device)?;
    }
    if config.checksums {
        device::checksum_offload_off(&config.sender_device)?;
    }
    let at_sender = packet_file(config, Point::Sender, zero)?;
    let until = config.notes_packets_until();
    let capture =
        until.map(|until| Capture::start(&config.sender_device, until, zero)).transpose()?;
    let mut ends = std::mem::take(&mut receivers.ends);
    let numbers = 0..config.scenario.flows.len();
    let mut programs = std::mem::take(&mut receivers.programs);
    let flows = numbers
        .map(|i| match programs.remove(&i) {
            Some(server) => of_programs(config, i, server),
            None => flow(config, i, ends.remove(&i)),
        })
        .collect::<Result<_>>()?;
    let servers = receivers.servers.iter().map(Iperf3Server::process).collect();
    let mut run =
        TrafficRun { hosts, queue, servers, ..TrafficRun::new(config, flows, epoll, zero) };
    run.until_done()?;
    run.write()?;
    std::fs::write(config.out.join("zero_ns"), zero.to_string())?;
    capture.map_or(Ok(()), |c| c.write(&config.out))?;
    run.finish()?;
    write_programs(config, &run.flows)?;
    end_captures(config, [at_sender, at_receiver])
}

/// Writes `programs.json`: for each flow of programs, by its number, when its client ran.
fn write_programs(config: &TrafficConfig, flows: &[RunningFlow<'_>]) -> Result<()> {
    let programs = flows.iter().enumerate().filter_map(|(i, flow)| Some((i, flow.programs()?)));
    let programs: BTreeMap<_, _> = programs.collect();
    if programs.is_empty() {
        return Ok(());
    }
    std::fs::write(config.out.join("programs.json"), serde_json::to_string(&programs)?)
}

/// Starts a capture in the current namespace, if requested.
///
/// # Errors
/// If there is no right to capture, or the file can't be made.
pub fn packet_file(config: &TrafficConfig, point: Point, zero: u64) -> Result<Option<PacketFile>> {
    let Some(pcap) = &config.pcap else { return Ok(None) };
    let device = match point {
        Point::Sender => Some(&config.sender_device),
        _ => config.receiver_device.as_ref(),
    };
    let device = device.ok_or_else(|| Error::other("a capture needs receiver_device"))?;
    let flows = u16::try_from(config.scenario.flows.len()).unwrap_or(u16::MAX);
    let ports = config.first_port..config.first_port.saturating_add(flows);
    let ports = config.part.is_some().then_some(ports);
    PacketFile::start(device, point, pcap, zero, ports).map(Some)
}

/// Ends the captures and writes `captures.json`: how each file ended.
///
/// # Errors
/// If one couldn't be written.
pub fn end_captures(config: &TrafficConfig, files: [Option<PacketFile>; 2]) -> Result<()> {
    let mut endings: BTreeMap<String, Ending> = BTreeMap::new();
    for file in files.into_iter().flatten() {
        endings.insert(file_name(file.point), file.finish()?);
    }
    std::fs::write(config.out.join("captures.json"), serde_json::to_string(&endings)?)
}

/// Receiving ends; those of other programs' flows are separate processes.
#[derive(Default)]
struct Receivers {
    /// Ours, by their flows.
    ends: BTreeMap<usize, FlowReceiver>,
    /// Servers of flows whose packets programs make.
    programs: BTreeMap<usize, RunningProgram>,
    /// Servers of iperf3.
    servers: Vec<Iperf3Server>,
}

impl Receivers {
    /// Starts those at one of the hosts, in the current namespace.
    fn start(&mut self, config: &TrafficConfig, at_sender: bool) -> Result<()> {
        let here = |flow: &Flow| flow.reverse || flow.sender == Some(Program::Server);
        let flows = config.scenario.flows.iter().enumerate();
        for (i, flow) in flows.filter(|(_, flow)| here(flow) == at_sender) {
            let port = config.port(i)?;
            if flow.has_programs() {
                let mut server = Start::new(config, i, Program::Server)?.begin()?;
                server.await_listening(config.zero_ns)?;
                self.programs.insert(i, server);
            } else if let Some(iperf3) = config.iperf3_of(i) {
                self.servers.push(iperf::serve(iperf3, port, &config.out)?);
            } else {
                self.ends.insert(i, FlowReceiver::start(port, flow)?);
            }
        }
        Ok(())
    }
}

/// A flow whose server runs.
fn of_programs(
    config: &TrafficConfig,
    index: usize,
    server: RunningProgram,
) -> Result<RunningFlow<'_>> {
    let flow = &config.scenario.flows[index];
    let client = Start::new(config, index, Program::Client)?;
    let programs = Programs::new(flow, client, server);
    Ok(RunningFlow::new(flow, FlowPrograms::Programs(Box::new(programs))))
}

/// A flow that this host sends; without a receiver, that is on another host.
///
/// # Errors
/// If the configuration lacks an address.
pub fn flow(
    config: &TrafficConfig,
    index: usize,
    receiver: Option<FlowReceiver>,
) -> Result<RunningFlow<'_>> {
    let flow = &config.scenario.flows[index];
    let (host, port) = (config.receiving_address(index)?, config.port(index)?);
    if let Some(iperf3) = config.iperf3_of(index) {
        let duration = config.scenario.run.duration_ns;
        let iperf = Iperf::new(flow, iperf3, index, (host, port), duration, &config.out);
        return Ok(RunningFlow::new(flow, FlowPrograms::Iperf(Box::new(iperf))));
    }
    if receiver.is_none() && config.part.is_none() {
        return Err(Error::other("a flow without a receiver"));
    }
    let connection = ConnectOptions {
        cca: &flow.cca,
        to: SocketAddrV4::new(host, port),
        tcp_ecn: tcp_ecn(config, flow.ecn),
        notsent_lowat: flow.notsent_lowat(),
        dscp: flow.dscp,
        resets: config.part.is_some(),
    };
    let draws = Draws { seed: config.scenario.seed, flow: &flow.name };
    let ends = if let Some(session) = Session::new(flow, connection, draws) {
        FlowPrograms::Session(Box::new(session), receiver)
    } else if let Some(arrivals) = OpenLoopArrivals::new(flow, connection, draws) {
        FlowPrograms::OpenLoopArrivals(Box::new(arrivals), receiver)
    } else {
        FlowPrograms::Own(Box::new(FlowSender::new(flow, connection)), receiver)
    };
    Ok(RunningFlow::new(flow, ends))
}

/// The values that a flow sets while it connects: its own, and that of the others. Nothing if no
/// flow differs from Linux's default, or on a host of a network, whose settings aren't ours.
fn tcp_ecn(config: &TrafficConfig, ecn: EcnMode) -> Option<[u8; 2]> {
    if config.part.is_some() {
        return None;
    }
    let asks = |ecn| matches!(ecn, EcnMode::Classic | EcnMode::Accurate);
    let some = config.scenario.flows.iter().any(|flow| asks(flow.ecn));
    let own = match ecn {
        EcnMode::Classic => b'1',
        EcnMode::Accurate => b'3',
        _ => b'2',
    };
    let others = config.sysctls.get("net/ipv4/tcp_ecn").and_then(|v| v.bytes().next());
    some.then_some([own, others.unwrap_or(b'2')])
}

/// Opens those of the current namespace, if another program's connections are observed.
fn open_sockets(config: &TrafficConfig) -> Result<Option<Sockets>> {
    let others = config.iperf3.iter().any(Option::is_some);
    others.then(Sockets::open).transpose()
}

/// Leaves this thread in the router's namespace, if there is a queue to read.
/// The bottleneck's queue in the current namespace, if it is sampled here.
///
/// # Errors
/// If there is no such device.
pub fn open_queue(config: &TrafficConfig) -> Result<Option<QueueReader>> {
    let Some(device) = &config.bottleneck_device else { return Ok(None) };
    QueueReader::open(device, config.bottleneck_class).map(Some)
}

/// Sets the current namespace up: its settings, and a loopback device for programs.
fn set_up(config: &TrafficConfig) -> Result<()> {
    if config.scenario.flows.iter().any(Flow::has_programs) {
        rtnetlink::loopback_up()?;
    }
    for (name, value) in &config.sysctls {
        let path = Path::new("/proc/sys").join(name);
        let wrong = |e| Error::other(format!("{}: {e}", path.display()));
        std::fs::write(&path, value).map_err(wrong)?;
    }
    Ok(())
}

impl<'a> TrafficRun<'a> {
    /// A run whose time 0 is at this value of CLOCK_MONOTONIC.
    #[must_use]
    pub fn new(
        config: &'a TrafficConfig,
        flows: Vec<RunningFlow<'a>>,
        epoll: Epoll,
        zero: u64,
    ) -> Self {
        Self {
            config,
            flows,
            names: Names::of(&config.scenario.flows),
            hosts: None,
            own_sockets: None,
            stop: None,
            queue: None,
            epoll,
            output: Output::default(),
            zero,
            next_progress: 0,
            servers: Vec::new(),
            watch: WaitTimes::default(),
            next_watch: config.scenario.run.warmup_ns,
        }
    }

    /// Writes the rows of all samples, and how long the programs waited for a processor.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self) -> Result<()> {
        self.output.write(&self.config.out)?;
        if self.config.watch_waits { self.watch.write(&self.config.out) } else { Ok(()) }
    }

    fn now(&self) -> u64 {
        clock::monotonic_ns().saturating_sub(self.zero)
    }

    /// Runs from time 0 to the end.
    ///
    /// # Errors
    /// If a congestion control is missing, or a connection breaks.
    pub fn until_done(&mut self) -> Result<()> {
        clock::sleep_until(self.zero)?;
        let mut next_sample = 0;
        let mut is_stopped = false;
        loop {
            let now = self.now();
            // All that are due, or writing to a fast receiver would put them off until after the end.
            while next_sample <= now.min(self.config.scenario.run.duration_ns) {
                self.sample(next_sample)?;
                next_sample = self.sample_after(next_sample);
                is_stopped = self.stop.as_ref().is_some_and(StopFiles::has_ended);
            }
            for i in 0..self.flows.len() {
                self.act(i, now)?;
            }
            if now >= self.config.scenario.run.duration_ns || is_stopped || self.should_stop(now)? {
                return self.last_sample(now, next_sample);
            }
            let wake =
                self.flows.iter().filter_map(RunningFlow::deadline).fold(next_sample, u64::min);
            let timeout = wake.saturating_sub(self.now());
            for (token, events) in self.epoll.wait(timeout)? {
                self.event(token, events)?;
            }
        }
    }

    /// Lets a flow start or stop, at the host that connects.
    fn act(&mut self, i: usize, now: u64) -> Result<()> {
        let flow = &mut self.flows[i];
        let registration = EpollRegistration { epoll: &self.epoll, token: i as u64 };
        let at_receiver = flow.flow.reverse || flow.flow.sender == Some(Program::Server);
        let other = self.config.namespaces.as_ref().filter(|_| at_receiver);
        match other {
            Some(namespaces) if flow.deadline().is_some_and(|at| at <= now) => {
                enter_namespace_at(&namespaces.receiver)?;
                flow.act(now, registration)?;
                enter_namespace_at(&namespaces.sender)
            }
            _ => flow.act(now, registration),
        }
    }

    /// Multiples of the interval, the warm-up and the end.
    fn sample_after(&self, t: u64) -> u64 {
        let regular = (t / self.config.sample_ns + 1) * self.config.sample_ns;
        let extra = [self.config.scenario.run.warmup_ns, self.config.scenario.run.duration_ns];
        extra.into_iter().filter(|e| *e > t).fold(regular, u64::min)
    }

    /// The connections of other programs now.
    fn read_connections(&self) -> Result<Connections> {
        if let Some(sockets) = &self.own_sockets {
            let flows = self.flows.iter().enumerate();
            return sockets.read(flows.filter_map(|(i, flow)| Some((i, flow.open_ports()?))));
        }
        let open = |flow: &RunningFlow<'_>| Some((flow.open_ports()?, flow.flow.reverse));
        let ports: Vec<_> = self.flows.iter().filter_map(open).collect();
        let none = || Ok(Connections::default());
        self.hosts.as_ref().map_or_else(none, |hosts| hosts.read(&ports))
    }

    fn sample(&mut self, at: u64) -> Result<()> {
        let connections = self.read_connections()?;
        for (i, flow) in self.flows.iter_mut().enumerate().filter(|(_, flow)| flow.is_here()) {
            let (sample, arrived) = flow.sample(&connections);
            self.output.flow(at, i, &sample, arrived);
            let output = &mut self.output;
            flow.inspect(at, &mut |name, value| output.application(at, i, name, value));
        }
        self.watch_waits(at);
        let Some(queue) = &self.queue else { return Ok(()) };
        let counters = queue.read()?;
        self.output.queue(at, &counters);
        if at >= self.next_progress {
            self.next_progress = at + PROGRESS_NS;
            let progress = format!("{at} {}\n", counters.packets);
            std::fs::write(self.config.out.join("progress"), progress)?;
        }
        Ok(())
    }

    /// Reads from time to time how long the hosts' programs waited; programs that end keep their last
    /// values.
    fn watch_waits(&mut self, at: u64) {
        if self.config.watch_waits
            && (at >= self.next_watch || at >= self.config.scenario.run.duration_ns)
        {
            self.next_watch = at + WATCH_NS;
            let clients = self.flows.iter().filter_map(RunningFlow::process);
            let own = std::iter::once(std::process::id());
            self.watch.read(own.chain(self.servers.iter().copied()).chain(clients));
        }
    }

    /// Adds the row at the end, unless a regular one has just been written.
    fn last_sample(&mut self, now: u64, next_sample: u64) -> Result<()> {
        if next_sample > self.config.scenario.run.duration_ns { Ok(()) } else { self.sample(now) }
    }

    fn event(&mut self, token: u64, events: EventFlags) -> Result<()> {
        let i = usize::try_from(EpollRegistration::flow(token)).map_err(Error::other)?;
        let now = self.now();
        let registration = EpollRegistration { epoll: &self.epoll, token };
        if let Some(completion) = self.flows[i].ready(now, events, registration)? {
            self.output.completion(i, &completion);
        }
        // Also when another flow ended, since a chain may have waited for it.
        for i in 0..self.flows.len() {
            let may = self.may_repeat(i);
            self.flows[i].repeat(may);
        }
        Ok(())
    }

    fn may_repeat(&self, i: usize) -> bool {
        let name = self.flows[i].flow.while_flow.as_deref();
        name.is_none_or(|name| !self.is_done(name))
    }

    /// Returns `true` if the flow of that name, or all flows of an entry with a count, are done.
    fn is_done(&self, name: &str) -> bool {
        let flows = self.names.flow_numbers(name);
        flows.is_some_and(|flows| flows.iter().all(|&flow| self.flows[flow].is_done()))
    }

    /// Returns whether the run ends early. Each of several hosts notes that for its own flows only.
    fn should_stop(&mut self, now: u64) -> Result<bool> {
        let met = self.meets_stop_when();
        match &mut self.stop {
            Some(stop) if met => stop.note(now).map(|()| false),
            Some(_) => Ok(false),
            None => Ok(met),
        }
    }

    fn meets_stop_when(&self) -> bool {
        match self.config.scenario.run.stop_when.as_deref() {
            None => false,
            Some("all") => {
                let mut sized = self.flows.iter().filter(|s| s.flow.size_bytes.is_some());
                sized.all(RunningFlow::is_done)
            }
            Some(name) => self.is_done(name),
        }
    }

    /// Waits for the reports of other programs.
    ///
    /// # Errors
    /// Never in practice.
    pub fn finish(&mut self) -> Result<()> {
        let early = self.now() < self.config.scenario.run.duration_ns;
        self.flows.iter_mut().try_for_each(|flow| flow.finish(early))
    }
}
