//! Sizes and rates.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

use crate::time::Duration;

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// `n` bytes.
    #[must_use]
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Rate {
    /// `bits` bits per second.
    #[must_use]
    pub const fn from_bps(bits: u64) -> Self {
        Self(bits)
    }

    /// `bytes` bytes per second.
    #[must_use]
    pub const fn from_bytes_per_sec(bytes: u64) -> Self {
        Self(bytes * 8)
    }

    /// Bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Bytes per second, truncated.
    #[must_use]
    pub const fn as_bytes_per_sec(self) -> u64 {
        self.0 / 8
    }

    /// Megabits (10^6 bits) per second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for people: 53 bits are enough")]
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The time to send `size` at this rate, truncated to a nanosecond.
    ///
    /// ```
    /// use narrows_base::{Bytes, Duration, Rate};
    ///
    /// let rate = Rate::from_bps(80_000_000);
    /// assert_eq!(rate.time_to_send(Bytes::new(1500)), Duration::from_micros(150));
    /// ```
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn time_to_send(self, size: Bytes) -> Duration {
        Duration::from_nanos(mul_div(size.0 * 8, 1_000_000_000, self.0))
    }

    /// The bytes sent in `span`, truncated.
    #[must_use]
    pub fn bytes_in(self, span: Duration) -> Bytes {
        Bytes(mul_div(self.0, span.as_nanos(), 8_000_000_000))
    }
}

/// `a * b / c` without overflow in between.
fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / c,
        None => u64::try_from(u128::from(a) * u128::from(b) / u128::from(c))
            .expect("a size, rate or time is out of range"),
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0 - rhs.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, rhs: Self) {
        self.0 -= rhs.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, rhs: u64) -> Self {
        Self(self.0 * rhs)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_at_80_mbit() {
        let time = Rate::from_bps(80_000_000).time_to_send(Bytes::new(1500));
        assert_eq!(time, Duration::from_micros(150));
    }

    #[test]
    fn volume_in_a_span() {
        let volume = Rate::from_bps(80_000_000).bytes_in(Duration::from_millis(25));
        assert_eq!(volume, Bytes::new(250_000));
    }

    #[test]
    fn large_products_do_not_overflow() {
        let time = Rate::from_bps(1).time_to_send(Bytes::new(1_000_000_000));
        assert_eq!(time, Duration::from_secs(8_000_000_000));
    }
}
