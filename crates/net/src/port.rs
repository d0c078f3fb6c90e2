//! The core of every link, whatever its service.

use narrows_base::{Bytes, Histogram, Packet, Time};

use crate::departures::Departures;
use crate::depth::{Backlog, Depth};
use crate::element::Departure;
use crate::queue::{Queue, QueueDiscipline, Verdicts};

/// The counters of a link since the beginning of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived, including dropped ones.
    pub arrived_packets: u64,
    /// Packets that the queue discipline dropped.
    pub dropped_packets: u64,
    /// Packets that the queue discipline marked.
    pub marked_packets: u64,
    /// Packets whose transmission has ended.
    pub forwarded_packets: u64,
    /// Bytes of these packets.
    pub forwarded_bytes: Bytes,
}

/// A link's queue, its departures and its counters, on which a [`Service`](crate::Service) works.
pub struct Port<B> {
    pub(crate) queue: Queue<B>,
    depth: Depth,
    /// The queue's backlog since it last changed.
    backlog: Backlog,
    /// Packets that come out at known instants, in order.
    departures: Departures<B>,
    pub(crate) verdicts: Verdicts<B>,
    /// Counts only arrivals and forwarded packets; the verdicts count the rest.
    counters: Counters,
    /// The latest instant that the caller has shown.
    reached: Time,
}

/// The next action of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextAction {
    /// The queue acts on its own deadline.
    Queue(Time),
    /// The service begins or ends a transmission.
    Service(Time),
}

impl<B> Port<B> {
    pub(crate) fn new(queue: Queue<B>) -> Self {
        Self {
            queue,
            depth: Depth::default(),
            backlog: Backlog::default(),
            departures: Departures::new(),
            verdicts: Verdicts::new(),
            counters: Counters::default(),
            reached: Time::ZERO,
        }
    }

    /// The port of a link that has reached this instant, with what it has counted until then.
    pub(crate) fn resume(
        queue: Queue<B>,
        depth: Depth,
        verdicts: Verdicts<B>,
        counters: Counters,
        reached: Time,
    ) -> Self {
        let backlog = Backlog { bytes: queue.backlog().get(), packets: queue.len() };
        Self { queue, depth, backlog, departures: Departures::new(), verdicts, counters, reached }
    }

    /// Records that the link has reached the instant `now`.
    #[inline]
    pub(crate) fn advance_to(&mut self, now: Time) {
        self.reached = self.reached.max(now);
    }

    /// The first action due at or before `now`, if the link serves at `service`. At one instant the
    /// service goes first: it makes room.
    #[inline]
    pub(crate) fn due(&self, service: Option<Time>, now: Time) -> Option<NextAction> {
        match self.queue.next_deadline() {
            Some(at) if at <= now && service.is_none_or(|service| at < service) => {
                Some(NextAction::Queue(at))
            }
            _ => service.filter(|&at| at <= now).map(NextAction::Service),
        }
    }

    /// Lets the queue act on its deadline.
    ///
    /// # Panics
    /// If the deadline stays where it was.
    pub(crate) fn run_timer(&mut self, due: Time) {
        self.queue.on_deadline(due, &mut self.verdicts);
        self.note_depth(due);
        let moved_on = self.queue.next_deadline().is_none_or(|next| next > due);
        assert!(moved_on, "a queue discipline's deadline stays at {due:?} after it was served");
    }

    /// A packet arrives at `now`, which must not be before the instant that the link has reached.
    ///
    /// # Panics
    /// If it has.
    #[inline]
    pub(crate) fn count_arrival(&mut self, now: Time) {
        assert!(now >= self.reached, "a packet arrived out of order: at {now:?}");
        self.counters.arrived_packets += 1;
    }

    /// Puts a packet into the queue.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet<B>, now: Time) {
        self.queue.enqueue(packet, now, &mut self.verdicts);
        self.note_depth(now);
    }

    /// The packet to send from `now` on.
    #[inline]
    pub fn dequeue(&mut self, now: Time) -> Option<Packet<B>> {
        let packet = self.queue.dequeue(now, &mut self.verdicts);
        self.note_depth(now);
        packet
    }

    /// Takes a packet that finds the service idle, and returns the packet to send.
    #[inline]
    pub fn pass(&mut self, packet: Packet<B>, now: Time) -> Option<Packet<B>> {
        let packet = self.queue.pass(packet, now, &mut self.verdicts);
        self.note_depth(now);
        packet
    }

    #[inline]
    fn note_depth(&mut self, now: Time) {
        let bytes = self.queue.backlog().get();
        if bytes != self.backlog.bytes {
            self.depth.count(now, self.backlog);
            self.backlog = Backlog { bytes, packets: self.queue.len() };
        }
    }

    /// Restarts the count of the queue's depth at `now`, which the caller has shown.
    pub(crate) fn restart_depth(&mut self, now: Time) {
        self.depth.restart(now);
    }

    /// The backlog in bytes, weighted by ns, until the instant that the caller has shown.
    pub(crate) fn depth_histogram(&mut self) -> &Histogram {
        self.depth.count(self.reached, self.backlog);
        self.depth.histogram()
    }

    /// Its count of the depth so far.
    pub(crate) const fn depth(&self) -> &Depth {
        &self.depth
    }

    /// Returns `true` if the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The bytes that wait in the queue.
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    /// Lets a packet out of the link at `at`.
    ///
    /// # Panics
    /// If the packet before it leaves later.
    #[inline]
    pub fn depart(&mut self, at: Time, packet: Packet<B>) {
        self.departures.push(at, packet);
    }

    /// Lets the last packet that was let out leave at `at` instead.
    ///
    /// # Panics
    /// If there is none, or the packet before it leaves later.
    pub(crate) fn depart_instead(&mut self, at: Time) {
        self.departures.move_last(at);
    }

    /// Counts packets that were sent, and their bytes.
    #[inline]
    pub fn count_forwarded(&mut self, packets: u64, bytes: Bytes) {
        self.counters.forwarded_packets += packets;
        self.counters.forwarded_bytes += bytes;
    }

    /// The head of the departures, if it is due at `now`.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Departure<B>> {
        self.departures.pop_due(now)
    }

    /// When the head of the departures is due.
    #[inline]
    pub(crate) fn next_departure(&self) -> Option<Time> {
        self.departures.next_deadline()
    }

    /// When something happens next: a departure, else the `service`, else the deadline of a
    /// queue that holds its packets back.
    #[inline]
    pub(crate) fn next_deadline(&self, service: Option<Time>) -> Option<Time> {
        let queue = || if self.queue.is_empty() { None } else { self.queue.next_deadline() };
        self.departures.next_deadline().or(service).or_else(queue)
    }

    pub(crate) const fn counters(&self) -> Counters {
        Counters {
            dropped_packets: self.verdicts.dropped_packets(),
            marked_packets: self.verdicts.marked_packets(),
            ..self.counters
        }
    }

    /// The packets inside: waiting or departing.
    pub(crate) fn packet_count(&self) -> usize {
        self.queue.len() + self.departures.len()
    }
}
