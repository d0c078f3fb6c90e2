//! Placeholders in the arguments of a flow's programs.

/// The directory of the specification. It is filled in when the specification is read.
pub const HERE: &str = "{here}";

/// A placeholder, which is filled in before the programs start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The name, which is written in braces.
    pub name: &'static str,
    /// The text that takes its place.
    pub what: &'static str,
}

/// All placeholders.
pub static PLACEHOLDERS: &[Placeholder] = &[
    Placeholder { name: "address", what: "the IPv4 address of the server's host" },
    Placeholder { name: "port", what: "the port on which the server must listen" },
    Placeholder { name: "client_address", what: "the IPv4 address of the client's host" },
    Placeholder {
        name: "duration",
        what: "the seconds, rounded up, from the client's start to the flow's stop or the end of the run",
    },
    Placeholder {
        name: "log",
        what: "a directory for the program's own files, which are kept with the results",
    },
    Placeholder { name: "seed", what: "the seed of the run" },
    Placeholder { name: "here", what: "the directory of the specification" },
];

/// Returns `true` if the text is a date (year-month-day) at which a guest's clock can start.
#[must_use]
pub fn is_date(text: &str) -> bool {
    let number = |part: &str, digits: usize| {
        let right = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
        right.then(|| part.parse::<u32>().ok()).flatten()
    };
    let parts: Vec<_> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1971..2200).contains(&year) && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// An argument with its placeholders filled in; braces around anything else stay.
///
/// # Errors
/// Returns the name of the first placeholder that `value` doesn't know.
pub fn fill(argument: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, &str> {
    let mut filled = String::new();
    let mut rest = argument;
    while let Some(start) = rest.find('{') {
        let (before, after) = (&rest[..start], &rest[start + 1..]);
        filled.push_str(before);
        let name = after.split_once('}').map(|(name, _)| name).filter(|name| is_name(name));
        if let Some(name) = name {
            filled.push_str(&value(name).ok_or(name)?);
            rest = &after[name.len() + 1..];
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_port(argument: &str) -> Result<String, &str> {
        fill(argument, |name| (name == "port").then(|| "5000".into()))
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        assert!(["1971-01-01", "2030-12-31", "2028-02-29"].iter().all(|day| is_date(day)));
        let wrong =
            ["2030-02-29", "2030-13-01", "2030-1-01", "1970-01-01", "+203-01-01", "2030-01"];
        assert!(!wrong.iter().any(|day| is_date(day)));
    }

    #[test]
    fn only_names_in_braces_are_filled_in() {
        assert_eq!(fill_port("a:{port}/{port}").as_deref(), Ok("a:5000/5000"));
        for same in ["", "{", "}{", "{}", "{\"a\":{\"b\":1}}", "${HOME", "{Port}", "{por t}"] {
            assert_eq!(fill_port(same).as_deref(), Ok(same));
        }
        assert_eq!(fill_port("{{port}}").as_deref(), Ok("{5000}"));
        assert_eq!(fill_port("{port}{prot}"), Err("prot"));
    }
}
