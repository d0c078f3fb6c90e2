//! Places in a specification, such as `flows[0].cca`.

use std::fmt;

/// A step into a table or a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The key of a table.
    Key(String),
    /// The number of an entry, from 0 on.
    Index(usize),
}

/// The path to a value, as steps from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub Vec<Step>);

/// Longer keys and numbers with more digits aren't accepted.
const LONGEST_KEY: usize = 80;
const MOST_DIGITS: usize = 9;

impl Place {
    /// The place named by `flows[0].cca` or `flows.0.cca`; none if it isn't a place.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let steps = text.trim().split('.').map(steps);
        Some(Self(steps.collect::<Option<Vec<_>>>()?.concat()))
    }

    /// The place of a key in the table here.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        let mut place = self.clone();
        place.0.push(Step::Key(name.into()));
        place
    }

    /// The place of an entry of the list here.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut place = self.clone();
        place.0.push(Step::Index(index));
        place
    }

    /// The place of `inner` relative to this one.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self([self.0.as_slice(), &inner.0].concat())
    }

    /// Returns `true` if one of the two places contains the other.
    #[must_use]
    pub fn touches(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }
}

/// `flows`, `0` or `flows[0][1]`: the part between two dots.
fn steps(part: &str) -> Option<Vec<Step>> {
    let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
    let mut found = vec![step(name)?];
    while !rest.is_empty() {
        let (digits, after) = rest.strip_prefix('[')?.split_once(']')?;
        found.push(Step::Index(number(digits)?));
        rest = after;
    }
    Some(found)
}

fn step(name: &str) -> Option<Step> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > LONGEST_KEY || !name.chars().all(allowed) {
        return None;
    }
    if name.chars().all(|c| c.is_ascii_digit()) {
        return Some(Step::Index(number(name)?));
    }
    Some(Step::Key(name.into()))
}

fn number(digits: &str) -> Option<usize> {
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    (plain && digits.len() <= MOST_DIGITS).then(|| digits.parse().expect("it has few digits"))
}

impl FromIterator<Step> for Place {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if number == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read() {
        for text in ["flows[0].cca", "flows.0.cca", " flows[0].cca "] {
            assert_eq!(Place::parse(text).unwrap().to_string(), "flows[0].cca");
        }
        assert_eq!(Place::parse("a[1][2].b").unwrap().to_string(), "a[1][2].b");
    }

    #[test]
    fn invalid_places_are_none() {
        let long = "a".repeat(81);
        for text in ["", "path . rate", "a..b", "a[", "a[x]", "a]", "a[1234567890]", "ä", &long] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_touches_what_it_holds_and_what_holds_it() {
        let place = |text| Place::parse(text).unwrap();
        assert!(place("path").touches(&place("path.rate")));
        assert!(place("path.rate").touches(&place("path")));
        assert!(!place("path.rate").touches(&place("path.rtt")));
        assert!(!place("path.rate").touches(&place("path.rates")));
    }
}
