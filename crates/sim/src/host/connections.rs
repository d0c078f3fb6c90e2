//! The connections of a host that has many at a time, and when each must be advanced.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use narrows_base::Time;
use narrows_tcp::{Receiver, Sender};

/// An end of one connection.
pub(super) trait End {
    /// An instant before which it does nothing by itself, or [`Time::MAX`]; [`Time::ZERO`] if packets
    /// wait to leave.
    fn lower_bound(&self) -> Time;

    /// When it must be advanced next.
    fn next_deadline(&self) -> Option<Time>;
}

impl End for Sender {
    fn lower_bound(&self) -> Time {
        self.lower_bound()
    }

    fn next_deadline(&self) -> Option<Time> {
        self.next_deadline()
    }
}

impl End for Receiver {
    fn lower_bound(&self) -> Time {
        self.next_deadline().unwrap_or(Time::MAX)
    }

    fn next_deadline(&self) -> Option<Time> {
        self.next_deadline()
    }
}

/// Connections by their numbers, which begin at about the same time as those beside them.
///
/// Like the engine's agenda this only ever brings the turn of a connection forward: nearly every packet
/// postpones timers that never fire. A turn that is too early costs one look.
pub(super) struct Connections<E> {
    /// The number that the first place belongs to.
    first: u32,
    places: VecDeque<Option<Place<E>>>,
    /// Turns, the earliest first, and at equal times that of the lower number; those that were
    /// brought forward or whose connection is gone are still here.
    turns: BinaryHeap<Reverse<(Time, u32)>>,
    /// The connection with packets that wait to leave, which goes first.
    ready: Option<u32>,
}

struct Place<E> {
    end: Box<E>,
    /// Its turn, or [`Time::MAX`].
    turn: Time,
}

impl<E> Default for Connections<E> {
    fn default() -> Self {
        let (places, turns) = (VecDeque::new(), BinaryHeap::new());
        Self { first: 0, places, turns, ready: None }
    }
}

impl<E: End> Connections<E> {
    fn index(&self, number: u32) -> Option<usize> {
        Some(number.checked_sub(self.first)? as usize)
    }

    fn place(&mut self, number: u32) -> Option<&mut Place<E>> {
        let index = self.index(number)?;
        self.places.get_mut(index)?.as_mut()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut E> {
        self.place(number).map(|place| &mut *place.end)
    }

    /// The connections in the order of their numbers.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &E> {
        self.places.iter().flatten().map(|place| &*place.end)
    }

    /// Adds a connection, which must be planned.
    ///
    /// # Panics
    /// If its number is below that of the lowest connection.
    pub(super) fn insert(&mut self, number: u32, end: E) {
        let index = self.index(number).expect("connections begin in about the order of numbers");
        if index >= self.places.len() {
            self.places.resize_with(index + 1, || None);
        }
        self.places[index] = Some(Place { end: Box::new(end), turn: Time::MAX });
    }

