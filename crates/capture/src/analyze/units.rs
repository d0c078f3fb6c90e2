//! Numbers in the units of tables and reports.

/// The nearest number with 53 bits.
#[expect(clippy::cast_precision_loss, reason = "reported numbers have 53 bits")]
pub(crate) fn float(number: impl Into<u128>) -> f64 {
    let number: u128 = number.into();
    number as f64
}

/// A count as a number with 53 bits.
#[expect(clippy::cast_precision_loss, reason = "nobody counts to 2^53")]
pub(crate) fn count(things: usize) -> f64 {
    things as f64
}

pub(crate) fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

pub(crate) fn millis(ns: u64) -> f64 {
    float(ns) / 1e6
}

/// Bytes in a span of time as 10^6 bit/s; none for an empty span.
pub(crate) fn mbps(bytes: u64, ns: u64) -> Option<f64> {
    (ns > 0).then(|| float(bytes) * 8e3 / float(ns))
}
