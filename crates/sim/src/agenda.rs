//! The agenda: when each element must be polled next.

use std::ops::Range;

use narrows_base::{Time, prefetch};

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
    #[inline] // what is left of it after a replay was taken out is a comparison
    pub fn set(&mut self, element: usize, deadline: Option<Time>) {
        let deadline = deadline.unwrap_or(Time::MAX);
        match element.checked_sub(self.busy) {
            None => self.row[element] = deadline,
            Some(entrant) => self.others.set(entrant, deadline),
        }
    }

    /// Ensures that an element is woken no later than its deadline.
    ///
    /// Postponing a deadline costs nothing: the element is woken too early once, and must then be
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

    /// The elements that moved up when the earliest one, which wasn't busy, was postponed: their
    /// turns come within the next few ones, the next dozens, and the next hundreds.
    ///
    /// In this way each element is among the few before its turn comes, nearly always just once.
    ///
    /// # Panics
    /// If there are fewer than 65 elements that aren't busy.
    #[must_use]
    pub fn successors(&self, element: usize) -> [usize; 3] {
        self.others.successors(element - self.busy)
    }

    /// Begins to load what setting an element's deadline changes first.
    pub fn prefetch(&self, element: usize) {
        if let Some(entrant) = element.checked_sub(self.busy) {
            self.others.prefetch(entrant);
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
type ElementDeadline = (Time, u32);

/// Entrants of a tournament that meet: their deadlines, and their elements.
#[derive(Clone, Copy)]
struct Group {
    deadlines: [Time; 4],
    elements: [u32; 4],
}

/// Nobody's deadlines.
const EMPTY: Group = Group { deadlines: [Time::MAX; 4], elements: [u32::MAX; 4] };

impl Group {
    /// The one with the earliest deadline. At equal ones the left wins, since entrants are in the
    /// order of their numbers.
    #[inline]
    fn winner(&self) -> ElementDeadline {
        let [a, b, c, d] = self.deadlines;
        let (left, left_at) = if b < a { (b, 1) } else { (a, 0) };
        let (right, right_at) = if d < c { (d, 3) } else { (c, 2) };
        let (deadline, at) = if right < left { (right, right_at) } else { (left, left_at) };
        (deadline, self.elements[at])
    }
}

/// A tournament: entrants meet in groups of four, the winners of four groups in the next round,
/// and so on. Setting a deadline concerns one group of each round at most.
struct Tournament {
    /// The final, then the groups of the round before it, and so on. The winners of groups 4n + 1 to
    /// 4n + 4 meet in group n.
    groups: Vec<Group>,
    /// The first group of the first round, where the entrants are.
    first: usize,
    rounds: usize,
    winner: ElementDeadline,
}

impl Tournament {
    fn new(elements: Range<usize>) -> Self {
        let (mut first, mut round, mut rounds) = (0, 1, 1);
        while 4 * round < elements.len() {
            first += round;
            round *= 4;
            rounds += 1;
        }
        let mut groups = vec![EMPTY; first + round];
        for (entrant, element) in elements.enumerate() {
            groups[first + entrant / 4].elements[entrant % 4] =
                u32::try_from(element).expect("elements fit 32 bits");
        }
        for group in (1..groups.len()).rev() {
            let (next, at) = ((group - 1) / 4, (group - 1) % 4);
            (groups[next].deadlines[at], groups[next].elements[at]) = groups[group].winner();
        }
        let winner = groups[0].winner();
        Self { groups, first, rounds, winner }
    }

    #[inline]
    fn deadline(&self, entrant: usize) -> Time {
        self.groups[self.first + entrant / 4].deadlines[entrant % 4]
    }

    /// Those who play in the three rounds before the final in place of an entrant that was there, the
    /// last of these rounds first.
    fn successors(&self, entrant: usize) -> [usize; 3] {
        // The rounds, counted from the final, and their first groups.
        [(1, 1), (2, 5), (3, 21)].map(|(round, first)| {
            let player = entrant >> (2 * (self.rounds - 1 - round));
            self.groups[first + player / 4].elements[player % 4] as usize
        })
    }

    /// Begins to load the groups of an entrant in the first two rounds.
    fn prefetch(&self, entrant: usize) {
        let group = self.first + entrant / 4;
        for group in [group, group.saturating_sub(1) / 4] {
            self.groups.get(group).into_iter().for_each(prefetch);
        }
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
        let (mut group, mut at) = (self.first + entrant / 4, entrant % 4);
        let element = self.groups[group].elements[at];
        self.groups[group].deadlines[at] = deadline;
        while group > 0 {
            (group, at) = ((group - 1) / 4, (group - 1) % 4);
            let played = &mut self.groups[group];
            if (played.deadlines[at], played.elements[at]) < (deadline, element) {
                return;
            }
            (played.deadlines[at], played.elements[at]) = (deadline, element);
        }
        self.winner = self.winner.min((deadline, element));
    }

    /// With a later deadline only a winner can lose, and its groups are played again.
    #[inline(never)]
    fn fall(&mut self, entrant: usize, deadline: Time) {
        let (mut group, mut at) = (self.first + entrant / 4, entrant % 4);
        let played = &mut self.groups[group];
        played.deadlines[at] = deadline;
        let element = played.elements[at];
        let mut winner = played.winner();
        while group > 0 {
            (group, at) = ((group - 1) / 4, (group - 1) % 4);
            let played = &mut self.groups[group];
            if played.elements[at] != element {
                return;
            }
            (played.deadlines[at], played.elements[at]) = winner;
            winner = played.winner();
        }
        self.winner = winner;
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::{Duration, Stream};

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

    /// Before its turn an element is a successor in each of the three rounds, the last one last.
    #[test]
    fn an_element_succeeds_round_by_round_before_its_turn() {
        let mut random = Stream::new(1, "agenda");
        let (elements, busy) = (3_000, 3);
        let mut agenda = Agenda::new(elements, busy);
        for element in busy..elements {
            agenda.set(element, Some(Time::from_nanos(random.below(10_000))));
        }
        let mut seen = vec![[None; 3]; elements];
        for turn in 0..20_000 {
            let (now, element) = agenda.earliest().expect("all have deadlines");
            if turn > 2 * elements {
                let [soon, later, last] = seen[element];
                assert!(last.is_some() && last <= later && later <= soon, "{element}");
            }
            let wait = Duration::from_nanos(1 + random.below(20_000));
            agenda.set(element, Some(now + wait));
            for (round, successor) in agenda.successors(element).into_iter().enumerate() {
                seen[successor][round] = Some(turn);
            }
        }
    }

    /// Elements whose deadlines are only brought forward, and set again when they are woken, finally
    /// wake in the order of their true deadlines.
    #[test]
    fn a_deadline_that_is_only_brought_forward_is_never_late() {
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
