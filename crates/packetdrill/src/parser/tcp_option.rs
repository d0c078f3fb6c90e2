//! Reads TCP options.

use super::cursor::Cursor;
use crate::error::{ScriptError, one_of};
use crate::lexer::TokenKind;
use crate::packet::{AccEcnCounter, SackBlock, TcpOption};
use crate::script::PacketDirection;

const NAMES: [&str; 11] =
    ["mss", "nop", "eol", "wscale", "sackOK", "sack", "TS", "md5", "FO", "FOEXP", "ECN"];
const MD5_BYTES: usize = 16;
/// All options of a header together.
const MOST_BYTES: usize = 40;

/// The options between "<" and ">"; `None` for "<...>", which aren't checked.
pub fn list(
    cursor: &mut Cursor,
    direction: PacketDirection,
) -> Result<Option<Vec<TcpOption>>, ScriptError> {
    let at = cursor.at();
    let mut options = Vec::new();
    // An event may begin with "<" on no line, so this is a list.
    if !cursor.accept('<') {
        return Ok(Some(options));
    }
    if cursor.peek().kind == TokenKind::Ellipsis {
        if direction == PacketDirection::Inbound {
            return Err(cursor.refuse("the options of a packet to the end"));
        }
        cursor.next();
        cursor.expect('>', "\">\"")?;
        return Ok(None);
    }
    loop {
        options.push(option(cursor)?);
        if !cursor.accept(',') {
            break;
        }
    }
    cursor.expect('>', "\",\" and another TCP option, or \">\" behind the last one")?;
    let len: usize = options.iter().map(TcpOption::wire_len).sum();
    if !len.is_multiple_of(4) || len > MOST_BYTES {
        let found = format!("options of {len} bytes");
        let needed = format!("a multiple of 4 bytes up to {MOST_BYTES}: nop and eol fill it up");
        return Err(ScriptError::new(at, found, needed));
    }
    Ok(Some(options))
}

fn option(cursor: &mut Cursor) -> Result<TcpOption, ScriptError> {
    let error = cursor.refuse(one_of(&cursor.peek().text, &NAMES));
    if cursor.peek().kind != TokenKind::Word {
        return Err(error);
    }
    Ok(match cursor.next().text.as_str() {
        "mss" => TcpOption::Mss(cursor.u16("a segment size in bytes")?),
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::Eol,
        "wscale" => TcpOption::WindowScale(cursor.u8("a shift")?),
        "sackOK" => TcpOption::SackOk,
        "sack" => TcpOption::Sack(sack_blocks(cursor)?),
        "TS" => timestamp(cursor)?,
        "md5" => md5(cursor)?,
        "FO" => TcpOption::FastOpen { cookie: blob(cursor)?, experimental: false },
        "FOEXP" => TcpOption::FastOpen { cookie: blob(cursor)?, experimental: true },
        "ECN" => TcpOption::AccEcn(counters(cursor)?),
        _ => return Err(error),
    })
}

fn sack_blocks(cursor: &mut Cursor) -> Result<Vec<SackBlock>, ScriptError> {
    let mut blocks = Vec::new();
    loop {
        let left = cursor.u32("a sequence number")?;
        cursor.expect(':', "\":\" in a block such as 1001:2001")?;
        blocks.push(SackBlock { left, right: cursor.u32("a sequence number")? });
        if !matches!(cursor.peek().kind, TokenKind::Integer(_)) {
            return Ok(blocks);
        }
    }
}

fn timestamp(cursor: &mut Cursor) -> Result<TcpOption, ScriptError> {
    let mut field = |name: &str| {
        if !cursor.accept_word(name) {
            return Err(cursor.refuse(format!("\"{name}\", as in TS val 100 ecr 0")));
        }
        cursor.u32("a timestamp")
    };
    let val = field("val")?;
    Ok(TcpOption::Timestamp { val, ecr: field("ecr")? })
}

fn md5(cursor: &mut Cursor) -> Result<TcpOption, ScriptError> {
    let error = cursor.refuse(format!("a signature of {MD5_BYTES} bytes in hexadecimal digits"));
    let signature = blob(cursor)?;
    if signature.len() == MD5_BYTES { Ok(TcpOption::Md5(signature)) } else { Err(error) }
}

/// Bytes in hexadecimal digits, perhaps none.
fn blob(cursor: &mut Cursor) -> Result<Vec<u8>, ScriptError> {
    if !matches!(cursor.peek().kind, TokenKind::Word | TokenKind::Integer(_)) {
        return Ok(Vec::new());
    }
    let error = cursor.refuse("an even number of hexadecimal digits");
    let text = cursor.next().text;
    let bytes = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        (pair.len() == 2).then(|| u8::from_str_radix(pair, 16).ok())?
    });
    bytes.collect::<Option<_>>().ok_or(error)
}

/// Accurate ECN's counters, which the option has in one of two orders.
fn counters(cursor: &mut Cursor) -> Result<Vec<(AccEcnCounter, u32)>, ScriptError> {
    use AccEcnCounter::{Ce, E0, E1};
    let mut found = Vec::new();
    loop {
        let counter = match cursor.peek().text.as_str() {
            "e0b" => E0,
            "e1b" => E1,
            "ceb" => Ce,
            _ => break,
        };
        cursor.next();
        found.push((counter, cursor.u32("a byte counter")?));
    }
    let order: Vec<_> = found.iter().map(|(counter, _)| *counter).collect();
    let known = [[E0, Ce, E1], [E1, Ce, E0]];
    if !order.is_empty() && known.iter().any(|all| all.starts_with(&order)) {
        return Ok(found);
    }
    Err(cursor.refuse("e0b, ceb and e1b with their counters, or e1b, ceb and e0b"))
}

impl TcpOption {
    /// The length on the wire in bytes.
    pub(crate) fn wire_len(&self) -> usize {
        match self {
            Self::Eol | Self::Nop => 1,
            Self::Mss(_) => 4,
            Self::WindowScale(_) => 3,
            Self::SackOk => 2,
            Self::Sack(blocks) => 2 + 8 * blocks.len(),
            Self::Timestamp { .. } => 10,
            Self::Md5(signature) => 2 + signature.len(),
            Self::FastOpen { cookie, experimental } => {
                2 + 2 * usize::from(*experimental) + cookie.len()
            }
            Self::AccEcn(counters) => 2 + 3 * counters.len(),
            Self::Other(_, content) => 2 + content.len(),
        }
    }
}
