//! Collects a run's events for its tables.

use arrow_array::RecordBatch;
use narrows_base::{FlowId, Histogram, Level, Time, prefetch};

use crate::builder::Table;
use crate::columns::{COMPLETIONS, INTERNALS, PACKETS, QUEUE_SAMPLES, TableInfo};
use crate::digest::Digest;
use crate::distributions::distributions;
use crate::event::{
    Completion, Event, EventKind, FlowSample, Internal, PacketEvent, QueueSample, RttSample,
};
use crate::observer::Observer;
use crate::rows::{Rows, SpillStore};
use crate::{read_back, tables};

/// An observer that keeps the data of the tables.
///
/// Rows are appended as they arrive, which costs a run no more than a copy of each row. They are
/// turned into columns at the end, or, if there is a [`SpillStore`], whenever there are many. The
/// emitter chooses the instants of the samples.
#[derive(Debug)]
pub struct Recorder {
    level: Level,
    warmup: Time,
    flows: Rows<FlowSample>,
    internals: Rows<Internal>,
    queues: Rows<QueueSample>,
    completions: Rows<Completion>,
    packets: Rows<PacketEvent>,
    store: Option<Box<dyn SpillStore>>,
    /// The digest begins with the rows of flows, so spilled ones are in it already.
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
            store: None,
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

    /// Records long tables in chunks of about `bytes`, each of which goes to the store.
    #[must_use]
    pub fn with_spill(mut self, store: Box<dyn SpillStore>, bytes: usize) -> Self {
        self.store = Some(store);
        self.flows.limit(bytes);
        self.internals.limit(bytes);
        self.queues.limit(bytes);
        self.completions.limit(bytes);
        self.packets.limit(bytes);
        self
    }

    /// Spills the last rows of tables that were spilled before.
    pub fn close(&mut self) {
        for kind in [
            EventKind::Flow,
            EventKind::Internal,
            EventKind::Queue,
            EventKind::Completion,
            EventKind::Packet,
        ] {
            if self.has_spilled(kind) {
                self.spill(kind);
            }
        }
    }

    /// The digest of everything recorded, table by table. Reads spilled rows back.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut digest = self.digest;
        self.flows.iter().for_each(|&(at, row)| digest.event(at, &Event::Flow(row)));
        self.each_spilled(&INTERNALS, |chunk| read_back::internals(&mut digest, chunk));
        self.internals.iter().for_each(|&(at, row)| digest.event(at, &Event::Internal(row)));
        self.each_spilled(&QUEUE_SAMPLES, |chunk| read_back::queue_samples(&mut digest, chunk));
        self.queues.iter().for_each(|&(at, row)| digest.event(at, &Event::Queue(row)));
        self.each_spilled(&COMPLETIONS, |chunk| read_back::completions(&mut digest, chunk));
        self.completions.iter().for_each(|&(at, row)| digest.event(at, &Event::Completion(row)));
        self.each_spilled(&PACKETS, |chunk| read_back::packets(&mut digest, chunk));
        self.packets.iter().for_each(|&(at, row)| digest.event(at, &Event::Packet(row)));
        for (id, histogram) in (0..).zip(&self.rtts).chain((0..).zip(&self.depths)) {
            digest.histogram(id, histogram);
        }
        digest
    }

    /// The tables in their declared order; `packets` only if the level includes it. Spilled
    /// rows are left out, so spilled tables are empty after [`Recorder::close`].
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

    /// Spills the rows of a kind as columns.
    #[cold]
    fn spill(&mut self, kind: EventKind) {
        let Some(store) = self.store.as_deref_mut() else { return };
        match kind {
            EventKind::Flow => {
                let rows = &*self.flows;
                rows.iter().for_each(|&(at, row)| self.digest.event(at, &Event::Flow(row)));
                self.flows.spill(store, tables::flow_samples);
            }
            EventKind::Internal => self.internals.spill(store, tables::internals),
            EventKind::Queue => self.queues.spill(store, tables::queue_samples),
            EventKind::Completion => self.completions.spill(store, tables::completions),
            EventKind::Packet => self.packets.spill(store, tables::packets),
            EventKind::Rtt | EventKind::QueueDepth => {}
        }
    }

    /// Returns `true` if rows of a kind were spilled.
    fn has_spilled(&self, kind: EventKind) -> bool {
        match kind {
            EventKind::Flow => self.flows.has_spilled(),
            EventKind::Internal => self.internals.has_spilled(),
            EventKind::Queue => self.queues.has_spilled(),
            EventKind::Completion => self.completions.has_spilled(),
            EventKind::Packet => self.packets.has_spilled(),
            EventKind::Rtt | EventKind::QueueDepth => false,
        }
    }

    /// Takes the spilled rows of a table.
    fn each_spilled(&self, table: &'static TableInfo, mut take: impl FnMut(&RecordBatch)) {
        if let Some(store) = &self.store {
            store.each(table, &mut take);
        }
    }
}

impl Observer for Recorder {
    #[inline]
    fn wants(&self, kind: EventKind) -> bool {
        match kind {
            EventKind::Packet => self.level >= Level::Packets,
            EventKind::Internal => self.level >= Level::Samples,
            _ => true,
        }
    }

    #[inline(always)] // every ACK brings one
    fn on_rtt(&mut self, at: Time, sample: RttSample) {
        if at >= self.warmup {
            slot(&mut self.rtts, sample.flow.index()).add(sample.rtt.as_nanos(), 1);
        }
    }

    fn prefetch_rtts(&self, flow: FlowId) {
        if let Some(rtts) = self.rtts.get(flow.index()) {
            prefetch(rtts);
        }
    }

    fn prefetch_rtt(&self, sample: RttSample) {
        if let Some(rtts) = self.rtts.get(sample.flow.index()) {
            rtts.prefetch(sample.rtt.as_nanos());
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
            self.spill(event.kind());
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
