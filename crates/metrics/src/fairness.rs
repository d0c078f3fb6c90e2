//! How evenly flows share.

/// Each amount as a part of their sum (0 to 1); `None` where it is unknown or all are zero.
#[must_use]
pub fn shares(amounts: &[Option<f64>]) -> Vec<Option<f64>> {
    let total: f64 = amounts.iter().flatten().fold(0.0, |sum, amount| sum + amount);
    let share = |amount: &Option<f64>| amount.filter(|_| total != 0.0).map(|one| one / total);
    amounts.iter().map(share).collect()
}

/// Jain's index: (sum x)^2 / (n sum x^2), from 1/n to 1; `None` if nothing was shared.
///
/// R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness, DEC-TR-301, 1984.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "flows are few")]
pub fn jain(values: &[f64]) -> Option<f64> {
    let total = values.iter().fold(0.0, |sum, value| sum + value);
    let squares = values.iter().fold(0.0, |sum, value| sum + value * value);
    (squares != 0.0).then(|| total * total / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_share_has_the_index_one() {
        assert_eq!(jain(&[2.0, 2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[4.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn unknown_amounts_have_no_share() {
        assert_eq!(shares(&[Some(1.0), None, Some(3.0)]), [Some(0.25), None, Some(0.75)]);
        assert_eq!(shares(&[Some(0.0), None]), [None, None]);
    }
}
