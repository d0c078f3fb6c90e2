//! Analyses one or several captures.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::error::AnalyzeError;
use super::flows::{CaptureFlows, FinishedFlows};
use super::input::{FileReport, Segments, Source, nothing, open};
use super::output::{Analysis, outcome};
use super::path::{PathPoints, PathTransits};
use super::quic::KeyLog;
use crate::decode::CapturedSegment;

/// Segments between two calls of the watcher.
const WATCH: u64 = 1 << 16;

/// Options of an analysis.
#[derive(Clone, Debug, Default)]
pub struct AnalysisOptions {
    /// List every packet in a table.
    pub packets: bool,
    /// The secrets with which packets of QUIC are decrypted.
    pub keys: KeyLog,
}

/// Analyses a capture, several that follow one another, or several of the same flows.
///
/// `watch` is called from time to time with the number of segments read, and may stop the analysis.
///
/// # Errors
/// If a file can't be read at all, none contains TCP, UDP or pings, or the segments of one are out
/// of order.
pub fn analyze(
    paths: &[PathBuf],
    options: &AnalysisOptions,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Analysis, AnalyzeError> {
    let source = |path: &PathBuf| Source::file(path, &options.keys);
    let sources: Vec<Source> = paths.iter().map(source).collect();
    from(&sources, options, watch)
}

/// Analyses captures, each with a name, whose content is in memory.
///
/// # Errors
/// As for [`analyze`].
pub fn analyze_contents(
    captures: &[(&str, &[u8])],
    options: &AnalysisOptions,
) -> Result<Analysis, AnalyzeError> {
    let source = |&(name, content): &(&str, &[u8])| Source::content(name, content, &options.keys);
    let sources: Vec<Source> = captures.iter().map(source).collect();
    from(&sources, options, &mut |_| ControlFlow::Continue(()))
}

fn from(
    sources: &[Source],
    options: &AnalysisOptions,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Analysis, AnalyzeError> {
    let mut timer = WatchTimer { count: 0, watch };
    if let Some(points) = PathPoints::of(sources)? {
        return several(&points, options, &mut timer);
    }
    let mut capture = CaptureFlows::new(options.packets, None);
    let mut files = Vec::new();
    for segments in in_order(sources)? {
        let mut segments = segments;
        while let Some(segment) = segments.next_segment() {
            timer.tick()?;
            capture.on(segment);
        }
        files.push(segments.report);
    }
    usable(&files)?;
    Ok(outcome(FinishedFlows::of(capture), files, Vec::new()))
}

/// The watcher, and when to call it.
struct WatchTimer<'a> {
    count: u64,
    watch: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl WatchTimer<'_> {
    #[inline]
    fn tick(&mut self) -> Result<(), AnalyzeError> {
        self.count += 1;
        if self.count.is_multiple_of(WATCH) && (self.watch)(self.count).is_break() {
            return Err(AnalyzeError::Stopped);
        }
        Ok(())
    }
}

/// The pieces of a capture, sorted by their first times.
fn in_order(sources: &[Source]) -> Result<Vec<Segments>, AnalyzeError> {
    if let [source] = sources {
        return Ok(vec![open(source)?]);
    }
    let mut pieces = Vec::new();
    for source in sources {
        let begins = open(source)?.next_segment().map_or(u64::MAX, |segment| segment.time);
        pieces.push((begins, source));
    }
    pieces.sort_by_key(|(begins, source)| (*begins, &source.path));
    pieces.into_iter().map(|(_, source)| open(source)).collect()
}

/// Fails unless there are segments, most of them in the order of their times.
fn usable(files: &[FileReport]) -> Result<(), AnalyzeError> {
    if let Some(file) = files.iter().find(|file| file.backwards > file.segments / 2) {
        let (backwards, segments) = (file.backwards, file.segments);
        return Err(AnalyzeError::Order { path: file.path.clone(), backwards, segments });
    }
    match files.first() {
        Some(first) if !files.iter().any(FileReport::has_flows) => Err(nothing(first)),
        Some(_) => Ok(()),
        None => Err(AnalyzeError::Together("no files: at least one is needed".to_owned())),
    }
}

/// Captures of the same flows, merged by their times on the first one's clock. The flows are
/// described as the outermost two saw them.
fn several(
    points: &PathPoints,
    options: &AnalysisOptions,
    timer: &mut WatchTimer<'_>,
) -> Result<Analysis, AnalyzeError> {
    let mut inputs = points.files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let take = |inputs: &mut [Segments], file: usize| {
        inputs[file].next_segment().map(|segment| points.on_first(file, segment))
    };
    let mut next: Vec<_> = (0..inputs.len()).map(|file| take(&mut inputs, file)).collect();
    let last = inputs.len() - 1;
    let origin = next.iter().flatten().map(|segment| segment.time).min();
    let mut captures = [(), ()].map(|()| CaptureFlows::new(options.packets, origin));
    let mut transits = PathTransits::between(inputs.len());
    while let Some(file) = earliest(&next, points) {
        timer.tick()?;
        let following = take(&mut inputs, file);
        let segment = std::mem::replace(&mut next[file], following).expect("the earliest one");
        let since =
            CapturedSegment { time: segment.time.saturating_sub(origin.unwrap_or(0)), ..segment };
        transits.on(&since, file, last, points.ascends(&segment));
        if file == 0 || file == last {
            captures[usize::from(file == last)].on(segment);
        }
    }
    let [one, other] = captures.map(FinishedFlows::of);
    let files: Vec<FileReport> = inputs.into_iter().map(|input| input.report).collect();
    usable(&files)?;
    let notes = points.notes(&transits);
    let mut found = one.join(other, &points.ends);
    found.take_transits(transits.finish(points));
    let mut made = outcome(found, files, notes);
    made.summary.clocks = points.clocks();
    Ok(made)
}

/// The capture with the earliest segment; among equal times, the point that the segment passes
/// first.
fn earliest(next: &[Option<CapturedSegment>], points: &PathPoints) -> Option<usize> {
    let last = next.len() - 1;
    let place = |(file, segment): (usize, &Option<CapturedSegment>)| {
        let segment = segment.as_ref()?;
        let passed = if points.ascends(segment) { file } else { last - file };
        Some((segment.time, passed, file))
    };
    next.iter().enumerate().filter_map(place).min().map(|(_, _, file)| file)
}
