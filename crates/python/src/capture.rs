//! The captures of a run, as requested by Python.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use narrows_capture::write::{
    CaptureFile, CaptureOptions, Captures, FlowInfo, IpVersion, QlogForm, Qlogs,
};
use narrows_spec::scenario::{Flow, Scenario};
use serde::Deserialize;

/// The captures to make, and their directory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureRequest {
    /// An existing directory without captures.
    pub directory: PathBuf,
    /// The packets.
    pub pcap: bool,
    /// The state and actions of the senders.
    pub qlog: bool,
    /// The same in the form of qlog's newest drafts.
    qlog_draft: bool,
    /// Bytes of each packet; its headers if none.
    snaplen: Option<u32>,
    /// Headers of IPv6 instead of IPv4.
    ipv6: bool,
}

/// A run's captures being written.
pub type RunCaptures = (Option<Captures<BufWriter<File>>>, Option<Qlogs>);

impl CaptureRequest {
    /// Begins the files.
    pub fn begin(&self, scenario: &Scenario) -> io::Result<RunCaptures> {
        let title = format!("narrows simulator: {}, seed {}", scenario.name, scenario.seed);
        let flows = flow_infos(scenario);
        let form = if self.qlog_draft { QlogForm::Draft14 } else { QlogForm::Version03 };
        let qlog = self.qlog.then(|| Qlogs::new(&self.directory, &title, form, &flows));
        let options = CaptureOptions {
            snaplen: self.snaplen,
            version: if self.ipv6 { IpVersion::V6 } else { IpVersion::V4 },
            comment: title,
        };
        let pcap = self.pcap.then(|| Captures::create(&self.directory, &options, &flows));
        Ok((pcap.transpose()?, qlog))
    }
}

/// The flows' data that captures need.
pub fn flow_infos(scenario: &Scenario) -> Vec<FlowInfo> {
    scenario.flows.iter().map(flow_info).collect()
}

fn flow_info(flow: &Flow) -> FlowInfo {
    FlowInfo { name: flow.name.clone(), several: flow.has_several_connections() }
}

/// Ends the files; returns their names and packets.
pub fn finish((pcap, qlog): RunCaptures) -> io::Result<Vec<CaptureFile>> {
    let packets = pcap.map_or(Ok(Vec::new()), Captures::finish)?;
    let mut written: Vec<CaptureFile> = packets.into_iter().map(|(written, _)| written).collect();
    written.extend(qlog.map_or(Ok(Vec::new()), Qlogs::finish)?);
    Ok(written)
}
