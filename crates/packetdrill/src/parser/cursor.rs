//! A position in the tokens, with what all parts of the parser take from there.

use std::collections::BTreeMap;

use crate::error::{ScriptError, ScriptPosition};
use crate::lexer::{Token, TokenKind};

const NANOS_PER_SEC: i64 = 1_000_000_000;
const DIGITS: usize = 9;

pub struct Cursor {
    tokens: Vec<Token>,
    next: usize,
}

impl Cursor {
    /// `tokens` end with `End`.
    pub fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, next: 0 }
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.next]
    }

    /// The token behind the next one, or `End`.
    pub fn peek_second(&self) -> &Token {
        self.tokens.get(self.next + 1).unwrap_or_else(|| self.peek())
    }

    pub fn at(&self) -> ScriptPosition {
        self.peek().at
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != TokenKind::End {
            self.next += 1;
        }
        token
    }

    /// Replaces the words from here on that are defined.
    pub fn define(&mut self, defines: BTreeMap<String, String>) {
        for token in &mut self.tokens[self.next..] {
            if token.kind != TokenKind::Word {
                continue;
            }
            if let Some(value) = defines.get(&token.text) {
                token.kind = token_of(value);
                token.text.clone_from(value);
            }
        }
    }

    pub fn refuse(&self, needed: impl Into<String>) -> ScriptError {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end of the script".to_owned(),
            _ => format!("\"{}\"", token.text.lines().next().unwrap_or_default()),
        };
        ScriptError::new(token.at, found, needed)
    }

    pub fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek().kind == TokenKind::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, symbol: char, needed: &str) -> Result<(), ScriptError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.refuse(needed)) }
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.peek().kind == TokenKind::Word && self.peek().text == word
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    pub fn word(&mut self, needed: &str) -> Result<String, ScriptError> {
        if self.peek().kind == TokenKind::Word {
            Ok(self.next().text)
        } else {
            Err(self.refuse(needed))
        }
    }

    pub fn take_shell(&mut self) -> Result<Option<String>, ScriptError> {
        let TokenKind::Shell(line) = self.peek().kind.clone() else { return Ok(None) };
        self.next();
        if matches!(self.peek().kind, TokenKind::Shell(_)) {
            let needed = "one line for the shell here, and a time before any other";
            return Err(self.refuse(needed));
        }
        Ok(Some(line))
    }

    /// A number that fits the type of a field.
    pub fn number<T: TryFrom<i64>>(&mut self, field: &str, most: u64) -> Result<T, ScriptError> {
        let found = match self.peek().kind {
            TokenKind::Integer(value) | TokenKind::Hex(value) => T::try_from(value).ok(),
            _ => None,
        };
        match found {
            Some(value) => {
                self.next();
                Ok(value)
            }
            None => Err(self.refuse(format!("{field} from 0 to {most}"))),
        }
    }

    pub fn u8(&mut self, field: &str) -> Result<u8, ScriptError> {
        self.number(field, u64::from(u8::MAX))
    }

    pub fn u16(&mut self, field: &str) -> Result<u16, ScriptError> {
        self.number(field, u64::from(u16::MAX))
    }

    pub fn u32(&mut self, field: &str) -> Result<u32, ScriptError> {
        self.number(field, u64::from(u32::MAX))
    }

    /// A time in seconds, as ns.
    pub fn seconds(&mut self) -> Result<i64, ScriptError> {
        let token = self.peek();
        let time = match token.kind {
            TokenKind::Integer(_) | TokenKind::Decimal => nanos(&token.text),
            _ => None,
        };
        let Some(time) = time else {
            return Err(self.refuse("a time in seconds, such as 0 or .25"));
        };
        self.next();
        Ok(time)
    }
}

/// A decimal number of seconds as ns; digits beyond them are dropped.
fn nanos(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let digits: String = fraction.chars().chain("0".repeat(DIGITS).chars()).take(DIGITS).collect();
    if whole < 0 || text.starts_with('-') {
        return None;
    }
    whole.checked_mul(NANOS_PER_SEC)?.checked_add(digits.parse().ok()?)
}

/// The token that stands for a defined word.
fn token_of(value: &str) -> TokenKind {
    let inside = |quote: char| {
        value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).map(str::to_owned)
    };
    if let Some(text) = inside('"') {
        TokenKind::Str(text)
    } else if let Some(line) = inside('`') {
        TokenKind::Shell(line)
    } else if let Some(number) =
        value.strip_prefix("0x").and_then(|h| i64::from_str_radix(h, 16).ok())
    {
        TokenKind::Hex(number)
    } else if let Ok(number) = value.parse() {
        TokenKind::Integer(number)
    } else {
        TokenKind::Word
    }
}
