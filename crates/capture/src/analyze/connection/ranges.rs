//! Sets of sequence numbers.

/// More ranges than a flow has under way; what comes beyond is left out.
const MOST: usize = 4096;

/// Half-open ranges, ascending, none touching another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    held: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds a range; calls `new` with each part that wasn't there.
    pub(crate) fn add(&mut self, begin: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if begin >= end {
            return;
        }
        let first = self.held.partition_point(|&(_, e)| e < begin);
        let last = self.held.partition_point(|&(b, _)| b <= end);
        if first == last && self.held.len() >= MOST {
            return;
        }
        let mut at = begin;
        for &(b, e) in &self.held[first..last] {
            if at < b {
                new(at, b.min(end));
            }
            at = at.max(e);
        }
        if at < end {
            new(at, end);
        }
        let joined = self.held[first..last].iter().fold((begin, end), join);
        self.held.splice(first..last, [joined]);
    }

    /// Forgets everything below.
    pub(crate) fn forget_below(&mut self, edge: u64) {
        let gone = self.held.partition_point(|&(_, e)| e <= edge);
        self.held.drain(..gone);
        if let Some(first) = self.held.first_mut() {
            first.0 = first.0.max(edge);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.held.clear();
    }

    /// The end of the last range.
    pub(crate) fn end(&self) -> Option<u64> {
        self.held.last().map(|&(_, e)| e)
    }
}

fn join((begin, end): (u64, u64), &(b, e): &(u64, u64)) -> (u64, u64) {
    (begin.min(b), end.max(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(set: &mut Ranges, begin: u64, end: u64) -> Vec<(u64, u64)> {
        let mut new = Vec::new();
        set.add(begin, end, |b, e| new.push((b, e)));
        new
    }

    #[test]
    fn only_what_is_new_is_told() {
        let mut set = Ranges::default();
        assert_eq!(added(&mut set, 10, 20), [(10, 20)]);
        assert_eq!(added(&mut set, 30, 40), [(30, 40)]);
        assert_eq!(added(&mut set, 15, 35), [(20, 30)]);
        assert_eq!(added(&mut set, 5, 50), [(5, 10), (40, 50)]);
        assert_eq!(added(&mut set, 5, 50), []);
        assert_eq!(set.held, [(5, 50)]);
        set.forget_below(48);
        assert_eq!(set.held, [(48, 50)]);
        set.forget_below(60);
        assert_eq!(set.end(), None);
    }
}
