//! Queue disciplines that exercise everything an AQM may do: sojourn times, random
//! drops, marks, drops at dequeue, timers, packets held back. They model no real
//! discipline.

use std::collections::VecDeque;

use narrows_base::{Bytes, Duration, Packet, Stream, Time};
use narrows_net::{DropReason, QueueDiscipline, Verdicts};

use crate::contract::Body;
use crate::contract::traffic::TICK;

type Waiting = VecDeque<(Time, Packet<Body>)>;

fn backlog(waiting: &Waiting) -> Bytes {
    waiting.iter().map(|(_, packet)| packet.bytes()).sum()
}

/// Drops or marks with a probability that a timer derives from the backlog, and
/// drops packets at the head that have waited too long.
pub struct ManagedQueue {
    waiting: Waiting,
    random: Stream,
    period: Duration,
    next_update: Time,
    probability: f64,
    max_sojourn: Duration,
}

impl ManagedQueue {
    pub fn new(mut random: Stream) -> Self {
        let period = Duration::from_nanos(TICK * (1 + random.below(5)));
        let max_sojourn = Duration::from_nanos(TICK * random.below(12));
        let (waiting, next_update) = (VecDeque::new(), Time::ZERO + period);
        Self { waiting, random, period, next_update, probability: 0.0, max_sojourn }
    }
}

impl QueueDiscipline<Body> for ManagedQueue {
    fn enqueue(&mut self, mut packet: Packet<Body>, now: Time, verdicts: &mut Verdicts<Body>) {
        if self.random.chance(self.probability) && !verdicts.mark(&mut packet) {
            verdicts.drop(packet, now, DropReason::Early);
        } else if self.waiting.len() >= 20 {
            verdicts.drop(packet, now, DropReason::Overflow);
        } else {
            self.waiting.push_back((now, packet));
        }
    }

    fn dequeue(&mut self, now: Time, verdicts: &mut Verdicts<Body>) -> Option<Packet<Body>> {
        loop {
            let (since, packet) = self.waiting.pop_front()?;
            if now - since <= self.max_sojourn || self.random.chance(0.2) {
                return Some(packet);
            }
            verdicts.drop(packet, now, DropReason::Early);
        }
    }

    fn backlog(&self) -> Bytes {
        backlog(&self.waiting)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn next_deadline(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_deadline(&mut self, due: Time, _: &mut Verdicts<Body>) {
        assert_eq!(due, self.next_update, "a timer ran at the wrong time");
        self.next_update += self.period;
        self.probability = [0.0, 0.1, 0.5][self.waiting.len().min(8) / 4];
    }
}

/// Releases one packet per period, and sometimes drops the whole backlog at the
/// end of a period.
pub struct Gate {
    waiting: Waiting,
    random: Stream,
    period: u64,
    opens: Time,
    open: bool,
}

impl Gate {
    pub fn new(mut random: Stream) -> Self {
        let period = TICK / 2 * (1 + random.below(4));
        Self { waiting: VecDeque::new(), random, period, opens: Time::ZERO, open: true }
    }
}

impl QueueDiscipline<Body> for Gate {
    fn enqueue(&mut self, packet: Packet<Body>, now: Time, verdicts: &mut Verdicts<Body>) {
        if self.waiting.len() < 30 {
            self.waiting.push_back((now, packet));
        } else {
            verdicts.drop(packet, now, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut Verdicts<Body>) -> Option<Packet<Body>> {
        if !self.open && now < self.opens {
            return None;
        }
        let (_, packet) = self.waiting.pop_front()?;
        self.opens = Time::from_nanos((now.as_nanos() / self.period + 1) * self.period);
        self.open = false;
        Some(packet)
    }

    fn backlog(&self) -> Bytes {
        backlog(&self.waiting)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn next_deadline(&self) -> Option<Time> {
        (!self.open && !self.waiting.is_empty()).then_some(self.opens)
    }

    fn on_deadline(&mut self, due: Time, verdicts: &mut Verdicts<Body>) {
        assert_eq!(due, self.opens, "a timer ran at the wrong time");
        self.open = true;
        if self.random.chance(0.1) {
            for (_, packet) in self.waiting.drain(..) {
                verdicts.drop(packet, due, DropReason::Early);
            }
        }
    }
}
