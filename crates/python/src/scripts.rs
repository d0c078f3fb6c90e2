//! Plays packetdrill scripts against the simulator's TCP.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The result of a script.
#[pyclass(frozen, get_all, module = "narrows._native")]
pub struct ScriptOutput {
    /// "passed", "failed", "unsupported" or "mistake".
    pub verdict: &'static str,
    /// Line and column of the event that didn't pass.
    pub at: Option<(u32, u32)>,
    /// Why it didn't pass.
    pub message: String,
    /// The output of the script's code.
    pub printed: Vec<String>,
    /// How many of its events took place.
    pub events: usize,
}

/// Plays a script against the simulator's TCP of that profile; `words` are replaced in the script.
/// Raises ValueError for a profile that isn't known.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn play_script(
    path: PathBuf,
    profile: &str,
    words: BTreeMap<String, String>,
) -> PyResult<ScriptOutput> {
    let known = narrows_tcp::profile(profile)
        .ok_or_else(|| PyValueError::new_err(format!("no profile is called \"{profile}\"")))?;
    let played = narrows_packetdrill_sim::play(&path, known, &words);
    Ok(ScriptOutput {
        verdict: played.word,
        at: played.at,
        message: played.message,
        printed: played.printed,
        events: played.events,
    })
}
