//! A link and the line behind it as one.

use narrows_base::{Bytes, Duration, Histogram, Packet, Time};

use crate::depth::{Backlog, Depth};
use crate::element::{Departure, DropReason, DroppedPacket, Element};
use crate::line::CopyLine;
use crate::link::{Link, QueueState};
use crate::port::{Counters, Port};
use crate::queue::Capacity;
use crate::queue::{DropTail, Verdicts};
use crate::ring::Ring;
use crate::service::Transmitter;
use crate::service::constant::ConstantRate;

/// A drop-tail link at a constant rate with the line behind it.
///
/// Nothing that happens later changes the way of a packet through both, so when it leaves the line
/// is known when it arrives. A packet waits for that in one place, instead of moving from the queue
/// to the transmitter and on to the line; only a number says how many of them are on the link still.
#[derive(Clone, Debug)]
pub struct Pipe<B> {
    rate: ConstantRate,
    delay: Duration,
    capacity: Capacity,
    /// Packets with the instants at which they leave the line.
    exits: Ring<Departure<B>>,
    /// How many packets, the last ones, are on the link: in transmission or waiting.
    on_link: usize,
    /// When the first of these leaves the link, or [`Time::MAX`].
    next_end: Time,
    /// Its size.
    in_transmission: u64,
    /// The bytes that wait behind it.
    backlog: u64,
    depth: Depth,
    /// How many packets, the first ones, were returned by [`Self::note_sent`].
    noted: usize,
    arrived_packets: u64,
    admitted_bytes: u64,
    verdicts: Verdicts<B>,
    /// The latest instant that the caller has shown.
    reached: Time,
}

impl<B: Copy> Pipe<B> {
    /// Fuses this link with this line behind it, if both are empty, the link's queue is
    /// drop-tail, and its rate constant.
    #[must_use]
    pub fn of(link: &Link<B>, line: &CopyLine<B>) -> Option<Self> {
        let (queue, depth, rate) = link.plain_parts()?;
        (line.packet_count() == 0).then(|| Self {
            rate: rate.clone(),
            delay: line.delay(),
            capacity: queue.capacity(),
            exits: Ring::new(),
            on_link: 0,
            next_end: Time::MAX,
            in_transmission: 0,
            backlog: 0,
            depth: depth.clone(),
            noted: 0,
            arrived_packets: 0,
            admitted_bytes: 0,
            verdicts: Verdicts::new(),
            reached: Time::ZERO,
        })
    }

    /// Settles everything that is due at or before `now`. This is needed before reading the state of
    /// the link.
    #[inline]
    pub fn catch_up(&mut self, now: Time) {
        self.reached = self.reached.max(now);
        while self.next_end <= now {
            self.end_transmission();
        }
    }

    /// Takes packets that arrive at the same instant.
    ///
    /// # Panics
    /// If another arrived later.
    #[inline]
    pub fn receive_burst(&mut self, packets: &[Packet<B>], now: Time) {
        assert!(now >= self.reached, "a packet arrived out of order: at {now:?}");
        self.reached = now;
        self.arrived_packets += packets.len() as u64;
        for packet in packets {
            // By reference, so that it is copied only once.
            self.take(packet, now);
        }
    }

    #[inline] // runs for every packet
    fn take(&mut self, packet: &Packet<B>, now: Time) {
        while self.next_end <= now {
            self.end_transmission();
        }
        let size = u64::from(packet.size);
        let idle = self.on_link == 0;
        if !idle {
            if !self.capacity.admits(self.backlog + size, self.waiting()) {
                self.verdicts.drop(*packet, now, DropReason::Overflow);
                return;
            }
            self.depth.count_next(now, self.waiting_backlog());
            self.backlog += size;
        }
        let start = self.rate.end().max(now);
        let end = self.rate.transmit(start, Bytes::new(size));
        if idle {
            (self.next_end, self.in_transmission) = (end, size);
        }
        self.on_link += 1;
        self.admitted_bytes += size;
        self.exits.push(Departure { at: end + self.delay, packet: *packet });
    }

    /// Ends a transmission and starts the next one there.
    #[inline(always)] // runs for every packet
    fn end_transmission(&mut self) {
        self.on_link -= 1;
        match self.exits.get(self.exits.len() - self.on_link) {
            Some(next) => {
                // The packets that waited until now include the next one.
                let waited = Backlog { bytes: self.backlog, packets: self.on_link };
                self.depth.count_next(self.next_end, waited);
                self.in_transmission = u64::from(next.packet.size);
                self.backlog -= self.in_transmission;
                self.next_end = next.at - self.delay;
            }
            None => (self.next_end, self.in_transmission) = (Time::MAX, 0),
        }
    }

    /// The packets that leave the line after these numbers of other packets.
    #[inline]
    #[must_use]
    pub fn packets_ahead<const N: usize>(&self, others: [usize; N]) -> [Option<&Packet<B>>; N] {
        others.map(|others| self.exits.get(others).map(|exit| &exit.packet))
    }

