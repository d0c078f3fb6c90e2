//! All connections of a capture.

use std::collections::BTreeMap;

use super::samples::{Row, Rows};
use super::sequence_graph::{GraphPoint, MarkKind, SequenceGraph};
use crate::analyze::connection::{Connection, DataKind, HalfConnection, Step};
use crate::analyze::report::{FlowReport, complete, report, span};
use crate::analyze::times::TimeSamples;
use crate::decode::{CapturedSegment, Endpoint};

/// The most connections at a time; beyond that, the quarter silent for longest is closed.
const MOST_LIVE: usize = 1 << 15;
/// The most flows reported one by one.
const MOST_FLOWS: u32 = 50_000;
/// The most packets listed one by one on request.
const MOST_PACKETS: usize = 4_000_000;

type Key = (Endpoint, Endpoint);

/// A flow that is over.
#[derive(Debug)]
pub(crate) struct FinishedFlow {
    pub(crate) report: FlowReport,
    pub(crate) rtts: TimeSamples,
    /// From connecting to the last acknowledgement, in ns, if all of it was seen.
    pub(crate) life: Option<(u64, u64)>,
    /// The addresses of sender and receiver.
    pub(crate) ends: (u128, u128),
}

/// One packet, if they are listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    pub(crate) time: u64,
    pub(crate) flow: u32,
    pub(crate) ack: bool,
    pub(crate) seq: u64,
    pub(crate) size: u32,
    pub(crate) again: bool,
}

/// Counts that don't belong to reported flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnlistedCounts {
    /// Connections that carried no data.
    pub(crate) silent: u64,
    /// Connections closed to make room.
    pub(crate) evicted: u64,
    /// Flows beyond those reported.
    pub(crate) flows: u64,
    /// Their payload.
    pub(crate) payload: u64,
    /// Packets beyond those listed.
    pub(crate) packets: u64,
}

/// The connections, by their ends.
#[derive(Default)]
pub(crate) struct Flows {
    places: BTreeMap<Key, usize>,
    live: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    /// The connection of the last segment: the next is often of the same.
    recent: Option<(Key, usize)>,
    next_id: u32,
    pub(crate) done: Vec<FinishedFlow>,
    pub(crate) rows: Rows,
    pub(crate) graph: SequenceGraph,
    pub(crate) packets: Option<Vec<PacketRow>>,
    pub(crate) unlisted: UnlistedCounts,
}

impl Flows {
    pub(crate) fn new(packets: bool) -> Self {
        Self { packets: packets.then(Vec::new), ..Self::default() }
    }

    pub(crate) fn on(&mut self, segment: &CapturedSegment) {
        let place = self.place(segment);
        let connection = self.live[place].as_mut().expect("a place that is taken");
        let from = connection.from(segment);
        for (end, half) in connection.halves.iter_mut().enumerate() {
            if half.id.is_none() && end == from && segment.payload > 0 {
                half.id = Some(self.next_id);
                self.next_id = self.next_id.saturating_add(1);
            }
            if let Some(id) = half.id.filter(|&id| id < MOST_FLOWS) {
                let mut due = half.due.unwrap_or(segment.time - segment.time % self.rows.interval);
                self.rows.before(half, id, segment.time, &mut due);
                half.due = Some(due);
            }
        }
        let step = connection.on(segment);
        draw(&mut self.graph, connection, &step, segment);
        if let Some(packets) = &mut self.packets {
            list(packets, &mut self.unlisted, connection, &step, segment);
        }
    }

    fn place(&mut self, segment: &CapturedSegment) -> usize {
        let ends = (segment.source, segment.destination);
        let key = if ends.0 <= ends.1 { ends } else { (ends.1, ends.0) };
        let known = match self.recent {
            Some((recent, place)) if recent == key => Some(place),
            _ => self.places.get(&key).copied(),
        };
        let place = match known {
            Some(place) => {
                let connection = self.live[place].as_ref().expect("a place that is taken");
                if connection.is_succeeded_by(segment) {
                    self.close(place);
                    self.live[place] = Some(Box::new(Connection::new(segment)));
                }
                place
            }
            None => self.open(key, segment),
        };
        self.recent = Some((key, place));
        place
    }

    fn open(&mut self, key: Key, segment: &CapturedSegment) -> usize {
        if self.places.len() >= MOST_LIVE {
            self.evict();
        }
        let connection = Some(Box::new(Connection::new(segment)));
        let place = self.free.pop().unwrap_or(self.live.len());
        if place == self.live.len() {
            self.live.push(connection);
        } else {
            self.live[place] = connection;
        }
        self.places.insert(key, place);
        place
    }

