//! Splits statements into words.

use crate::error::{ScriptError, ScriptPosition};

#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub kind: WordKind,
    pub at: ScriptPosition,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WordKind {
    Name(String),
    Integer(i64),
    Text(String),
    Operator(&'static str),
    /// The end of a statement.
    Break,
    End,
}

/// Longer ones first.
const OPERATORS: [&str; 26] = [
    "//=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "//", "<<", ">>", "<", ">", "=", "+", "-",
    "*", "/", "%", "&", "|", "^", "~", "(", ")", ",",
];

/// All words, the last of which is `End`. Inside parentheses a line's end means nothing.
pub fn words(text: &str, mut at: ScriptPosition) -> Result<Vec<Word>, ScriptError> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut depth = 0u32;
    while let Some(first) = rest.chars().next() {
        let (len, kind) =
            if first == '\\' && rest[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                (rest.find('\n').unwrap_or(0) + 1, None)
            } else {
                next(rest, first, depth, at)?
            };
        match kind {
            Some(WordKind::Operator("(")) => depth += 1,
            Some(WordKind::Operator(")")) => depth = depth.saturating_sub(1),
            _ => {}
        }
        found.extend(kind.map(|kind| Word { kind, at }));
        for letter in rest[..len].chars() {
            if letter == '\n' {
                at = ScriptPosition { line: at.line + 1, column: 1 };
            } else {
                at.column += 1;
            }
        }
        rest = &rest[len..];
    }
    found.push(Word { kind: WordKind::End, at });
    Ok(found)
}

fn next(
    rest: &str,
    first: char,
    depth: u32,
    at: ScriptPosition,
) -> Result<(usize, Option<WordKind>), ScriptError> {
    let run = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
    Ok(match first {
        '\n' | ';' => (1, (depth == 0).then_some(WordKind::Break)),
        '#' => (rest.find('\n').unwrap_or(rest.len()), None),
        _ if first.is_whitespace() => (first.len_utf8(), None),
        '\'' | '"' => {
            let Some(len) = rest[1..].find(first) else {
                return Err(ScriptError::new(at, format!("{first}"), format!("a closing {first}")));
            };
            (len + 2, Some(WordKind::Text(rest[1..=len].to_owned())))
        }
        _ if first.is_ascii_digit() => {
            let len = run(|c| c.is_ascii_alphanumeric());
            (len, Some(WordKind::Integer(integer(&rest[..len], at)?)))
        }
        _ if first.is_alphabetic() || first == '_' => {
            let len = run(|c| c.is_alphanumeric() || c == '_');
            (len, Some(WordKind::Name(rest[..len].to_owned())))
        }
        _ => match OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            Some(operator) => (operator.len(), Some(WordKind::Operator(operator))),
            None => {
                let needed = "a name, an integer, a text or an operator";
                return Err(ScriptError::new(at, format!("\"{first}\""), needed));
            }
        },
    })
}

fn integer(text: &str, at: ScriptPosition) -> Result<i64, ScriptError> {
    let value = match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    value.map_err(|_| ScriptError::new(at, format!("\"{text}\""), "an integer of at most 63 bits"))
}
