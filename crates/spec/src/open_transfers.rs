//! Internals about transfers under way, the same in every back end.

/// Shows the number of open transfers, given their ages in ns, and of those older than the deadline,
/// if there is one.
#[expect(clippy::cast_precision_loss, reason = "for the tables: 53 bits are enough")]
pub fn inspect(
    ages_ns: impl Iterator<Item = u64>,
    deadline_ns: Option<u64>,
    visit: &mut dyn FnMut(&'static str, f64),
) {
    let beyond = |age| deadline_ns.is_some_and(|deadline| age > deadline);
    let (open, late) =
        ages_ns.fold((0_u64, 0_u64), |(open, late), age| (open + 1, late + u64::from(beyond(age))));
    visit("open_transfers", open as f64);
    if deadline_ns.is_some() {
        visit("late_transfers", late as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_for(ages: &[u64], deadline: Option<u64>) -> Vec<(&'static str, f64)> {
        let mut all = Vec::new();
        inspect(ages.iter().copied(), deadline, &mut |name, value| all.push((name, value)));
        all
    }

    #[test]
    fn only_what_exceeds_the_deadline_is_late() {
        let expected = [("open_transfers", 3.0), ("late_transfers", 1.0)];
        assert_eq!(shown_for(&[4, 5, 6], Some(5)), expected);
        assert_eq!(shown_for(&[4], None), [("open_transfers", 1.0)]);
        assert_eq!(shown_for(&[], Some(5)), [("open_transfers", 0.0), ("late_transfers", 0.0)]);
    }
}
