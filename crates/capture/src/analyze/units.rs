//! Numbers in the units of tables and reports.

#[allow(clippy::cast_precision_loss)]
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[allow(clippy::cast_precision_loss)]
pub(crate) fn millis(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[allow(clippy::cast_precision_loss)]
pub(crate) fn mbps(bytes: u64, ns: u64) -> Option<f64> {
    (ns > 0).then(|| bytes as f64 * 8e3 / ns as f64)
}
