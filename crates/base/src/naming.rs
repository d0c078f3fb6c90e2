//! Names of things of which there are several.

/// What those of one kind have in common: `large` of `large-2`; none if the name isn't of that form.
#[must_use]
pub fn stem(name: &str) -> Option<&str> {
    let (stem, number) = name.rsplit_once('-')?;
    let counts = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    (counts && !number.is_empty() && !stem.is_empty()).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn a_number_at_the_end_is_one_of_several() {
        assert_eq!(stem("large-12"), Some("large"));
        assert_eq!(stem("web-server-2"), Some("web-server"));
        for name in ["large", "large-", "large-x2", "-2", "large-02", "large-0"] {
            assert_eq!(stem(name), None, "{name}");
        }
    }
}
