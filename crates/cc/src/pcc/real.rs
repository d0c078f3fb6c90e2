//! Powers and exponentials from only + - * / and square roots, which are the same on every machine.

/// Binary digits of 0.9 after the point: 0.1110011001100...
const NINE_TENTHS: u64 = 0xE666_6666_6666_6666;
/// Digits used: the rest changes the power by less than one part in 10^9.
const DIGITS: u32 = 36;
/// The exponential is computed of a 2^-10th of its argument, then squared ten times.
const SQUARINGS: u32 = 10;
/// Terms of the series; with an argument below 1 the next one is below 10^-15.
const TERMS: u32 = 17;

/// `x` to the power of 0.9: the product of the roots that 0.9's binary digits name.
pub(super) fn power_nine_tenths(x: f64) -> f64 {
    let mut root = x.max(0.0);
    let mut product = 1.0;
    for digit in 1..=DIGITS {
        root = root.sqrt();
        if NINE_TENTHS >> (64 - digit) & 1 == 1 {
            product *= root;
        }
    }
    product
}

/// e to the power of `x`, for `x` from -700 to 700.
pub fn exponential(x: f64) -> f64 {
    let part = x / f64::from(1_u32 << SQUARINGS);
    let mut sum = 1.0;
    for n in (1..=TERMS).rev() {
        sum = 1.0 + part / f64::from(n) * sum;
    }
    for _ in 0..SQUARINGS {
        sum *= sum;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_exponentials_are_right_to_nine_digits() {
        // Values computed by another program.
        let powers = [
            (0.0, 0.0),
            (0.01, 0.015_848_931_924_611_134),
            (1.0, 1.0),
            (20.0, 14.822_688_982_138_954),
            (10_000.0, 3_981.071_705_534_973),
        ];
        for (x, expected) in powers {
            let found = power_nine_tenths(x);
            assert!((found - expected).abs() <= 1e-9 * expected, "{x}: {found}");
        }
        let exponentials = [
            (0.0, 1.0),
            (1.0, std::f64::consts::E),
            (-5.0, 0.006_737_946_999_085_467),
            (95.0, 1.811_239_082_889_023_3e41),
        ];
        for (x, expected) in exponentials {
            let found = exponential(x);
            assert!((found - expected).abs() <= 1e-9 * expected, "{x}: {found}");
        }
    }
}
