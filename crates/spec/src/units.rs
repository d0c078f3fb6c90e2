//! Rates, durations and sizes as written, in exact arithmetic.
//!
//! Rates use tc's decimal units (`80mbit`), durations `25ms`, sizes decimal bytes (`250kb` is
//! 250 000 bytes), binary ones (`64kib`), packets (`100pkt`) or bandwidth-delay products
//! (`1.75bdp`). Nothing passes through a float: `0.1gbit` is 100 000 000 bit/s and never one
//! less.

use narrows_base::registry::nearest;
use num_traits::Zero;

use crate::exact::{self, Exact};
use crate::problem::ValueProblem;
use crate::text::quote;

/// Bits per second.
pub const RATE_UNITS: &[(&str, u64)] =
    &[("bit", 1), ("kbit", 1_000), ("mbit", 1_000_000), ("gbit", 1_000_000_000)];
/// Nanoseconds.
pub const DURATION_UNITS: &[(&str, u64)] =
    &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000)];
/// Bytes, packets and bandwidth-delay products.
pub const SIZE_UNITS: &[(&str, u64)] = &[
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("pkt", 1),
    ("bdp", 1),
];
/// The units in which sizes are shown.
const DECIMAL_BYTES: usize = 4;
/// The longest text of a quantity.
const LONGEST: usize = 64;

/// The unit of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeUnit {
    /// Bytes.
    Bytes,
    /// Packets of any size.
    Packets,
    /// Bandwidth-delay products of a path.
    Bdp,
}

/// An amount of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub(crate) amount: Exact,
    /// The unit of the amount.
    pub unit: SizeUnit,
}

/// The number nearest to a part in per cent, such as "0.3%"; `None` for any other text.
pub(crate) fn parse_percent(text: &str) -> Option<f64> {
    let digits = text.trim().strip_suffix('%')?.trim_end();
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    // Divided by 100, 0.3 would be a different number from 0.003.
    (plain && digits.len() <= LONGEST).then(|| format!("{digits}e-2").parse().ok()).flatten()
}

/// A quantity of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// In bit/s.
    Rate(u64),
    /// In ns.
    Duration(u64),
    /// Data.
    Size(Size),
}

impl Size {
    /// The usual decimal spelling, which [`parse_size`] reads back exactly.
    #[must_use]
    pub fn spell(&self) -> String {
        let decimal = exact::decimal(&self.amount);
        match self.unit {
            SizeUnit::Bytes => spell(&self.amount, &SIZE_UNITS[..DECIMAL_BYTES], "b"),
            SizeUnit::Packets => format!("{decimal}pkt"),
            SizeUnit::Bdp => format!("{decimal}bdp"),
        }
    }

    /// Whole bytes, halves rounded up, on a path whose product is `bdp` bytes; packets have
    /// no fixed number of them.
    pub(crate) fn in_bytes(&self, bdp: &Exact) -> Option<u64> {
        let exact = match self.unit {
            SizeUnit::Bytes => self.amount.clone(),
            SizeUnit::Bdp => &self.amount * bdp,
            SizeUnit::Packets => return None,
        };
        Some(exact::floor(&(exact + exact::ratio(1, 2))))
    }

    /// The number of packets or bytes; the largest u64 if there are more.
    #[must_use]
    pub fn whole(&self) -> u64 {
        exact::floor(&self.amount)
    }

    /// The amount as the nearest float.
    #[must_use]
    pub fn amount(&self) -> f64 {
        exact::to_f64(&self.amount)
    }
}

/// The bandwidth-delay product in bytes (IP bytes, as the rate counts them).
pub(crate) fn bdp_bytes(rate_bps: u64, rtt_ns: u64) -> Exact {
    exact::whole(rate_bps) * exact::ratio(rtt_ns, 8_000_000_000)
}

/// Bits per second; the largest u64 if there are more.
pub(crate) fn parse_rate(text: &str) -> Result<u64, ValueProblem> {
    whole(text, RATE_UNITS, "80mbit", "bit/s")
}

/// Nanoseconds; the largest u64 if there are more.
pub(crate) fn parse_duration(text: &str) -> Result<u64, ValueProblem> {
    whole(text, DURATION_UNITS, "25ms", "ns")
}

/// Bytes, packets or bandwidth-delay products.
pub(crate) fn parse_size(text: &str) -> Result<Size, ValueProblem> {
    let (amount, (unit, scale)) = split(text, SIZE_UNITS, "250kb")?;
    let amount = amount * exact::whole(scale);
    let (unit, what) = match unit {
        "bdp" => return Ok(Size { amount, unit: SizeUnit::Bdp }),
        "pkt" => (SizeUnit::Packets, "packets"),
        _ => (SizeUnit::Bytes, "bytes"),
    };
    if !amount.is_integer() {
        return Err(ValueProblem::value(quote(text), format!("a whole number of {what}")));
    }
    Ok(Size { amount, unit })
}

