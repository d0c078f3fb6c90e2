//! Reads single values.

use super::values::Read;
use crate::document::{Node, Value};
use crate::keys::KeyKind;
use crate::limits::{MAX_BYTES, MAX_DURATION_NS, MAX_NAME, MAX_PACKETS, MAX_RATE_BPS};
use crate::problem::ValueProblem;
use crate::text::{is_printable, not_a, one_of, quote};
use crate::units::{
    Size, SizeUnit, format_duration, format_rate, parse_duration, parse_percent, parse_rate,
    parse_size,
};

const SWEEP: &str = "which makes a sweep (`narrows run` runs it; here one value counts)";

/// Refuses anything that only a study may have instead of a value.
pub(super) fn single(node: &Node, expects: &str) -> Result<(), ValueProblem> {
    match &node.value {
        Value::List(_) => Err(ValueProblem::value(format!("a list, {SWEEP}"), expects)),
        Value::Table(table) if table.has("from") => {
            Err(ValueProblem::value(format!("a range, {SWEEP}"), expects))
        }
        _ => Ok(()),
    }
}

/// The exact form of a value; `key` is its name.
pub(super) fn read(kind: KeyKind, node: &Node, key: &str) -> Result<Read, ValueProblem> {
    let unfit = || ValueProblem::value(node.describe(), kind.expects(key));
    let text = || node.as_text().ok_or_else(unfit);
    match kind {
        KeyKind::Rate => rate(text()?).map(Read::Whole),
        KeyKind::Duration => duration(text()?).map(Read::Whole),
        KeyKind::Span => span(text()?).map(Read::Whole),
        KeyKind::Room => room(text()?).map(Read::Room),
        KeyKind::Volume => volume(text()?).map(Read::Whole),
        KeyKind::Probability => probability(node).map(Read::Number).ok_or_else(unfit),
        KeyKind::Number => finite(node).map(Read::Number).ok_or_else(unfit),
        KeyKind::Flag => match node.value {
            Value::Flag(flag) => Ok(Read::Flag(flag)),
            _ => Err(unfit()),
        },
        KeyKind::Name => name(text()?).map(|name| Read::Text(name.into())).ok_or_else(unfit),
        KeyKind::Whole(least, most) => {
            let whole = node.as_whole().filter(|whole| (least..=most).contains(whole));
            whole.map(Read::Whole).ok_or_else(unfit)
        }
        KeyKind::Word(words) => {
            let (word, known) = (text()?, (words.known)());
            if known.contains(&word) {
                return Ok(Read::Text(word.into()));
            }
            let found = not_a(word, words.what);
            Err(ValueProblem::value(found, one_of(word, known)))
        }
        KeyKind::Within => {
            within(node).map(|(n, relative)| Read::Within(n, relative)).ok_or_else(unfit)
        }
        _ => unreachable!("{key} is not a single value"),
    }
}

/// The value of a kernel setting, as it is written to its file.
pub(super) fn sysctl(name: &str, node: &Node) -> Result<String, ValueProblem> {
    let expects = "a whole number, or numbers in a text such as \"4096 131072 6291456\",";
    single(node, expects)?;
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(is_word) {
        let remedy = "a setting below net.ipv4 by its name, such as tcp_rmem,";
        return Err(ValueProblem::value(quote(name), remedy));
    }
    let text = match node.as_text() {
        Some(text) => text.to_owned(),
        None => node.as_whole().map(|whole| whole.to_string()).unwrap_or_default(),
    };
    if text.is_empty() || text.len() > MAX_NAME || !text.chars().all(is_printable) {
        return Err(ValueProblem::value(node.describe(), expects));
    }
    Ok(text)
}

fn rate(text: &str) -> Result<u64, ValueProblem> {
    match parse_rate(text)? {
        0 => Err(ValueProblem::value(quote(text), "a rate above zero")),
        rate if rate > MAX_RATE_BPS => {
            let remedy = format!("a rate of at most {}", format_rate(MAX_RATE_BPS));
            Err(ValueProblem::value(quote(text), remedy))
        }
        rate => Ok(rate),
    }
}

pub(super) fn duration(text: &str) -> Result<u64, ValueProblem> {
    let duration = parse_duration(text)?;
    if duration > MAX_DURATION_NS {
        let remedy = format!("a duration of at most {}", format_duration(MAX_DURATION_NS));
        return Err(ValueProblem::value(quote(text), remedy));
    }
    Ok(duration)
}

fn span(text: &str) -> Result<u64, ValueProblem> {
    match duration(text)? {
        0 => Err(ValueProblem::value(quote(text), "a duration above zero")),
        span => Ok(span),
    }
}

fn room(text: &str) -> Result<Size, ValueProblem> {
    let size = parse_size(text)?;
    let (limit, unit) = match size.unit {
        SizeUnit::Packets => (MAX_PACKETS, "pkt"),
        SizeUnit::Bytes => (MAX_BYTES, "b"),
        SizeUnit::Bdp => (MAX_BYTES, "bdp"),
    };
    if size == (Size { amount: num_traits::Zero::zero(), unit: size.unit }) {
        let remedy = "a buffer above zero, such as \"1bdp\" or \"100pkt\",";
        return Err(ValueProblem::value(quote(text), remedy));
    }
    if size.amount > crate::exact::whole(limit) {
        return Err(ValueProblem::value(quote(text), format!("at most {limit} {unit}")));
    }
    Ok(size)
}

/// A number of bytes, not bounded.
pub(super) fn bytes(text: &str) -> Result<u64, ValueProblem> {
    let size = parse_size(text)?;
    if size.unit != SizeUnit::Bytes {
        return Err(ValueProblem::value(quote(text), "a size in bytes, such as \"1mb\","));
    }
    Ok(size.whole())
}

fn volume(text: &str) -> Result<u64, ValueProblem> {
    let volume = bytes(text)?;
    if !(1..=MAX_BYTES).contains(&volume) {
        return Err(ValueProblem::value(quote(text), "a size above zero and of at most 1000gb"));
    }
    Ok(volume)
}

/// A finite number; TOML also has inf and nan.
pub(super) fn finite(node: &Node) -> Option<f64> {
    node.as_float().filter(|number| number.is_finite())
}

/// A number from 0 to below 1, or in per cent. Negative zero would be spelled differently, and
/// change the hash.
fn probability(node: &Node) -> Option<f64> {
    node.as_part().filter(|number| (0.0..1.0).contains(number)).map(|number| number + 0.0)
}

fn name(text: &str) -> Option<&str> {
    let short = text.chars().nth(MAX_NAME).is_none();
    (!text.trim().is_empty() && short && text.chars().all(is_printable)).then_some(text)
}

/// A number above zero, or a part of the mean: "5%".
fn within(node: &Node) -> Option<(f64, bool)> {
    let number = match node.as_text() {
        Some(text) => (parse_percent(text)?, true),
        None => (node.as_float()?, false),
    };
    (number.0 > 0.0 && number.0.is_finite()).then_some(number)
}
