//! Captures of the same flows at several points, in their order along the path.

use std::collections::BTreeMap;

use super::clocks::{Clocks, FirstSeen, clocks, first_seen, gain};
use super::report::{ClockReport, EndsReport, StageReport};
use super::transit::{Transit, Transits};
use crate::analyze::error::AnalyzeError;
use crate::analyze::input::{Source, open};
use crate::analyze::units::millis;
use crate::decode::CapturedSegment;

/// The most points of one path; each pair is compared.
const MOST_POINTS: usize = 8;

/// The points of a path from one end to the other.
#[derive(Debug)]
pub(crate) struct PathPoints {
    /// In their order.
    pub(crate) files: Vec<Source>,
    /// The difference of each clock from the first.
    settings: Vec<Setting>,
    /// True if all captures are compatible with synchronised clocks.
    pub(crate) agree: bool,
    /// The relation of the outermost two.
    pub(crate) ends: Clocks,
}

/// How a clock differs from that of the first file.
#[derive(Clone, Copy, Debug, Default)]
struct Setting {
    /// This clock minus the first, in ns, at `since`.
    offset: i64,
    /// Its gain from then on, in parts of the time.
    drift: f64,
    since: u64,
    agree: bool,
}

impl Setting {
    fn of(clocks: &Clocks) -> Self {
        let &Clocks { offset, drift, since, agree, .. } = clocks;
        Self { offset, drift, since, agree }
    }

    /// Converts a time of this clock to one of the first file's.
    fn on_first(&self, time: u64) -> u64 {
        let back = self.offset.clamp(-i64::MAX, i64::MAX);
        let near = time.saturating_add_signed(-back);
        if self.drift == 0.0 {
            return near;
        }
        let passed = near.cast_signed().saturating_sub(self.since.cast_signed());
        near.saturating_add_signed(-gain(self.drift, passed).clamp(-i64::MAX, i64::MAX))
    }
}

/// Follows packets between points: from one end to the other, and from each to the next.
#[derive(Debug)]
pub(crate) struct PathTransits {
    whole: Transits,
    stages: Vec<Transits>,
}

type Key = (String, String);

/// The findings between points, by source and destination.
pub(crate) struct TransitReports {
    pub(crate) whole: BTreeMap<Key, (EndsReport, Transit)>,
    pub(crate) stages: BTreeMap<Key, Vec<StageReport>>,
}

impl PathPoints {
    /// The points shown by at least two files; none if they have no segments in common.
    ///
    /// # Errors
    /// If a file can't be read, or only some of them have segments in common.
    pub(crate) fn of(sources: &[Source]) -> Result<Option<Self>, AnalyzeError> {
        let [first, others @ ..] = sources else { return Ok(None) };
        if others.is_empty() {
            return Ok(None);
        }
        let mut known = vec![first_seen(&mut open(first)?)];
        let mut alone = None;
        for source in others {
            let theirs = first_seen(&mut open(source)?);
            if clocks(&known[0], &theirs).is_none() {
                alone = Some(source);
            } else if known.len() < MOST_POINTS {
                known.push(theirs);
            } else {
                let place = source.path.display();
                let found =
                    format!("{place}: found more than {MOST_POINTS} captures of the same flows");
                return Err(AnalyzeError::Together(found));
            }
        }
        match alone {
            _ if known.len() == 1 => Ok(None),
            Some(alone) => Err(no_common_packets(first, alone)),
            None => Self::along(sources, &known).map(Some),
        }
    }

    /// Files that all show the same flows.
    fn along(sources: &[Source], known: &[FirstSeen]) -> Result<Self, AnalyzeError> {
        let relation = |one: usize, other: usize| clocks(&known[one], &known[other]);
        let anchor = (1..sources.len()).find_map(|other| relation(0, other)?.of_first());
        // The number of captures farther from the sender whose packets are followed.
        let farther = |one: usize| {
            let beyond = |&other: &usize| {
                other != one
                    && relation(one, other)
                        .zip(anchor)
                        .is_some_and(|(clocks, anchor)| clocks.nearer(anchor))
            };
            (0..sources.len()).filter(beyond).count()
        };
        let mut order: Vec<(usize, usize)> =
            (0..sources.len()).map(|at| (sources.len() - farther(at), at)).collect();
        order.sort_unstable();
        let order: Vec<usize> = order.into_iter().map(|(_, at)| at).collect();
        let to_first = order[1..].iter().map(|&at| {
            relation(order[0], at)
                .ok_or_else(|| no_common_packets(&sources[order[0]], &sources[at]))
        });
        let to_first = to_first.collect::<Result<Vec<Clocks>, _>>()?;
        Ok(Self {
            files: order.iter().map(|&at| sources[at].clone()).collect(),
            settings: [Setting { agree: true, ..Setting::default() }]
                .into_iter()
                .chain(to_first.iter().map(Setting::of))
                .collect(),
            agree: to_first.iter().all(|clocks| clocks.agree),
            ends: to_first.into_iter().next_back().expect("two files at least"),
        })
    }

