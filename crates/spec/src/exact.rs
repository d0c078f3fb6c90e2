//! Exact numbers: decimal texts as fractions, and fractions as decimal texts.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// A fraction of any size.
pub(crate) type Exact = BigRational;

/// The longest text of a plausible number.
const LONGEST: usize = 64;
/// Larger exponents are mistakes, and would need as many digits.
const LARGEST_EXPONENT: i32 = 400;

pub(crate) fn whole(number: u64) -> Exact {
    Exact::from_integer(number.into())
}

pub(crate) fn ratio(numerator: u64, denominator: u64) -> Exact {
    Exact::new(numerator.into(), denominator.into())
}

/// Digits with at most one point among them, such as "1.5" or ".5".
pub(crate) fn parse_decimal(text: &str) -> Option<Exact> {
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if text.ends_with('.') || !plain(before) || !plain(after) || text.is_empty() {
        return None;
    }
    let digits: BigInt = format!("{before}{after}").parse().ok()?;
    Some(Exact::new(digits, power_of_ten(after.len())))
}

/// Digits with a sign and an exponent, as programs write numbers: "1e-3".
pub(crate) fn parse_number(text: &str) -> Option<Exact> {
    if text.len() > LONGEST {
        return None;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    if exponent.abs() > LARGEST_EXPONENT {
        return None;
    }
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let scale = Exact::from_integer(power_of_ten(exponent.unsigned_abs()));
    let number = parse_decimal(digits)?;
    let number = if exponent < 0 { number / scale } else { number * scale };
    Some(if negative { -number } else { number })
}

/// 10 to the power of `digits`.
fn power_of_ten<T: TryInto<u32>>(digits: T) -> BigInt {
    BigInt::from(10).pow(digits.try_into().ok().expect("texts are short"))
}

/// The number as a `u64`, or `u64::MAX` if it is larger; `None` if it is negative or not whole.
pub(crate) fn to_u64(number: &Exact) -> Option<u64> {
    let whole = number.is_integer() && !number.is_negative();
    whole.then(|| number.numer().to_u64().unwrap_or(u64::MAX))
}

/// Rounds down; gives `u64::MAX` if the number is larger.
pub(crate) fn floor(number: &Exact) -> u64 {
    number.floor().numer().to_u64().unwrap_or(u64::MAX)
}

/// The number as a decimal text; one without an end is rounded to the digits of a float.
pub(crate) fn decimal(number: &Exact) -> String {
    let (twos, rest) = without(number.denom(), 2);
    let (fives, rest) = without(&rest, 5);
    if !rest.is_one() {
        return to_f64(number).to_string();
    }
    let places = twos.max(fives);
    let scaled = (number * Exact::from_integer(power_of_ten(places))).to_integer();
    let text = format!("{scaled:0>width$}", width = places + 1);
    let (before, after) = text.split_at(text.len() - places);
    if places == 0 { before.into() } else { format!("{before}.{after}") }
}

/// How often `number` can be divided by `prime`, and the quotient.
fn without(number: &BigInt, prime: u32) -> (usize, BigInt) {
    let (mut rest, mut count) = (number.clone(), 0);
    while rest.is_multiple_of(&prime.into()) {
        rest /= prime;
        count += 1;
    }
    (count, rest)
}

/// The nearest float.
pub(crate) fn to_f64(number: &Exact) -> f64 {
    number.to_f64().unwrap_or(f64::INFINITY)
}

/// Rounded to `digits` after the point, or before it if negative; halves to even.
pub(crate) fn round(number: &Exact, digits: i64) -> Exact {
    let scale = Exact::from_integer(power_of_ten(digits.unsigned_abs()));
    let scaled = if digits < 0 { number / &scale } else { number * &scale };
    let rounded = Exact::from_integer(round_half_even(&scaled));
    if digits < 0 { rounded * scale } else { rounded / scale }
}

fn round_half_even(number: &Exact) -> BigInt {
    let down = number.floor().to_integer();
    let rest = number - Exact::from_integer(down.clone());
    let half = ratio(1, 2);
    let up = rest > half || (rest == half && down.is_odd());
    if up { down + 1 } else { down }
}

/// The decimal exponent of the first digit: 2 of 345, -1 of 0.5; none of zero.
pub(crate) fn magnitude(number: &Exact) -> Option<i64> {
    if number.is_zero() {
        return None;
    }
    let number = number.abs();
    let digits = |of: &BigInt| i64::try_from(of.to_string().len()).expect("few digits");
    let estimate = digits(number.numer()) - digits(number.denom());
    let power = |exponent: i64| {
        let scale = Exact::from_integer(power_of_ten(exponent.unsigned_abs()));
        if exponent < 0 { scale.recip() } else { scale }
    };
    Some(if number < power(estimate) { estimate - 1 } else { estimate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        assert_eq!(parse_decimal("1.75"), Some(ratio(7, 4)));
        assert_eq!(parse_decimal(".5"), Some(ratio(1, 2)));
        assert_eq!(parse_number("-2.5e-1"), Some(-ratio(1, 4)));
        assert_eq!(parse_number("1e3"), Some(whole(1000)));
        for text in ["", ".", "1.", "1e", "x", "1e5000", "--1", "1e999999999", "1.2.3", "٣"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_written_exactly() {
        for text in ["0", "1.75", "0.001", "1000", "0.0000152587890625"] {
            assert_eq!(decimal(&parse_decimal(text).unwrap()), text);
        }
        assert!(decimal(&ratio(1, 3)).starts_with("0.333"));
    }

    #[test]
    fn halves_are_rounded_to_even() {
        assert_eq!(round(&ratio(5, 2), 0), whole(2));
        assert_eq!(round(&ratio(7, 2), 0), whole(4));
        assert_eq!(round(&whole(1250), -2), whole(1200));
        assert_eq!(round(&ratio(1, 3), 4), parse_decimal("0.3333").unwrap());
    }

    #[test]
    fn a_magnitude_is_that_of_the_first_digit() {
        let of = |text: &str| magnitude(&parse_decimal(text).unwrap());
        assert_eq!(
            (of("345"), of("0.5"), of("1000"), of("999.9")),
            (Some(2), Some(-1), Some(3), Some(2))
        );
        assert_eq!((of("0.001"), of("0")), (Some(-3), None));
    }
}
