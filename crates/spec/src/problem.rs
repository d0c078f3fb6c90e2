//! Problems of specifications and scenarios.

use std::fmt;

use crate::place::Place;

/// A line and a column of a text, both from 1 on; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text isn't TOML.
    Syntax,
    /// An unknown key.
    UnknownKey,
    /// A missing value.
    Missing,
    /// A wrong value.
    Value,
    /// Values that don't fit together.
    Relation,
    /// A change that can't be applied.
    Change,
}

/// A problem, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The place in the specification or the scenario.
    pub place: Place,
    /// The value found.
    pub found: String,
    /// The value that would be right.
    pub remedy: String,
    /// The file that contains it, or the option that gave it.
    pub origin: Option<String>,
    /// The position in the text of the file.
    pub at: Option<Position>,
}

/// All problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// A problem whose origin isn't known yet.
    #[must_use]
    pub fn new(
        kind: ProblemKind,
        place: Place,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (found, remedy) = (found.into(), remedy.into());
        Self { kind, place, found, remedy, origin: None, at: None }
    }

    /// A problem of a wrong value.
    pub fn value(place: &Place, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(ProblemKind::Value, place.clone(), found, remedy)
    }

    /// Sets the origin of the problem.
    #[must_use]
    pub fn from(mut self, origin: Option<&str>) -> Self {
        self.origin = origin.map(str::to_owned);
        self
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.origin, self.at) {
            (Some(origin), Some(at)) => write!(f, "{origin}:{}:{}: ", at.line, at.column)?,
            (Some(origin), None) => write!(f, "{origin}: ")?,
            (None, Some(at)) => write!(f, "line {}, column {}: ", at.line, at.column)?,
            (None, None) => {}
        }
        if !self.place.0.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "found {}; {} would be right", self.found, self.remedy)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.0.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
impl std::error::Error for Problems {}

/// The problem of a value whose place the caller knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueProblem {
    pub(crate) kind: ProblemKind,
    /// The path from the value to the problem in it.
    pub(crate) within: Place,
    pub(crate) found: String,
    pub(crate) remedy: String,
}

impl ValueProblem {
    pub(crate) fn value(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (found, remedy) = (found.into(), remedy.into());
        Self { kind: ProblemKind::Value, within: Place::default(), found, remedy }
    }

    pub(crate) fn missing(key: &str, remedy: impl Into<String>) -> Self {
        Self { kind: ProblemKind::Missing, ..Self::value("nothing", remedy) }.at(key)
    }

    pub(crate) fn unknown_key(key: &str, remedy: impl Into<String>) -> Self {
        Self { kind: ProblemKind::UnknownKey, ..Self::value("an unknown key", remedy) }.at(key)
    }

    /// Places the problem in the value at `key`.
    pub(crate) fn at(mut self, key: &str) -> Self {
        self.within = Place::default().key(key).join(&self.within);
        self
    }

    pub(crate) fn at_index(mut self, index: usize) -> Self {
        self.within = Place::default().index(index).join(&self.within);
        self
    }

    pub(crate) fn problem(self, place: &Place) -> Problem {
        Problem::new(self.kind, place.join(&self.within), self.found, self.remedy)
    }
}
