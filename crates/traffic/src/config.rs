//! The configuration of a run, as JSON: the scenario and its environment.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use narrows_pcapng::PcapFiles;
use narrows_spec::scenario::{EcnMode, Level, Scenario};
use serde::Deserialize;

/// One run: the scenario, the places of the two ends, and what to write.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficConfig {
    /// The scenario, run over an existing path. Its controls have the kernel's names.
    pub scenario: Scenario,
    /// Interval of the samples, in ns, finer than the scenario's.
    pub sample_ns: u64,
    /// CLOCK_MONOTONIC at time 0, if someone else has set it.
    pub zero_ns: Option<u64>,
    /// Namespace files of the sending host, the router and the receiving host; the current
    /// namespace alone if none.
    pub namespaces: Option<Namespaces>,
    /// Which ends of the flows are on this host, if the others are on other hosts.
    pub part: Option<Part>,
    /// Address of the sending host, if another program's connections are observed or a flow's data
    /// goes there; with `part` of this host.
    pub sender: Option<Ipv4Addr>,
    /// Address of the receiving host, unless each flow of `part` has its own.
    pub receiver: Option<Ipv4Addr>,
    /// Flow i goes to this port plus i.
    pub first_port: u16,
    /// The router's device whose queue discipline is the bottleneck, if that is sampled here.
    pub bottleneck_device: Option<String>,
    /// Its class (1:2 is 0x10002); the root if none.
    pub bottleneck_class: Option<u32>,
    /// The sending host's device, where packets are noted if the scenario records them.
    pub sender_device: String,
    /// The receiving host's device, if its packets are captured.
    pub receiver_device: Option<String>,
    /// True if programs read the packets of both devices, which then need checksums.
    #[serde(default)]
    pub checksums: bool,
    /// Capture the packets of both hosts: `sender.pcapng` and `receiver.pcapng`.
    pub pcap: Option<PcapFiles>,
    /// Settings of both hosts, by their path below `/proc/sys`, such as
    /// `net/ipv4/tcp_no_metrics_save`.
    pub sysctls: BTreeMap<String, String>,
    /// Note how long the programs of the hosts wait for a processor: `waits.json`.
    #[serde(default)]
    pub watch_waits: bool,
    /// For each flow, the iperf3 that sends and receives it; if none, this program does.
    #[serde(default)]
    pub iperf3: Vec<Option<Iperf3>>,
    /// A file that ends the run of this host when it appears, with `part` and `stop_when`.
    pub stop: Option<PathBuf>,
    /// Directory for the results.
    pub out: PathBuf,
}

/// Files of namespaces, such as `/run/netns/snd`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Namespaces {
    /// The namespace of the sending host.
    pub sender: PathBuf,
    /// The namespace of the router with the bottleneck, if that is sampled here.
    pub router: Option<PathBuf>,
    /// The namespace of the receiving host.
    pub receiver: PathBuf,
}

/// The ends of flows on one host of a network. The other ends have processes of their own, whose
/// time 0 is the same instant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The flows that this host sends, by their numbers, each with its receiver's address.
    pub sends: BTreeMap<usize, Ipv4Addr>,
    /// The flows that this host receives, each with its sender's address.
    pub receives: BTreeMap<usize, Ipv4Addr>,
}

/// The program that sends and receives a flow without a size in our place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iperf3 {
    /// Its path.
    pub program: PathBuf,
    /// The sender's port of its data. It distinguishes the data from iperf3's control connection to
    /// the same port of the receiver.
    pub data_port: u16,
}

impl TrafficConfig {
    /// The iperf3 of a flow, if it sends the flow.
    #[must_use]
    pub fn iperf3_of(&self, flow: usize) -> Option<&Iperf3> {
        self.iperf3.get(flow)?.as_ref()
    }

    /// The address of the host that receives a flow's data.
    ///
    /// # Errors
    /// If the configuration has none.
    pub fn receiving_address(&self, flow: usize) -> std::io::Result<Ipv4Addr> {
        let reverse = self.scenario.flows[flow].reverse;
        let address = match &self.part {
            Some(part) => part.sends.get(&flow).copied(),
            None => self.sender.filter(|_| reverse).or(self.receiver),
        };
        address.ok_or_else(|| std::io::Error::other(format!("flow {flow} has no receiver")))
    }

    /// The receiver's port of a flow.
    ///
    /// # Errors
    /// If there are more flows than ports.
    pub fn port(&self, flow: usize) -> std::io::Result<u16> {
        let port = u16::try_from(flow).ok().and_then(|flow| self.first_port.checked_add(flow));
        port.ok_or_else(|| std::io::Error::other("too many flows"))
    }

    /// The end of the record of packets, in ns: that of the run, if packets are recorded.
    #[must_use]
    pub fn notes_packets_until(&self) -> Option<u64> {
        let run = &self.scenario.run;
        (run.record == Level::Packets).then_some(run.duration_ns + 1)
    }

    /// Refuses what the tool can't do.
    ///
    /// # Errors
    /// An error with the place, the value found there, and the remedy.
    pub fn check(&self) -> Result<(), String> {
        if self.part.is_some() == self.namespaces.is_some() {
            return Err("found both or none of part and namespaces; one of them is right".into());
        }
        if self.part.is_some() && self.zero_ns.is_none() {
            return Err("found part without zero_ns, which all hosts must share".into());
        }
        if self.part.is_some() && self.sender.is_none() && self.iperf3.iter().any(Option::is_some) {
            return Err("found iperf3 without sender, this host's address".into());
        }
        for (i, flow) in self.scenario.flows.iter().enumerate() {
            let wrong = |key, remedy| Err(format!("scenario.flows[{i}].{key}: {remedy}"));
            if flow.ecn == EcnMode::L4s {
                return wrong(
                    "ecn",
                    "found \"l4s\"; \"off\", \"classic\", \"accurate\" or \"dctcp\" is right",
                );
            }
            if flow.reverse && self.sender.is_none() && self.part.is_none() {
                return wrong("reverse", "found true without the sending host's address");
            }
        }
        Ok(())
    }
}
