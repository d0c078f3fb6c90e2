//! Counts as numbers of controls.

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}
