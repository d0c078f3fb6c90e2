//! Parts of messages: quoted texts, and suggestions.

use narrows_base::registry::nearest;

/// The most characters of a text that are shown.
const MOST: usize = 64;

/// `text` in double quotes, shortened and with control characters escaped.
#[must_use]
pub fn quote(text: &str) -> String {
    quote_within(text, MOST)
}

/// `text` in double quotes, as [`quote`] does, with at most `most` characters.
#[must_use]
pub fn quote_within(text: &str, most: usize) -> String {
    let mut quoted = String::from('"');
    let long = text.chars().nth(most).is_some();
    for c in text.chars().take(if long { most - 3 } else { most }) {
        push(&mut quoted, c);
    }
    quoted.push_str(if long { "...\"" } else { "\"" });
    quoted
}

fn push(text: &mut String, c: char) {
    let code = u32::from(c);
    match c {
        c if is_printable(c) => text.push(c),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        _ if code < 0x100 => text.push_str(&format!("\\x{code:02x}")),
        _ if code < 0x1_0000 => text.push_str(&format!("\\u{code:04x}")),
        _ => text.push_str(&format!("\\U{code:08x}")),
    }
}

/// Returns `true` if the character is printable: no control, no separator except a space, and
/// assigned.
#[must_use]
pub fn is_printable(c: char) -> bool {
    // After another character, so that combining ones are treated as such.
    matches!(c, '"' | '\'' | '\\') || format!("x{c}").escape_debug().count() == 2
}

/// Says of a quoted name that it isn't one of the things called `what`.
pub(crate) fn not_a(name: &str, what: &str) -> String {
    let article = if what.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{}, which is not {article} {what}", quote(name))
}

/// The remedy for a word that should be one of `known`: the nearest, or the list.
pub fn one_of<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match (nearest(word, known.iter().copied()), known.as_slice()) {
        (Some(close), _) | (None, &[close]) => format!("\"{close}\""),
        (None, []) => "nothing".into(),
        (None, _) => format!("one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_printable() {
        assert_eq!(quote("80mbit"), "\"80mbit\"");
        assert_eq!(quote("1\nmbit\u{7}\u{200b}"), "\"1\\nmbit\\x07\\u200b\"");
        assert_eq!(quote("nä̈me \"x\" \\"), "\"nä̈me \"x\" \\\"");
        let long = quote(&"1".repeat(500));
        assert_eq!(long.len(), 66);
        assert!(long.ends_with("...\""));
    }

    #[test]
    fn visible_characters_are_printable() {
        assert!("aß продолжение ,\"'\\".chars().all(is_printable));
        assert!("\u{0}\u{7f}\u{a0}\u{200b}\u{2028}\u{e000}".chars().all(|c| !is_printable(c)));
    }

    #[test]
    fn slips_are_recognised() {
        let known = ["droptail", "codel", "fq_codel", "pie"];
        assert_eq!(one_of("dropttail", known), "\"droptail\"");
        assert_eq!(one_of("quantum", known), "one of droptail, codel, fq_codel, pie");
        assert_eq!(one_of("", []), "nothing");
    }
}
