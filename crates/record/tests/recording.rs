//! The recorder takes events and returns tables and digests.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use narrows_base::{Bytes, Duration, FlowId, Histogram, Level, Rate, Time};
use narrows_record::columns::TableInfo;
use narrows_record::{
    Completion, Digest, Event, EventKind, FlowSample, Internal, NullObserver, Observer,
    PacketEvent, PacketKind, QueueSample, Recorder, RttSample, SpillStore,
};
use std::sync::{Arc, Mutex};

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn flow_sample() -> FlowSample {
    FlowSample {
        flow: FlowId(1),
        cwnd: 10,
        ssthresh: None,
        in_flight: 8,
        rtt: Some(Duration::from_micros(25_500)),
        srtt: Some(Duration::from_millis(26)),
        min_rtt: None,
        pacing_rate: Some(Rate::from_bps(80_000_000)),
        delivery_rate: None,
        sent: 100,
        delivered: 90,
        lost: 2,
        retransmitted: 3,
        received: Bytes::new(130_000),
        wire: Bytes::new(150_000),
        dropped: 4,
        state: "recovery",
        cca_state: "a name of more than twelve letters",
    }
}

fn queue_sample() -> QueueSample {
    QueueSample {
        link: 0,
        backlog: Bytes::new(3_000),
        backlog_packets: 2,
        arrived: 10,
        dropped: 1,
        marked: 5,
        forwarded: 7,
        forwarded_bytes: Bytes::new(10_500),
    }
}

/// One event of every kind.
fn events() -> Vec<(Time, Event)> {
    let packet = PacketEvent {
        kind: PacketKind::AckReceived,
        flow: FlowId(1),
        instance: 2,
        seq: 77,
        size: 52,
        retransmission: true,
    };
    let completion = Completion {
        flow: FlowId(1),
        instance: 2,
        start: at(500),
        size: Bytes::new(1_000_000),
        retransmitted: 6,
    };
    let internal = Internal { flow: FlowId(1), name: "bw_mbps", value: 79.5 };
    let rtt = RttSample { flow: FlowId(1), rtt: Duration::from_millis(25) };
    vec![
        (at(1_000), Event::Flow(flow_sample())),
        (at(1_000), Event::Internal(internal)),
        (at(1_000), Event::Queue(queue_sample())),
        (at(1_250), Event::Completion(completion)),
        (at(1_300), Event::Packet(packet)),
        (at(1_400), Event::Rtt(rtt)),
    ]
}

fn record(level: Level, warmup: Time, events: &[(Time, Event)]) -> Recorder {
    let mut recorder = Recorder::new(level, warmup);
    events.iter().for_each(|(at, event)| recorder.offer(*at, event.kind(), || *event));
    recorder
}

/// A queue that held 100 bytes for 300 ms and was empty for 100 ms.
fn queue_histogram() -> Histogram {
    let mut lengths = Histogram::default();
    lengths.add(100, 300_000_000);
    lengths.add(0, 100_000_000);
    lengths
}

fn table(recorder: Recorder, name: &str) -> RecordBatch {
    let found = recorder.into_tables().into_iter().find(|table| table.name == name);
    found.expect("the table").batch
}

fn float(batch: &RecordBatch, name: &str) -> Option<f64> {
    let column = batch.column_by_name(name).expect(name).as_primitive::<Float64Type>();
    column.is_valid(0).then(|| column.value(0))
}

fn small(batch: &RecordBatch, name: &str) -> Option<u32> {
    let column = batch.column_by_name(name).expect(name).as_primitive::<UInt32Type>();
    column.is_valid(0).then(|| column.value(0))
}

fn large(batch: &RecordBatch, name: &str) -> u64 {
    batch.column_by_name(name).expect(name).as_primitive::<UInt64Type>().value(0)
}

fn text<'a>(batch: &'a RecordBatch, name: &str) -> &'a str {
    batch.column_by_name(name).expect(name).as_string_view().value(0)
}

#[test]
fn a_flow_sample_is_recorded() {
    let batch = table(record(Level::Summary, Time::ZERO, &events()), "flow_samples");
    assert_eq!(batch.num_rows(), 1);
    let small = |name| small(&batch, name);
    let smalls = [small("flow"), small("cwnd"), small("ssthresh"), small("in_flight")];
    assert_eq!(smalls, [Some(1), Some(10), None, Some(8)]);
    let floats = ["time_s", "rtt_ms", "srtt_ms", "min_rtt_ms", "pacing_mbps", "delivery_mbps"];
    let floats = floats.map(|name| float(&batch, name));
    assert_eq!(floats, [Some(1.0), Some(25.5), Some(26.0), None, Some(80.0), None]);
    let counters = ["sent", "delivered", "lost", "retransmitted", "dropped"];
    assert_eq!(counters.map(|name| large(&batch, name)), [100, 90, 2, 3, 4]);
    assert_eq!(["received_bytes", "wire_bytes"].map(|n| large(&batch, n)), [130_000, 150_000]);
    assert_eq!(text(&batch, "state"), "recovery");
    assert_eq!(text(&batch, "cca_state"), "a name of more than twelve letters");
}

