//! What a run of the router does, as JSON.

use std::path::PathBuf;

use narrows_base::Bytes;
use narrows_net::Limit;
use narrows_net::config::{self, Choice};
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
    /// Capture the packets at both sides of the bottleneck.
    pub pcap: Option<Pcap>,
    /// Beyond these the run is invalid.
    pub lateness_limits_ns: LatenessLimits,
    /// Settings to read in the sender's namespace at the end, by their path below `/proc/sys`.
    pub record_sysctls: Vec<String>,
    /// The program between whose ends the router carries packets.
    pub traffic: Traffic,
    /// Directory for the results.
    pub out: PathBuf,
}

/// Captures: `before-queue.pcapng` and `after-queue.pcapng`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pcap {
    /// Where the files go.
    pub directory: PathBuf,
    /// Bytes of each packet; its headers if none.
    pub snaplen: Option<u32>,
    /// What the files say they are of.
    pub comment: String,
}

/// A bottleneck and the propagation delays around it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Rate in bit/s, counting IP bytes.
    pub rate_bps: u64,
    /// How much may wait, without the packet in transmission.
    pub buffer: Buffer,
    /// The queue discipline with its parameters, as the simulator takes it.
    pub queue: Choice,
    /// How the queue is served.
    pub service: Choice,
    /// Probability that a packet with data is lost after the queue.
    pub loss: f64,
    /// What else happens to packets, in their order within a direction and a place.
    pub impairments: Vec<Impairment>,
    /// What happens again and again goes on until here, in ns.
    pub end_ns: u64,
    /// Seed of the losses.
    pub seed: u64,
    /// Flow i is that of this TCP port of the receiver plus i.
    pub first_port: u16,
    /// Two-way delay of each flow without queueing, in ns.
    pub rtts_ns: Vec<u64>,
}

impl PathConfig {
    /// The queue's room.
    #[must_use]
    pub fn limit(&self) -> Limit {
        match self.buffer {
            Buffer::Bytes(bytes) => Limit::Bytes(Bytes::new(bytes)),
            Buffer::Packets(packets) => Limit::Packets(packets),
        }
    }

    /// Whether such a path can be.
    ///
    /// # Errors
    /// With the place, what was found and what is needed.
    pub fn check(&self) -> Result<(), String> {
        let at = |place: &str, fault: config::Fault| {
            format!("{place}.{}: found {}; {} is needed", fault.key, fault.found, fault.need)
        };
        let queue = |fault| at("path.queue", fault);
        let info = config::check(config::QUEUES, &self.queue).map_err(queue)?;
        config::fits(info, &self.queue, self.limit()).map_err(queue)?;
        config::check(config::SERVICES, &self.service)
            .and_then(|_| config::service_fits(&self.service))
            .map_err(|fault| at("path.service", fault))?;
        for (i, impairment) in self.impairments.iter().enumerate() {
            config::check(config::IMPAIRMENTS, &impairment.element)
                .and_then(|_| config::impairment_fits(&impairment.element))
                .map_err(|fault| at(&format!("path.impairments[{i}]"), fault))?;
        }
        Ok(())
    }
}

/// Something that happens to the packets of one direction.
#[derive(Clone, Debug, Deserialize)]
pub struct Impairment {
    /// Of which packets.
    pub direction: Direction,
    /// Where.
    pub at: Place,
    /// What, with all its parameters.
    #[serde(flatten)]
    pub element: Choice,
}

/// A direction of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the sender.
    Forward,
    /// From the receiver.
    Backward,
}

/// A place on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Before the link of the direction.
    Before,
    /// Behind it.
    Behind,
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
