//! Moves datagrams, timers and events between a stack and the network.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;

use draws::EndStream;
use narrows_base::{Ecn, Time};
use narrows_tcp::ends::Outgoing;

use super::stack::{Event, Stack, Transmission};
use crate::clock::Clock;
use crate::events::ConnectionCounters;

/// The addresses by which the ends know each other; captures have those of the flow.
pub(super) const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);
pub(super) const CLIENT: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 50_000);

/// One end of a connection on the simulator's time.
pub(super) struct Driver<S> {
    clock: Clock,
    draws: EndStream,
    /// Datagrams at most that leave at once.
    segments: NonZeroUsize,
    stack: S,
    /// The other end.
    remote: SocketAddr,
    ready: VecDeque<Outgoing>,
    /// The next timer of the connection.
    timer: Option<Time>,
    /// When it did something last; what is ready is due then.
    now: Time,
}

impl<S: Stack> Driver<S> {
    pub(super) const fn new(
        clock: Clock,
        draws: EndStream,
        segments: NonZeroUsize,
        stack: S,
        remote: SocketAddr,
    ) -> Self {
        let ready = VecDeque::new();
        Self { clock, draws, segments, stack, remote, ready, timer: None, now: Time::ZERO }
    }

    /// Connects to the server.
    pub(super) fn connect(&mut self, now: Time) {
        let (instant, stack, server) = (self.clock.instant(now), &mut self.stack, self.remote);
        self.draws.during(|| stack.connect(server, instant));
    }

    /// Takes a datagram; what follows from it is done by [`Self::run`].
    pub(super) fn receive(&mut self, bytes: &[u8], ecn: Ecn, now: Time) {
        let (instant, stack, remote) = (self.clock.instant(now), &mut self.stack, self.remote);
        if let Some(reply) = self.draws.during(|| stack.receive(bytes, ecn, remote, instant)) {
            self.send(&reply);
        }
    }

    /// Does everything that is due; `application` handles events and then reads and writes.
    pub(super) fn run<A>(&mut self, now: Time, mut application: A)
    where
        A: FnMut(&mut S, Option<Event<S::Stream>>),
    {
        self.now = now;
        let (instant, segments) = (self.clock.instant(now), self.segments);
        let mut sent = Vec::new();
        let stack = &mut self.stack;
        self.draws.during(|| {
            loop {
                stack.advance(instant);
                while let Some(event) = stack.poll() {
                    application(stack, Some(event));
                }
                application(stack, None);
                let Some(transmission) = stack.transmit(instant, segments) else { break };
                sent.push(transmission);
            }
        });
        let timer = stack.next_timeout();
        self.timer = timer.map(|at| self.clock.time(at));
        for transmission in &sent {
            self.send(transmission);
        }
    }

    /// Closes the connection, and tells the other end.
    pub(super) fn close(&mut self, now: Time) {
        self.stack.close(self.clock.instant(now));
        self.run(now, |_, _| {});
    }

    fn send(&mut self, transmission: &Transmission) {
        let &Transmission { ref bytes, length, ecn } = transmission;
        let datagrams = bytes.chunks(length);
        self.ready.extend(datagrams.map(|bytes| Outgoing { bytes: bytes.into(), ecn }));
    }

    pub(super) fn figures(&mut self) -> Option<ConnectionCounters> {
        self.stack.figures()
    }

    /// Returns `true` if a timer is due.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.timer.is_some_and(|at| at <= now)
    }

    pub(super) fn pop(&mut self) -> Option<Outgoing> {
        self.ready.pop_front()
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        if self.ready.is_empty() { self.timer } else { Some(self.now) }
    }
}