#[test]
fn a_queue_sample_is_recorded() {
    let batch = table(record(Level::Summary, Time::ZERO, &events()), "queue_samples");
    assert_eq!((float(&batch, "time_s"), small(&batch, "link")), (Some(1.0), Some(0)));
    let backlog = ["backlog_bytes", "backlog_packets"].map(|name| large(&batch, name));
    assert_eq!(backlog, [3_000, 2]);
    let counters = ["arrived", "dropped", "marked", "forwarded"];
    let counters = counters.map(|name| large(&batch, &format!("{name}_packets")));
    assert_eq!(counters, [10, 1, 5, 7]);
    assert_eq!(large(&batch, "forwarded_bytes"), 10_500);
}

#[test]
fn an_internal_and_a_completion_are_recorded() {
    let recorded = || record(Level::Samples, Time::ZERO, &events());
    let batch = table(recorded(), "internals");
    assert_eq!((small(&batch, "flow"), text(&batch, "name")), (Some(1), "bw_mbps"));
    assert_eq!(["time_s", "value"].map(|n| float(&batch, n)), [Some(1.0), Some(79.5)]);
    let batch = table(recorded(), "completions");
    assert_eq!(["flow", "instance"].map(|n| small(&batch, n)), [Some(1), Some(2)]);
    assert_eq!(["start_s", "end_s"].map(|n| float(&batch, n)), [Some(0.5), Some(1.25)]);
    assert_eq!(["size_bytes", "retransmitted"].map(|n| large(&batch, n)), [1_000_000, 6]);
}

#[test]
fn a_packet_is_recorded() {
    let batch = table(record(Level::Packets, Time::ZERO, &events()), "packets");
    assert_eq!((float(&batch, "time_s"), text(&batch, "event")), (Some(1.3), "ack_received"));
    let smalls = ["flow", "instance", "size"].map(|name| small(&batch, name));
    assert_eq!(smalls, [Some(1), Some(2), Some(52)]);
    assert_eq!(large(&batch, "seq"), 77);
    assert!(batch.column_by_name("retransmission").unwrap().as_boolean().value(0));
}

#[test]
fn distributions_begin_at_the_warm_up() {
    let mut events = events();
    let early = RttSample { flow: FlowId(0), rtt: Duration::from_millis(1) };
    events.push((at(1_199), Event::Rtt(early)));
    let mut recorder = record(Level::Summary, at(1_200), &events);
    recorder.on_queue(0, &queue_histogram());
    let batch = table(recorder, "distributions");
    let ids = batch.column_by_name("id").unwrap().as_primitive::<UInt32Type>();
    assert_eq!(ids.values().to_vec(), [1, 1, 1, 1, 0, 0, 0, 0, 0]);
    let kinds = batch.column_by_name("kind").unwrap().as_string_view();
    let rtts = ["rtt_ms", "rtt_mean_ms", "rtt_min_ms", "rtt_max_ms"];
    let queues = ["queue_bytes", "queue_bytes", "queue_mean_bytes", "queue_min_bytes"];
    let all = [&rtts[..], &queues, &["queue_max_bytes"]].concat();
    assert_eq!(kinds.iter().flatten().collect::<Vec<_>>(), all);
    let values = batch.column_by_name("value").unwrap().as_primitive::<Float64Type>();
    assert!((values.value(0) - 25.0).abs() < 0.1, "{values:?}");
    assert_eq!(values.values()[1..], [25.0, 25.0, 25.0, 0.0, 100.0, 75.0, 0.0, 100.0]);
    let weights = batch.column_by_name("weight").unwrap().as_primitive::<Float64Type>();
    assert_eq!(weights.values().to_vec(), [1.0, 0.0, 0.0, 0.0, 0.1, 0.3, 0.0, 0.0, 0.0]);
}

#[test]
fn the_mean_and_extremes_are_exact_where_buckets_round() {
    let rtt = |micros| {
        let rtt = Duration::from_micros(micros);
        (at(2_000), Event::Rtt(RttSample { flow: FlowId(0), rtt }))
    };
    let batch = table(
        record(Level::Summary, Time::ZERO, &[rtt(25_001), rtt(31_007), rtt(28_000)]),
        "distributions",
    );
    let values = batch.column_by_name("value").unwrap().as_primitive::<Float64Type>();
    assert_eq!(values.values()[4..], [25.001, 31.007]);
    assert!((values.value(3) - 84.008 / 3.0).abs() < 1e-12);
    assert!(values.values()[..3].iter().all(|&bucket| bucket != 25.001 && bucket != 31.007));
}