    /// Begins to load the packets that leave the line and the link soon, and room for others.
    pub fn prefetch(&self) {
        let len = self.exits.len();
        [0, len - self.on_link, len].into_iter().for_each(|place| self.exits.prefetch_after(place));
    }

    /// Returns `true` if the head, which leaves the line next, was returned by [`Self::note_sent`].
    #[inline]
    #[must_use]
    pub const fn is_head_noted(&self) -> bool {
        self.noted > 0
    }

    /// The first packet that has left the link and is still on the line, and wasn't returned before,
    /// with the instant at which it left the link.
    pub fn note_sent(&mut self, now: Time) -> Option<Departure<B>> {
        self.catch_up(now);
        if self.noted == self.exits.len() - self.on_link {
            return None;
        }
        let Departure { at, packet } = *self.exits.get(self.noted)?;
        self.noted += 1;
        Some(Departure { at: at - self.delay, packet })
    }

    /// Takes out the packet that [`Self::note_sent`] returned last.
    ///
    /// # Panics
    /// If there is none.
    pub fn lose_noted(&mut self) {
        self.noted -= 1;
        self.exits.remove(self.noted);
    }

    /// The state of the link's queue, as of the last instant that it has reached.
    #[must_use]
    pub fn queue(&self) -> QueueState {
        QueueState { backlog: self.backlog(), packets: self.waiting(), counters: self.counters() }
    }

    /// The bytes that wait, without what is being sent, as of the last instant that the link has
    /// reached.
    #[inline]
    #[must_use]
    pub const fn backlog(&self) -> Bytes {
        Bytes::new(self.backlog)
    }

    /// Restarts the count of the queue's depth at `now`, which the link has reached.
    pub fn restart_depth(&mut self, now: Time) {
        self.depth.restart(now);
    }

    /// The backlog in bytes, weighted by ns, until the last instant that the link has
    /// reached.
    pub fn depth_histogram(&mut self) -> &Histogram {
        self.depth.count(self.reached, self.waiting_backlog());
        self.depth.histogram()
    }

    /// The packets that wait, without the one in transmission.
    #[inline]
    const fn waiting(&self) -> usize {
        self.on_link.saturating_sub(1)
    }

    #[inline]
    const fn waiting_backlog(&self) -> Backlog {
        Backlog { bytes: self.backlog, packets: self.waiting() }
    }

    fn counters(&self) -> Counters {
        let dropped = self.verdicts.dropped_packets();
        Counters {
            arrived_packets: self.arrived_packets,
            dropped_packets: dropped,
            marked_packets: 0,
            forwarded_packets: self.arrived_packets - dropped - self.on_link as u64,
            forwarded_bytes: Bytes::new(self.admitted_bytes - self.in_transmission - self.backlog),
        }
    }

    /// Returns `true` if a dropped packet hasn't been taken yet.
    #[inline]
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        self.verdicts.has_dropped()
    }

    /// The link and the line, each with its packets, as of the last instant that was reached.
    #[must_use]
    pub fn split(mut self) -> (Link<B>, CopyLine<B>) {
        let (counters, on_line) = (self.counters(), self.exits.len() - self.on_link);
        let mut packets = std::iter::from_fn(|| self.exits.pop());
        let mut line = CopyLine::new(self.delay);
        packets.by_ref().take(on_line).for_each(|packet| line.push(packet));
        let sending = packets.next();
        let waiting: Vec<_> = packets.collect();
        for (place, packet) in waiting.iter().enumerate().rev() {
            let before =
                place.checked_sub(1).map_or(self.next_end, |at| waiting[at].at - self.delay);
            self.rate.take_back(before, packet.packet.bytes());
        }
        let queue =
            DropTail::holding(waiting.into_iter().map(|packet| packet.packet), self.capacity);
        let mut port =
            Port::resume(queue.into(), self.depth, self.verdicts, counters, self.reached);
        let size = sending.as_ref().map(|sending| sending.packet.bytes());
        if let Some(Departure { at, packet }) = sending {
            port.depart(at - self.delay, packet);
        }
        let link = Link::resume(port, Transmitter::sending(self.rate, size));
        (link, line)
    }
}

impl<B: Copy> Element<B> for Pipe<B> {
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        self.receive_burst(&[packet], now);
    }

    #[inline(always)] // so that the packet is copied only once
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        // Arrivals keep up with the link, unless the line is short.
        if self.on_link == self.exits.len() {
            self.catch_up(now);
        }
        if self.next_deadline()? > now {
            return None;
        }
        self.noted = self.noted.saturating_sub(1);
        self.exits.pop()
    }

    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.exits.next_deadline()
    }

    #[inline]
    fn packet_count(&self) -> usize {
        self.exits.len()
    }

    #[inline]
    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        self.verdicts.take_dropped()
    }
}