    /// Closes the quarter of the connections that was silent for longest.
    fn evict(&mut self) {
        let last = |place: usize| self.live[place].as_ref().map_or(0, |c| c.last);
        let mut keys: Vec<_> = self.places.iter().map(|(&k, &p)| (last(p), k, p)).collect();
        keys.sort_unstable();
        keys.truncate(MOST_LIVE / 4);
        for (_, key, place) in keys {
            let over = self.live[place].as_ref().is_some_and(|c| c.is_over());
            self.unlisted.evicted += u64::from(!over);
            self.close(place);
            self.places.remove(&key);
            self.free.push(place);
        }
        self.recent = None;
    }

    fn close(&mut self, place: usize) {
        let Some(mut connection) = self.live[place].take() else { return };
        connection.finish();
        let mut silent = true;
        for from in [0, 1] {
            let half = &connection.halves[from];
            let Some(id) = half.id else { continue };
            silent = false;
            if id >= MOST_FLOWS {
                self.unlisted.flows += 1;
                self.unlisted.payload += half.counts.payload;
                continue;
            }
            self.rows.held.push(Row { last: true, ..Row::of(half, id, connection.last) });
            let life = complete(&connection, from).then(|| span(&connection, from));
            let report = report(&connection, from);
            let ends = [from, 1 - from].map(|end| connection.ends[end].address);
            self.done.push(FinishedFlow {
                report,
                rtts: half.rtts.clone(),
                life,
                ends: (ends[0], ends[1]),
            });
        }
        self.unlisted.silent += u64::from(silent);
    }

    /// Ends the capture.
    pub(crate) fn finish(&mut self) {
        for place in 0..self.live.len() {
            self.close(place);
        }
        self.places.clear();
        self.done.sort_by_key(|done| done.report.id);
        self.rows.held.sort_by_key(|row| (row.time, row.flow));
    }
}

fn draw(
    graph: &mut SequenceGraph,
    connection: &Connection,
    step: &Step,
    segment: &CapturedSegment,
) {
    let time = segment.time;
    let half = &connection.halves[step.from];
    if let (Some((mark, begin, end)), Some(flow)) =
        (step.data, half.id.filter(|&id| id < MOST_FLOWS))
    {
        let kind = match mark {
            DataKind::New => MarkKind::Data,
            DataKind::Again => MarkKind::Again,
            DataKind::OutOfOrder => MarkKind::OutOfOrder,
        };
        let base = half.base;
        graph.add(point(time, flow, kind, begin, end, base));
    }
    let other = &connection.halves[1 - step.from];
    if let (Some((una, window)), Some(flow)) = (step.ack, other.id.filter(|&id| id < MOST_FLOWS)) {
        graph.add(point(time, flow, MarkKind::Ack, una, una, other.base));
        if let Some(window) = window {
            graph.add(point(time, flow, MarkKind::Window, una + window, una + window, other.base));
        }
        if let Some(&(begin, end)) = segment.sacks().first() {
            let ahead = |seq: u32| una.wrapping_add(u64::from(seq.wrapping_sub(segment.ack)));
            if ahead(begin) < ahead(end) && ahead(end) - una < 1 << 30 {
                graph.add(point(time, flow, MarkKind::Sack, ahead(begin), ahead(end), other.base));
            }
        }
    }
}

fn point(time: u64, flow: u32, kind: MarkKind, begin: u64, end: u64, base: u64) -> GraphPoint {
    let since = |number: u64| number.saturating_sub(base);
    GraphPoint { time, flow, kind, begin: since(begin), end: since(end) }
}

fn list(
    packets: &mut Vec<PacketRow>,
    unlisted: &mut UnlistedCounts,
    connection: &Connection,
    step: &Step,
    segment: &CapturedSegment,
) {
    let (time, size) = (segment.time, segment.size);
    let [half, other] = [step.from, 1 - step.from].map(|end| &connection.halves[end]);
    let number = |half: &HalfConnection, at: u64| half.packets(at.saturating_sub(half.base));
    let data = step.data.zip(half.id).map(|((mark, begin, _), flow)| {
        let again = mark == DataKind::Again;
        PacketRow { time, flow, ack: false, seq: number(half, begin), size, again }
    });
    let ack = step.ack.zip(other.id).filter(|_| segment.payload == 0).map(|((una, _), flow)| {
        PacketRow { time, flow, ack: true, seq: number(other, una), size, again: false }
    });
    for listed in [data, ack].into_iter().flatten() {
        if packets.len() < MOST_PACKETS {
            packets.push(listed);
        } else {
            unlisted.packets += 1;
        }
    }
}
