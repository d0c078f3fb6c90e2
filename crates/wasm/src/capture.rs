//! The capture of a run at a point of its path, as the command writes it.

use std::cell::RefCell;
use std::io::{self, Write};

use narrows_base::Point;
use narrows_capture::write::{CaptureOptions, Captures, FlowInfo, IpVersion};
use narrows_spec::scenario::{Flow, Scenario};
use serde::Deserialize;

thread_local! {
    static FILE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where to capture, by the name of the command's file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CapturePoint {
    Sender,
    BeforeQueue,
    AfterQueue,
    Receiver,
}

impl From<CapturePoint> for Point {
    fn from(at: CapturePoint) -> Self {
        match at {
            CapturePoint::Sender => Self::Sender,
            CapturePoint::BeforeQueue => Self::BeforeQueue,
            CapturePoint::AfterQueue => Self::AfterQueue,
            CapturePoint::Receiver => Self::Receiver,
        }
    }
}

/// A file in memory, or nothing for the points that aren't wanted.
pub(crate) struct File(Option<Vec<u8>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.0 {
            file.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins the capture.
pub(crate) fn begin(at: CapturePoint, scenario: &Scenario) -> Captures<File> {
    let flows: Vec<FlowInfo> = scenario.flows.iter().map(flow_info).collect();
    let options = CaptureOptions {
        snaplen: None,
        version: IpVersion::V4,
        comment: format!("narrows simulator: {}, seed {}", scenario.name, scenario.seed),
    };
    let open = |point| Ok(File((point == Point::from(at)).then(Vec::new)));
    Captures::new(open, &options, &flows).expect("memory takes everything")
}

fn flow_info(flow: &Flow) -> FlowInfo {
    FlowInfo { name: flow.name.clone(), several: flow.has_several_connections() }
}

/// Completes the file and keeps it until the next one; returns its length.
pub(crate) fn end(captures: Captures<File>) -> usize {
    let files = captures.finish().expect("memory takes everything");
    let file = files.into_iter().find_map(|(_, file)| file.0).expect("one of the points is wanted");
    let length = file.len();
    FILE.set(file);
    length
}

/// The address of the file of the last run that made one.
pub(crate) fn file_address() -> *const u8 {
    FILE.with_borrow(|file| file.as_ptr())
}
