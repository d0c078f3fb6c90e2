//! A script from a file, played to its verdict.

use std::collections::BTreeMap;
use std::path::Path;

use narrows_packetdrill::{Failure, Script, Settings, run};
use narrows_tcp::TcpProfile;

use crate::end::SimulatedEnd;

/// The result of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptVerdict {
    /// "passed", "failed", "unsupported" or "mistake".
    pub word: &'static str,
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
/// Its commands start in its folder.
#[must_use]
pub fn play(path: &Path, profile: &TcpProfile, words: &BTreeMap<String, String>) -> ScriptVerdict {
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return mistake(error.to_string(), None),
    };
    let script = match Script::parse(&text, words) {
        Ok(script) => script,
        Err(error) => return mistake(error.to_string(), Some((error.at.line, error.at.column))),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut end = SimulatedEnd::new(profile, &script.options, folder);
    let report = run(&script, Settings::default(), &mut end);
    let (word, at, message) = match report.failure {
        None => ("passed", None, String::new()),
        Some(Failure { at, unsupported, message }) => {
            let word = if unsupported { "unsupported" } else { "failed" };
            (word, at.map(|at| (at.line, at.column)), message)
        }
    };
    ScriptVerdict { word, at, message, printed: report.printed, events: report.events }
}

fn mistake(message: String, at: Option<(u32, u32)>) -> ScriptVerdict {
    ScriptVerdict { word: "mistake", at, message, ..ScriptVerdict::default() }
}
