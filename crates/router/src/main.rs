//! Carries real TCP flows between pairs of network namespaces through a bottleneck, in real time.
//!
//! `narrows-router CONFIG.json` does one run: it makes the namespaces, starts the program that
//! sends and receives in them, carries its packets and writes its records. Lines "ns packets" on
//! standard output report the progress. `narrows-router check [QDISC]` says whether a run is possible.
//! `narrows-router forward FILE` does one run on a host that routes to two TUN devices.
//! `narrows-router couple FILE` does the same with guests in virtual time;
//! `narrows-router gate FILE` takes and releases the packets in each.

use std::fs;
use std::io::{Error, Result, Write as _};
use std::net::Ipv4Addr;
use std::process::{Child, Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use narrows_linux::process::{
    die_with_parent, dies_with_us, normal_scheduling, real_time_scheduling,
};
use narrows_router::{
    Clock, CoupleConfig, ForwardConfig, HostNamespace, HostPair, HostsConfig, PathRecorder, Report,
    Router, RouterCaptures, RouterConfig, RouterProgress, couple, forward, pass, prepare_process,
    read_config,
};
use narrows_spec::scenario::Scenario;
use serde_json::{Value, json};

/// From the start of the traffic program to time 0, in ns, and the additional time for each flow,
/// whose receiver may be a process that has to start.
const LEAD_NS: u64 = 200_000_000;
const LEAD_PER_FLOW_NS: u64 = 20_000_000;
/// The additional time for a flow whose server is any program, which may take long to start.
const LEAD_PER_PROGRAM_NS: u64 = 3_000_000_000;
/// Time between checks for the end of the traffic program.
const GLANCE: Duration = Duration::from_millis(5);
/// Checks per report of progress.
const GLANCES: u32 = 20;

/// The process, ready to make hosts, and its permissions.
struct Privileges {
    real_time: bool,
    user_namespace: bool,
}

fn prepare() -> Result<Privileges> {
    // This comes before the user namespace, which doesn't allow it; threads inherit it.
    let real_time = real_time_scheduling().is_ok();
    let user_namespace = prepare_process()?;
    Ok(Privileges { real_time, user_namespace })
}

/// The addresses of a pair's sending and receiving host.
const fn addresses(pair: u8) -> (Ipv4Addr, Ipv4Addr) {
    (Ipv4Addr::new(10, 77, pair, 1), Ipv4Addr::new(10, 77, pair, 2))
}

fn make_pair(number: usize, config: &HostsConfig) -> Result<HostPair> {
    let number = u8::try_from(number).map_err(|_| Error::other("too many hosts"))?;
    let (sender, receiver) = addresses(number);
    let offloads = config.scenario.host.gso;
    let (sender, receiver) =
        (HostNamespace::new(sender, offloads)?, HostNamespace::new(receiver, offloads)?);
    sender.run(&config.commands)?;
    Ok(HostPair { sender, receiver, flows: config.flows.clone() })
}

/// Fails unless a run is possible here, with a queue discipline at the sender if one is named.
fn check(discipline: Option<String>) -> Result<()> {
    prepare()?;
    let (sender, receiver) = addresses(0);
    let host = HostNamespace::new(sender, true)?;
    let words = ["tc", "qdisc", "add", "dev", HostNamespace::device(), "root"].map(String::from);
    let commands = discipline.map(|named| [words.as_slice(), &[named]].concat());
    host.run(commands.as_slice())?;
    HostNamespace::new(receiver, true).map(drop)
}

fn run(config: &RouterConfig) -> Result<()> {
    let parent = rustix::process::getppid();
    let rights = prepare()?;
    let hosts = config.hosts.iter().enumerate();
    let pairs = hosts.map(|(i, hosts)| make_pair(i, hosts)).collect::<Result<Vec<_>>>()?;
    die_with_parent(parent)?;
    let crossing = config.crossing();
    let flows = crossing.rtts_ns.len();
    let programs = config.scenario.flows.iter().filter(|flow| flow.has_programs()).count();
    let lead = LEAD_PER_FLOW_NS * flows as u64 + LEAD_PER_PROGRAM_NS * programs as u64;
    let clock = Clock::starting_in(LEAD_NS + lead);
    let (stop, progress) = (AtomicBool::new(false), RouterProgress::default());
    let interval = narrows_base::Duration::from_nanos(config.sample_ns);
    // A pair's own program captures at its hosts; the router does where there are several.
    let alone = pairs.len() == 1;
    let create = if alone { RouterCaptures::create } else { RouterCaptures::create_with_hosts };
    let captures = config.pcap.as_ref().map(create).transpose()?;
    let record = PathRecorder::new(flows, config.log_packets, captures)
        .noting_programs(&config.scenario.flows)
        .counting(&config.scenario.run);
    let router = Router::new(&pairs, &crossing, clock, interval, record);
    let mut report = thread::scope(|scope| {
        let running = scope.spawn(|| router.run(&stop, &progress));
        let traffic = normal_scheduling()
            .and_then(|()| start_all(config, &pairs, clock))
            .and_then(|programs| await_end(programs, &progress, || running.is_finished()));
        stop.store(true, Ordering::Relaxed);
        let report = running.join().map_err(|_| Error::other("the router panicked"))?;
        traffic.and(report)
    })?;
    report.record.write(&config.out)?;
    let captures = report.record.finish_captures()?;
    fs::write(config.out.join("router_captures.json"), serde_json::to_string(&captures)?)?;
    let summary = describe(config, &rights, &report, &pairs)?;
    fs::write(config.out.join("router.json"), summary.to_string())
}

/// The configuration of the traffic program beyond its own part.
fn traffic_config(
    config: &RouterConfig,
    number: u8,
    pair: &HostPair,
    clock: Clock,
) -> Result<Value> {
    let namespace = HostNamespace::namespace_for_children;
    let (hosts, (sender, receiver)) = (&config.hosts[usize::from(number)], addresses(number));
    Ok(json!({
        "scenario": hosts.scenario,
        "sample_ns": config.sample_ns,
        "first_port": config.first_port,
        "pcap": config.pcap.as_ref().filter(|_| config.hosts.len() == 1),
        "out": hosts.out,
        "namespaces": {"sender": namespace(&pair.sender)?, "receiver": namespace(&pair.receiver)?},
        "sender_device": HostNamespace::device(),
        "receiver_device": HostNamespace::device(),
        "sender": sender,
        "receiver": receiver,
        "zero_ns": clock.zero_ns(),
    }))
}

/// The programs of all pairs; they are ended when this is dropped.
struct Programs(Vec<Child>);

impl Drop for Programs {
    fn drop(&mut self) {
        for program in &mut self.0 {
            // It has usually ended.
            _ = program.kill();
            _ = program.wait();
        }
    }
}

fn start_all(config: &RouterConfig, pairs: &[HostPair], clock: Clock) -> Result<Programs> {
    let mut programs = Programs(Vec::new());
    for (number, pair) in (0_u8..).zip(pairs) {
        programs.0.push(start_traffic(config, number, pair, clock)?);
    }
    Ok(programs)
}

fn start_traffic(
    config: &RouterConfig,
    number: u8,
    pair: &HostPair,
    clock: Clock,
) -> Result<Child> {
    let mut traffic = traffic_config(config, number, pair, clock)?;
    let hosts = &config.hosts[usize::from(number)];
    for (key, value) in &hosts.traffic {
        traffic[key] = value.clone();
    }
    let file = hosts.out.join("traffic.json");
    fs::write(&file, traffic.to_string())?;
    let program = &config.program;
    let mut command = Command::new(program);
    dies_with_us(&mut command)
        .arg(&file)
        .spawn()
        .map_err(|e| Error::other(format!("{} can't be started: {e}", program.display())))
}

/// Waits for the programs, reports the progress, and ends them if one fails, their packets are no
/// longer carried or the reports are no longer read.
fn await_end(
    mut programs: Programs,
    progress: &RouterProgress,
    lost: impl Fn() -> bool,
) -> Result<()> {
    for glance in 0_u32.. {
        let mut running = false;
        for program in &mut programs.0 {
            match program.try_wait()? {
                Some(status) if !status.success() => {
                    return Err(Error::other("the traffic program failed"));
                }
                ended => running |= ended.is_none(),
            }
        }
        if !running {
            return Ok(());
        }
        let reported = if glance % GLANCES == 0 { report(progress) } else { Ok(()) };
        if lost() || reported.is_err() {
            return reported;
        }
        thread::sleep(GLANCE);
    }
    Ok(())
}

fn report(progress: &RouterProgress) -> Result<()> {
    let (now, packets) = progress.read();
    let mut out = std::io::stdout();
    writeln!(out, "{now} {packets}")?;
    out.flush()
}

fn describe(
    config: &RouterConfig,
    rights: &Privileges,
    report: &Report,
    pairs: &[HostPair],
) -> Result<Value> {
    let (lateness, taking) = (report.lateness.summary(), report.taking.summary());
    let limits = &config.lateness_limits_ns;
    let dropped = |host: fn(&HostPair) -> &HostNamespace| -> Result<u64> {
        pairs.iter().map(|pair| host(pair).device_drops()).sum()
    };
    let drops = (dropped(|pair| &pair.sender)?, dropped(|pair| &pair.receiver)?);
    let lost = drops.0 + drops.1;
    // Those that hosts have of their own are in the scenario.
    let sysctls = pairs.first().map(|pair| pair.sender.sysctls(&config.record_sysctls));
    let reasons = [
        lateness.excess("released", limits),
        taking.excess("taken", limits),
        (lost > 0).then(|| format!("{lost} packets were lost in front of the router")),
    ];
    Ok(json!({
        "lateness_ns": lateness,
        "taking_ns": taking,
        "invalid": reasons.into_iter().flatten().collect::<Vec<_>>(),
        "real_time_scheduling": rights.real_time,
        "processor": report.processor,
        "user_namespace": rights.user_namespace,
        "oversize_packets": report.oversize,
        "device_drops": {"sender": drops.0, "receiver": drops.1},
        "sysctls": sysctls.transpose()?,
    }))
}

fn run_file(path: &str) -> Result<()> {
    let config: RouterConfig = load_config(path, |config: &RouterConfig| &config.scenario)?;
    run(&config)
}

/// Couples guests until they end, or the starting process does.
fn couple_file(path: &str) -> Result<()> {
    die_with_parent(rustix::process::getppid())?;
    couple(&load_config(path, |config: &CoupleConfig| &config.scenario)?)
}

fn forward_file(path: &str) -> Result<()> {
    forward(&load_config(path, |config: &ForwardConfig| &config.scenario)?)
}

/// Reads a configuration and checks the path of its scenario.
fn load_config<T: serde::de::DeserializeOwned>(
    path: &str,
    scenario: impl Fn(&T) -> &Scenario,
) -> Result<T> {
    let wrong = |e: &dyn std::fmt::Display| Error::other(format!("{path}: {e}"));
    let text = fs::read_to_string(path).map_err(|e| wrong(&e))?;
    let config = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
    scenario(&config).path.check().map_err(|e| wrong(&format!("scenario.path.{e}")))?;
    Ok(config)
}

fn main() -> ExitCode {
    let file = || std::env::args().nth(2).ok_or_else(|| Error::other("no file was named"));
    let result = match std::env::args().nth(1).as_deref() {
        Some("check") => check(std::env::args().nth(2)),
        Some("gate") => file().and_then(|file| pass(&read_config(file.as_ref())?)),
        Some("forward") => file().and_then(|file| forward_file(&file)),
        Some("couple") => file().and_then(|file| couple_file(&file)),
        Some(path) => run_file(path),
        None => {
            eprintln!(
                "usage: narrows-router CONFIG.json | check [QDISC] | forward FILE | gate FILE | couple FILE"
            );
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("narrows-router: {error}");
            ExitCode::FAILURE
        }
    }
}
