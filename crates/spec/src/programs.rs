//! Placeholders in the arguments of a flow's programs.

/// The directory of the specification. It is filled in when the specification is read.
pub const HERE: &str = "{here}";

/// A placeholder, which is filled in before the programs start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Its name, which stands in braces.
    pub name: &'static str,
    /// What takes its place.
    pub what: &'static str,
}

/// All of them.
pub static PLACEHOLDERS: &[Placeholder] = &[
    Placeholder { name: "address", what: "the IPv4 address of the server's host" },
    Placeholder { name: "port", what: "the port on which the server is to listen" },
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

/// An argument with its placeholders filled in; braces around anything else stay.
///
/// # Errors
/// The first placeholder that `value` doesn't know.
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

    fn filled(argument: &str) -> Result<String, &str> {
        fill(argument, |name| (name == "port").then(|| "5000".into()))
    }

    #[test]
    fn only_names_in_braces_are_filled_in() {
        assert_eq!(filled("a:{port}/{port}").as_deref(), Ok("a:5000/5000"));
        for same in ["", "{", "}{", "{}", "{\"a\":{\"b\":1}}", "${HOME", "{Port}", "{por t}"] {
            assert_eq!(filled(same).as_deref(), Ok(same));
        }
        assert_eq!(filled("{{port}}").as_deref(), Ok("{5000}"));
        assert_eq!(filled("{port}{prot}"), Err("prot"));
    }
}
