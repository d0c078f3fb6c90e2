//! The captures of a run, as Python asks for them.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use narrows_capture::write::{CaptureOptions, Captures, FlowInfo, IpVersion, Written};
use narrows_sim::scenario::Scenario;
use serde::Deserialize;

/// What to capture, and where to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureRequest {
    /// An existing directory without captures.
    directory: PathBuf,
    /// Bytes of each packet; its headers if none.
    snaplen: Option<u32>,
    /// 6 instead of 4.
    ipv6: bool,
}

/// A run's captures being written.
pub type RunCaptures = Captures<BufWriter<File>>;

impl CaptureRequest {
    /// Begins the files.
    pub fn begin(&self, scenario: &Scenario) -> io::Result<RunCaptures> {
        let options = CaptureOptions {
            snaplen: self.snaplen,
            version: if self.ipv6 { IpVersion::V6 } else { IpVersion::V4 },
            comment: format!("narrows simulator: {}, seed {}", scenario.name, scenario.seed),
        };
        let flow = |flow: &narrows_sim::scenario::Flow| FlowInfo {
            name: flow.name.clone(),
            size: flow.size_bytes,
        };
        let flows: Vec<FlowInfo> = scenario.flows.iter().map(flow).collect();
        Captures::create(&self.directory, &options, &flows)
    }
}

/// Ends the files; says which there are.
pub fn finish(captures: RunCaptures) -> io::Result<Vec<Written>> {
    Ok(captures.finish()?.into_iter().map(|(written, _)| written).collect())
}
