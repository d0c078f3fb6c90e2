//! Reads the segments of a file.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::datagrams::{Datagrams, PingReport, UdpReport};
use super::error::AnalyzeError;
use super::quic::{self, KeyLog};
use super::spin::QuicReport;
use super::units::seconds;
#[cfg(feature = "quic-keys")]
use crate::decode::payload;
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
    /// Datagrams of UDP and pings among them.
    pub datagrams: u64,
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
    /// Connections of QUIC among them.
    pub quic: Vec<QuicReport>,
    /// Packets of QUIC that were decrypted, and those that weren't; none without a key log.
    pub decrypted: Option<[u64; 2]>,
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
    /// From a qlog, or a capture that is decrypted: both are read as a whole.
    Made(std::vec::IntoIter<CapturedSegment>),
}

impl Segments {
    #[cfg_attr(not(feature = "quic-keys"), expect(unused_variables, reason = "nothing decrypts"))]
    fn new(content: Content, path: String, keys: &KeyLog) -> Self {
        let mut report = FileReport { path, ..FileReport::default() };
        let input = match content {
            #[cfg(feature = "quic-keys")]
            Content::Frames(reader) if !keys.is_empty() => {
                return Self::decrypt(reader, report, keys);
            }
            Content::Frames(reader) => Input::Frames(Box::new(reader)),
            Content::Qlog(traces, problem) => {
                report.qlog_events = Some(traces.iter().map(|trace| trace.count).sum());
                report.problem = problem;
                Input::Made(quic::segments(&traces).into_iter())
            }
        };
        Self { input, report, datagrams: Datagrams::default(), time: 0, last: 0 }
    }

    /// Reads all segments of a capture, with those that packets of QUIC stand for.
    #[cfg(feature = "quic-keys")]
    fn decrypt(reader: Reader, report: FileReport, keys: &KeyLog) -> Self {
        let (datagrams, input) = (Datagrams::default(), Input::Frames(Box::new(reader)));
        let mut frames = Self { input, report, datagrams, time: 0, last: 0 };
        let mut decryptor = quic::Decryptor::new(keys.clone());
        let mut segments = Vec::new();
        while let Some(segment) = frames.next_segment_or(&mut |time, frame| {
            if let Ok((ends, bytes)) = payload(frame) {
                decryptor.on(time, ends, bytes);
            }
        }) {
            segments.push(segment);
        }
        frames.report.decrypted = Some([decryptor.decrypted, decryptor.encrypted]);
        segments.extend(decryptor.segments());
        segments.sort_by_key(|segment| segment.time);
        let report = FileReport { segments: 0, backwards: 0, ..frames.report };
        let input = Input::Made(segments.into_iter());
        Self { input, report, datagrams: Datagrams::default(), time: 0, last: 0 }
    }

    /// The next TCP segment, its time in ns since 1970; or none at the end.
    #[inline]
    pub(crate) fn next_segment(&mut self) -> Option<CapturedSegment> {
        self.next_segment_or(&mut |_, _| {})
    }

    /// The same; frames without a segment go to `other` with the time of the last one.
    #[inline]
    fn next_segment_or(
        &mut self,
        other: &mut impl FnMut(u64, &Frame<'_>),
    ) -> Option<CapturedSegment> {
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
                self.report.quic = self.datagrams.quic();
                return None;
            };
            if let Some(segment) = take(&frame, &mut self.report, &mut self.time, &mut self.last) {
                return Some(segment);
            }
            other(self.time, &frame);
            if let Ok(datagram) = datagram(&frame) {
                self.report.datagrams += 1;
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
    keys: KeyLog,
}

impl Source {
    pub(crate) fn file(path: &Path, keys: &KeyLog) -> Self {
        Self { path: path.to_owned(), content: None, keys: keys.clone() }
    }

    pub(crate) fn content(name: &str, content: &[u8], keys: &KeyLog) -> Self {
        Self { path: name.into(), content: Some(content.into()), keys: keys.clone() }
    }
}

pub(crate) fn open(source: &Source) -> Result<Segments, AnalyzeError> {
    let name = source.path.display().to_string();
    let content = match &source.content {
        Some(content) => Content::new(Box::new(Cursor::new(Arc::clone(content)))),
        None => Content::open(&source.path),
    };
    match content {
        Ok(content) => Ok(Segments::new(content, name, &source.keys)),
        Err(error) => Err(AnalyzeError::Open { path: name, error }),
    }
}

impl FileReport {
    /// Returns whether it has anything to report.
    pub(crate) const fn has_flows(&self) -> bool {
        self.segments > 0 || !self.pings.is_empty() || !self.udp.is_empty()
    }
}

pub(crate) fn nothing(file: &FileReport) -> AnalyzeError {
    let mut found = match file.frames {
        _ if file.qlog_events.is_some() => "a qlog without packets that carry streams".to_owned(),
        0 => "a capture without a single frame".to_owned(),
        frames => {
            format!("{frames} frames, none of them TCP, UDP or a ping: {}", kinds(file))
        }
    };
    if let Some(problem) = &file.problem {
        found += &format!("; it breaks off at {problem}");
    }
    AnalyzeError::Nothing { path: file.path.clone(), found }
}

/// The frames that are neither TCP segments nor datagrams that are described, in words.
pub(crate) fn kinds(file: &FileReport) -> String {
    let kinds = [
        (file.not_ip, "not IP"),
        (file.not_tcp.saturating_sub(file.datagrams), "other protocols"),
        (file.fragments, "fragments without a header"),
        (file.cut, "cut off within the headers"),
        (file.malformed, "malformed"),
        (file.unknown_link, "of an unknown kind of link"),
    ];
    let there = kinds.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}