#[test]
fn each_level_records_its_tables() {
    let names = |level| -> Vec<&str> {
        let tables = record(level, Time::ZERO, &events()).into_tables();
        tables.iter().filter(|t| t.batch.num_rows() > 0).map(|t| t.name).collect()
    };
    let summary = ["flow_samples", "queue_samples", "completions", "distributions"];
    assert_eq!(names(Level::Summary), summary);
    assert_eq!(names(Level::Samples).len(), summary.len() + 1);
    assert_eq!(names(Level::Packets).len(), summary.len() + 2);
}

#[test]
fn an_empty_recording_has_every_column() {
    let tables = Recorder::new(Level::Packets, Time::ZERO).into_tables();
    let columns: Vec<_> = tables.iter().map(|t| (t.name, t.batch.num_columns())).collect();
    let expected = [
        ("flow_samples", 19),
        ("internals", 4),
        ("queue_samples", 9),
        ("completions", 6),
        ("distributions", 4),
        ("packets", 7),
    ];
    assert_eq!(columns, expected);
    let schema = tables[0].batch.schema();
    assert_eq!(schema.field_with_name("ssthresh").unwrap().data_type(), &DataType::UInt32);
    assert!(schema.field_with_name("ssthresh").unwrap().is_nullable());
}

#[test]
fn the_null_observer_wants_nothing() {
    let mut observer = NullObserver;
    observer.offer(Time::ZERO, EventKind::Flow, || panic!("an event was built that nobody wants"));
}

#[test]
fn two_observers_each_get_what_they_want() {
    let mut both = (Recorder::new(Level::Summary, Time::ZERO), Digest::default());
    events().iter().for_each(|(at, event)| both.offer(*at, event.kind(), || *event));
    assert_eq!(both.0.digest(), record(Level::Summary, Time::ZERO, &events()).digest());
    assert_eq!(both.1, digest_of(&events()));
    let before = (both.0.digest(), both.1);
    both.on_queue(0, &queue_histogram());
    assert!(both.0.digest() != before.0 && both.1 != before.1);
}

fn digest_of(events: &[(Time, Event)]) -> Digest {
    let mut digest = Digest::default();
    events.iter().for_each(|(at, event)| digest.on(*at, event));
    digest
}

#[test]
fn the_digest_is_frozen() {
    // Stored results are compared by their digests, so a digest must never change.
    assert_eq!(digest_of(&events()).to_string(), "5c9a60fed13867700172b0bb40ba84f8");
    let recorder = record(Level::Packets, Time::ZERO, &events());
    assert_eq!(recorder.digest().to_string(), "c8cad57dd917bee674fa5f730221355b");
}

/// Every event that differs from one of [`events`] in a single field.
fn variants() -> Vec<(usize, Event)> {
    let mut all = Vec::new();
    let mut flow = |change: fn(&mut FlowSample)| {
        let mut sample = flow_sample();
        change(&mut sample);
        all.push((0, Event::Flow(sample)));
    };
    flow(|s| s.flow.0 = 0);
    flow(|s| s.cwnd = 11);
    flow(|s| s.ssthresh = Some(0));
    flow(|s| s.in_flight = 9);
    flow(|s| s.rtt = None);
    flow(|s| s.srtt = None);
    flow(|s| s.min_rtt = Some(Duration::ZERO));
    flow(|s| s.pacing_rate = None);
    flow(|s| s.delivery_rate = Some(Rate::from_bps(0)));
    flow(|s| s.sent += 1);
    flow(|s| s.delivered += 1);
    flow(|s| s.lost += 1);
    flow(|s| s.retransmitted += 1);
    flow(|s| s.received += Bytes::new(1));
    flow(|s| s.wire += Bytes::new(1));
    flow(|s| s.dropped += 1);
    flow(|s| s.state = "open");
    flow(|s| s.cca_state = "");
    let mut queue = |change: fn(&mut QueueSample)| {
        let mut sample = queue_sample();
        change(&mut sample);
        all.push((2, Event::Queue(sample)));
    };
    queue(|s| s.link = 1);
    queue(|s| s.backlog += Bytes::new(1));
    queue(|s| s.backlog_packets += 1);
    queue(|s| s.arrived += 1);
    queue(|s| s.dropped += 1);
    queue(|s| s.marked += 1);
    queue(|s| s.forwarded += 1);
    queue(|s| s.forwarded_bytes += Bytes::new(1));
    all
}

#[test]
fn the_digest_covers_every_field_of_a_sample() {
    for (index, variant) in variants() {
        let mut changed = events();
        changed[index].1 = variant;
        assert_ne!(digest_of(&changed), digest_of(&events()), "{variant:?}");
        let digest = |events| record(Level::Packets, Time::ZERO, events).digest();
        assert_ne!(digest(&changed), digest(&events()), "{variant:?}");
    }
}

