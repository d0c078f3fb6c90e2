//! Reads system calls.

use super::cursor::Cursor;
use crate::call::{Argument, Call, CallResult, CallValue};
use crate::error::ScriptError;
use crate::lexer::TokenKind;

/// Reads a call: `...1.5 name(arguments) = result ERRNO (note)`.
pub fn read(cursor: &mut Cursor) -> Result<Call, ScriptError> {
    let mut returns_ns = None;
    if cursor.peek().kind == TokenKind::Ellipsis {
        cursor.next();
        returns_ns = Some(cursor.seconds()?);
    }
    let at = cursor.at();
    let name = cursor.word("the name of a system call")?;
    cursor.expect('(', "\"(\" and the arguments of the call")?;
    let arguments = list(cursor, ')')?;
    cursor.expect('=', "\"=\" and the result of the call")?;
    let value = match cursor.peek().kind {
        TokenKind::Ellipsis => None,
        TokenKind::Integer(value) | TokenKind::Hex(value) => Some(value),
        _ => return Err(cursor.refuse("the result: a number or \"...\"")),
    };
    cursor.next();
    let errno = match cursor.peek().kind {
        TokenKind::Word => Some(cursor.next().text),
        _ => None,
    };
    if cursor.accept('(') {
        while !cursor.accept(')') {
            if cursor.peek().kind == TokenKind::End {
                return Err(cursor.refuse("\")\" behind the note"));
            }
            cursor.next();
        }
    }
    Ok(Call { name, at, arguments, result: CallResult { value, errno }, returns_ns })
}

/// Values up to the closing symbol.
fn list(cursor: &mut Cursor, close: char) -> Result<Vec<Argument>, ScriptError> {
    let mut found = Vec::new();
    if cursor.accept(close) {
        return Ok(found);
    }
    loop {
        found.push(argument(cursor)?);
        if cursor.accept(close) {
            return Ok(found);
        }
        cursor.expect(',', &format!("\",\" and another value, or \"{close}\""))?;
    }
}

fn argument(cursor: &mut Cursor) -> Result<Argument, ScriptError> {
    let at = cursor.at();
    let first = term(cursor)?;
    if cursor.peek().kind != TokenKind::Symbol('|') {
        return Ok(first);
    }
    let mut parts = vec![first];
    while cursor.accept('|') {
        parts.push(term(cursor)?);
    }
    Ok(Argument { at, value: CallValue::Or(parts) })
}

fn term(cursor: &mut Cursor) -> Result<Argument, ScriptError> {
    let at = cursor.at();
    let value = match cursor.peek().kind.clone() {
        TokenKind::Symbol('[') => {
            cursor.next();
            CallValue::List(list(cursor, ']')?)
        }
        TokenKind::Symbol('{') => {
            cursor.next();
            CallValue::Members(members(cursor)?)
        }
        TokenKind::Ellipsis => simple(cursor, CallValue::Ellipsis),
        TokenKind::Integer(value) | TokenKind::Hex(value) => {
            simple(cursor, CallValue::Integer(value))
        }
        TokenKind::Str(_) => CallValue::Text(text(cursor)),
        TokenKind::Word => {
            let word = cursor.next().text;
            if cursor.accept('(') {
                CallValue::Apply(word, list(cursor, ')')?)
            } else {
                CallValue::Word(word)
            }
        }
        _ => return Err(cursor.refuse("a value: a number, a constant, ..., [ ] or { }")),
    };
    Ok(Argument { at, value })
}

fn simple(cursor: &mut Cursor, value: CallValue) -> CallValue {
    cursor.next();
    value
}

/// Texts one behind the other are one; "..." behind them says that more follows.
fn text(cursor: &mut Cursor) -> String {
    let mut whole = String::new();
    while let TokenKind::Str(part) = cursor.peek().kind.clone() {
        cursor.next();
        whole += &part;
    }
    if cursor.peek().kind == TokenKind::Ellipsis {
        cursor.next();
    }
    whole
}

/// The members of a structure: `name = value`, `name(...) = value`, or a value alone.
fn members(cursor: &mut Cursor) -> Result<Vec<(Option<String>, Argument)>, ScriptError> {
    let mut found = Vec::new();
    loop {
        let first = argument(cursor)?;
        let name = match &first.value {
            CallValue::Word(name) | CallValue::Apply(name, _) => Some(name.clone()),
            _ => None,
        };
        if name.is_some() && cursor.accept('=') {
            found.push((name, argument(cursor)?));
        } else {
            found.push((None, first));
        }
        if cursor.accept('}') {
            return Ok(found);
        }
        cursor.expect(',', "\",\" and another member, or \"}\"")?;
    }
}
