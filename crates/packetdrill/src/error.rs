//! Mistakes in a script, with the place and the remedy.

use std::fmt;

/// A place in a script; lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScriptPosition {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for ScriptPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A mistake in a script: its place, what was found, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The place.
    pub at: ScriptPosition,
    /// The words found there, in quotes, or a description.
    pub found: String,
    /// The remedy.
    pub needed: String,
}

impl ScriptError {
    /// A mistake at a place.
    pub fn new(at: ScriptPosition, found: impl Into<String>, needed: impl Into<String>) -> Self {
        Self { at, found: found.into(), needed: needed.into() }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}; {} is needed", self.at, self.found, self.needed)
    }
}

impl std::error::Error for ScriptError {}

/// The choices in words, with the one that resembles `found` first.
pub fn one_of(found: &str, choices: &[&str]) -> String {
    let lower = found.to_lowercase();
    let closest = choices
        .iter()
        .map(|&choice| (strsim::damerau_levenshtein(&lower, &choice.to_lowercase()), choice))
        .filter(|&(distance, choice)| distance <= 1 + choice.len() / 3)
        .min();
    match closest {
        Some((_, choice)) => format!("\"{choice}\" perhaps, or another of {}", choices.join(", ")),
        None => format!("one of {}", choices.join(", ")),
    }
}
