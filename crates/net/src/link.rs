//! A queue, a transmitter and a cable.

use narrows_base::{Bytes, Duration, Packet, Time};

use crate::departures::Departures;
use crate::{Departure, Dropped, Element, Queue, QueueDiscipline, RateProcess, Verdicts};

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
    queue: Queue<B>,
    rate: RateProcess,
    delay: Duration,
    transmission: Option<Transmission>,
    /// Packets in transmission and on the cable, with the instants at which
    /// they come out: a transmission's end is known when it starts.
    departures: Departures<B>,
    verdicts: Verdicts<B>,
    /// Counts only arrivals and forwarded packets; the verdicts count the rest.
    counters: Counters,
    /// The latest instant that the caller has shown.
    reached: Time,
}

impl<B> Link<B> {
    /// An idle link with a propagation delay of `delay`.
    #[must_use]
    pub fn new(queue: impl Into<Queue<B>>, rate: RateProcess, delay: Duration) -> Self {
        Self {
            queue: queue.into(),
            rate,
            delay,
            transmission: None,
            departures: Departures::new(),
            verdicts: Verdicts::new(),
            counters: Counters::default(),
            reached: Time::ZERO,
        }
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
        self.reached = self.reached.max(now);
        loop {
            let end = self.transmission.map(|t| t.end);
            match self.queue.next_deadline() {
                Some(due) if due <= now && end.is_none_or(|end| due < end) => self.run_timer(due),
                _ if end.is_some_and(|end| end <= now) => self.end_transmission(),
                _ => return,
            }
        }
    }

    /// The counters, as of the last instant that the link has reached.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        Counters {
            dropped_packets: self.verdicts.dropped_packets(),
            marked_packets: self.verdicts.marked_packets(),
            ..self.counters
        }
    }

    /// The bytes that wait, without the packet in transmission, as of the last
    /// instant that the link has reached.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    /// The packets that wait, without the one in transmission, as of the last
    /// instant that the link has reached.
    #[inline]
    #[must_use]
    pub fn backlog_packets(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is a drop that nobody has taken yet.
    #[inline]
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        self.verdicts.has_dropped()
    }

    /// The packets inside: waiting, in transmission, on the cable or due and not
    /// yet polled.
    #[must_use]
    pub fn held(&self) -> usize {
        self.queue.len() + self.departures.len()
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
        self.departures.push(end + self.delay, packet);
    }

    /// Ends the transmission at the instant that it was due to end, and starts
    /// the next one there.
    #[inline]
    fn end_transmission(&mut self) {
        let Some(Transmission { end, size }) = self.transmission.take() else { return };
        self.counters.forwarded_packets += 1;
        self.counters.forwarded_bytes += size;
        if let Some(packet) = self.queue.dequeue(end, &mut self.verdicts) {
            self.start_transmission(packet, end);
        }
    }

    fn run_timer(&mut self, due: Time) {
        self.queue.on_deadline(due, &mut self.verdicts);
        let moved_on = self.queue.next_deadline().is_none_or(|next| next > due);
        assert!(moved_on, "a queue discipline's deadline stays at {due:?} after it was served");
        if self.transmission.is_some() {
            return;
        }
        if let Some(packet) = self.queue.dequeue(due, &mut self.verdicts) {
            self.start_from_idle(packet, due);
        }
    }
}

impl<B> Element<B> for Link<B> {
    #[inline]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        assert!(now >= self.reached, "a packet arrived out of order: at {now:?}");
        self.catch_up(now);
        self.counters.arrived_packets += 1;
        if self.transmission.is_some() {
            self.queue.enqueue(packet, now, &mut self.verdicts);
        } else if let Some(packet) = self.queue.pass(packet, now, &mut self.verdicts) {
            self.start_from_idle(packet, now);
        }
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.catch_up(now);
        self.departures.pop_due(now)
    }

    /// The next packet to come out at the far end; if there is none, the
    /// deadline of a queue that holds its packets back.
    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.departures
            .next_deadline()
            .or_else(|| if self.queue.is_empty() { None } else { self.queue.next_deadline() })
    }

    #[inline]
    fn take_dropped(&mut self) -> Option<Dropped<B>> {
        self.verdicts.take_dropped()
    }
}
