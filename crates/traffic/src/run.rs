//! The main loop, which starts, stops, writes and samples until the end.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Child;

use narrows_base::Point;
use narrows_pcapng::{Ending, file_name};
use narrows_spec::Names;
use narrows_spec::law::Draws;
use narrows_spec::scenario::{EcnMode, Flow, Program};

use crate::capture::Capture;
use crate::config::TrafficConfig;
use crate::connection::Connection;
use crate::crowd::Crowd;
use crate::diag::Sockets;
use crate::flow::{Connections, Ends, Hosts, RunningFlow};
use crate::iperf::{self, Iperf};
use crate::output::Output;
use crate::packet_file::PacketFile;
use crate::program::{Running, Start};
use crate::programs::Programs;
use crate::queue::QueueReader;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::session::Session;
use crate::stage::Watched;
use crate::sys;
use crate::waits::Watch;

/// Time between the set-up and time 0 of the run, ns.
const LEAD_NS: u64 = 10_000_000;

/// Interval at which the file `progress` is written, with the time so far and the packets
/// forwarded.
const PROGRESS_NS: u64 = 500_000_000;

/// Interval at which the waits of the hosts' programs are read.
const WATCH_NS: u64 = 200_000_000;

struct Run<'a> {
    config: &'a TrafficConfig,
    flows: Vec<RunningFlow<'a>>,
    /// The flows by their names in `while` and `stop_when`.
    names: Names<'a>,
    /// Present if some flows aren't our own.
    hosts: Option<Hosts>,
    queue: Option<QueueReader>,
    epoll: OwnedFd,
    output: Output,
    /// CLOCK_MONOTONIC at time 0 of the run.
    zero: u64,
    /// When the file `progress` is due again.
    next_progress: u64,
    /// The processes of receivers that aren't our own.
    servers: Vec<u32>,
    watch: Watch,
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
    sys::enter_namespace(&config.namespaces.receiver)?;
    set_up(config)?;
    if let Some(device) = config.receiver_device.as_ref().filter(|_| config.checksums) {
        sys::checksum_offload_off(device)?;
    }
    let mut receivers = Receivers::default();
    receivers.start(config, false)?;
    let their_sockets = open_sockets(config)?;
    let zero = config.zero_ns.unwrap_or_else(|| sys::tick_after(sys::monotonic_ns() + LEAD_NS));
    let at_receiver = packet_file(config, Point::Receiver, zero)?;
    let queue = open_queue(config)?;
    sys::enter_namespace(&config.namespaces.sender)?;
    set_up(config)?;
    receivers.start(config, true)?;

    let hosts = open_sockets(config)?.zip(their_sockets).zip(config.sender).map(
        |((sockets, theirs), sender)| Hosts {
            sender: (sockets, sender),
            receiver: (theirs, config.receiver),
        },
    );
    let epoll = sys::epoll()?;
    if !config.scenario.host.gso {
        sys::segmentation_offload_off(&config.sender_device)?;
    }
    if config.checksums {
        sys::checksum_offload_off(&config.sender_device)?;
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
    let output = Output::default();
    let servers = receivers.servers.0.iter().map(Child::id).collect();
    let mut run = Run {
        config,
        flows,
        names: Names::of(&config.scenario.flows),
        hosts,
        queue,
        epoll,
        output,
        zero,
        next_progress: 0,
        servers,
        watch: Watch::default(),
        next_watch: config.scenario.run.warmup_ns,
    };
    run.until_done()?;
    run.output.write(&config.out)?;
    if config.watch_waits {
        run.watch.write(&config.out)?;
    }
    std::fs::write(config.out.join("zero_ns"), zero.to_string())?;
    capture.map_or(Ok(()), |c| c.write(&config.out))?;
    run.finish()?;
    write_programs(config, &run.flows)?;
    end_captures(config, [at_sender, at_receiver])
}

