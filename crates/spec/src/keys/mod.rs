//! The sections of a specification and their keys, each declared once.
//!
//! Reading, the JSON schema, the Python classes and the reference all use these declarations.
//! Parameters of an element or a control are declared beside it, as
//! [`narrows_base::registry::Parameter`]s.

mod change;
mod check;
mod key;
mod sections;
mod words;

pub use change::CHANGE;
pub use check::{CHECK, CONDITION};
pub use key::{Elements, Key, KeyDefault, KeyKind, Section};
pub use sections::{FLOW, HOST, LINK, PATH, REVERSE, RUN, SPECIFICATION, SWEEP, UNTIL};
pub use words::Words;
pub(crate) use words::{TAKES_OF_CONDITIONS, TAKES_OF_NUMBERS};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all(section: &'static Section, found: &mut Vec<&'static Section>) {
        found.push(section);
        for key in section.keys {
            if let KeyKind::Table(inner) | KeyKind::Tables(inner) = key.kind {
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
