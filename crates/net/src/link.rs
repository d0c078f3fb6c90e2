//! A queue, a transmitter and a cable.

use narrows_base::{Bytes, Duration, Packet, Time};

use crate::port::{Due, Port};
use crate::{Departure, Dropped, Element, Queue, QueueDiscipline, RateProcess};

/// What has passed a link since the beginning of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived, dropped ones included.
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

/// The packet in transmission.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    end: Time,
    size: Bytes,
}

/// A link: a queue discipline, a rate and a propagation delay.
///
/// A transmission starts at the packet's arrival or at the end of the
/// transmission before it, whichever is later, so that lateness of the caller
/// never adds up to a wrong rate. The packet in transmission isn't in the queue.
///
/// A departure leaves at the far end: its transmission ended one
/// [`delay`](Link::delay) earlier.
pub struct Link<B> {
    /// Among its departures are the packets in transmission and on the cable: a
    /// transmission's end is known when it starts.
    port: Port<B>,
    rate: RateProcess,
    delay: Duration,
    transmission: Option<Transmission>,
}

impl<B> Link<B> {
    /// An idle link with a propagation delay of `delay`.
    #[must_use]
    pub fn new(queue: impl Into<Queue<B>>, rate: RateProcess, delay: Duration) -> Self {
        Self { port: Port::new(queue.into()), rate, delay, transmission: None }
    }

    /// The propagation delay.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Settles everything that is due at or before `now`: transmissions that
    /// end, those that start then, and the queue's own deadlines. Needed before
    /// the link is looked at; the three verbs do it themselves.
    #[inline]
    pub fn catch_up(&mut self, now: Time) {
        self.port.reach(now);
        while let Some(due) = self.port.due(self.transmission.map(|t| t.end), now) {
            match due {
                Due::Queue(at) => self.run_timer(at),
                Due::Service(_) => self.end_transmission(),
            }
        }
    }

    /// The counters, as of the last instant that the link has reached.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.port.counters()
    }

    /// The bytes that wait, without the packet in transmission, as of the last
    /// instant that the link has reached.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        self.port.queue.backlog()
    }

    /// The packets that wait, without the one in transmission, as of the last
    /// instant that the link has reached.
    #[inline]
    #[must_use]
    pub fn backlog_packets(&self) -> usize {
        self.port.queue.len()
    }

    /// Whether there is a drop that nobody has taken yet.
    #[inline]
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        self.port.verdicts.has_dropped()
    }

    /// The packets inside: waiting, in transmission, on the cable or due and not
    /// yet polled.
    #[must_use]
    pub fn held(&self) -> usize {
        self.port.held()
    }

    #[inline]
    fn start_transmission(&mut self, packet: Packet<B>, start: Time) {
        let end = self.rate.transmit(start, packet.bytes());
        self.transmit_until(end, packet);
    }

    /// Starts after an idle time, however short.
    #[inline]
    fn start_from_idle(&mut self, packet: Packet<B>, start: Time) {
        let end = self.rate.transmit_from_idle(start, packet.bytes());
        self.transmit_until(end, packet);
    }

    #[inline]
    fn transmit_until(&mut self, end: Time, packet: Packet<B>) {
        self.transmission = Some(Transmission { end, size: packet.bytes() });
        self.port.departures.push(end + self.delay, packet);
    }

    /// Ends the transmission at the instant that it was due to end, and starts
    /// the next one there.
    #[inline]
    fn end_transmission(&mut self) {
        let Some(Transmission { end, size }) = self.transmission.take() else { return };
        self.port.count_forwarded(1, size);
        if let Some(packet) = self.port.dequeue(end) {
            self.start_transmission(packet, end);
        }
    }

    fn run_timer(&mut self, due: Time) {
        self.port.run_timer(due);
        if self.transmission.is_some() {
            return;
        }
        if let Some(packet) = self.port.dequeue(due) {
            self.start_from_idle(packet, due);
        }
    }
}

impl<B> Element<B> for Link<B> {
    #[inline]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        self.port.count_arrival(now);
        self.catch_up(now);
        if self.transmission.is_some() {
            self.port.enqueue(packet, now);
        } else if let Some(packet) = self.port.queue.pass(packet, now, &mut self.port.verdicts) {
            self.start_from_idle(packet, now);
        }
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.catch_up(now);
        self.port.pop_due(now)
    }

    /// The next packet to come out at the far end; if there is none, the
    /// deadline of a queue that holds its packets back.
    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        // A transmission's end is a departure, too.
        self.port.next_deadline(None)
    }

    #[inline]
    fn take_dropped(&mut self) -> Option<Dropped<B>> {
        self.port.verdicts.take_dropped()
    }
}
