//! The results of captures before they become tables.

use std::collections::{BTreeMap, BTreeSet};

use super::capture_flows::CaptureFlows;
use super::conversations::conversations;
use super::samples::{Row, thin_to};
use super::sequence_graph::GraphPoint;
use super::table::{FinishedFlow, PacketRow, UnlistedCounts};
use crate::analyze::causes::find_shared;
use crate::analyze::path::{Clocks, TransitReports};

/// The most flows with rows in the tables; those with the most payload get them.
const MOST_IN_TABLES: usize = 1000;
/// The most flows with a time-sequence graph.
const MOST_DRAWN: usize = 16;

/// Flows with their data, by the ids in their reports.
#[derive(Debug, Default)]
pub(crate) struct FinishedFlows {
    pub(crate) done: Vec<FinishedFlow>,
    pub(crate) rows: Vec<Row>,
    pub(crate) interval: u64,
    pub(crate) points: Vec<GraphPoint>,
    pub(crate) thinned: bool,
    pub(crate) packets: Option<Vec<PacketRow>>,
    pub(crate) unlisted: UnlistedCounts,
    /// The first instant, in ns since 1970.
    pub(crate) origin: Option<u64>,
    pub(crate) end: u64,
    pub(crate) backwards: u64,
    /// By flow: when its lost packets left, with their cumulative number.
    drops: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl FinishedFlows {
    pub(crate) fn of(mut capture: CaptureFlows) -> Self {
        capture.flows.finish();
        let flows = capture.flows;
        let mut points = Vec::new();
        let mut thinned = false;
        for id in largest(&flows.done, MOST_DRAWN) {
            let (found, fewer) = flows.graph.of(id);
            thinned |= fewer;
            points.extend_from_slice(found);
        }
        Self {
            done: flows.done,
            rows: flows.rows.held,
            interval: flows.rows.interval,
            points,
            thinned,
            packets: flows.packets,
            unlisted: flows.unlisted,
            origin: capture.origin,
            end: capture.end,
            backwards: capture.backwards,
            drops: BTreeMap::new(),
        }
    }

    /// Describes each flow by the capture that its packets pass first.
    pub(crate) fn join(mut self, mut other: Self, clocks: &Clocks) -> Self {
        let wanted = |found: &Self, file: usize| {
            let at = |done: &&FinishedFlow| clocks.upstream(done.ends.0, done.ends.1) == file;
            found.done.iter().filter(at).map(|done| done.report.id).collect::<BTreeSet<_>>()
        };
        let first = self.done.last().map_or(0, |done| done.report.id + 1);
        let (ours, theirs) = (wanted(&self, 0), wanted(&other, 1));
        self.renumber(&ours.iter().map(|&id| (id, id)).collect());
        other.renumber(&theirs.iter().zip(first..).map(|(&id, new)| (id, new)).collect());
        let interval = self.interval.max(other.interval);
        for found in [&mut self, &mut other] {
            thin_to(&mut found.rows, interval);
        }
        self.done.append(&mut other.done);
        self.done.sort_by(|a, b| a.report.start_s.total_cmp(&b.report.start_s));
        self.rows.append(&mut other.rows);
        self.rows.sort_by_key(|row| (row.time, row.flow));
        self.points.append(&mut other.points);
        if let (Some(ours), Some(theirs)) = (&mut self.packets, other.packets) {
            ours.extend(theirs);
            ours.sort_by_key(|row| row.time);
        }
        self.interval = interval;
        self.thinned |= other.thinned;
        self.end = self.end.max(other.end);
        self.backwards += other.backwards;
        self.unlisted.silent = self.unlisted.silent.max(other.unlisted.silent);
        self.unlisted.evicted += other.unlisted.evicted;
        self.unlisted.flows += other.unlisted.flows;
        self.unlisted.payload += other.unlisted.payload;
        self.unlisted.packets += other.unlisted.packets;
        self
    }

    /// Finds flows that share a bottleneck, among those with the most payload.
    pub(crate) fn find_shared(&mut self) {
        let compared = largest(&self.done, MOST_DRAWN);
        let flows = self.done.iter_mut().filter(|done| compared.contains(&done.report.id));
        let reports = flows.map(|done| &mut done.report);
        find_shared(
            reports.map(|flow| (&mut flow.causes, flow.goodput_mbps.unwrap_or(0.0))).collect(),
        );
    }

    /// Adds to each flow what happened to its packets between the captures.
    pub(crate) fn take_transits(&mut self, mut between: TransitReports) {
        for done in &mut self.done {
            let ends = (done.report.source.clone(), done.report.destination.clone());
            // Later connections between the same ends are counted in the first one's.
            let Some((report, transit)) = between.whole.remove(&ends) else { continue };
            let mut total = 0;
            let sum = |&(time, packets): &(u64, u64)| {
                total += packets;
                (time, total)
            };
            self.drops.insert(done.report.id, transit.times.iter().map(sum).collect());
            done.report.ends = Some(report);
            done.report.stages = between.stages.remove(&ends).unwrap_or_default();
        }
    }

    /// Packets of a row's flow that were lost among those that had left by then; none with only one
    /// capture.
    pub(crate) fn drops_until(&self, row: &Row) -> Option<u64> {
        let drops = self.drops.get(&row.flow)?;
        let before = drops.partition_point(|&(time, _)| time <= row.time);
        Some(before.checked_sub(1).map_or(0, |last| drops[last].1))
    }

    /// Removes the connections on which programs only talk about a test; returns their flows' names.
    pub(crate) fn leave_out_conversations(&mut self) -> Vec<String> {
        let talks = conversations(&self.done);
        let reports = || self.done.iter().map(|done| &done.report);
        let names = reports().filter(|flow| talks.contains(&flow.id)).map(|flow| flow.name.clone());
        let names = names.collect();
        let ids = reports().map(|flow| flow.id).filter(|id| !talks.contains(id));
        let numbers = ids.zip(0..).collect();
        self.renumber(&numbers);
        names
    }

    /// Keeps the flows with the most payload, numbered from zero in the order of their
    /// beginnings; returns the number of the others and their payload.
    pub(crate) fn keep_largest(&mut self) -> (u64, u64) {
        let kept = largest(&self.done, MOST_IN_TABLES);
        let drawn = largest(&self.done, MOST_DRAWN);
        let others = self.done.iter().filter(|done| !kept.contains(&done.report.id));
        let others = others.fold((0, 0), |(n, sum), done| (n + 1, sum + done.report.payload_bytes));
        self.points.retain(|point| drawn.contains(&point.flow));
        let ids = self.done.iter().map(|done| done.report.id).filter(|id| kept.contains(id));
        let numbers = ids.zip(0..).collect();
        self.renumber(&numbers);
        others
    }

    /// Keeps the flows with a new number, and renumbers them.
    fn renumber(&mut self, numbers: &BTreeMap<u32, u32>) {
        fn keep<T>(
            items: &mut Vec<T>,
            numbers: &BTreeMap<u32, u32>,
            id: impl Fn(&mut T) -> &mut u32,
        ) {
            items.retain_mut(|item| {
                let id = id(item);
                let Some(&number) = numbers.get(id) else { return false };
                *id = number;
                true
            });
        }
        keep(&mut self.done, numbers, |done| &mut done.report.id);
        keep(&mut self.rows, numbers, |row| &mut row.flow);
        keep(&mut self.points, numbers, |point| &mut point.flow);
        if let Some(packets) = &mut self.packets {
            keep(packets, numbers, |row| &mut row.flow);
        }
        let drops = std::mem::take(&mut self.drops);
        let numbered = |(id, drops)| Some((*numbers.get(&id)?, drops));
        self.drops = drops.into_iter().filter_map(numbered).collect();
    }
}

/// The ids of the `most` flows with the most payload.
fn largest(flows: &[FinishedFlow], most: usize) -> BTreeSet<u32> {
    let size = |done: &FinishedFlow| (std::cmp::Reverse(done.report.payload_bytes), done.report.id);
    let mut sizes: Vec<_> = flows.iter().map(size).collect();
    sizes.sort_unstable();
    sizes.iter().take(most).map(|&(_, id)| id).collect()
}