/// Writes `programs.json`: for each flow of programs, by its number, when its client ran.
fn write_programs(config: &TrafficConfig, flows: &[RunningFlow<'_>]) -> Result<()> {
    let told = flows.iter().enumerate().filter_map(|(i, flow)| Some((i, flow.programs()?)));
    let told: BTreeMap<_, _> = told.collect();
    if told.is_empty() {
        return Ok(());
    }
    std::fs::write(config.out.join("programs.json"), serde_json::to_string(&told)?)
}

/// Starts a capture in the current namespace, if requested.
fn packet_file(config: &TrafficConfig, point: Point, zero: u64) -> Result<Option<PacketFile>> {
    let Some(pcap) = &config.pcap else { return Ok(None) };
    let device = match point {
        Point::Sender => Some(&config.sender_device),
        _ => config.receiver_device.as_ref(),
    };
    let device = device.ok_or_else(|| Error::other("a capture needs receiver_device"))?;
    PacketFile::start(device, point, pcap, zero).map(Some)
}

/// Ends the captures and writes `captures.json`: how each file ended.
fn end_captures(config: &TrafficConfig, files: [Option<PacketFile>; 2]) -> Result<()> {
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
    ends: BTreeMap<usize, Receiver>,
    /// Servers of flows whose packets programs make.
    programs: BTreeMap<usize, Running>,
    /// They end at the latest when this is dropped.
    servers: Servers,
}

#[derive(Default)]
struct Servers(Vec<Child>);

impl Drop for Servers {
    fn drop(&mut self) {
        for server in &mut self.0 {
            // It may have ended with its client.
            _ = server.kill();
            _ = server.wait();
        }
    }
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
                self.servers.0.push(iperf::serve(&iperf3.program, port, &config.out)?);
            } else {
                self.ends.insert(i, Receiver::start(port, flow)?);
            }
        }
        Ok(())
    }
}

/// A flow whose server runs.
fn of_programs(config: &TrafficConfig, index: usize, server: Running) -> Result<RunningFlow<'_>> {
    let flow = &config.scenario.flows[index];
    let client = Start::new(config, index, Program::Client)?;
    let programs = Programs::new(flow, client, server);
    Ok(RunningFlow::new(flow, Ends::Programs(Box::new(programs))))
}

fn flow(
    config: &TrafficConfig,
    index: usize,
    receiver: Option<Receiver>,
) -> Result<RunningFlow<'_>> {
    let flow = &config.scenario.flows[index];
    let (host, port) = (config.receiving_address(index), config.port(index)?);
    if let Some(iperf3) = config.iperf3_of(index) {
        let duration = config.scenario.run.duration_ns;
        let iperf = Iperf::new(flow, iperf3, index, (host, port), duration, &config.out);
        return Ok(RunningFlow::new(flow, Ends::Iperf(Box::new(iperf))));
    }
    let receiver = receiver.ok_or_else(|| Error::other("a flow without a receiver"))?;
    let connection = Connection {
        cca: &flow.cca,
        to: SocketAddrV4::new(host, port),
        tcp_ecn: tcp_ecn(config, flow.ecn),
        notsent_lowat: flow.notsent_lowat(),
        dscp: flow.dscp,
    };
    let draws = Draws { seed: config.scenario.seed, flow: &flow.name };
    let ends = if let Some(session) = Session::new(flow, connection, draws) {
        Ends::Session(Box::new(session), receiver)
    } else if let Some(crowd) = Crowd::new(flow, connection, draws) {
        Ends::Crowd(Box::new(crowd), receiver)
    } else {
        Ends::Own(Box::new(Sender::new(flow, connection)), receiver)
    };
    Ok(RunningFlow::new(flow, ends))
}

/// The values that a flow sets while it connects: its own, and that of the others. Nothing if no
/// flow differs from Linux's default.
fn tcp_ecn(config: &TrafficConfig, ecn: EcnMode) -> Option<[u8; 2]> {
    let some = config.scenario.flows.iter().any(|flow| flow.ecn == EcnMode::Classic);
    let others = config.sysctls.get("net/ipv4/tcp_ecn").and_then(|v| v.bytes().next());
    some.then_some([if ecn == EcnMode::Classic { b'1' } else { b'2' }, others.unwrap_or(b'2')])
}

/// Opens those of the current namespace, if another program's connections are observed.
fn open_sockets(config: &TrafficConfig) -> Result<Option<Sockets>> {
    let others = config.iperf3.iter().any(Option::is_some);
    others.then(Sockets::open).transpose()
}

