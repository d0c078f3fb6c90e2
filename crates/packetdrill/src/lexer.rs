//! Splits a script into tokens.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::error::{ScriptError, ScriptPosition};

/// A word of the language with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    /// As it was written.
    pub text: String,
    pub at: ScriptPosition,
    /// True if something other than white space or a comment comes right before it.
    pub joined: bool,
}

/// The kinds of tokens; `text` of the token has the rest.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    Word,
    Integer(i64),
    /// A hexadecimal number.
    Hex(i64),
    /// A decimal fraction, such as ".05".
    Decimal,
    /// In double quotes; the content.
    Str(String),
    /// In back quotes: a line for the shell.
    Shell(String),
    /// Between `%{` and `}%`: statements in Python.
    Code(String),
    /// `--name`: the name.
    Option(String),
    Ip,
    Ellipsis,
    Symbol(char),
    End,
}

/// All tokens, the last of which is `End`.
pub fn tokens(text: &str) -> Result<Vec<Token>, ScriptError> {
    let mut lexer = Lexer { rest: text, at: ScriptPosition { line: 1, column: 1 } };
    let mut found = Vec::new();
    loop {
        let joined = !lexer.skip_blanks()? && !found.is_empty();
        let (at, before) = (lexer.at, lexer.rest);
        let kind = lexer.next_kind()?;
        let text = before[..before.len() - lexer.rest.len()].to_owned();
        let end = kind == TokenKind::End;
        found.push(Token { kind, text, at, joined });
        if end {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    at: ScriptPosition,
}

impl<'a> Lexer<'a> {
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        for letter in taken.chars() {
            if letter == '\n' {
                self.at = ScriptPosition { line: self.at.line + 1, column: 1 };
            } else {
                self.at.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    /// Skips white space and comments; returns whether there were any.
    fn skip_blanks(&mut self) -> Result<bool, ScriptError> {
        let before = self.rest.len();
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.take_until("/*", "*/")?;
            } else {
                return Ok(self.rest.len() < before);
            }
        }
    }

    /// Takes what is between two delimiters, and both of them.
    fn take_until(&mut self, open: &str, close: &str) -> Result<&'a str, ScriptError> {
        let at = self.at;
        let Some(len) = self.rest[open.len()..].find(close) else {
            return Err(ScriptError::new(
                at,
                format!("\"{open}\""),
                format!("a closing \"{close}\""),
            ));
        };
        let whole = self.take(open.len() + len + close.len());
        Ok(&whole[open.len()..open.len() + len])
    }

    /// Takes a text in quotes, in which a backslash protects the next letter.
    fn take_quoted(&mut self, quote: char) -> Result<&'a str, ScriptError> {
        let mut protected = false;
        for (place, letter) in self.rest.char_indices().skip(1) {
            if letter == quote && !protected {
                let whole = self.take(place + 1);
                return Ok(&whole[1..place]);
            }
            protected = letter == '\\' && !protected;
        }
        Err(ScriptError::new(self.at, format!("{quote}"), format!("a closing {quote}")))
    }

    fn next_kind(&mut self) -> Result<TokenKind, ScriptError> {
        let Some(first) = self.rest.chars().next() else { return Ok(TokenKind::End) };
        match first {
            '"' => return Ok(TokenKind::Str(self.take_quoted('"')?.to_owned())),
            '`' => return Ok(TokenKind::Shell(self.take_quoted('`')?.to_owned())),
            '%' if self.rest.starts_with("%{") => {
                return Ok(TokenKind::Code(self.take_until("%{", "}%")?.to_owned()));
            }
            '.' if self.rest.starts_with("...") => {
                self.take(3);
                return Ok(TokenKind::Ellipsis);
            }
            _ => {}
        }
        if let Some(name) = self.rest.strip_prefix("--") {
            let len = run(name, |c| c.is_ascii_alphanumeric() || c == '_');
            if len > 0 {
                let name = &self.take(2 + len)[2..];
                return Ok(TokenKind::Option(name.to_owned()));
            }
        }
        if let Some(len) = ip_len(self.rest) {
            self.take(len);
            return Ok(TokenKind::Ip);
        }
        self.number_or_word(first)
    }

    /// The longest of a number and a word.
    fn number_or_word(&mut self, first: char) -> Result<TokenKind, ScriptError> {
        let at = self.at;
        let word = run(self.rest, |c| c.is_ascii_alphanumeric() || c == '_');
        let sign = usize::from(first == '-');
        let digits = sign + run(&self.rest[sign..], |c| c.is_ascii_digit());
        let fraction = self.rest[digits..]
            .strip_prefix('.')
            .map(|rest| run(rest, |c| c.is_ascii_digit()))
            .filter(|&len| len > 0);
        if let Some(fraction) = fraction {
            self.take(digits + 1 + fraction);
            return Ok(TokenKind::Decimal);
        }
        if digits > sign && digits >= word {
            let text = self.take(digits);
            let value = text.parse().map_err(|_| too_large(at, text))?;
            return Ok(TokenKind::Integer(value));
        }
        if word == 0 {
            self.take(first.len_utf8());
            return Ok(TokenKind::Symbol(first));
        }
        let text = self.take(word);
        match text.strip_prefix("0x").filter(|hex| hex.chars().all(|c| c.is_ascii_hexdigit())) {
            Some(hex) => {
                let value = i64::from_str_radix(hex, 16).map_err(|_| too_large(at, text))?;
                Ok(TokenKind::Hex(value))
            }
            None => Ok(TokenKind::Word),
        }
    }
}

fn too_large(at: ScriptPosition, text: &str) -> ScriptError {
    ScriptError::new(at, format!("\"{text}\""), "a number of at most 63 bits")
}

/// How many bytes at the start consist of such letters.
fn run(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !fits(letter)).unwrap_or(text.len())
}

/// The length of an IP address at the start. Ranges such as "1:1001" are none.
fn ip_len(text: &str) -> Option<usize> {
    let longest = run(text, |c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    let text = &text[..longest];
    if text.parse::<Ipv4Addr>().is_ok() || (text.contains("::") && text.parse::<Ipv6Addr>().is_ok())
    {
        return Some(longest);
    }
    // The colon behind an address ends the header that it belongs to.
    let text = text.strip_suffix(':')?;
    (text.parse::<Ipv4Addr>().is_ok() || text.parse::<Ipv6Addr>().is_ok()).then_some(text.len())
}
