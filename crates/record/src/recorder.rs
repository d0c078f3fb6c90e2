//! Collects a run's events for its tables.

use narrows_base::{Level, Time};

use crate::builder::Table;
use crate::distributions::distributions;
use crate::tables::{self, Rows};
use crate::{
    Completion, Digest, Event, FlowSample, Histogram, Internal, Kind, Observer, PacketEvent,
    QueueDepth, QueueSample, RttSample,
};

/// An observer that keeps the data of the tables.
///
/// Rows are appended as they arrive and turned into columns at the end, which costs a run no more
/// than a copy of each row. The emitter chooses the instants of the samples.
#[derive(Clone, Debug)]
pub struct Recorder {
    level: Level,
    warmup: Time,
    flows: Rows<FlowSample>,
    internals: Rows<Internal>,
    queues: Rows<QueueSample>,
    completions: Rows<Completion>,
    packets: Rows<PacketEvent>,
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
            flows: Vec::new(),
            internals: Vec::new(),
            queues: Vec::new(),
            completions: Vec::new(),
            packets: Vec::new(),
            rtts: Vec::new(),
            depths: Vec::new(),
        }
    }

    /// The level of the recording.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The digest of everything recorded, table by table.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        self.flows.iter().for_each(|&(at, row)| digest.event(at, &Event::Flow(row)));
        self.internals.iter().for_each(|&(at, row)| digest.event(at, &Event::Internal(row)));
        self.queues.iter().for_each(|&(at, row)| digest.event(at, &Event::Queue(row)));
        self.completions.iter().for_each(|&(at, row)| digest.event(at, &Event::Completion(row)));
        self.packets.iter().for_each(|&(at, row)| digest.event(at, &Event::Packet(row)));
        digest_histograms(&mut digest, &self.rtts);
        digest_histograms(&mut digest, &self.depths);
        digest
    }

    /// The tables in their declared order; `packets` only if the level includes it.
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

    fn rtt(&mut self, at: Time, sample: RttSample) {
        if at >= self.warmup {
            slot(&mut self.rtts, sample.flow.index()).add(sample.rtt.as_nanos(), 1);
        }
    }

    /// Takes the part of the span after the warm-up.
    fn depth(&mut self, at: Time, depth: QueueDepth) {
        let counted = depth.span.min(at.saturating_since(self.warmup));
        if !counted.is_zero() {
            let histogram = slot(&mut self.depths, depth.link as usize);
            histogram.add(depth.backlog.get(), counted.as_nanos());
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

    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Flow(row) => self.flows.push((at, row)),
            Event::Internal(row) => self.internals.push((at, row)),
            Event::Queue(row) => self.queues.push((at, row)),
            Event::Completion(row) => self.completions.push((at, row)),
            Event::Packet(row) => self.packets.push((at, row)),
            Event::Rtt(sample) => self.rtt(at, sample),
            Event::QueueDepth(depth) => self.depth(at, depth),
        }
    }
}

/// The histogram with an index; ids count from 0, so no space is wasted.
fn slot(histograms: &mut Vec<Histogram>, index: usize) -> &mut Histogram {
    if index >= histograms.len() {
        histograms.resize_with(index + 1, Histogram::default);
    }
    &mut histograms[index]
}

fn digest_histograms(digest: &mut Digest, histograms: &[Histogram]) {
    for (id, histogram) in histograms.iter().enumerate() {
        digest.number(id as u64);
        for (value, weight) in histogram.buckets() {
            digest.number(value.to_bits());
            digest.number(weight);
        }
    }
}
