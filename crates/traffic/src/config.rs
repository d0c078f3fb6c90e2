//! What a run of the tool does, as JSON.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use narrows_pcapng::PcapFiles;
use serde::Deserialize;

/// One run: the flows, where their ends are, and what to write.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The end, in ns after the start.
    pub duration_ns: u64,
    /// Instant of one additional sample, in ns.
    pub warmup_ns: u64,
    /// Distance of the samples, in ns.
    pub sample_ns: u64,
    /// CLOCK_MONOTONIC at time 0, if someone else has set it.
    pub zero_ns: Option<u64>,
    /// End early: when the flow of this name is done, or "all" sized flows are.
    pub stop_when: Option<String>,
    /// Namespace files of the sending host, the router and the receiving host.
    pub namespaces: Namespaces,
    /// Address of the sending host, if another program's connections are to be looked at.
    pub sender: Option<Ipv4Addr>,
    /// Address of the receiving host.
    pub receiver: Ipv4Addr,
    /// Flow i goes to this port plus i.
    pub first_port: u16,
    /// The router's device whose queue discipline is the bottleneck, if that is sampled here.
    pub bottleneck_device: Option<String>,
    /// The class (1:2 is 0x10002) that it belongs to; the root if none.
    pub bottleneck_class: Option<u32>,
    /// The sending host's device.
    pub sender_device: String,
    /// Capture packet headers there until this time, in ns; none if 0.
    pub capture_ns: u64,
    /// The receiving host's device, if its packets are captured.
    pub receiver_device: Option<String>,
    /// Capture the packets of both hosts: `sender.pcapng` and `receiver.pcapng`.
    pub pcap: Option<PcapFiles>,
    /// Settings of both hosts, by their path below `/proc/sys`, such as
    /// `net/ipv4/tcp_no_metrics_save`.
    pub sysctls: BTreeMap<String, String>,
    /// Note how long the programs of the hosts wait for a processor: `waits.json`.
    #[serde(default)]
    pub watch_waits: bool,
    /// The flows, in the order of their numbers.
    pub flows: Vec<FlowConfig>,
    /// Directory for the results.
    pub out: PathBuf,
}

/// Files to enter namespaces by, such as `/run/netns/snd`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Namespaces {
    /// Of the sending host.
    pub sender: PathBuf,
    /// Of the router that holds the bottleneck, if that is sampled here.
    pub router: Option<PathBuf>,
    /// Of the receiving host.
    pub receiver: PathBuf,
}

/// How the two ends of a flow use explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ecn {
    /// Nothing can be marked.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257: the control asks for it, and the receiver's must be the same.
    Dctcp,
}

/// One flow, or a chain of successive ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Unique name.
    pub name: String,
    /// The kernel's name of its congestion control.
    pub cca: String,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// When it connects, in ns.
    pub start_ns: u64,
    /// When it stops writing, in ns.
    pub stop_ns: Option<u64>,
    /// Payload bytes to send; endless if none.
    pub size_bytes: Option<u64>,
    /// The largest receive window, in bytes; the kernel's own if none.
    pub receive_window_bytes: Option<u64>,
    /// The next flow connects this many ns after the last one completed.
    pub repeat_gap_ns: Option<u64>,
    /// Repeat until the flow of this name, or all of an entry with a count, are done.
    #[serde(rename = "while")]
    pub while_flow: Option<String>,
    /// The iperf3 that sends and receives it, if we don't; for flows without a size.
    pub iperf3: Option<Iperf3>,
}

/// The program that sends and receives a flow in our place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iperf3 {
    /// Where it is.
    pub program: PathBuf,
    /// The sender's port of its data. It tells the data from the conversation that iperf3 leads
    /// beside it, to the same port of the receiver.
    pub data_port: u16,
}
