//! Encodes and writes captures on a separate thread while the run continues.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use narrows_base::{FlowId, Heading, Packet, Point, Time};
use narrows_record::Tap;
use narrows_tcp::{Segment, SenderView};

/// Events that go to the thread together.
const BATCH: usize = 4096;
/// Batches that may wait for it; then the run waits, so that memory doesn't grow.
const WAITING: usize = 4;

/// An event reported to a tap.
#[derive(Debug)]
enum Event {
    Packet(Point, Heading, Time, Packet<Segment>),
    /// With the bytes of its payload.
    Bytes(Point, Heading, Time, Packet<Segment>, Box<[u8]>),
    Lost(FlowId, Time, u32),
    Sender(FlowId, Time, SenderView),
}

/// Passes everything on to a tap on another thread, in the same order. Dropping it waits for the thread.
#[derive(Debug)]
pub struct ThreadedTap<T> {
    wants_packets: bool,
    wants_senders: bool,
    batch: Vec<Event>,
    /// None only once it is finished.
    thread: Option<(SyncSender<Vec<Event>>, JoinHandle<T>)>,
}

impl<T: Tap<Packet<Segment>, SenderView> + Send + 'static> ThreadedTap<T> {
    /// The tap on a thread that waits for events.
    pub fn new(tap: T) -> Self {
        let (wants_packets, wants_senders) = (tap.wants_packets(), tap.wants_senders());
        let (batches, events) = sync_channel(WAITING);
        let thread = thread::spawn(move || feed_tap(tap, &events));
        let batch = Vec::with_capacity(BATCH);
        Self { wants_packets, wants_senders, batch, thread: Some((batches, thread)) }
    }

    /// The tap, once it knows everything.
    pub fn finish(mut self) -> T {
        self.pass_on();
        let (batches, thread) = self.thread.take().expect("it is finished once");
        drop(batches);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn tell(&mut self, event: Event) {
        self.batch.push(event);
        if self.batch.len() == BATCH {
            self.pass_on();
        }
    }

    /// A thread that panicked takes nothing more; `finish` passes its panic on.
    fn pass_on(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Some((batches, _)) = &self.thread {
            drop(batches.send(batch));
        }
    }
}

impl<T> Drop for ThreadedTap<T> {
    fn drop(&mut self) {
        if let Some((batches, thread)) = self.thread.take() {
            drop(batches);
            drop(thread.join());
        }
    }
}

fn feed_tap<T: Tap<Packet<Segment>, SenderView>>(mut tap: T, batches: &Receiver<Vec<Event>>) -> T {
    for event in batches.iter().flatten() {
        match event {
            Event::Packet(point, heading, at, packet) => tap.packet(point, heading, at, &packet),
            Event::Bytes(point, heading, at, packet, bytes) => {
                tap.packet_of_bytes(point, heading, at, &packet, &bytes);
            }
            Event::Lost(flow, at, seq) => tap.packet_lost(flow, at, seq),
            Event::Sender(flow, at, view) => tap.sender(flow, at, &view),
        }
    }
    tap
}

impl<T: Tap<Packet<Segment>, SenderView> + Send + 'static> Tap<Packet<Segment>, SenderView>
    for ThreadedTap<T>
{
    fn wants_packets(&self) -> bool {
        self.wants_packets
    }

    fn wants_senders(&self) -> bool {
        self.wants_senders
    }

    fn packet(&mut self, point: Point, heading: Heading, at: Time, packet: &Packet<Segment>) {
        self.tell(Event::Packet(point, heading, at, *packet));
    }

    fn packet_of_bytes(
        &mut self,
        point: Point,
        heading: Heading,
        at: Time,
        packet: &Packet<Segment>,
        bytes: &[u8],
    ) {
        self.tell(Event::Bytes(point, heading, at, *packet, bytes.into()));
    }

    fn packet_lost(&mut self, flow: FlowId, at: Time, seq: u32) {
        self.tell(Event::Lost(flow, at, seq));
    }

    fn sender(&mut self, flow: FlowId, at: Time, view: &SenderView) {
        self.tell(Event::Sender(flow, at, *view));
    }
}