#[test]
fn the_digest_covers_times_order_and_presence() {
    let all = events();
    for index in 0..all.len() {
        let mut later = all.clone();
        later[index].0 += Duration::from_nanos(1);
        assert_ne!(digest_of(&later), digest_of(&all));
        let mut fewer = all.clone();
        fewer.remove(index);
        assert_ne!(digest_of(&fewer), digest_of(&all));
        let digest = |events| record(Level::Packets, Time::ZERO, events).digest();
        assert_ne!(digest(&fewer), digest(&all));
    }
    let mut swapped = all.clone();
    swapped.swap(0, 1);
    assert_ne!(digest_of(&swapped), digest_of(&all));
}

/// Spilled chunks with the names of their tables.
#[derive(Clone, Debug, Default)]
struct Chunks(Arc<Mutex<Vec<(&'static str, RecordBatch)>>>);

impl Chunks {
    fn of(&self, table: &str) -> Vec<RecordBatch> {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(name, _)| *name == table).map(|(_, chunk)| chunk.clone()).collect()
    }
}

impl SpillStore for Chunks {
    fn put(&mut self, table: &'static TableInfo, chunk: RecordBatch) {
        self.0.lock().unwrap().push((table.name, chunk));
    }

    fn each(&self, table: &'static TableInfo, take: &mut dyn FnMut(&RecordBatch)) {
        self.of(table.name).iter().for_each(take);
    }
}

/// Every event 1,000 times, at instants up to the longest run, with different values.
fn many() -> Vec<(Time, Event)> {
    let mut numbers = 1_u64;
    let mut all = Vec::new();
    for round in 0..1_000_u64 {
        numbers = numbers.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = Time::from_nanos(round * 1_000_000_000_000 + (numbers >> 40));
        for (_, mut event) in events() {
            match &mut event {
                Event::Flow(row) => row.sent = numbers,
                Event::Internal(row) => {
                    row.name =
                        ["bw_mbps", "a longer name, of 28 letters"][usize::from(round % 2 > 0)];
                    row.value = f64::from_bits(numbers >> 1);
                }
                Event::Queue(row) => row.forwarded_bytes = Bytes::new(numbers),
                Event::Completion(row) => row.start = Time::from_nanos(at.as_nanos() / 3),
                Event::Packet(row) => {
                    row.kind =
                        [PacketKind::Sent, PacketKind::Forwarded][usize::from(round % 2 > 0)];
                    row.seq = numbers;
                }
                Event::Rtt(_) => {}
            }
            all.push((at, event));
        }
    }
    all
}

#[test]
fn spilled_tables_have_the_same_digest_and_rows() {
    let events = many();
    let whole = record(Level::Packets, Time::ZERO, &events);
    let store = Chunks::default();
    let mut chunked =
        Recorder::new(Level::Packets, Time::ZERO).with_spill(Box::new(store.clone()), 5_000);
    events.iter().for_each(|(at, event)| chunked.offer(*at, event.kind(), || *event));
    let unclosed = chunked.digest();
    chunked.close();
    assert_eq!([unclosed, chunked.digest()], [whole.digest(); 2]);
    for (table, rest) in whole.into_tables().into_iter().zip(chunked.into_tables()) {
        let chunks = store.of(table.name);
        if table.name == "distributions" {
            assert_eq!((chunks.len(), rest.batch), (0, table.batch));
            continue;
        }
        let rows: Vec<_> = chunks.iter().map(RecordBatch::num_rows).collect();
        assert!(rows.len() > 3 && rows.iter().all(|&rows| rows > 0), "{}: {rows:?}", table.name);
        assert_eq!(rest.batch.num_rows(), 0, "{}", table.name);
        let mut first = 0;
        for chunk in chunks {
            assert_eq!(chunk, table.batch.slice(first, chunk.num_rows()), "{}", table.name);
            first += chunk.num_rows();
        }
        assert_eq!(first, table.batch.num_rows(), "{}", table.name);
    }
}

#[test]
fn a_short_recording_spills_nothing() {
    let store = Chunks::default();
    let recorder = Recorder::new(Level::Packets, Time::ZERO);
    let mut recorder = recorder.with_spill(Box::new(store.clone()), 10_000);
    events().iter().for_each(|(at, event)| recorder.offer(*at, event.kind(), || *event));
    recorder.close();
    assert!(store.0.lock().unwrap().is_empty());
    assert_eq!(recorder.digest(), record(Level::Packets, Time::ZERO, &events()).digest());
    assert!(recorder.into_tables().iter().all(|table| table.batch.num_rows() > 0));
}