    /// A segment with its time on the clock of the first file. Times of other clocks could fall
    /// below zero.
    pub(crate) fn on_first(&self, file: usize, mut segment: CapturedSegment) -> CapturedSegment {
        segment.time = self.settings[file].on_first(segment.time);
        segment
    }

    /// The clocks, in the order of the files.
    pub(crate) fn clocks(&self) -> Vec<ClockReport> {
        let report = |(file, setting): (&Source, &Setting)| ClockReport {
            path: file.path.display().to_string(),
            ahead_ms: millis(setting.offset.unsigned_abs())
                * if setting.offset < 0 { -1.0 } else { 1.0 },
            drift_ppm: setting.drift * 1e6,
            synchronised: setting.agree,
        };
        self.files.iter().zip(&self.settings).map(report).collect()
    }

    /// Returns true if a segment passes the points in their order rather than in reverse.
    pub(crate) fn ascends(&self, segment: &CapturedSegment) -> bool {
        self.ends.upstream(segment.source.address, segment.destination.address) == 0
    }

    /// Caveats.
    pub(crate) fn notes(&self, transits: &PathTransits) -> Vec<String> {
        let what = match self.files.len() {
            2 => "the files show both ends".to_owned(),
            points => {
                let names: Vec<String> = self.files.iter().map(name).collect();
                format!("the files show {points} points of a path: {}", names.join(", "))
            }
        };
        let mut notes = vec![if self.agree {
            format!("{what}; their clocks are taken to be synchronised")
        } else {
            format!("{what}; {}", self.offsets())
        }];
        notes.extend(self.drifts());
        if transits.whole.left_out > 0 {
            let left_out = transits.whole.left_out;
            notes.push(format!(
                "{left_out} packets belong to flows beyond the limit and weren't matched"
            ));
        }
        notes
    }

    /// How clocks that aren't synchronised are set.
    fn offsets(&self) -> String {
        let set = |(file, &Setting { offset, .. }): (usize, &Setting)| {
            let ms = millis(offset.unsigned_abs());
            let sign = if offset < 0 { "behind" } else { "ahead" };
            let which = match self.files.len() {
                2 => "the second clock".to_owned(),
                _ => format!("that of {}", name(&self.files[file])),
            };
            format!("{which} is taken to be {ms} ms {sign}")
        };
        let all: Vec<String> = self.settings.iter().enumerate().skip(1).map(set).collect();
        format!("{}, as if the minimum delays were equal in both directions", all.join(", "))
    }

    /// The clocks that drift.
    fn drifts(&self) -> impl Iterator<Item = String> {
        let drifting = self.files.iter().zip(&self.settings).filter(|(_, set)| set.drift != 0.0);
        drifting.map(|(file, set)| {
            let (ppm, which) = (set.drift.abs() * 1e6, name(file));
            let runs = if set.drift < 0.0 { "slow" } else { "fast" };
            format!("the clock of {which} runs {ppm:.1} ppm {runs}; times are corrected for that")
        })
    }
}

fn name(source: &Source) -> String {
    let file = &source.path;
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

fn no_common_packets(one: &Source, other: &Source) -> AnalyzeError {
    AnalyzeError::Together(format!(
        "{}: found no packet of {}, which other files have",
        other.path.display(),
        one.path.display()
    ))
}

impl PathTransits {
    /// State between `points` before any segment has passed.
    pub(crate) fn between(points: usize) -> Self {
        let stages = if points > 2 { points - 1 } else { 0 };
        Self {
            whole: Transits::default(),
            stages: (0..stages).map(|_| Transits::default()).collect(),
        }
    }

    /// Takes a segment that passes a point; `ascending` if it passes the points in their order.
    pub(crate) fn on(
        &mut self,
        segment: &CapturedSegment,
        point: usize,
        last: usize,
        ascending: bool,
    ) {
        if point == 0 || point == last {
            self.whole.on(segment, (point == 0) == ascending);
        }
        if let Some(stage) = self.stages.get_mut(point) {
            stage.on(segment, ascending);
        }
        if let Some(stage) = point.checked_sub(1).and_then(|before| self.stages.get_mut(before)) {
            stage.on(segment, !ascending);
        }
    }

    /// The findings at the end of the captures.
    pub(crate) fn finish(self, points: &PathPoints) -> TransitReports {
        let mut stages: BTreeMap<Key, Vec<StageReport>> = BTreeMap::new();
        for (at, transits) in self.stages.into_iter().enumerate() {
            let names = [name(&points.files[at]), name(&points.files[at + 1])];
            for (key, (report, transit)) in transits.finish(points.agree) {
                let ascending = points.ends.upstream(transit.ends.0, transit.ends.1) == 0;
                let [from, to] =
                    if ascending { names.clone() } else { [names[1].clone(), names[0].clone()] };
                let found = stages.entry(key).or_default();
                found.insert(
                    if ascending { found.len() } else { 0 },
                    StageReport { from, to, way: report },
                );
            }
        }
        TransitReports { whole: self.whole.finish(points.agree), stages }
    }
}
