//! What may be written: sections and their keys, each declared once.
//!
//! Reading, the JSON schema, the Python classes and the reference all walk these
//! declarations. What belongs to an element or a control is declared beside it, as
//! [`narrows_base::registry::Parameter`]s.

mod kind;
mod sections;
mod words;

pub use kind::{Elements, Kind};
pub use sections::{EXPECT, FLOW, HOST, LINK, PATH, REVERSE, RUN, SPECIFICATION, SWEEP, UNTIL};
pub use words::Words;

/// A table and its keys.
#[derive(Debug)]
pub struct Section {
    /// What a class of it is called.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub what: &'static str,
    /// What may stand in it, in the order of the reference.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// Its value where none is given.
    pub fallback: Fallback,
    /// Its key in a scenario, if it has one there.
    pub scenario: Option<&'static str>,
    /// Whether a scenario has a value there even if none is given.
    pub filled: bool,
    /// What it means, in a sentence; empty where its name says it.
    pub what: &'static str,
}

/// The value of a key where none is given, as a person would write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// None.
    Off,
    /// A text.
    Text(&'static str),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A table with all its defaults, or an empty list.
    Empty,
}

impl Section {
    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}

impl Key {
    /// Whether a scenario may hold nothing at the key.
    #[must_use]
    pub fn may_be_none(&self) -> bool {
        self.fallback == Fallback::Off && self.scenario.is_some() && !self.filled
    }

    const fn new(name: &'static str, kind: Kind, fallback: Fallback, what: &'static str) -> Self {
        Self { name, kind, fallback, scenario: None, filled: false, what }
    }

    /// The same with its key in a scenario.
    const fn becomes(mut self, key: &'static str) -> Self {
        self.scenario = Some(key);
        self
    }

    /// The same, which in a scenario always has a value.
    const fn filled(mut self) -> Self {
        self.filled = true;
        self
    }

    /// The same with its own name in a scenario.
    const fn stays(self) -> Self {
        let name = self.name;
        self.becomes(name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all(section: &'static Section, found: &mut Vec<&'static Section>) {
        found.push(section);
        for key in section.keys {
            if let Kind::Table(inner) | Kind::Tables(inner) = key.kind {
                all(inner, found);
            }
        }
    }

    #[test]
    fn no_key_is_declared_twice() {
        let mut sections = Vec::new();
        all(&SPECIFICATION, &mut sections);
        assert!(sections.len() >= 8);
        for section in sections {
            let names: BTreeSet<_> = section.names().collect();
            assert_eq!(names.len(), section.keys.len(), "{}", section.title);
            assert!(section.what.ends_with('.'), "{}", section.title);
        }
    }
}
