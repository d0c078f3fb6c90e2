//! Captures and qlogs: one, or the two ends of a path.

use narrows_capture::analyze::{AnalysisOptions, analyze_contents};

/// The separator of the two ends.
pub const BETWEEN: &[u8] = b"<the other end>";

/// Reads and analyses captures or qlogs.
///
/// # Panics
/// If captures are refused without saying what was found.
pub fn capture(data: &[u8]) {
    let at = data.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    let ends: Vec<(&str, &[u8])> = match at {
        Some(at) => vec![("a", &data[..at]), ("b", &data[at + BETWEEN.len()..])],
        None => vec![("a", data)],
    };
    let options = AnalysisOptions { packets: true, ..AnalysisOptions::default() };
    if let Err(error) = analyze_contents(&ends, &options) {
        let message = error.to_string();
        assert!(message.contains("found"), "{message}");
    }
}
