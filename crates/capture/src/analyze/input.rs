//! Reads the segments of a file.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::datagrams::{Datagrams, PingReport, UdpReport, lines};
use super::error::AnalyzeError;
use super::quic;
use super::units::seconds;
use crate::decode::{CapturedSegment, Other, datagram, segment};
use crate::read::{Content, Frame, Reader};

/// The content of a file, counted in frames.
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
    /// Contradictory headers.
    pub malformed: u64,
    /// Frames of an unknown kind of link.
    pub unknown_link: u64,
    /// Segments whose options were cut off.
    pub options_cut: u64,
    /// Frames without a time.
    pub untimed: u64,
    /// Segments earlier than one before them.
    #[serde(skip)]
    pub backwards: u64,
    /// Frames that the capturing host says it dropped.
    pub dropped_by_host: u64,
    /// The first frame's time, in s since 1970.
    pub begins_unix_s: Option<f64>,
    /// Pings, those with the most requests.
    pub pings: Vec<PingReport>,
    /// Flows of UDP, those with the most packets.
    pub udp: Vec<UdpReport>,
    /// Events of a qlog; none if it is a capture.
    pub qlog_events: Option<u64>,
    /// Why reading ended early.
    pub problem: Option<String>,
}

/// Reads segments from a file, and counts everything else.
pub(crate) struct Segments {
    input: Input,
    pub(crate) report: FileReport,
    datagrams: Datagrams,
    /// The latest time, also used for frames without a time.
    time: u64,
    /// The time of the last segment so far.
    last: u64,
}

/// Where segments come from.
enum Input {
    Frames(Box<Reader>),
    /// From a qlog, which is read as a whole.
    Made(std::vec::IntoIter<CapturedSegment>),
}

impl Segments {
    fn new(content: Content, path: String) -> Self {
        let mut report = FileReport { path, ..FileReport::default() };
        let input = match content {
            Content::Frames(reader) => Input::Frames(Box::new(reader)),
            Content::Qlog(traces, problem) => {
                report.qlog_events = Some(traces.iter().map(|trace| trace.count).sum());
                report.problem = problem;
                Input::Made(quic::segments(&traces).into_iter())
            }
        };
        Self { input, report, datagrams: Datagrams::default(), time: 0, last: 0 }
    }

    /// The next TCP segment, its time in ns since 1970; or none at the end.
    #[inline]
    pub(crate) fn next_segment(&mut self) -> Option<CapturedSegment> {
        let reader = match &mut self.input {
            Input::Frames(reader) => reader,
            Input::Made(segments) => {
                let segment = segments.next()?;
                self.report.segments += 1;
                self.report.backwards += u64::from(segment.time < self.last);
                self.last = segment.time.max(self.last);
                return Some(segment);
            }
        };
        loop {
            let Some(frame) = reader.next_frame() else {
                self.report.problem = reader.problem().map(str::to_owned);
                self.report.dropped_by_host = reader.frames_dropped();
                self.report.pings = self.datagrams.pings();
                self.report.udp = self.datagrams.streams();
                return None;
            };
            if let Some(segment) = take(&frame, &mut self.report, &mut self.time, &mut self.last) {
                return Some(segment);
            }
            if let Ok(datagram) = datagram(&frame) {
                self.datagrams.on(self.time, datagram);
            }
        }
    }
}

#[inline]
fn take(
    frame: &Frame<'_>,
    report: &mut FileReport,
    latest: &mut u64,
    last: &mut u64,
) -> Option<CapturedSegment> {
    report.frames += 1;
    match frame.time {
        Some(time) => {
            report.begins_unix_s.get_or_insert(seconds(time));
            *latest = time;
        }
        None => report.untimed += 1,
    }
    let counter = match segment(frame, *latest) {
        Ok(segment) => {
            report.segments += 1;
            report.backwards += u64::from(segment.time < *last);
            *last = segment.time.max(*last);
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

/// A capture: a file, or the content of one.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    content: Option<Arc<[u8]>>,
}

impl Source {
    pub(crate) fn file(path: &Path) -> Self {
        Self { path: path.to_owned(), content: None }
    }

    pub(crate) fn content(name: &str, content: &[u8]) -> Self {
        Self { path: name.into(), content: Some(content.into()) }
    }
}

pub(crate) fn open(source: &Source) -> Result<Segments, AnalyzeError> {
    let name = source.path.display().to_string();
    let content = match &source.content {
        Some(content) => Content::new(Box::new(Cursor::new(Arc::clone(content)))),
        None => Content::open(&source.path),
    };
    match content {
        Ok(content) => Ok(Segments::new(content, name)),
        Err(error) => Err(AnalyzeError::Open { path: name, error }),
    }
}

pub(crate) fn nothing(file: &FileReport) -> AnalyzeError {
    let mut found = match file.frames {
        _ if file.qlog_events.is_some() => "a qlog without packets that carry streams".to_owned(),
        0 => "a capture without a single frame".to_owned(),
        frames => {
            let datagrams = lines(&file.pings, &file.udp);
            let kinds = [kinds(file)].into_iter().chain(datagrams).collect::<Vec<_>>();
            format!("{frames} frames, none of them TCP: {}", kinds.join("; "))
        }
    };
    if let Some(problem) = &file.problem {
        found += &format!("; it breaks off at {problem}");
    }
    AnalyzeError::Nothing { path: file.path.clone(), found }
}

/// The frames that aren't TCP segments, in words.
pub(crate) fn kinds(file: &FileReport) -> String {
    let kinds = [
        (file.not_ip, "not IP"),
        (file.not_tcp, "other protocols"),
        (file.fragments, "fragments without a header"),
        (file.cut, "cut off within the headers"),
        (file.malformed, "malformed"),
        (file.unknown_link, "of an unknown kind of link"),
    ];
    let there = kinds.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}
