//! Recorded links: files of delivery opportunities in mahimahi's format.

use crate::inputs::Inputs;
use crate::problem::ValueProblem;
use crate::text::quote;

/// The most digits of an ms in a trace.
const MOST_DIGITS: usize = 12;

/// The times of a file's delivery opportunities in ms, one on each line.
///
/// They become part of the scenario, so that a result depends on the trace's content.
pub(super) fn read(name: &str, inputs: &dyn Inputs) -> Result<Vec<u64>, ValueProblem> {
    let remedy = "the path of a trace in mahimahi's format";
    let text = inputs.file(name).map_err(|found| ValueProblem::value(found, remedy))?;
    let mut found: Vec<u64> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = |remedy: String| {
            let place = format!("line {} of {}, {}", index + 1, quote(name), quote(line));
            ValueProblem::value(place, remedy)
        };
        let plain = line.bytes().all(|byte| byte.is_ascii_digit()) && line.len() <= MOST_DIGITS;
        let ms: Option<u64> = line.parse().ok().filter(|_| plain);
        let ms = ms.ok_or_else(|| wrong("a whole number of ms".into()))?;
        if let Some(last) = found.last().filter(|last| **last > ms) {
            return Err(wrong(format!("at least {last}: a trace ascends")));
        }
        found.push(ms);
    }
    if found.last().is_none_or(|&last| last == 0) {
        let nothing = format!("{} without an opportunity after 0 ms", quote(name));
        return Err(ValueProblem::value(nothing, "a trace with one"));
    }
    Ok(found)
}
