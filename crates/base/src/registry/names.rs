//! Names that nobody knows, and the known one that was perhaps meant.

/// The known name with the fewest edits, if half of it is right.
#[must_use]
pub fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    let ranked = known.iter().map(|candidate| (edits(&name, candidate), *candidate));
    let (distance, best) = ranked.min()?;
    (distance * 2 <= best.len()).then_some(best)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        assert_eq!(nearest("Cubik", &["bbr", "cubic", "reno"]), Some("cubic"));
        assert_eq!(nearest("x", &["bbr", "cubic"]), None);
        assert_eq!(nearest("bbr", &[]), None);
    }
}
