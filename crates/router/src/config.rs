//! The configuration of a run of the router, as JSON.

use std::path::PathBuf;

use narrows_base::Dscp;
use narrows_pcapng::PcapFiles;
use narrows_spec::scenario::{PathConfig, Scenario};
use serde::Deserialize;

/// One run: its scenario, its records, and the program that sends and receives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterConfig {
    /// The scenario; its controls have the kernel's names.
    pub scenario: Scenario,
    /// Flow i has this TCP port of the receiver plus i.
    pub first_port: u16,
    /// The sender's port of each flow's data, if the sending program also has a control connection.
    /// That connection is subject only to queues, rates and delays.
    pub data_ports: Vec<Option<u16>>,
    /// Interval of the samples of the queue and of the hosts, in ns.
    pub sample_ns: u64,
    /// True to keep a row of every packet's arrival, drop and departure at the link.
    pub log_packets: bool,
    /// Capture the packets at both sides of the bottleneck: `before-queue.pcapng` and
    /// `after-queue.pcapng`, and those of the hosts.
    pub pcap: Option<PcapFiles>,
    /// Above these the run is invalid.
    pub lateness_limits_ns: LatenessLimits,
    /// Settings to read in the sender's namespace at the end, by their path below `/proc/sys`.
    pub record_sysctls: Vec<String>,
    /// The program whose packets the router carries: narrows-traffic.
    pub program: PathBuf,
    /// The pairs of hosts, each with its flows.
    pub hosts: Vec<HostsConfig>,
    /// Directory for the results.
    pub out: PathBuf,
}

/// A sending and a receiving host, and the flows between them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsConfig {
    /// The numbers of the flows in the scenario; their program counts them from 0.
    pub flows: Vec<u32>,
    /// The scenario with these flows alone.
    pub scenario: Scenario,
    /// Commands that set up the sending host once its device is there.
    pub commands: Vec<Vec<String>>,
    /// The configuration of their program, except for the parts that the router adds.
    pub traffic: serde_json::Map<String, serde_json::Value>,
    /// Directory for the program's results.
    pub out: PathBuf,
}

impl RouterConfig {
    /// The path, and the flows that cross it.
    #[must_use]
    pub fn crossing(&self) -> Crossing {
        Crossing::of(&self.scenario, self.first_port, self.data_ports.clone())
    }
}

/// A run of a router on a host of a network, whose kernel routes packets to two TUN devices.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardConfig {
    /// The scenario.
    pub scenario: Scenario,
    /// Flow i has this TCP port of the receiver plus i.
    pub first_port: u16,
    /// Interval of the samples of the queue, in ns.
    pub sample_ns: u64,
    /// CLOCK_MONOTONIC at time 0 of the run.
    pub zero_ns: u64,
    /// The TUN device from which the senders' packets come.
    pub sender_device: String,
    /// The TUN device from which the receivers' packets come.
    pub receiver_device: String,
    /// The sender's port of each flow's data, as in [`RouterConfig`].
    #[serde(default)]
    pub data_ports: Vec<Option<u16>>,
    /// Capture the packets at both sides of the bottleneck and on both sides of the router.
    pub pcap: Option<PcapFiles>,
    /// Above these the run is invalid.
    pub lateness_limits_ns: LatenessLimits,
    /// A file that ends the run when it appears.
    pub stop: Option<PathBuf>,
    /// Directory for the results.
    pub out: PathBuf,
}

/// A path, and the flows that cross it.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// The path, as in the simulator.
    pub path: PathConfig,
    /// Seed of everything random on the path.
    pub seed: u64,
    /// End of periodic events, in ns.
    pub end_ns: u64,
    /// Flow i has this TCP port of the receiver plus i.
    pub first_port: u16,
    /// Two-way delay of each flow without queueing, in ns.
    pub rtts_ns: Vec<u64>,
    /// True for each flow whose data goes from the receiving host to the sending host.
    pub reverse: Vec<bool>,
    /// The DSCP of each flow's data; of none if it is empty.
    pub dscps: Vec<Dscp>,
    /// The links that each flow crosses to the receiver, by name; all if none.
    pub links: Vec<Option<Vec<String>>>,
    /// The sender's port of each flow's data, as in [`RouterConfig`].
    pub data_ports: Vec<Option<u16>>,
}

impl Crossing {
    /// Takes the path and its flows from a scenario.
    #[must_use]
    pub fn of(scenario: &Scenario, first_port: u16, data_ports: Vec<Option<u16>>) -> Self {
        let Scenario { path, flows, seed, run, .. } = scenario;
        Self {
            path: path.clone(),
            seed: *seed,
            end_ns: run.duration_ns,
            first_port,
            rtts_ns: flows.iter().map(|flow| flow.rtt_ns.unwrap_or(path.rtt_ns)).collect(),
            reverse: flows.iter().map(|flow| flow.reverse).collect(),
            dscps: flows.iter().map(|flow| flow.dscp.unwrap_or_default()).collect(),
            links: flows.iter().map(|flow| flow.links.clone()).collect(),
            data_ports,
        }
    }
}

/// How late packets may be released at these percentiles, in ns.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatenessLimits {
    /// One packet in a hundred may be later.
    pub p99: u64,
    /// One packet in a thousand may be later.
    pub p999: u64,
}
