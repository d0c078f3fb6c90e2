//! Links: a queue and its service.

use narrows_base::{Bytes, Dscp, Histogram, Packet, Rate, Time};

use crate::depth::Depth;
use crate::element::{Departure, DroppedPacket, Element};
use crate::port::Port;
use crate::port::{Counters, NextAction};
use crate::queue::{DropTail, Queue, QueueDiscipline as _};
use crate::service::constant::ConstantRate;
use crate::service::{RateProcess, Service, Transmitter};

/// The state of a link's queue, as of the last instant that it has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// The bytes that wait, without what is being sent.
    pub backlog: Bytes,
    /// The packets that wait, without what is being sent.
    pub packets: usize,
    /// The link's counters.
    pub counters: Counters,
}

/// A link: a queue discipline and the service that sends waiting packets. It has no length.
///
/// Whatever the service, the link catches up in the same way, at the instants that the
/// service and the queue dictate.
pub struct ServedLink<B, S> {
    port: Port<B>,
    service: S,
}

/// A link that sends one packet after the other.
pub type Link<B> = ServedLink<B, Transmitter>;

/// A link with any other service.
pub type AnyServedLink<B> = ServedLink<B, Box<dyn Service<B> + Send>>;

impl<B> Link<B> {
    /// An idle link that sends one packet after the other at this rate.
    #[must_use]
    pub fn new(queue: impl Into<Queue<B>>, rate: RateProcess) -> Self {
        Self::with(queue, Transmitter::new(rate))
    }
}

impl<B> Link<B> {
    /// A link in the midst of its work.
    pub(crate) const fn resume(port: Port<B>, service: Transmitter) -> Self {
        Self { port, service }
    }

    /// Its queue, that queue's depth so far, and its rate, if it is empty, the queue drop-tail, and
    /// the rate constant.
    pub(crate) fn plain_parts(&self) -> Option<(&DropTail<B>, &Depth, &ConstantRate)> {
        match (&self.port.queue, self.service.constant_rate()) {
            (Queue::DropTail(queue), Some(rate)) if self.packet_count() == 0 => {
                Some((queue, self.port.depth(), rate))
            }
            _ => None,
        }
    }

    /// Changes the rate from `now` on, even in the midst of a packet; false if a trace dictates it.
    pub fn change_rate(&mut self, now: Time, rate: Rate) -> bool {
        self.catch_up(now);
        self.service.change_rate(now, rate, &mut self.port)
    }
}

impl<B, S: Service<B>> ServedLink<B, S> {
    /// An idle link.
    #[must_use]
    pub fn with(queue: impl Into<Queue<B>>, service: S) -> Self {
        Self { port: Port::new(queue.into()), service }
    }

    /// Tells the queue the DSCP of each flow's packets, before the first arrives.
    pub fn learn_dscps(&mut self, of_flows: &[Dscp]) {
        self.port.queue.learn_dscps(of_flows);
    }

    /// Settles everything that is due at or before `now`: the service's actions until then, and the
    /// queue's own deadlines. This is needed before reading the link's state; the three methods do it
    /// themselves.
    #[inline]
    pub fn catch_up(&mut self, now: Time) {
        self.port.advance_to(now);
        if let Some(due) = self.port.due(self.service.next(), now) {
            self.settle(due, now);
        }
    }

    /// Not inlined: nothing is due at most arrivals of packets.
    #[inline(never)]
    fn settle(&mut self, first: NextAction, now: Time) {
        let mut next = Some(first);
        while let Some(due) = next {
            match due {
                NextAction::Queue(at) => self.run_timer(at),
                NextAction::Service(at) => self.service.act(at, &mut self.port),
            }
            next = self.port.due(self.service.next(), now);
        }
    }

    fn run_timer(&mut self, due: Time) {
        self.port.run_timer(due);
        self.service.wake(due, &mut self.port);
    }

    /// Restarts the count of the queue's depth at `now`, which the link has reached.
    pub fn restart_depth(&mut self, now: Time) {
        self.port.restart_depth(now);
    }

    /// The backlog in bytes, weighted by ns, until the last instant that the link has
    /// reached.
    pub fn depth_histogram(&mut self) -> &Histogram {
        self.port.depth_histogram()
    }

    /// The counters, as of the last instant that the link has reached.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.port.counters()
    }

    /// The bytes that wait, without what is being sent, as of the last instant that the link
    /// has reached.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        self.port.queue.backlog()
    }

    /// The packets that wait, without what is being sent, as of the last instant that the
    /// link has reached.
    #[inline]
    #[must_use]
    pub fn backlog_packets(&self) -> usize {
        self.port.queue.len()
    }

    /// The state of the link's queue.
    #[must_use]
    pub fn queue(&self) -> QueueState {
        let (backlog, packets) = (self.backlog(), self.backlog_packets());
        QueueState { backlog, packets, counters: self.counters() }
    }

    /// The next packet that had left at `now`, of a link that was caught up.
    #[inline]
    pub fn take_sent(&mut self, now: Time) -> Option<Departure<B>> {
        self.port.pop_due(now)
    }

    /// When the next packet leaves of those whose transmission has begun.
    #[inline]
    #[must_use]
    pub fn next_departure(&self) -> Option<Time> {
        self.port.next_departure()
    }

    /// Returns `true` if a dropped packet hasn't been taken yet.
    #[inline]
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        self.port.verdicts.has_dropped()
    }
}

impl<B, S: Service<B>> Element<B> for ServedLink<B, S> {
    #[inline(always)]
    fn receive(&mut self, packet: Packet<B>, now: Time) {
        self.port.count_arrival(now);
        self.catch_up(now);
        self.service.arrive(packet, now, &mut self.port);
    }

    #[inline]
    fn poll(&mut self, now: Time) -> Option<Departure<B>> {
        self.catch_up(now);
        self.port.pop_due(now)
    }

    /// When the next packet leaves; if there is none, when the service acts next, or the deadline
    /// of a queue that holds its packets back.
    #[inline]
    fn next_deadline(&self) -> Option<Time> {
        self.port.next_deadline(self.service.next_unseen())
    }

    fn packet_count(&self) -> usize {
        self.port.packet_count() + self.service.packet_count()
    }

    #[inline]
    fn take_dropped(&mut self) -> Option<DroppedPacket<B>> {
        self.port.verdicts.take_dropped()
    }
}