/// A rate, a duration or a size: no unit belongs to two of them.
pub(crate) fn parse_quantity(text: &str) -> Result<Quantity, ValueProblem> {
    if let Ok(rate) = parse_rate(text) {
        return Ok(Quantity::Rate(rate));
    }
    match parse_duration(text) {
        Ok(duration) => Ok(Quantity::Duration(duration)),
        Err(_) => parse_size(text).map(Quantity::Size),
    }
}

/// The quantity in a text, if it is one.
#[must_use]
pub fn quantity(text: &str) -> Option<Quantity> {
    parse_quantity(text).ok()
}

/// The usual spelling of a rate, which reads back exactly.
#[must_use]
pub fn format_rate(bps: u64) -> String {
    spell(&exact::whole(bps), RATE_UNITS, "bit")
}

/// The usual spelling of a duration, up to seconds, which reads back exactly.
#[must_use]
pub fn format_duration(ns: u64) -> String {
    spell(&exact::whole(ns), &DURATION_UNITS[..4], "s")
}

/// The usual spelling of a number of bytes.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    spell(&exact::whole(bytes), &SIZE_UNITS[..DECIMAL_BYTES], "b")
}

fn whole(
    text: &str,
    units: &[(&'static str, u64)],
    example: &str,
    base: &str,
) -> Result<u64, ValueProblem> {
    let (amount, (_, scale)) = split(text, units, example)?;
    exact::to_u64(&(amount * exact::whole(scale)))
        .ok_or_else(|| ValueProblem::value(quote(text), format!("a whole number of {base}")))
}

/// The number and the unit of `text`, which must be one of `units`.
fn split(
    text: &str,
    units: &[(&'static str, u64)],
    example: &str,
) -> Result<(Exact, (&'static str, u64)), ValueProblem> {
    let names = || units.iter().map(|unit| unit.0);
    let list = names().collect::<Vec<_>>().join(", ");
    let wanted = format!("a number with one of the units {list}, such as \"{example}\",");
    let short = text.chars().nth(LONGEST).is_none();
    if short && text.trim().starts_with('-') {
        let found = format!("a negative value, {}", quote(text));
        return Err(ValueProblem::value(found, format!("a positive one, such as \"{example}\",")));
    }
    let Some((number, unit)) = Some(text.trim()).filter(|_| short).and_then(parts) else {
        return Err(ValueProblem::value(quote(text), wanted));
    };
    if let Some(known) = units.iter().find(|known| known.0 == unit) {
        return Ok((exact::parse_decimal(number).expect("it is a number"), *known));
    }
    let found = format!("the unit {} in {}", quote(unit), quote(text));
    let close = per_second(unit, units).or_else(|| similar(unit, units));
    let close = close.map(|close| format!("\"{number}{close}\""));
    Err(ValueProblem::value(found, close.unwrap_or(wanted)))
}

/// The unit that "Mbps" and the like mean; none for bytes per second ("MBps").
fn per_second(unit: &str, units: &[(&'static str, u64)]) -> Option<&'static str> {
    let scale = unit.strip_suffix("bps")?.to_lowercase();
    units.iter().map(|known| known.0).find(|known| *known == format!("{scale}bit"))
}

/// The unit with a similar spelling; its first letter is the scale, which isn't a slip.
fn similar(unit: &str, units: &[(&'static str, u64)]) -> Option<&'static str> {
    let first = unit.chars().next()?.to_ascii_lowercase();
    nearest(unit, units.iter().map(|known| known.0).filter(|known| known.starts_with(first)))
}

/// A number, perhaps a space, and the letters of a unit, perhaps with "/s" behind them.
fn parts(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    exact::parse_decimal(number)?;
    let unit = rest.strip_prefix(' ').unwrap_or(rest);
    let letters = unit.strip_suffix("/s").unwrap_or(unit);
    let known = !letters.is_empty() && letters.chars().all(char::is_alphabetic);
    known.then_some((number, unit))
}

/// `value` in the largest unit of which it holds at least one.
fn spell(value: &Exact, units: &[(&'static str, u64)], zero: &'static str) -> String {
    if value.is_zero() {
        return format!("0{zero}");
    }
    let fitting = units.iter().rev().find(|unit| exact::whole(unit.1) <= *value);
    let (unit, scale) = fitting.unwrap_or(&units[0]);
    format!("{}{unit}", exact::decimal(&(value / exact::whole(*scale))))
}

#[cfg(test)]
mod tests;
