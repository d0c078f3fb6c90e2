//! From a file to its flows.

use serde::Serialize;

use super::flows::Flows;
use crate::decode::{Other, Segment, segment};
use crate::read::{Frame, Reader};

/// What a file held, counted in frames.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileReport {
    /// Its name as given.
    pub path: String,
    /// All frames.
    pub frames: u64,
    /// TCP segments.
    pub segments: u64,
    /// Neither IPv4 nor IPv6.
    pub not_ip: u64,
    /// IP that carries something else.
    pub not_tcp: u64,
    /// Fragments without a TCP header.
    pub fragments: u64,
    /// Cut off before the end of the TCP header.
    pub cut: u64,
    /// Headers that contradict themselves.
    pub malformed: u64,
    /// Of a kind of link that isn't known.
    pub unknown_link: u64,
    /// Segments whose options were cut off.
    pub options_cut: u64,
    /// Frames without a time.
    pub untimed: u64,
    /// Frames that the capturing host says it dropped.
    pub dropped_by_host: u64,
    /// The first frame's time, in s since 1970.
    pub begins_unix_s: Option<f64>,
    /// Why reading ended early.
    pub problem: Option<String>,
}

/// Reads segments out of a file, and counts what else there is.
pub(crate) struct Segments {
    reader: Reader,
    pub(crate) report: FileReport,
    /// The latest time; what has none happened then.
    time: u64,
}

impl Segments {
    pub(crate) fn new(reader: Reader, path: String) -> Self {
        let report = FileReport { path, ..FileReport::default() };
        Self { reader, report, time: 0 }
    }

    /// The next TCP segment, its time in ns since 1970; or none at the end.
    #[inline]
    pub(crate) fn next_segment(&mut self) -> Option<Segment> {
        loop {
            let Some(frame) = self.reader.next_frame() else {
                self.report.problem = self.reader.problem().map(str::to_owned);
                self.report.dropped_by_host = self.reader.dropped();
                return None;
            };
            if let Some(segment) = take(&frame, &mut self.report, &mut self.time) {
                return Some(segment);
            }
        }
    }
}

#[inline]
#[allow(clippy::cast_precision_loss)]
fn take(frame: &Frame<'_>, report: &mut FileReport, latest: &mut u64) -> Option<Segment> {
    report.frames += 1;
    match frame.time {
        Some(time) => {
            report.begins_unix_s.get_or_insert(time as f64 / 1e9);
            *latest = time;
        }
        None => report.untimed += 1,
    }
    let counter = match segment(frame, *latest) {
        Ok(segment) => {
            report.segments += 1;
            report.options_cut += u64::from(segment.options_cut);
            return Some(segment);
        }
        Err(Other::NotIp) => &mut report.not_ip,
        Err(Other::NotTcp) => &mut report.not_tcp,
        Err(Other::Fragment) => &mut report.fragments,
        Err(Other::Cut) => &mut report.cut,
        Err(Other::Malformed) => &mut report.malformed,
        Err(Other::UnknownLink) => &mut report.unknown_link,
    };
    *counter += 1;
    None
}

/// The flows of one capture, on a clock that begins with it.
pub(crate) struct Clocked {
    pub(crate) flows: Flows,
    pub(crate) origin: Option<u64>,
    /// The latest instant, in ns from the origin.
    pub(crate) end: u64,
    /// Segments that were earlier than one before them.
    pub(crate) backwards: u64,
}

impl Clocked {
    pub(crate) fn new(packets: bool, origin: Option<u64>) -> Self {
        Self { flows: Flows::new(packets), origin, end: 0, backwards: 0 }
    }

    #[inline]
    pub(crate) fn on(&mut self, mut segment: Segment) {
        let origin = *self.origin.get_or_insert(segment.time);
        segment.time = segment.time.saturating_sub(origin);
        self.backwards += u64::from(segment.time < self.end);
        self.end = self.end.max(segment.time);
        self.flows.on(&segment);
    }
}
