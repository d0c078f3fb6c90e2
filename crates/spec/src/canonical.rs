//! The canonical text of scenarios: equal scenarios give equal texts, which are hashed.
//!
//! The spelling is that of Python's `json.dumps(value, sort_keys=True, separators=(",", ":"))`:
//! sorted keys, no spaces, ASCII only, floats with the fewest digits that read back.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// The text of a value.
///
/// # Panics
/// If it holds a float that isn't finite, or can't be written as JSON.
#[must_use]
pub fn canonical_json(value: &impl Serialize) -> String {
    let mut value = serde_json::to_value(value).expect("scenarios are plain data");
    // In a build with a crate that wants serde_json to keep the order (qlog's does), it does.
    value.sort_all_objects();
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Canonical);
    value.serialize(&mut serializer).expect("writing to memory doesn't fail");
    String::from_utf8(text).expect("it is ASCII")
}

/// A float as Python's `repr` writes it; whole ones have ".0".
#[must_use]
pub fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("it has an exponent");
    let exponent: i32 = exponent.parse().expect("it is a number");
    if (-4..16).contains(&exponent) {
        return format!("{number:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Writes like Python.
struct Canonical;

impl Formatter for Canonical {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for c in fragment.chars() {
            if (' '..='~').contains(&c) {
                writer.write_all(&[u8::try_from(c).expect("it is ASCII")])?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (number, text) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (123_456_789.125, "123456789.125"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(float(number), text);
        }
    }

    #[test]
    fn keys_are_sorted_and_texts_are_ascii() {
        let value =
            json!({"b": [1, 0.5], "a": {"y": null, "x": true}, "n": "nä \u{7f}\n\"\\ \u{1f600}"});
        let expected = concat!(
            r#"{"a":{"x":true,"y":null},"b":[1,0.5],"#,
            r#""n":"n\u00e4 \u007f\n\"\\ \ud83d\ude00"}"#
        );
        assert_eq!(canonical_json(&value), expected);
    }
}
