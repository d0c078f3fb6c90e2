//! The words of a transcript.

#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]

use std::collections::BTreeMap;

use narrows_base::{Duration, Time};
use narrows_tcp::{BufferLimits, EcnMode, Seq, TcpProfile, profile};

/// A line that isn't empty.
#[derive(Debug)]
pub struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
    /// Time to let pass before it (`+40ms`).
    pub after: Option<Duration>,
    pub words: Vec<&'a str>,
}

/// The lines of a script, without comments.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().enumerate().filter_map(|(at, text)| {
        let code = text.split('#').next().unwrap_or_default();
        let mut words: Vec<&str> = code.split_whitespace().collect();
        let first = words.first()?;
        let after = first.strip_prefix('+').and_then(|span| duration(span).ok());
        if after.is_some() {
            words.remove(0);
        }
        Some(Line { number: at + 1, text: code.trim(), after, words })
    })
}

/// The first line's `key=value` words.
#[derive(Debug)]
pub struct Settings<'a> {
    values: BTreeMap<&'a str, &'a str>,
}

impl<'a> Settings<'a> {
    pub fn parse(words: &[&'a str]) -> Result<Self, String> {
        let pair = |word: &&'a str| {
            word.split_once('=').ok_or_else(|| format!("found \"{word}\"; key=value is needed"))
        };
        Ok(Self { values: words[1..].iter().map(pair).collect::<Result<_, _>>()? })
    }

    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).copied()
    }

    pub fn number(&self, key: &str, default: u32) -> Result<u32, String> {
        self.get(key).map_or(Ok(default), number)
    }

    pub fn flag(&self, key: &str) -> bool {
        self.get(key) == Some("yes")
    }

    pub fn profile(&self) -> Result<&'static TcpProfile, String> {
        let name = self.get("profile").unwrap_or("linux-6.12");
        profile(name).ok_or_else(|| format!("no profile {name}"))
    }

    pub fn ecn(&self) -> Result<EcnMode, String> {
        match self.get("ecn").unwrap_or("off") {
            "off" => Ok(EcnMode::Off),
            "classic" => Ok(EcnMode::Classic),
            "dctcp" => Ok(EcnMode::Dctcp),
            "accurate" => Ok(EcnMode::Accurate),
            "l4s" => Ok(EcnMode::L4s),
            other => Err(format!("ecn: found {other}")),
        }
    }

    pub fn limits(&self) -> Result<BufferLimits, String> {
        match self.get("limits").unwrap_or("stock") {
            "stock" => Ok(BufferLimits::Stock),
            "raised" => Ok(BufferLimits::Raised),
            "none" => Ok(BufferLimits::Unlimited),
            other => Err(format!("limits: found {other}")),
        }
    }
}

pub fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("found \"{word}\"; a number is needed"))
}

/// `40ms`, `2.5ms`, `100us`, `1s`.
pub fn duration(word: &str) -> Result<Duration, String> {
    let split = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (digits, unit) = word.split_at(split);
    let nanos_per_unit = match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        _ => return Err(format!("found \"{word}\"; a time like 40ms is needed")),
    };
    let value: f64 = number(digits)?;
    let nanos = (value * nanos_per_unit).round() as u64;
    Ok(Duration::from_nanos(nanos))
}

/// A time in ms, without trailing zeros.
pub fn show(time: Time) -> String {
    let nanos = time.as_nanos();
    let text = format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    format!("{}ms", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `5` or the half-open `5..8`.
pub fn range(word: &str) -> Result<(Seq, Seq), String> {
    match word.split_once("..") {
        Some((start, end)) => Ok((number(start)?, number(end)?)),
        None => number(word).map(|at: Seq| (at, at + 1)),
    }
}

/// A half-open range in the script's words.
pub fn show_range(start: Seq, end: Seq) -> String {
    if end == start + 1 { start.to_string() } else { format!("{start}..{end}") }
}

/// A rate in payload bits: `10mbit` or `800kbit`.
pub fn rate(word: &str) -> Result<u64, String> {
    let scales = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];
    for (unit, scale) in scales {
        if let Some(value) = word.strip_suffix(unit) {
            return number::<f64>(value).map(|value| (value * scale).round() as u64);
        }
    }
    Err(format!("found \"{word}\"; a rate like 10mbit is needed"))
}
