//! Takes rows that were turned into columns into a digest, as if they were still rows.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use narrows_base::{Bytes, FlowId, Time};

use crate::digest::Digest;
use crate::event::{Completion, Event, PacketEvent, PacketKind, QueueSample};

/// The columns of a chunk.
struct Chunk<'a>(&'a RecordBatch);

impl<'a> Chunk<'a> {
    fn floats(&self, name: &str) -> &'a [f64] {
        self.0[name].as_primitive::<Float64Type>().values()
    }

    fn small(&self, name: &str) -> &'a [u32] {
        self.0[name].as_primitive::<UInt32Type>().values()
    }

    fn large(&self, name: &str) -> &'a [u64] {
        self.0[name].as_primitive::<UInt64Type>().values()
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0[name].as_string_view().iter().map(Option::unwrap_or_default)
    }

    fn rows(&self) -> std::ops::Range<usize> {
        0..self.0.num_rows()
    }
}

pub(crate) fn internals(digest: &mut Digest, chunk: &RecordBatch) {
    let chunk = Chunk(chunk);
    let (times, values) = (chunk.floats("time_s"), chunk.floats("value"));
    let flows = chunk.small("flow");
    for (row, name) in chunk.texts("name").enumerate() {
        digest.internal_at(instant(times[row]), FlowId(flows[row]), name, values[row]);
    }
}

pub(crate) fn queue_samples(digest: &mut Digest, chunk: &RecordBatch) {
    let chunk = Chunk(chunk);
    let times = chunk.floats("time_s");
    let links = chunk.small("link");
    let [backlog, forwarded_bytes] =
        ["backlog_bytes", "forwarded_bytes"].map(|name| chunk.large(name));
    let [waiting, arrived, dropped, marked, forwarded] =
        ["backlog", "arrived", "dropped", "marked", "forwarded"]
            .map(|counted| chunk.large(&format!("{counted}_packets")));
    for row in chunk.rows() {
        let sample = QueueSample {
            link: links[row],
            backlog: Bytes::new(backlog[row]),
            backlog_packets: waiting[row],
            arrived: arrived[row],
            dropped: dropped[row],
            marked: marked[row],
            forwarded: forwarded[row],
            forwarded_bytes: Bytes::new(forwarded_bytes[row]),
        };
        digest.event(instant(times[row]), &Event::Queue(sample));
    }
}

pub(crate) fn completions(digest: &mut Digest, chunk: &RecordBatch) {
    let chunk = Chunk(chunk);
    let (starts, ends) = (chunk.floats("start_s"), chunk.floats("end_s"));
    let (flows, instances) = (chunk.small("flow"), chunk.small("instance"));
    let (sizes, again) = (chunk.large("size_bytes"), chunk.large("retransmitted"));
    for row in chunk.rows() {
        let completion = Completion {
            flow: FlowId(flows[row]),
            instance: instances[row],
            start: instant(starts[row]),
            size: Bytes::new(sizes[row]),
            retransmitted: again[row],
        };
        digest.event(instant(ends[row]), &Event::Completion(completion));
    }
}

pub(crate) fn packets(digest: &mut Digest, chunk: &RecordBatch) {
    let chunk = Chunk(chunk);
    let times = chunk.floats("time_s");
    let (flows, instances) = (chunk.small("flow"), chunk.small("instance"));
    let (numbers, sizes) = (chunk.large("seq"), chunk.small("size"));
    let again = chunk.0["retransmission"].as_boolean();
    for (row, event) in chunk.texts("event").enumerate() {
        let packet = PacketEvent {
            kind: PacketKind::from_name(event),
            flow: FlowId(flows[row]),
            instance: instances[row],
            seq: numbers[row],
            size: sizes[row],
            retransmission: again.value(row),
        };
        digest.event(instant(times[row]), &Event::Packet(packet));
    }
}

/// The instant of a row. It is exact for spilled rows: below 2^51 ns two roundings to the last bit
/// make less than half a ns.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
fn instant(seconds: f64) -> Time {
    Time::from_nanos((seconds * 1e9).round() as u64)
}
