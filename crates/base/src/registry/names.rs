//! Finds the known name that is closest to an unknown one.

/// The minimum share of matching letters for a suggestion.
const CLOSE: f64 = 0.6;
/// The longest name; further letters aren't compared.
const LONGEST: usize = 64;

/// The known name closest to `name`, ignoring case; none if none is close.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.to_lowercase().chars().take(LONGEST).collect();
    let mut best = (CLOSE, None);
    for candidate in known {
        let likeness = strsim::normalized_damerau_levenshtein(&name, &candidate.to_lowercase());
        if likeness > best.0 || (likeness >= CLOSE && best.1.is_none()) {
            best = (likeness, Some(candidate));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        let known = ["droptail", "codel", "fq_codel", "pie"];
        assert_eq!(nearest("dropttail", known), Some("droptail"));
        assert_eq!(nearest("CODEL", known), Some("codel"));
        assert_eq!(nearest("lsh", ["grid", "random", "lhs"]), Some("lhs"));
        assert_eq!(nearest("rate", ["name", "path", "flows"]), None);
        assert_eq!(nearest("bbr", []), None);
    }
}
