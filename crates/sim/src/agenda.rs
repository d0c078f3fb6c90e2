//! When each element must be polled next.

use narrows_base::Time;

/// One deadline per element, and the earliest of them at hand.
///
/// A tournament tree: the leaves are the elements, each inner node holds the
/// winner of its two children. Setting a deadline replays one path to the root.
/// Ties go to the lower element number, so that the order of events depends on
/// the topology alone, never on the order of insertions.
pub struct Agenda {
    /// Deadline and element; 1 is the root, the children of n are 2n and 2n + 1, and
    /// the second half are the leaves. 0 is unused.
    tree: Vec<(Time, u32)>,
}

impl Agenda {
    /// An agenda of `elements` elements without deadlines.
    #[must_use]
    pub fn new(elements: usize) -> Self {
        let leaves = elements.next_power_of_two().max(2);
        let mut tree = vec![(Time::MAX, 0); 2 * leaves];
        for (leaf, element) in tree[leaves..].iter_mut().zip(0..) {
            leaf.1 = element;
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node];
        }
        Self { tree }
    }

    /// Sets or clears the deadline of an element.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn set(&mut self, element: usize, deadline: Option<Time>) {
        let deadline = deadline.unwrap_or(Time::MAX);
        let mut node = self.tree.len() / 2 + element;
        if self.tree[node].0 == deadline {
            return;
        }
        self.tree[node].0 = deadline;
        while node > 1 {
            // The left child has the lower numbers and wins ties.
            let (left, right) = (self.tree[node & !1], self.tree[node | 1]);
            let winner = if right.0 < left.0 { right } else { left };
            node /= 2;
            if self.tree[node] == winner {
                return; // nothing changes above
            }
            self.tree[node] = winner;
        }
    }

    /// The earliest deadline and its element.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> Option<(Time, usize)> {
        let (deadline, element) = self.tree[1];
        (deadline < Time::MAX).then_some((deadline, element as usize))
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