/// Leaves this thread in the router's namespace, if there is a queue to read.
fn open_queue(config: &TrafficConfig) -> Result<Option<QueueReader>> {
    let (Some(router), Some(device)) = (&config.namespaces.router, &config.bottleneck_device)
    else {
        return Ok(None);
    };
    sys::enter_namespace(router)?;
    QueueReader::open(device, config.bottleneck_class).map(Some)
}

/// Sets the current namespace up: its settings, and a loopback device for programs.
fn set_up(config: &TrafficConfig) -> Result<()> {
    if config.scenario.flows.iter().any(Flow::has_programs) {
        sys::loopback_up()?;
    }
    for (name, value) in &config.sysctls {
        let path = Path::new("/proc/sys").join(name);
        let wrong = |e| Error::other(format!("{}: {e}", path.display()));
        std::fs::write(&path, value).map_err(wrong)?;
    }
    Ok(())
}

impl Run<'_> {
    fn now(&self) -> u64 {
        sys::monotonic_ns().saturating_sub(self.zero)
    }

    fn until_done(&mut self) -> Result<()> {
        sys::sleep_until(self.zero)?;
        let mut next_sample = 0;
        loop {
            let now = self.now();
            if now >= next_sample {
                self.sample(next_sample)?;
                next_sample = self.sample_after(next_sample);
            }
            for i in 0..self.flows.len() {
                self.act(i, now)?;
            }
            if now >= self.config.scenario.run.duration_ns || self.should_stop() {
                return self.last_sample(now, next_sample);
            }
            let wake =
                self.flows.iter().filter_map(RunningFlow::deadline).fold(next_sample, u64::min);
            let timeout = wake.saturating_sub(self.now());
            for (token, events) in sys::wait(self.epoll.as_raw_fd(), timeout)? {
                self.event(token, events)?;
            }
        }
    }

    /// Lets a flow start or stop, at the host that connects.
    fn act(&mut self, i: usize, now: u64) -> Result<()> {
        let flow = &mut self.flows[i];
        let watched = Watched { epoll: &self.epoll, token: i as u64 };
        let at_receiver = flow.flow.reverse || flow.flow.sender == Some(Program::Server);
        if !at_receiver || flow.deadline().is_none_or(|at| at > now) {
            return flow.act(now, watched);
        }
        sys::enter_namespace(&self.config.namespaces.receiver)?;
        flow.act(now, watched)?;
        sys::enter_namespace(&self.config.namespaces.sender)
    }

    /// Multiples of the interval, the warm-up and the end.
    fn sample_after(&self, t: u64) -> u64 {
        let regular = (t / self.config.sample_ns + 1) * self.config.sample_ns;
        let extra = [self.config.scenario.run.warmup_ns, self.config.scenario.run.duration_ns];
        extra.into_iter().filter(|e| *e > t).fold(regular, u64::min)
    }

    fn sample(&mut self, at: u64) -> Result<()> {
        let open = |flow: &RunningFlow<'_>| Some((flow.open_ports()?, flow.flow.reverse));
        let ports: Vec<_> = self.flows.iter().filter_map(open).collect();
        let none = || Ok(Connections::default());
        let connections = self.hosts.as_ref().map_or_else(none, |hosts| hosts.read(&ports))?;
        for (i, flow) in self.flows.iter_mut().enumerate() {
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

    /// Reads how long the hosts' programs waited, now and then; programs that end keep their last
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

    fn event(&mut self, token: u64, events: i32) -> Result<()> {
        let i = usize::try_from(Watched::flow(token)).map_err(Error::other)?;
        let now = self.now();
        let watched = Watched { epoll: &self.epoll, token };
        if let Some(completion) = self.flows[i].ready(now, events, watched)? {
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

    /// Whether the flow of that name, or all of an entry with a count, are done.
    fn is_done(&self, name: &str) -> bool {
        let flows = self.names.flow_numbers(name);
        flows.is_some_and(|flows| flows.iter().all(|&flow| self.flows[flow].is_done()))
    }

    fn should_stop(&self) -> bool {
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
    fn finish(&mut self) -> Result<()> {
        let early = self.now() < self.config.scenario.run.duration_ns;
        self.flows.iter_mut().try_for_each(|flow| flow.finish(early))
    }
}
