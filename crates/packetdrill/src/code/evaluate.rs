//! Runs statements.

use super::format::{fill, show};
use super::object::{Object, Variables, text};
use super::read::{Expression, Statement, Term};
use crate::error::{ScriptError, ScriptPosition, one_of};

/// Runs a statement.
pub fn run(
    statement: &Statement,
    variables: &mut Variables,
    printed: &mut Vec<String>,
) -> Result<(), ScriptError> {
    match statement {
        Statement::Assign(name, value) => {
            let value = evaluate(value, variables)?;
            variables.0.insert(name.clone(), value);
        }
        Statement::Print(values) => {
            let values = values.iter().map(|value| evaluate(value, variables).map(|v| text(&v)));
            printed.push(values.collect::<Result<Vec<_>, _>>()?.join(" "));
        }
        Statement::Assert(condition, message) => {
            if !is_true(&evaluate(condition, variables)?) {
                return Err(failure(condition, message.as_ref(), variables)?);
            }
        }
    }
    Ok(())
}

/// An assertion that doesn't hold: in words, with the values of its names and its message.
fn failure(
    condition: &Expression,
    message: Option<&Expression>,
    variables: &Variables,
) -> Result<ScriptError, ScriptError> {
    let mut names = Vec::new();
    list_names(condition, &mut names);
    let known = names
        .iter()
        .filter_map(|name| variables.0.get(name).map(|value| format!("{name} = {}", text(value))));
    let mut found =
        format!("\"{}\" with {}", show(condition), known.collect::<Vec<_>>().join(", "));
    if let Some(message) = message {
        let said = text(&evaluate(message, variables)?);
        // Scripts often repeat the value alone.
        if !matches!(message.term, Term::Name(_)) {
            found += &format!(" ({said})");
        }
    }
    Ok(ScriptError::new(condition.at, found, "an assertion that holds"))
}

fn list_names(expression: &Expression, names: &mut Vec<String>) {
    match &expression.term {
        Term::Name(name) if !names.contains(name) => names.push(name.clone()),
        Term::Unary(_, inner) => list_names(inner, names),
        Term::Binary(_, left, right) => {
            list_names(left, names);
            list_names(right, names);
        }
        Term::Chain(first, rest) => {
            list_names(first, names);
            rest.iter().for_each(|(_, next)| list_names(next, names));
        }
        Term::Tuple(parts) => parts.iter().for_each(|part| list_names(part, names)),
        Term::Name(_) | Term::Integer(_) | Term::Text(_) => {}
    }
}

fn is_true(value: &Object) -> bool {
    match value {
        Object::Integer(value) => *value != 0,
        Object::Text(text) => !text.is_empty(),
        Object::Tuple(parts) => !parts.is_empty(),
    }
}

fn evaluate(expression: &Expression, variables: &Variables) -> Result<Object, ScriptError> {
    let at = expression.at;
    Ok(match &expression.term {
        Term::Integer(value) => Object::Integer(*value),
        Term::Text(text) => Object::Text(text.clone()),
        Term::Tuple(parts) => {
            let parts = parts.iter().map(|part| evaluate(part, variables));
            Object::Tuple(parts.collect::<Result<_, _>>()?)
        }
        Term::Name(name) => match variables.0.get(name) {
            Some(value) => value.clone(),
            None => {
                let known: Vec<&str> = variables.0.keys().map(String::as_str).collect();
                return Err(ScriptError::new(at, format!("\"{name}\""), one_of(name, &known)));
            }
        },
        Term::Unary(operator, inner) => {
            let inner = evaluate(inner, variables)?;
            match *operator {
                "not" => Object::Integer(i64::from(!is_true(&inner))),
                "-" => Object::Integer(-integer(&inner, at)?),
                "~" => Object::Integer(!integer(&inner, at)?),
                _ => inner,
            }
        }
        Term::Binary("and", left, right) => {
            let left = evaluate(left, variables)?;
            if is_true(&left) { evaluate(right, variables)? } else { left }
        }
        Term::Binary("or", left, right) => {
            let left = evaluate(left, variables)?;
            if is_true(&left) { left } else { evaluate(right, variables)? }
        }
        Term::Binary(operator, left, right) => {
            let (left, right) = (evaluate(left, variables)?, evaluate(right, variables)?);
            binary(operator, &left, &right, at)?
        }
        Term::Chain(first, rest) => {
            let mut left = evaluate(first, variables)?;
            for (operator, next) in rest {
                let right = evaluate(next, variables)?;
                if !compare(operator, &left, &right, next.at)? {
                    return Ok(Object::Integer(0));
                }
                left = right;
            }
            Object::Integer(1)
        }
    })
}

fn integer(value: &Object, at: ScriptPosition) -> Result<i64, ScriptError> {
    match value {
        Object::Integer(value) => Ok(*value),
        other => Err(ScriptError::new(at, format!("\"{}\"", text(other)), "an integer")),
    }
}

fn binary(
    operator: &str,
    left: &Object,
    right: &Object,
    at: ScriptPosition,
) -> Result<Object, ScriptError> {
    if let (Object::Text(pattern), "%") = (left, operator) {
        return fill(pattern, right, at).map(Object::Text);
    }
    let (left, right) = (integer(left, at)?, integer(right, at)?);
    let shift = u32::try_from(right).ok();
    if right == 0 && matches!(operator, "%" | "//") {
        return Err(ScriptError::new(at, "a division by zero", "another divisor"));
    }
    let value = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        // Python rounds down, Rust towards zero.
        "//" => left
            .checked_div(right)
            .map(|q| q - i64::from(left % right != 0 && (left < 0) != (right < 0))),
        "%" => left
            .checked_rem(right)
            .map(|r| if r != 0 && (r < 0) != (right < 0) { r + right } else { r }),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "<<" => shift.and_then(|by| left.checked_shl(by)),
        ">>" => shift.and_then(|by| left.checked_shr(by)),
        other => {
            let found = format!("\"{other}\"");
            return Err(ScriptError::new(at, found, "\"//\": values are integers"));
        }
    };
    let too_large = || ScriptError::new(at, "a value beyond 63 bits", "a smaller one");
    value.map(Object::Integer).ok_or_else(too_large)
}

fn compare(
    operator: &str,
    left: &Object,
    right: &Object,
    at: ScriptPosition,
) -> Result<bool, ScriptError> {
    match operator {
        "==" => return Ok(left == right),
        "!=" => return Ok(left != right),
        _ => {}
    }
    let (left, right) = (integer(left, at)?, integer(right, at)?);
    Ok(match operator {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    })
}
