//! A queue in a ring.

use narrows_base::{Time, prefetch};

use crate::element::Departure;

/// A queue in a ring of a power of two of places, so that finding one takes no more than a mask.
/// It grows to its working size and stays there; what was taken out stays in its place until it is
/// overwritten.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    places: Vec<T>,
    /// The place of the head, before the mask.
    head: usize,
    len: usize,
}

/// Places of a ring in which something was put for the first time.
const FIRST_PLACES: usize = 4;
/// How many entries ahead one is loaded.
const SOON: usize = 16;

impl<T: Copy> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The place of the entry with `others` entries before it, where there are places.
    #[inline]
    const fn place(&self, others: usize) -> usize {
        self.head.wrapping_add(others) & self.places.len().wrapping_sub(1)
    }

    /// Appends an entry.
    #[inline] // so that it is copied only once
    pub(crate) fn push(&mut self, entry: T) {
        if self.len == self.places.len() {
            self.grow(entry);
        }
        let place = self.place(self.len);
        self.places[place] = entry;
        self.len += 1;
    }

    /// Makes room for more, filled with any entry.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, any: T) {
        let first = self.place(0);
        self.places.rotate_left(first);
        self.head = 0;
        self.places.resize(FIRST_PLACES.max(2 * self.len), any);
    }

    /// The head.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The entry with `others` entries before it.
    #[inline]
    pub(crate) fn get(&self, others: usize) -> Option<&T> {
        (others < self.len).then(|| &self.places[self.place(others)])
    }

    /// Begins to load the place a few after that of the entry with `others` entries before it; it
    /// may be free.
    pub(crate) fn prefetch_after(&self, others: usize) {
        if !self.places.is_empty() {
            prefetch(&self.places[self.place(others + SOON)]);
        }
    }

    /// Takes out the head.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let place = self.place(0);
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        // The entry comes last, so that it is copied only once.
        Some(self.places[place])
    }

    /// Takes out the entry with `others` entries before it; these move up.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn remove(&mut self, others: usize) {
        assert!(others < self.len, "a place without an entry");
        for other in (0..others).rev() {
            let onto = self.place(other + 1);
            self.places[onto] = self.places[self.place(other)];
        }
        let _ = self.pop();
    }
}

impl<B: Copy> Ring<Departure<B>> {
    /// Takes out the head, if it is due at `now`.
    #[inline] // so that it is copied only once
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Departure<B>> {
        if self.first()?.at > now {
            return None;
        }
        self.pop()
    }

    /// When the head is due.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.first().map(|head| head.at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use narrows_base::Stream;

    use super::*;

    #[test]
    fn a_ring_is_a_queue() {
        let mut random = Stream::new(1, "ring");
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        for number in 0..10_000 {
            match random.below(8) {
                0..4 => {
                    ring.push(number);
                    model.push_back(number);
                }
                4 if !model.is_empty() => {
                    let others = usize::try_from(random.below(model.len() as u64)).unwrap();
                    assert_eq!(ring.get(others), model.get(others));
                    ring.remove(others);
                    let _ = model.remove(others);
                }
                _ => assert_eq!(ring.pop(), model.pop_front()),
            }
            assert_eq!((ring.len(), ring.first()), (model.len(), model.front()));
            assert_eq!(ring.get(ring.len()), None);
        }
        assert!(ring.len() > 10 && ring.head > ring.places.len(), "it has grown, and gone around");
    }
}
