//! Reads tokens into a script.

mod call;
mod cursor;
mod packet;
mod settings;
mod tcp_option;

use std::collections::BTreeMap;

use crate::code::Block;
use crate::error::ScriptError;
use crate::lexer::{Token, TokenKind, tokens};
use crate::script::{Action, EventTime, PacketDirection, Script, ScriptEvent, ScriptOptions};

use cursor::Cursor;

impl Script {
    /// Reads a script; `defines` replace words of it, as its own `--define` do.
    ///
    /// # Errors
    /// The first mistake, with its place and remedy.
    pub fn parse(text: &str, defines: &BTreeMap<String, String>) -> Result<Self, ScriptError> {
        script(tokens(text)?, defines.clone())
    }
}

fn script(
    tokens: Vec<Token>,
    mut defines: BTreeMap<String, String>,
) -> Result<Script, ScriptError> {
    let mut cursor = Cursor::new(tokens);
    let mut options = ScriptOptions::default();
    while let TokenKind::Option(_) = cursor.peek().kind {
        settings::read(&mut cursor, &mut options, &mut defines)?;
    }
    cursor.define(defines);
    let init = cursor.take_shell()?;
    let mut events: Vec<ScriptEvent> = Vec::new();
    while starts_event(&cursor.peek().kind) {
        let found = event(&mut cursor)?;
        check_order(events.last(), &found)?;
        events.push(found);
    }
    let cleanup = cursor.take_shell()?;
    if cursor.peek().kind != TokenKind::End {
        return Err(cursor.refuse(
            "an event, which begins with its time, such as +0, .25, * or +.1~+.2, or the end",
        ));
    }
    if events.is_empty() {
        return Err(cursor.refuse("an event, such as \"0 socket(..., SOCK_STREAM, 0) = 3\""));
    }
    Ok(Script { options, init, events, cleanup })
}

fn starts_event(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::Symbol('+' | '*') | TokenKind::Decimal | TokenKind::Integer(_))
}

/// The first event is at time 0, and absolute times don't run backwards.
fn check_order(last: Option<&ScriptEvent>, event: &ScriptEvent) -> Result<(), ScriptError> {
    let start = |when| match when {
        EventTime::At(at) | EventTime::Between(at, _) => Some(at),
        _ => None,
    };
    let Some(at) = start(event.when) else { return Ok(()) };
    match last.map(|last| start(last.when)) {
        None if at != 0 => {
            Err(ScriptError::new(event.at, "a first event at another time", "time 0"))
        }
        Some(Some(before)) if at < before => {
            Err(ScriptError::new(event.at, "a time before the last event's", "a later one"))
        }
        _ => Ok(()),
    }
}

fn event(cursor: &mut Cursor) -> Result<ScriptEvent, ScriptError> {
    let at = cursor.peek().at;
    let when = time(cursor)?;
    let action_at = cursor.peek().at;
    let action = match cursor.peek().kind.clone() {
        TokenKind::Symbol('<') => {
            cursor.next();
            Action::Packet(
                PacketDirection::Inbound,
                packet::read(cursor, PacketDirection::Inbound)?,
            )
        }
        TokenKind::Symbol('>') => {
            cursor.next();
            Action::Packet(
                PacketDirection::Outbound,
                packet::read(cursor, PacketDirection::Outbound)?,
            )
        }
        TokenKind::Shell(line) => {
            cursor.next();
            Action::Command(line)
        }
        TokenKind::Code(text) => {
            cursor.next();
            Action::Code(Block::parse(&text, action_at)?)
        }
        TokenKind::Word | TokenKind::Ellipsis => Action::Call(call::read(cursor)?),
        _ => {
            return Err(cursor.refuse(
                "a packet (\"<\" or \">\"), a system call, `a line for the shell` or %{ code }%",
            ));
        }
    };
    let ranged =
        matches!(when, EventTime::Any | EventTime::Between(..) | EventTime::AfterBetween(..));
    if ranged && !matches!(action, Action::Packet(PacketDirection::Outbound, _)) {
        let needed =
            "one time, such as +.1: only packets of the end (\">\") may have \"*\" or a range";
        return Err(ScriptError::new(at, "a time that isn't fixed", needed));
    }
    Ok(ScriptEvent { at, when, action })
}

fn time(cursor: &mut Cursor) -> Result<EventTime, ScriptError> {
    if cursor.accept('*') {
        return Ok(EventTime::Any);
    }
    let at = cursor.peek().at;
    let relative = cursor.accept('+');
    let start = cursor.seconds()?;
    if !cursor.accept('~') {
        return Ok(if relative { EventTime::After(start) } else { EventTime::At(start) });
    }
    if relative {
        cursor.expect('+', "\"+\": both ends of a range are relative or neither is")?;
    }
    let end = cursor.seconds()?;
    if end < start {
        return Err(ScriptError::new(at, "a range that runs backwards", "the earlier time first"));
    }
    Ok(if relative { EventTime::AfterBetween(start, end) } else { EventTime::Between(start, end) })
}
