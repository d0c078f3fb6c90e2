//! Numbers as texts, spelled as Python spells them: names of classes are stored with results.

use serde_json::Value;

/// A number with six significant digits, as `%g` writes it.
#[must_use]
pub(crate) fn general(value: f64) -> String {
    const DIGITS: i32 = 6;
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("a whole number");
    if (-4..DIGITS).contains(&exponent) {
        let places = usize::try_from(DIGITS - 1 - exponent).expect("the exponent is below six");
        return trim_zeros(&format!("{value:.places$}")).to_owned();
    }
    format!("{}{}", trim_zeros(mantissa), exponent_text(exponent))
}

/// A value of an option, as Python's `str` writes it.
#[must_use]
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(fraction) => shortest(fraction),
            None => number.to_string(),
        },
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The shortest decimal that gives the same number.
fn shortest(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("a whole number");
    if (-4..16).contains(&exponent) {
        let written = value.to_string();
        return if written.contains('.') { written } else { format!("{written}.0") };
    }
    format!("{mantissa}{}", exponent_text(exponent))
}

/// A number without the zeros at the end of its fraction.
fn trim_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// An exponent with its sign and two digits at least.
fn exponent_text(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn six_digits_are_written_as_c_writes_them() {
        let cases = [
            (0.0, "0"),
            (80.0, "80"),
            (2.5, "2.5"),
            (1.234_567_8, "1.23457"),
            (999_999.6, "1e+06"),
            (123_456.0, "123456"),
            (0.000_1, "0.0001"),
            (0.000_012_5, "1.25e-05"),
        ];
        for (value, written) in cases {
            assert_eq!(general(value), written);
        }
    }

    #[test]
    fn values_are_written_as_python_writes_them() {
        let cases = [
            (json!(3), "3"),
            (json!(3.0), "3.0"),
            (json!(0.1), "0.1"),
            (json!(0.000_01), "1e-05"),
            (json!(1.5e-7), "1.5e-07"),
            (json!(1e16), "1e+16"),
            (json!(123_456_789.25), "123456789.25"),
            (json!(true), "True"),
            (json!("search"), "search"),
        ];
        for (value, written) in cases {
            assert_eq!(plain(&value), written);
        }
    }
}
