//! Everything about one or several captures, ready to go out.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use narrows_record::Table;
use serde::Serialize;

use super::capture::{Clocked, FileReport, Segments};
use super::flows::{Done, Unlisted};
use super::report::{FlowReport, seconds};
use super::tables;
use crate::read::{OpenError, Reader};

/// Flows that get rows in the tables: those with the most payload.
const MOST_IN_TABLES: usize = 1000;
/// Flows that get a time-sequence graph.
const MOST_DRAWN: usize = 16;
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

/// Analyses a capture, or several that follow one another.
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
    let mut clocked = Clocked::new(options.packets, None);
    let mut files = Vec::new();
    let mut read = 0u64;
    for path in paths {
        let mut segments = open(path)?;
        while let Some(segment) = segments.next_segment() {
            clocked.on(segment);
            read += 1;
            if read.is_multiple_of(WATCH) && watch(read).is_break() {
                return Err(AnalyzeError::Stopped);
            }
        }
        files.push(segments.report);
    }
    if files.iter().all(|file| file.segments == 0) {
        return Err(nothing(&files[0]));
    }
    Ok(outcome(clocked, files))
}

fn open(path: &Path) -> Result<Segments, AnalyzeError> {
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

fn outcome(mut clocked: Clocked, files: Vec<FileReport>) -> Outcome {
    clocked.flows.finish();
    let mut others = Others::default();
    count(&mut others, clocked.flows.unlisted);
    let interval = clocked.flows.rows.interval;
    let kept = largest(&clocked.flows.done, MOST_IN_TABLES);
    let drawn = largest(&clocked.flows.done, MOST_DRAWN);
    for done in clocked.flows.done.iter().filter(|done| !kept.contains(&done.report.id)) {
        others.flows += 1;
        others.payload_bytes += done.report.payload_bytes;
    }
    let mut done = std::mem::take(&mut clocked.flows.done);
    done.retain(|done| kept.contains(&done.report.id));
    let number = |id: u32| u32::try_from(kept.range(..id).count()).expect("few flows are kept");
    let mut rows = std::mem::take(&mut clocked.flows.rows.held);
    rows.retain(|row| kept.contains(&row.flow));
    rows.iter_mut().for_each(|row| row.flow = number(row.flow));
    let mut thinned = false;
    let mut points = Vec::new();
    for &id in &drawn {
        let (found, fewer) = clocked.flows.graph.of(id);
        thinned |= fewer;
        points.extend(found.iter().map(|&point| super::graph::Point { flow: number(id), ..point }));
    }
    done.iter_mut().for_each(|done| done.report.id = number(done.report.id));
    let mut tables = vec![
        tables::flow_samples(&rows, |_| None),
        tables::internals(),
        tables::completions(&done),
        tables::distributions(&done),
        tables::sequence(&points),
    ];
    if let Some(mut listed) = clocked.flows.packets.take() {
        listed.retain(|row| kept.contains(&row.flow));
        listed.iter_mut().for_each(|row| row.flow = number(row.flow));
        let at = |flow: u32| done[flow as usize].report.vantage == "receiver";
        tables.push(tables::packets(&listed, at));
    }
    let mut summary = Summary {
        duration_s: seconds(clocked.end),
        sample_interval_ns: interval,
        flows: done.into_iter().map(|done| done.report).collect(),
        others,
        files,
        notes: Vec::new(),
    };
    summary.notes = notes(&summary, clocked.backwards, thinned);
    Outcome { summary, tables }
}

fn count(others: &mut Others, unlisted: Unlisted) {
    others.connections_without_data += unlisted.silent;
    others.evicted += unlisted.evicted;
    others.flows += unlisted.flows;
    others.payload_bytes += unlisted.payload;
    others.packets += unlisted.packets;
}

/// The ids of the `most` flows with the most payload.
fn largest(flows: &[Done], most: usize) -> BTreeSet<u32> {
    let mut sizes: Vec<_> =
        flows.iter().map(|done| (done.report.payload_bytes, done.report.id)).collect();
    sizes.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    sizes.iter().take(most).map(|&(_, id)| id).collect()
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
