//! A job and its result, as JSON.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use narrows_packetdrill::{Failure, IpMode, ScriptOptions, ScriptReport};
use serde::{Deserialize, Serialize};

const BIND_PORT: u16 = 8080;
const CONNECT_PORT: u16 = 8080;

/// A script to be played.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The script, whose directory its commands start in.
    pub script: PathBuf,
    /// "ipv4", "ipv4-mapped-ipv6" or "ipv6", if the script doesn't say.
    pub ip_version: String,
    /// Words to be replaced in the script.
    #[serde(default)]
    pub defines: BTreeMap<String, String>,
    /// Addresses.
    pub addresses: Addresses,
    /// These addresses replace the script's own.
    #[serde(default)]
    pub fixed_addresses: bool,
    /// MTU of the device, if the script doesn't say.
    #[serde(default)]
    pub mtu: Option<u16>,
    /// How far from its time an event may be in ns, if the script doesn't say.
    #[serde(default)]
    pub tolerance_ns: Option<i64>,
    /// Where the result goes.
    pub result: PathBuf,
    /// Where a capture goes.
    #[serde(default)]
    pub capture: Option<PathBuf>,
}

/// The addresses of both sides.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addresses {
    /// The kernel's.
    pub local: IpAddr,
    /// The length of its network's prefix.
    pub prefix: u8,
    /// The gateway to the peer.
    pub gateway: IpAddr,
    /// The peer's.
    pub remote: IpAddr,
}

/// Everything about the network of a script.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    pub addresses: Addresses,
    pub mode: IpMode,
    pub mtu: Option<u16>,
    pub mss: Option<u16>,
    pub bind_port: u16,
    pub connect_port: u16,
}

impl Job {
    /// The network: the job's choices and the script's.
    pub fn network(&self, options: &ScriptOptions) -> Result<Network, String> {
        let named = IpMode::of_name(&self.ip_version)
            .ok_or_else(|| format!("ip_version: found \"{}\"", self.ip_version))?;
        let mut addresses = self.addresses;
        if !self.fixed_addresses {
            addresses.local = options.local_ip.unwrap_or(addresses.local);
            addresses.gateway = options.gateway_ip.unwrap_or(addresses.gateway);
            addresses.remote = options.remote_ip.unwrap_or(addresses.remote);
        }
        Ok(Network {
            addresses,
            mode: options.ip_version.unwrap_or(named),
            mtu: options.mtu.or(self.mtu),
            mss: options.mss,
            bind_port: options.bind_port.unwrap_or(BIND_PORT),
            connect_port: options.connect_port.unwrap_or(CONNECT_PORT),
        })
    }
}

/// The result of a script.
#[derive(Debug, Serialize)]
pub struct JobResult {
    /// "passed", "failed", "unsupported" or "mistake".
    pub verdict: &'static str,
    /// Line and column of the event that didn't pass.
    pub at: Option<(u32, u32)>,
    /// Why it didn't pass.
    pub message: String,
    /// The output of the script's code.
    pub printed: Vec<String>,
    /// How many of its events took place.
    pub events: usize,
}

impl JobResult {
    /// The result of a script that couldn't be read.
    pub fn mistake(message: String, at: Option<(u32, u32)>) -> Self {
        Self { verdict: "mistake", at, message, printed: Vec::new(), events: 0 }
    }
}

impl From<ScriptReport> for JobResult {
    fn from(report: ScriptReport) -> Self {
        let (verdict, at, message) = match report.failure {
            None => ("passed", None, String::new()),
            Some(Failure { at, unsupported, message }) => {
                let verdict = if unsupported { "unsupported" } else { "failed" };
                (verdict, at.map(|at| (at.line, at.column)), message)
            }
        };
        Self { verdict, at, message, printed: report.printed, events: report.events }
    }
}
