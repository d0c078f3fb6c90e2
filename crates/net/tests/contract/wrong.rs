//! A link with one deliberate mistake, to see that the tests find it.

use std::collections::VecDeque;

use narrows_base::{Packet, Rate, Stream, Time};
use narrows_net::{ConstantRate, Departure, DropReason, DroppedPacket, Element};

use crate::contract::Body;
use crate::contract::elements::RATE;

/// A mistake in an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mistake {
    None,
    /// The next transmission starts at `now`, not at the end of the last one.
    StartsWhenPolled,
    /// A departure carries the time of the poll.
    StampsThePoll,
    /// An arrival meets the backlog that the last poll left.
    AdmitsStale,
}

/// A link without delay in front of a short queue.
pub fn link(mistake: Mistake, seed: u64) -> Box<dyn Element<Body>> {
    let capacity = 1 + crate::contract::traffic::pick(&mut Stream::new(seed, "room"), 4);
    Box::new(WrongLink {
        mistake,
        capacity,
        rate: ConstantRate::new(Rate::from_bps(RATE)),
        waiting: VecDeque::new(),
        sending: None,
        done: VecDeque::new(),
        dropped: VecDeque::new(),
    })
}

struct WrongLink {
    mistake: Mistake,
    capacity: usize,
    rate: ConstantRate,
    waiting: VecDeque<Packet<Body>>,
    sending: Option<Departure<Body>>,
    done: VecDeque<Departure<Body>>,
    dropped: VecDeque<DroppedPacket<Body>>,
}

impl WrongLink {
    fn start(&mut self, packet: Packet<Body>, start: Time) {
        let at = self.rate.transmit(start, packet.bytes());
        self.sending = Some(Departure { at, packet });
    }

    fn catch_up(&mut self, now: Time) {
        while let Some(departure) = self.sending.take_if(|d| d.at <= now) {
            self.done.push_back(departure);
            let late = self.mistake == Mistake::StartsWhenPolled;
            if let Some(packet) = self.waiting.pop_front() {
                self.start(packet, if late { now } else { departure.at });
            }
        }
    }
}

impl Element<Body> for WrongLink {
    fn receive(&mut self, packet: Packet<Body>, now: Time) {
        let stale = self.waiting.len() >= self.capacity;
        self.catch_up(now);
        let full = self.waiting.len() >= self.capacity;
        let refused = if self.mistake == Mistake::AdmitsStale { stale } else { full };
        if refused {
            self.dropped.push_back(DroppedPacket { packet, at: now, reason: DropReason::Overflow });
        } else if self.sending.is_some() {
            self.waiting.push_back(packet);
        } else {
            self.start(packet, now);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Departure<Body>> {
        self.catch_up(now);
        let mut departure = self.done.pop_front()?;
        if self.mistake == Mistake::StampsThePoll {
            departure.at = now;
        }
        Some(departure)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.done.front().or(self.sending.as_ref()).map(|d| d.at)
    }

    fn take_dropped(&mut self) -> Option<DroppedPacket<Body>> {
        self.dropped.pop_front()
    }

    fn packet_count(&self) -> usize {
        self.waiting.len() + usize::from(self.sending.is_some()) + self.done.len()
    }
}
