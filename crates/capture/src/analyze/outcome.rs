//! Everything about one or several captures, ready to go out.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use narrows_record::Table;
use serde::Serialize;

use super::capture::{Clocked, FileReport, Segments};
use super::ends::{Line, Ways};
use super::found::Found;
use super::report::{FlowReport, seconds};
use super::tables;
use crate::decode::Segment;
use crate::read::{OpenError, Reader};

/// Segments between two calls of whoever watches.
const WATCH: u64 = 1 << 16;

/// What to do beyond the usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// List every packet in a table.
    pub packets: bool,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// A file can't be read.
    #[error("{path}: found {error}")]
    Open {
        /// Which.
        path: String,
        /// Why.
        error: OpenError,
    },
    /// There is nothing to tell of.
    #[error("{path}: found {found}")]
    Nothing {
        /// Which file.
        path: String,
        /// What there is instead.
        found: String,
    },
    /// Files that don't belong together.
    #[error("{0}")]
    Together(String),
    /// Whoever watches wants no more.
    #[error("stopped")]
    Stopped,
}

impl AnalyzeError {
    /// What would be right instead.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Together(_) => "captures of the same flows, eight at most, or the pieces of one",
            _ => "a pcap or pcapng file with TCP in it",
        }
    }
}

/// What isn't told flow by flow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Others {
    /// Connections that carried no data.
    pub connections_without_data: u64,
    /// Connections that were closed to make room and may appear again.
    pub evicted: u64,
    /// Flows that aren't in the tables.
    pub flows: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Packets that aren't listed though they should.
    pub packets: u64,
}

/// The whole in words and numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Each file.
    pub files: Vec<FileReport>,
    /// From the first segment to the last.
    pub duration_s: f64,
    /// Between two rows of `flow_samples`, in ns.
    pub sample_interval_ns: u64,
    /// The flows, in the order of their ids in the tables.
    pub flows: Vec<FlowReport>,
    /// What isn't told flow by flow.
    pub others: Others,
    /// What to know before trusting the rest.
    pub notes: Vec<String>,
}

/// What comes out.
#[derive(Debug)]
pub struct Outcome {
    /// The whole in words and numbers.
    pub summary: Summary,
    /// The tables of a run, and `sequence`.
    pub tables: Vec<Table>,
}

/// Analyses a capture, several that follow one another, or several of the same flows.
///
/// `watch` hears now and then how many segments were read, and may stop it all.
///
/// # Errors
/// If a file can't be read at all or none has TCP in it.
pub fn analyze(
    paths: &[PathBuf],
    options: Options,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Outcome, AnalyzeError> {
    let mut watched = Watched { count: 0, watch };
    if let Some(line) = Line::of(paths)? {
        return several(&line, options, &mut watched);
    }
    let mut clocked = Clocked::new(options.packets, None);
    let mut files = Vec::new();
    for segments in in_order(paths)? {
        let mut segments = segments;
        while let Some(segment) = segments.next_segment() {
            watched.tick()?;
            clocked.on(segment);
        }
        files.push(segments.report);
    }
    something(&files)?;
    Ok(outcome(Found::of(clocked), files, Vec::new()))
}

/// Whoever watches, and when to call.
struct Watched<'a> {
    count: u64,
    watch: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl Watched<'_> {
    #[inline]
    fn tick(&mut self) -> Result<(), AnalyzeError> {
        self.count += 1;
        if self.count.is_multiple_of(WATCH) && (self.watch)(self.count).is_break() {
            return Err(AnalyzeError::Stopped);
        }
        Ok(())
    }
}

/// The pieces of a capture by the times that they begin with.
fn in_order(paths: &[PathBuf]) -> Result<Vec<Segments>, AnalyzeError> {
    let mut pieces = Vec::new();
    for path in paths {
        let begins = open(path)?.next_segment().map_or(u64::MAX, |segment| segment.time);
        pieces.push((begins, path));
    }
    pieces.sort();
    pieces.into_iter().map(|(_, path)| open(path)).collect()
}

fn something(files: &[FileReport]) -> Result<(), AnalyzeError> {
    match files.first() {
        Some(first) if files.iter().all(|file| file.segments == 0) => Err(nothing(first)),
        Some(_) => Ok(()),
        None => Err(AnalyzeError::Together("no files: at least one is needed".to_owned())),
    }
}

