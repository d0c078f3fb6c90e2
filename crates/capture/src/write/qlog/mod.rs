//! qlog (draft-ietf-quic-qlog-main-schema): what each sender knew and did.
//!
//! A file for each flow, as a JSON text sequence: of version 0.3, which qvis opens, or as the newest
//! drafts have it.

mod flow;
mod log;
mod numbers;

use std::io;
use std::path::Path;

use narrows_base::{FlowId, Heading, Packet, Point, Time};
use narrows_record::Tap;
use narrows_tcp::{Segment, SenderView};

use super::addresses::IpVersion;
use super::points::CaptureFile;
use super::wire::{FlowInfo, Wire};
use flow::FlowLog;
use log::{Header, Log};

pub use log::QlogForm;

/// The qlogs of a run's flows. Memory doesn't grow with the events.
#[derive(Debug)]
pub struct Qlogs {
    wire: Wire,
    flows: Vec<FlowLog>,
    trouble: Option<io::Error>,
}

impl Qlogs {
    /// Prepares a file `NAME.sqlog` in `directory` for each flow; those that never
    /// connect by TCP get none. `title` describes the run.
    #[must_use]
    pub fn new(directory: &Path, title: &str, form: QlogForm, flows: &[FlowInfo]) -> Self {
        let log = |(index, info): (usize, &FlowInfo)| {
            let header = Header { form, title: title.to_owned(), sender: info.name.clone() };
            let path = directory.join(Self::file_name(flows, index));
            let id = FlowId(u32::try_from(index).expect("flows fit 32 bits"));
            let several = info.several.then(|| info.name.clone());
            FlowLog::new(Log::new(path, header), id, several)
        };
        Self {
            wire: Wire::new(IpVersion::V4, flows),
            flows: flows.iter().enumerate().map(log).collect(),
            trouble: None,
        }
    }

    /// The file of the flow with this index.
    #[must_use]
    pub fn file_name(flows: &[FlowInfo], index: usize) -> String {
        format!("{}.sqlog", file_stem(flows, index))
    }

    /// Completes the files.
    ///
    /// # Errors
    /// The first error of the whole log.
    pub fn finish(self) -> io::Result<Vec<CaptureFile>> {
        if let Some(error) = self.trouble {
            return Err(error);
        }
        let written = |flow: FlowLog| flow.finish().transpose();
        let named = self.flows.into_iter().filter_map(written);
        named.map(|file| file.map(|(file, records)| CaptureFile { file, records })).collect()
    }

    fn log(&mut self, flow: FlowId, write: impl FnOnce(&mut FlowLog, &Wire) -> io::Result<()>) {
        if self.trouble.is_none() {
            self.trouble = write(&mut self.flows[flow.index()], &self.wire).err();
        }
    }
}

impl Tap<Packet<Segment>, SenderView> for Qlogs {
    fn wants_packets(&self) -> bool {
        true
    }

    fn wants_senders(&self) -> bool {
        true
    }

    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &Packet<Segment>) {
        if point != Point::Sender {
            return;
        }
        if heading == Heading::Out {
            self.wire.departs(packet.flow, &packet.body);
        }
        self.log(packet.flow, |flow, wire| flow.packet(at, heading, packet, wire));
    }

    fn packet_lost(&mut self, flow: FlowId, at: Time, seq: u32) {
        self.log(flow, |flow, _| flow.log_loss(at, seq));
    }

    fn sender(&mut self, flow: FlowId, at: Time, view: &SenderView) {
        self.log(flow, |flow, _| flow.sender(at, view));
    }
}

/// The flow's name as a valid file name; with its number if that isn't unique.
fn file_stem(flows: &[FlowInfo], index: usize) -> String {
    let stem = slug(&flows[index].name);
    let same = flows.iter().filter(|flow| slug(&flow.name).eq_ignore_ascii_case(&stem)).count();
    if same == 1 { stem } else { format!("{stem}-flow{index}") }
}

fn slug(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let slug: String = name.chars().map(keep).take(60).collect();
    let slug = slug.trim_matches(['.', '-']).to_owned();
    if slug.is_empty() { "flow".to_owned() } else { slug }
}
