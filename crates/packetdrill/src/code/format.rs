//! Formats values and expressions as text.

use super::object::{Object, text};
use super::read::{Expression, Term};
use crate::error::{ScriptError, ScriptPosition};

/// Fills the places of a pattern, such as `%d` and `%s`.
pub fn fill(pattern: &str, values: &Object, at: ScriptPosition) -> Result<String, ScriptError> {
    let values = match values {
        Object::Tuple(parts) => parts.clone(),
        one => vec![one.clone()],
    };
    let mut values = values.iter();
    let mut filled = String::new();
    let mut letters = pattern.chars();
    let wrong = |found: &str| {
        ScriptError::new(at, found, "a value for each %d, %u, %x or %s, and no others")
    };
    while let Some(letter) = letters.next() {
        if letter != '%' {
            filled.push(letter);
            continue;
        }
        // Widths, such as that of %3d, only align.
        let kind = letters.by_ref().find(|c| !c.is_ascii_digit());
        if kind == Some('%') {
            filled.push('%');
            continue;
        }
        let value = values.next().ok_or_else(|| wrong("more places than values"))?;
        match (kind, value) {
            (Some('d' | 'u' | 's'), value) => filled += &text(value),
            (Some('x'), Object::Integer(value)) => filled += &format!("{value:x}"),
            _ => return Err(wrong(&format!("\"{pattern}\""))),
        }
    }
    if values.next().is_some() {
        return Err(wrong("more values than places"));
    }
    Ok(filled)
}

/// An expression as it would be written.
pub fn show(expression: &Expression) -> String {
    match &expression.term {
        Term::Integer(value) => value.to_string(),
        Term::Text(text) => format!("'{text}'"),
        Term::Name(name) => name.clone(),
        Term::Tuple(parts) => {
            format!("({})", parts.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Term::Unary("not", inner) => format!("not {}", inside(inner)),
        Term::Unary(operator, inner) => format!("{operator}{}", inside(inner)),
        Term::Binary(operator, left, right) => {
            format!("{} {operator} {}", inside(left), inside(right))
        }
        Term::Chain(first, rest) => rest.iter().fold(inside(first), |shown, (operator, next)| {
            format!("{shown} {operator} {}", inside(next))
        }),
    }
}

/// A part of an expression, in parentheses if it has parts itself.
fn inside(expression: &Expression) -> String {
    let shown = show(expression);
    match expression.term {
        Term::Binary(..) | Term::Chain(..) => format!("({shown})"),
        _ => shown,
    }
}