/// Captures of the same flows, merged by their times on the first one's clock. The flows are
/// told as the outermost two saw them.
fn several(
    line: &Line,
    options: Options,
    watched: &mut Watched<'_>,
) -> Result<Outcome, AnalyzeError> {
    let mut inputs = line.files.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    let take = |inputs: &mut [Segments], file: usize| {
        inputs[file].next_segment().map(|segment| line.on_first(file, segment))
    };
    let mut next: Vec<_> = (0..inputs.len()).map(|file| take(&mut inputs, file)).collect();
    let last = inputs.len() - 1;
    let origin = next.iter().flatten().map(|segment| segment.time).min();
    let mut clocked = [(), ()].map(|()| Clocked::new(options.packets, origin));
    let mut ways = Ways::between(inputs.len());
    while let Some(file) = earliest(&next, line) {
        watched.tick()?;
        let following = take(&mut inputs, file);
        let segment = std::mem::replace(&mut next[file], following).expect("the earliest one");
        let since = Segment { time: segment.time.saturating_sub(origin.unwrap_or(0)), ..segment };
        ways.on(&since, file, last, line.ascends(&segment));
        if file == 0 || file == last {
            clocked[usize::from(file == last)].on(segment);
        }
    }
    let [one, other] = clocked.map(Found::of);
    let files: Vec<FileReport> = inputs.into_iter().map(|input| input.report).collect();
    something(&files)?;
    let notes = line.notes(&ways);
    let mut found = one.join(other, &line.ends);
    found.take_travels(ways.finish(line));
    Ok(outcome(found, files, notes))
}

/// Which of several has the earliest segment; of those at one instant, the point that its
/// segment passes first.
fn earliest(next: &[Option<Segment>], line: &Line) -> Option<usize> {
    let last = next.len() - 1;
    let place = |(file, segment): (usize, &Option<Segment>)| {
        let segment = segment.as_ref()?;
        let passed = if line.ascends(segment) { file } else { last - file };
        Some((segment.time, passed, file))
    };
    next.iter().enumerate().filter_map(place).min().map(|(_, _, file)| file)
}

pub(crate) fn open(path: &Path) -> Result<Segments, AnalyzeError> {
    let name = path.display().to_string();
    match Reader::open(path) {
        Ok(reader) => Ok(Segments::new(reader, name)),
        Err(error) => Err(AnalyzeError::Open { path: name, error }),
    }
}

fn nothing(file: &FileReport) -> AnalyzeError {
    let mut found = match file.frames {
        0 => "a capture without a single frame".to_owned(),
        frames => format!("{frames} frames, none of them TCP: {}", kinds(file)),
    };
    if let Some(problem) = &file.problem {
        found += &format!("; it breaks off at {problem}");
    }
    AnalyzeError::Nothing { path: file.path.clone(), found }
}

/// The frames that are no TCP segments, in words.
fn kinds(file: &FileReport) -> String {
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

fn outcome(mut found: Found, files: Vec<FileReport>, extra: Vec<String>) -> Outcome {
    let mut others = Others {
        connections_without_data: found.unlisted.silent,
        evicted: found.unlisted.evicted,
        flows: found.unlisted.flows,
        payload_bytes: found.unlisted.payload,
        packets: found.unlisted.packets,
    };
    let (flows, payload) = found.keep_largest();
    others.flows += flows;
    others.payload_bytes += payload;
    let mut tables = vec![
        tables::flow_samples(&found.rows, |row| found.dropped(row)),
        tables::internals(),
        tables::completions(&found.done),
        tables::distributions(&found.done),
        tables::sequence(&found.points),
    ];
    if let Some(listed) = &found.packets {
        let at = |flow: u32| found.done[flow as usize].report.vantage == "receiver";
        tables.push(tables::packets(listed, at));
    }
    let mut summary = Summary {
        duration_s: seconds(found.end),
        sample_interval_ns: found.interval,
        flows: found.done.into_iter().map(|done| done.report).collect(),
        others,
        files,
        notes: Vec::new(),
    };
    summary.notes = notes(&summary, found.backwards, found.thinned);
    summary.notes.extend(extra);
    Outcome { summary, tables }
}

fn notes(summary: &Summary, backwards: u64, thinned: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for file in &summary.files {
        let path = &file.path;
        if let Some(problem) = &file.problem {
            notes.push(format!("{path} breaks off at {problem}; everything before it counts"));
        }
        if file.dropped_by_host > 0 {
            let dropped = file.dropped_by_host;
            notes.push(format!("{path}: the capturing host dropped {dropped} frames"));
        }
        let others = kinds(file);
        if !others.is_empty() {
            notes.push(format!("{path}: passed over {others}"));
        }
        if file.options_cut > 0 {
            let cut = file.options_cut;
            notes.push(format!("{path}: the options of {cut} segments were cut off"));
        }
        if file.untimed > 0 {
            let untimed = file.untimed;
            notes.push(format!("{path}: {untimed} frames without a time took that of the last"));
        }
    }
    let others = &summary.others;
    let counted = [
        (backwards, "segments came earlier than the one before"),
        (others.connections_without_data, "connections carried no data"),
        (others.evicted, "connections were closed to make room and may count twice"),
        (others.flows, "smaller flows aren't in the tables"),
        (others.packets, "packets aren't listed: there are too many"),
    ];
    for (count, what) in counted.into_iter().filter(|(count, _)| *count > 0) {
        notes.push(format!("{count} {what}"));
    }
    if thinned {
        notes.push("the time-sequence graphs show only some of the packets".to_owned());
    }
    notes
}
