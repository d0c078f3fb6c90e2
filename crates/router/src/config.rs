//! What a run of the router does, as JSON.

use std::path::PathBuf;

use serde::Deserialize;

/// One run: the path, how to watch it, and the program that sends and receives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The bottleneck and the delays.
    pub path: PathConfig,
    /// Distance of the samples of the queue, in ns.
    pub sample_ns: u64,
    /// Whether to keep a row of every packet's arrival, drop and departure at the link.
    pub log_packets: bool,
    /// Beyond these the run is invalid.
    pub lateness_limits_ns: LatenessLimits,
    /// Settings to read in the sender's namespace at the end, by their path below `/proc/sys`.
    pub record_sysctls: Vec<String>,
    /// The program between whose ends the router carries packets.
    pub traffic: Traffic,
    /// Directory for the results.
    pub out: PathBuf,
}

/// A bottleneck and the propagation delays around it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Rate in bit/s, counting IP bytes.
    pub rate_bps: u64,
    /// How much may wait, without the packet in transmission.
    pub buffer: Buffer,
    /// The queue discipline.
    pub queue: QueueKind,
    /// Probability that a packet with data is lost after the queue.
    pub loss: f64,
    /// Seed of the losses.
    pub seed: u64,
    /// Flow i is that of this TCP port of the receiver plus i.
    pub first_port: u16,
    /// Two-way delay of each flow without queueing, in ns.
    pub rtts_ns: Vec<u64>,
}

/// The size of a queue.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Buffer {
    /// IP bytes.
    Bytes(u64),
    /// Packets of any size.
    Packets(u64),
}

/// The queue discipline of the link.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueKind {
    /// First in, first out; what doesn't fit is dropped.
    Droptail {},
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

/// The program that sends and receives: narrows-traffic.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The executable.
    pub program: PathBuf,
    /// Its configuration, without the namespaces.
    pub config: serde_json::Map<String, serde_json::Value>,
}
