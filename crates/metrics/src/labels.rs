//! Readable names of classes.

/// The readable name of a class named after its control, such as "CUBIC, 80 ms" for "cubic-80ms";
/// `None` for any other name.
#[must_use]
pub fn label(class: &str) -> Option<String> {
    let mut parts = class.split('-');
    let control = narrows_cc::info(parts.next()?)?;
    let rest = parts.filter(|part| !part.is_empty()).map(difference);
    Some([control.title.to_owned()].into_iter().chain(rest).collect::<Vec<_>>().join(", "))
}

/// A difference in words: "80 ms" for "80ms", "from 10 s" for "from10s".
fn difference(part: &str) -> String {
    let is_span = ["from", "to"].iter().any(|lead| {
        part.strip_prefix(lead)
            .is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
    });
    if is_span {
        part.split('+').map(with_space).collect::<Vec<_>>().join(" ")
    } else {
        with_space(part)
    }
}

/// A number with a unit, set apart from each other and from the word before.
fn with_space(text: &str) -> String {
    let lead = ["from", "to"].into_iter().find(|lead| text.starts_with(lead)).unwrap_or_default();
    match quantity(&text[lead.len()..]) {
        None => text.to_owned(),
        Some(quantity) if lead.is_empty() => quantity,
        Some(quantity) => format!("{lead} {quantity}"),
    }
}

fn quantity(text: &str) -> Option<String> {
    let units = [("ms", "ms"), ("kb", "kB"), ("mb", "MB"), ("s", "s"), ("b", "bytes")];
    let (number, unit) =
        units.into_iter().find_map(|(short, long)| Some((text.strip_suffix(short)?, long)))?;
    let mut parts = number.split('.');
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    (parts.clone().count() <= 2 && parts.all(is_digits)).then(|| format!("{number} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn a_class_has_a_readable_name() {
        let cases = [
            ("cubic", Some("CUBIC")),
            ("cubic-80ms", Some("CUBIC, 80 ms")),
            ("cubic-20ms-from2.5s+to9s", Some("CUBIC, 20 ms, from 2.5 s to 9 s")),
            ("cubic-20kb", Some("CUBIC, 20 kB")),
            ("cubic-hystart=search", Some("CUBIC, hystart=search")),
            ("cubic-on_off2", Some("CUBIC, on_off2")),
            ("web", None),
        ];
        for (class, words) in cases {
            assert_eq!(label(class).as_deref(), words, "{class}");
        }
    }
}
