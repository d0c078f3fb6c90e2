//! When each element must be polled next.

use narrows_base::Time;

/// One deadline per element, and the earliest of them at hand.
///
/// A tournament tree: the leaves are the elements, each inner node holds the
/// winner of its two children. Setting a deadline replays one path to the root.
/// Ties go to the lower element number, so that the order of events depends on
/// the topology alone, never on the order of insertions.
pub struct Agenda {
    deadlines: Vec<Time>,
    /// Winners of the inner nodes; 1 is the root, 0 unused.
    winners: Vec<u32>,
    leaves: usize,
}

impl Agenda {
    /// An agenda of `elements` elements without deadlines.
    #[must_use]
    pub fn new(elements: usize) -> Self {
        let leaves = elements.next_power_of_two().max(2);
        let mut agenda =
            Self { deadlines: vec![Time::MAX; leaves], winners: vec![0; leaves], leaves };
        for node in (1..leaves).rev() {
            agenda.winners[node] = agenda.winner_of(2 * node);
        }
        agenda
    }

    /// The element that won at tree position `at`: an inner node or a leaf.
    #[inline]
    fn winner_of(&self, at: usize) -> u32 {
        if at >= self.leaves {
            #[allow(clippy::cast_possible_truncation)]
            let leaf = (at - self.leaves) as u32;
            leaf
        } else {
            self.winners[at]
        }
    }

    /// Sets or clears the deadline of an element.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn set(&mut self, element: usize, deadline: Option<Time>) {
        let deadline = deadline.unwrap_or(Time::MAX);
        if self.deadlines[element] == deadline {
            return;
        }
        self.deadlines[element] = deadline;
        let mut node = (self.leaves + element) / 2;
        while node >= 1 {
            // The left child has the lower numbers and wins ties.
            let (left, right) = (self.winner_of(2 * node), self.winner_of(2 * node + 1));
            let right_wins = self.deadlines[right as usize] < self.deadlines[left as usize];
            let winner = if right_wins { right } else { left };
            if winner == self.winners[node] && winner as usize != element {
                return; // someone else won here before and after: nothing changes above
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    /// The earliest deadline and its element.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> Option<(Time, usize)> {
        let element = self.winners[1] as usize;
        let deadline = self.deadlines[element];
        (deadline < Time::MAX).then_some((deadline, element))
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Stream;

    use super::*;

    #[test]
    fn agrees_with_a_plain_search() {
        let mut random = Stream::new(1, "agenda");
        for elements in [1, 2, 3, 7, 100] {
            let mut agenda = Agenda::new(elements);
            let mut model = vec![None; elements];
            for _ in 0..2_000 {
                let element = usize::try_from(random.below(elements as u64)).unwrap();
                let at = random.below(20);
                let deadline = (at > 2).then(|| Time::from_nanos(at));
                agenda.set(element, deadline);
                model[element] = deadline;
                let expected = (0..elements).filter_map(|e| model[e].map(|at| (at, e))).min();
                assert_eq!(agenda.earliest(), expected);
            }
        }
    }
}