    pub(super) fn remove(&mut self, number: u32) {
        if let Some(index) = self.index(number) {
            self.places[index] = None;
        }
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.first += 1;
        }
    }

    /// Notes when a connection must be advanced that took a packet or began at `now`.
    pub(super) fn plan(&mut self, number: u32, now: Time) {
        let Some(place) = self.place(number) else { return };
        match place.end.lower_bound() {
            Time::ZERO => self.ready = Some(number),
            bound => self.bring_forward(number, bound.max(now)),
        }
    }

    /// Notes that a connection must be advanced at `at` or earlier.
    pub(super) fn bring_forward(&mut self, number: u32, at: Time) {
        let Some(place) = self.place(number) else { return };
        if at < place.turn {
            place.turn = at;
            self.turns.push(Reverse((at, number)));
        }
    }

    /// A connection whose turn has come; it must be planned again.
    pub(super) fn due(&mut self, now: Time) -> Option<u32> {
        if self.ready.is_some() {
            return self.ready.take();
        }
        let (at, number) = self.earliest()?;
        if at > now {
            return None;
        }
        self.turns.pop();
        self.place(number)?.turn = Time::MAX;
        Some(number)
    }

    /// The earliest turn and its connection.
    fn earliest(&mut self) -> Option<(Time, u32)> {
        while let Some(&Reverse((at, number))) = self.turns.peek() {
            if self.place(number).is_some_and(|place| place.turn == at) {
                return Some((at, number));
            }
            self.turns.pop();
        }
        None
    }

    /// An instant before which none of them does anything by itself, or [`Time::MAX`].
    pub(super) fn lower_bound(&mut self) -> Time {
        if self.ready.is_some() {
            return Time::ZERO;
        }
        self.earliest().map_or(Time::MAX, |(at, _)| at)
    }

    /// When one of them must be advanced next.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        if self.ready.is_some() {
            return Some(Time::ZERO);
        }
        let of = |number| self.places.get(self.index(number)?)?.as_ref()?.end.next_deadline();
        let exact = |earliest: Option<Time>, &Reverse((at, number)): &Reverse<(Time, u32)>| {
            // A turn is no later than the deadline, which takes divisions.
            let may_be_earlier = earliest.is_none_or(|earliest| at < earliest);
            if may_be_earlier { Time::earlier(earliest, of(number)) } else { earliest }
        };
        self.turns.iter().fold(None, exact)
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Duration, Stream};

    use super::*;

    /// An end with a timer, whose bound is a bit earlier.
    struct Timer(Time);

    const EARLY: Duration = Duration::from_nanos(3);

    impl End for Timer {
        fn lower_bound(&self) -> Time {
            if self.0 == Time::MAX {
                return Time::MAX;
            }
            Time::ZERO + self.0.saturating_since(Time::ZERO + EARLY).max(Duration::from_nanos(1))
        }

        fn next_deadline(&self) -> Option<Time> {
            (self.0 < Time::MAX).then_some(self.0)
        }
    }

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// The connections that act until `end`, each with its instant; acting ends a timer.
    fn run(connections: &mut Connections<Timer>, end: u64) -> Vec<(u64, u32)> {
        let mut acted = Vec::new();
        loop {
            let now = connections.lower_bound();
            if now > at(end) {
                return acted;
            }
            while let Some(number) = connections.due(now) {
                let timer = connections.get_mut(number).expect("it is there");
                if timer.0 <= now {
                    timer.0 = Time::MAX;
                    acted.push((now.as_nanos(), number));
                }
                let next = timer.0;
                connections.bring_forward(number, next);
            }
        }
    }

    #[test]
    fn they_act_at_their_deadlines_in_the_order_of_their_numbers() {
        let mut random = Stream::new(1, "connections");
        for _ in 0..100 {
            let mut connections = Connections::default();
            for number in 0..20 {
                connections.insert(number, Timer(at(10 + random.below(20))));
                connections.plan(number, at(0));
            }
            // Packets postpone some, bring some forward, and end others.
            for _ in 0..40 {
                let number = u32::try_from(random.below(20)).expect("small");
                if random.chance(0.1) {
                    connections.remove(number);
                } else if let Some(timer) = connections.get_mut(number) {
                    timer.0 = at(10 + random.below(20));
                    connections.plan(number, at(0));
                }
            }
            let mut expected: Vec<_> = (0..20)
                .filter_map(|number| Some((connections.get_mut(number)?.0.as_nanos(), number)))
                .collect();
            expected.sort_unstable();
            let first = expected.first().map(|&(nanos, _)| at(nanos));
            assert_eq!(connections.next_deadline(), first);
            assert_eq!(run(&mut connections, 100), expected);
            assert_eq!(connections.next_deadline(), None);
        }
    }

    #[test]
    fn one_with_packets_to_send_goes_first() {
        struct Ready;
        impl End for Ready {
            fn lower_bound(&self) -> Time {
                Time::ZERO
            }

            fn next_deadline(&self) -> Option<Time> {
                Some(Time::ZERO)
            }
        }
        let mut connections = Connections::default();
        (0..3).for_each(|number| connections.insert(number, Ready));
        connections.bring_forward(0, at(5));
        connections.plan(2, at(5));
        assert_eq!(connections.lower_bound(), Time::ZERO);
        let order: Vec<_> = std::iter::from_fn(|| connections.due(at(5))).collect();
        assert_eq!(order, [2, 0]);
    }
}
