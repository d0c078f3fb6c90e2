//! The router on a host of a network: the kernel routes packets to two TUN devices and from them.

use std::fs;
use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use narrows_linux::{clock, process};
use serde_json::json;

use crate::captures::RouterCaptures;
use crate::config::{Crossing, ForwardConfig};
use crate::host::HostNamespace;
use crate::record::PathRecorder;
use crate::router::{Clock, HostPair, Report, Router, RouterProgress};
use crate::sys;

/// How long packets are carried after the end, in ns: until the hosts have closed their
/// connections.
const STAY_NS: u64 = 1_500_000_000;

/// How often the file that ends a run is looked for.
const GLANCE_NS: u64 = 50_000_000;

/// Carries the packets of a run between two devices, and writes its records.
///
/// # Errors
/// If a device is missing or fails, or time 0 is over.
pub fn forward(config: &ForwardConfig) -> Result<()> {
    let real_time = process::real_time_scheduling().is_ok();
    let crossing = Crossing::of(&config.scenario, config.first_port, config.data_ports.clone());
    let flows = (0_u32..).take(crossing.rtts_ns.len()).collect::<Vec<_>>();
    let captures = config.pcap.as_ref().map(RouterCaptures::create_with_hosts).transpose()?;
    let record = PathRecorder::new(flows.len(), false, captures).counting(&config.scenario.run);
    let (sender, receiver) = (
        HostNamespace::behind(&config.sender_device)?,
        HostNamespace::behind(&config.receiver_device)?,
    );
    let pairs = [HostPair { sender, receiver, flows }];
    let interval = narrows_base::Duration::from_nanos(config.sample_ns);
    let router =
        Router::new(&pairs, &crossing, Clock::starting_at(config.zero_ns)?, interval, record);
    let mut report = carry(config, router)?;
    report.record.write(&config.out)?;
    let captures = report.record.finish_captures()?;
    fs::write(config.out.join("router_captures.json"), serde_json::to_string(&captures)?)?;
    describe(config, &report, &pairs[0], real_time)
}

/// Lets the router run until the end of the scenario, and a little longer.
fn carry(config: &ForwardConfig, router: Router<'_>) -> Result<Report> {
    let (stop, progress) = (AtomicBool::new(false), RouterProgress::default());
    thread::scope(|scope| {
        let running = scope.spawn(|| router.run(&stop, &progress));
        await_end(config)?;
        stop.store(true, Ordering::Relaxed);
        running.join().map_err(|_| Error::other("the router panicked"))?
    })
}

/// Waits for the end of the scenario, or for its file.
fn await_end(config: &ForwardConfig) -> Result<()> {
    let last = config.zero_ns + config.scenario.run.duration_ns + STAY_NS;
    let Some(file) = &config.stop else { return sys::sleep_until(last) };
    while clock::monotonic_ns() < last {
        sys::sleep_until(clock::monotonic_ns() + GLANCE_NS)?;
        if file.exists() {
            return sys::sleep_until(clock::monotonic_ns() + STAY_NS);
        }
    }
    Ok(())
}

fn describe(
    config: &ForwardConfig,
    report: &Report,
    pair: &HostPair,
    real_time: bool,
) -> Result<()> {
    let (lateness, taking) = (report.lateness.summary(), report.taking.summary());
    let limits = &config.lateness_limits_ns;
    let (sender, receiver) = (pair.sender.device_drops()?, pair.receiver.device_drops()?);
    let reasons = [
        lateness.excess("released", limits),
        taking.excess("taken", limits),
        (sender + receiver > 0)
            .then(|| format!("{} packets were lost in front of the router", sender + receiver)),
    ];
    let summary = json!({
        "lateness_ns": lateness,
        "taking_ns": taking,
        "invalid": reasons.into_iter().flatten().collect::<Vec<_>>(),
        "real_time_scheduling": real_time,
        "processor": report.processor,
        "oversize_packets": report.oversize,
        "device_drops": {"sender": sender, "receiver": receiver},
    });
    fs::write(config.out.join("router.json"), summary.to_string())
}
