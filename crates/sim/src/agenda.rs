//! The agenda: when each element must be polled next.

use std::ops::Range;

use narrows_base::Time;

/// One deadline per element, with quick access to the earliest.
///
/// The first elements, which every packet passes, are in a short array that is scanned, so setting
/// a deadline there costs nothing. All others are entrants of a tournament. Ties go to the lower
/// element number, so that the order of events depends on the topology alone, never on the order of
/// insertions.
pub struct Agenda {
    row: [Time; ROW],
    /// Elements in the array.
    busy: usize,
    others: Tournament,
}

/// Size of the array: a link and the lines of both directions, which is all that most paths have.
/// With more, a tournament is faster.
const ROW: usize = 3;

impl Agenda {
    /// An agenda of `elements` elements without deadlines, of which the first `busy` change
    /// theirs most often.
    ///
    /// # Panics
    /// If more are busy than there are.
    #[must_use]
    pub fn new(elements: usize, busy: usize) -> Self {
        assert!(busy <= elements, "{busy} of {elements} elements can't be busy");
        let busy = busy.min(ROW);
        Self { row: [Time::MAX; ROW], busy, others: Tournament::new(busy..elements) }
    }

    /// Sets or clears the deadline of an element.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)] // what is left of it after a replay was taken out is a comparison
    pub fn set(&mut self, element: usize, deadline: Option<Time>) {
        let deadline = deadline.unwrap_or(Time::MAX);
        match element.checked_sub(self.busy) {
            None => self.row[element] = deadline,
            Some(entrant) => self.others.set(entrant, deadline),
        }
    }

    /// Ensures that an element comes up no later than its deadline.
    ///
    /// Postponing a deadline costs nothing: the element comes up too early once, and must then be
    /// asked. Every packet postpones the hosts' timers, which hardly ever fire.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn bring_forward(&mut self, element: usize, deadline: Option<Time>) {
        if let Some(deadline) = deadline
            && deadline < self.deadline(element)
        {
            self.set(element, Some(deadline));
        }
    }

    #[inline]
    fn deadline(&self, element: usize) -> Time {
        match element.checked_sub(self.busy) {
            None => self.row[element],
            Some(entrant) => self.others.deadline(entrant),
        }
    }

    /// The earliest deadline and its element.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> Option<(Time, usize)> {
        let (mut earliest, element) = self.others.winner;
        let mut element = element as usize;
        // Backwards, and with equality, since the array holds the lower numbers, the lowest first.
        for number in (0..ROW).rev() {
            if self.row[number] <= earliest {
                (earliest, element) = (self.row[number], number);
            }
        }
        (earliest < Time::MAX).then_some((earliest, element))
    }
}

/// A deadline and its element.
type Entry = (Time, u32);

/// Nobody's deadline.
const NOBODY: Entry = (Time::MAX, u32::MAX);

/// A tournament: entrants meet in groups of four, the winners of four groups in the next round,
/// and so on. Setting a deadline concerns one group of each round at most.
struct Tournament {
    /// The places in the final, then those in the round before it, and so on. Group n is at the
    /// places from 4n on, and its winner goes on to place n - 1.
    places: Vec<Entry>,
    /// The first place of the first round, where the entrants are.
    first: usize,
    winner: Entry,
}

/// At equal deadlines the left one wins, since entrants are in the order of their numbers.
#[inline]
fn better(left: Entry, right: Entry) -> Entry {
    if right.0 < left.0 { right } else { left }
}

impl Tournament {
    fn new(elements: Range<usize>) -> Self {
        let (mut first, mut round) = (0, 4);
        while round < elements.len() {
            first += round;
            round *= 4;
        }
        let mut places = vec![NOBODY; first + round];
        for (entry, element) in places[first..].iter_mut().zip(elements) {
            entry.1 = u32::try_from(element).expect("elements fit 32 bits");
        }
        let mut tournament = Self { places, first, winner: NOBODY };
        for group in (1..(first + round) / 4).rev() {
            tournament.places[group - 1] = tournament.winner_of(group);
        }
        tournament.winner = tournament.winner_of(0);
        tournament
    }

    #[inline]
    fn winner_of(&self, group: usize) -> Entry {
        let [a, b, c, d] = self.places[4 * group..][..4] else { unreachable!("a group of four") };
        better(better(a, b), better(c, d))
    }

    #[inline]
    fn deadline(&self, entrant: usize) -> Time {
        self.places[self.first + entrant].0
    }

    #[inline]
    fn set(&mut self, entrant: usize, deadline: Time) {
        let before = self.deadline(entrant);
        if deadline < before {
            self.rise(entrant, deadline);
        } else if deadline > before {
            self.fall(entrant, deadline);
        }
    }

    /// An earlier deadline wins only against those who won up to now.
    #[inline(never)] // so that setting the deadline of a busy element stays small
    fn rise(&mut self, entrant: usize, deadline: Time) {
        let mut group = (self.first + entrant) / 4;
        let entry = &mut self.places[self.first + entrant];
        entry.0 = deadline;
        let risen = *entry;
        while group > 0 {
            let place = &mut self.places[group - 1];
            if *place < risen {
                return;
            }
            *place = risen;
            group = (group - 1) / 4;
        }
        self.winner = self.winner.min(risen);
    }

    /// With a later deadline only a winner can lose, and its groups are played again.
    #[inline(never)]
    fn fall(&mut self, entrant: usize, deadline: Time) {
        let mut group = (self.first + entrant) / 4;
        let entry = &mut self.places[self.first + entrant];
        entry.0 = deadline;
        let number = entry.1;
        while group > 0 {
            if self.places[group - 1].1 != number {
                return;
            }
            self.places[group - 1] = self.winner_of(group);
            group = (group - 1) / 4;
        }
        self.winner = self.winner_of(0);
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Stream;

    use super::*;

    /// Agendas of different sizes, in which a few elements are busy.
    fn agendas() -> impl Iterator<Item = (usize, Agenda)> {
        [(1, 0), (2, 1), (3, 3), (7, 2), (20, 3), (21, 4), (100, 30)]
            .into_iter()
            .map(|(n, b)| (n, Agenda::new(n, b)))
    }

    #[test]
    fn agrees_with_a_plain_search() {
        let mut random = Stream::new(1, "agenda");
        for (elements, mut agenda) in agendas() {
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

    /// Elements whose deadlines are only brought forward, and set again when they come up, finally
    /// come up in the order of their true deadlines.
    #[test]
    fn what_is_only_brought_forward_is_never_late() {
        let mut random = Stream::new(1, "agenda");
        for (elements, mut agenda) in agendas() {
            let mut model = vec![None; elements];
            for round in 0..2_000 {
                let element = usize::try_from(random.below(elements as u64)).unwrap();
                let deadline = Some(Time::from_nanos(round + random.below(20)));
                model[element] = deadline.filter(|_| random.below(4) > 0);
                agenda.bring_forward(element, model[element]);
                let expected = (0..elements).filter_map(|e| model[e].map(|at| (at, e))).min();
                while let Some((at, early)) = agenda.earliest()
                    && model[early] != Some(at)
                {
                    assert!(model[early].is_none_or(|due| due > at), "never late");
                    agenda.set(early, model[early]);
                }
                assert_eq!(agenda.earliest(), expected);
            }
        }
    }
}
