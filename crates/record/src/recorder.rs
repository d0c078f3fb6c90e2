//! Collects a run's events for its tables.

use arrow_array::RecordBatch;
use narrows_base::{Histogram, Level, Time};

use crate::builder::Table;
use crate::columns::{COMPLETIONS, INTERNALS, PACKETS, QUEUE_SAMPLES, TableInfo};
use crate::digest::Digest;
use crate::distributions::distributions;
use crate::event::{
    Completion, Event, FlowSample, Internal, Kind, PacketEvent, QueueSample, RttSample,
};
use crate::observer::Observer;
use crate::rows::{Rows, Shelf};
use crate::{read_back, tables};

/// An observer that keeps the data of the tables.
///
/// Rows are appended as they arrive, which costs a run no more than a copy of each row. They are
/// turned into columns at the end, or, if there is a [`Shelf`], whenever there are many. The emitter
/// chooses the instants of the samples.
#[derive(Debug)]
pub struct Recorder {
    level: Level,
    warmup: Time,
    flows: Rows<FlowSample>,
    internals: Rows<Internal>,
    queues: Rows<QueueSample>,
    completions: Rows<Completion>,
    packets: Rows<PacketEvent>,
    shelf: Option<Box<dyn Shelf>>,
    /// The digest begins with the rows of flows, so those that are on the shelf are in it already.
    digest: Digest,
    /// Round-trip times in ns, by flow; weights are numbers of samples.
    rtts: Vec<Histogram>,
    /// Queues in bytes, by link; weights are ns.
    depths: Vec<Histogram>,
}

impl Recorder {
    /// Records at a level; distributions begin at `warmup`.
    #[must_use]
    pub fn new(level: Level, warmup: Time) -> Self {
        Self {
            level,
            warmup,
            flows: Rows::default(),
            internals: Rows::default(),
            queues: Rows::default(),
            completions: Rows::default(),
            packets: Rows::default(),
            shelf: None,
            digest: Digest::default(),
            rtts: Vec::new(),
            depths: Vec::new(),
        }
    }

    /// The level of the recording.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Records long tables in chunks of about `bytes`, each of which goes to the shelf.
    #[must_use]
    pub fn with_shelf(mut self, shelf: Box<dyn Shelf>, bytes: usize) -> Self {
        self.shelf = Some(shelf);
        self.flows.limit(bytes);
        self.internals.limit(bytes);
        self.queues.limit(bytes);
        self.completions.limit(bytes);
        self.packets.limit(bytes);
        self
    }

    /// Puts the last rows of those tables on the shelf of which earlier ones are there.
    pub fn close(&mut self) {
        for kind in [Kind::Flow, Kind::Internal, Kind::Queue, Kind::Completion, Kind::Packet] {
            if self.on_shelf(kind) {
                self.shelve(kind);
            }
        }
    }

    /// The digest of everything recorded, table by table. Reads what is on the shelf.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut digest = self.digest;
        self.flows.iter().for_each(|&(at, row)| digest.event(at, &Event::Flow(row)));
        self.each_shelved(&INTERNALS, |chunk| read_back::internals(&mut digest, chunk));
        self.internals.iter().for_each(|&(at, row)| digest.event(at, &Event::Internal(row)));
        self.each_shelved(&QUEUE_SAMPLES, |chunk| read_back::queue_samples(&mut digest, chunk));
        self.queues.iter().for_each(|&(at, row)| digest.event(at, &Event::Queue(row)));
        self.each_shelved(&COMPLETIONS, |chunk| read_back::completions(&mut digest, chunk));
        self.completions.iter().for_each(|&(at, row)| digest.event(at, &Event::Completion(row)));
        self.each_shelved(&PACKETS, |chunk| read_back::packets(&mut digest, chunk));
        self.packets.iter().for_each(|&(at, row)| digest.event(at, &Event::Packet(row)));
        for (id, histogram) in (0..).zip(&self.rtts).chain((0..).zip(&self.depths)) {
            digest.histogram(id, histogram);
        }
        digest
    }

    /// The tables in their declared order; `packets` only if the level includes it. Those on the
    /// shelf are without the rows that are there, so without any after [`Recorder::close`].
    #[must_use]
    pub fn into_tables(self) -> Vec<Table> {
        let mut made = vec![
            tables::flow_samples(&self.flows),
            tables::internals(&self.internals),
            tables::queue_samples(&self.queues),
            tables::completions(&self.completions),
            distributions((0..).zip(&self.rtts), (0..).zip(&self.depths)),
        ];
        if self.level >= Level::Packets {
            made.push(tables::packets(&self.packets));
        }
        made
    }

    /// Puts the rows of a kind on the shelf as columns.
    #[cold]
    fn shelve(&mut self, kind: Kind) {
        let Some(shelf) = self.shelf.as_deref_mut() else { return };
        match kind {
            Kind::Flow => {
                let rows = &*self.flows;
                rows.iter().for_each(|&(at, row)| self.digest.event(at, &Event::Flow(row)));
                self.flows.shelve(shelf, tables::flow_samples);
            }
            Kind::Internal => self.internals.shelve(shelf, tables::internals),
            Kind::Queue => self.queues.shelve(shelf, tables::queue_samples),
            Kind::Completion => self.completions.shelve(shelf, tables::completions),
            Kind::Packet => self.packets.shelve(shelf, tables::packets),
            Kind::Rtt | Kind::QueueDepth => {}
        }
    }

    /// Whether rows of a kind are on the shelf.
    fn on_shelf(&self, kind: Kind) -> bool {
        match kind {
            Kind::Flow => self.flows.on_shelf(),
            Kind::Internal => self.internals.on_shelf(),
            Kind::Queue => self.queues.on_shelf(),
            Kind::Completion => self.completions.on_shelf(),
            Kind::Packet => self.packets.on_shelf(),
            Kind::Rtt | Kind::QueueDepth => false,
        }
    }

    /// Takes the rows of a table that are on the shelf.
    fn each_shelved(&self, table: &'static TableInfo, mut take: impl FnMut(&RecordBatch)) {
        if let Some(shelf) = &self.shelf {
            shelf.each(table, &mut take);
        }
    }
}

impl Observer for Recorder {
    #[inline]
    fn wants(&self, kind: Kind) -> bool {
        match kind {
            Kind::Packet => self.level >= Level::Packets,
            Kind::Internal => self.level >= Level::Samples,
            _ => true,
        }
    }

    #[inline(always)] // every ACK brings one, and only one place offers them
    fn on_rtt(&mut self, at: Time, sample: RttSample) {
        if at >= self.warmup {
            slot(&mut self.rtts, sample.flow.index()).add(sample.rtt.as_nanos(), 1);
        }
    }

    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        let full = match *event {
            Event::Flow(row) => self.flows.push(at, row),
            Event::Internal(row) => self.internals.push(at, row),
            Event::Queue(row) => self.queues.push(at, row),
            Event::Completion(row) => self.completions.push(at, row),
            Event::Packet(row) => self.packets.push(at, row),
            Event::Rtt(sample) => return self.on_rtt(at, sample),
        };
        if full {
            self.shelve(event.kind());
        }
    }

    fn on_queue(&mut self, link: u32, held: &Histogram) {
        *slot(&mut self.depths, link as usize) = held.clone();
    }
}

/// The histogram with an index; ids count from 0, so no space is wasted.
#[inline]
fn slot(histograms: &mut Vec<Histogram>, index: usize) -> &mut Histogram {
    if index >= histograms.len() {
        histograms.resize_with(index + 1, Histogram::default);
    }
    &mut histograms[index]
}
