//! How fast the RTT grows, smoothed over round trips.

/// The lowest and highest RTT of a round, or their changes, in us; zero before a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub(super) min: i64,
    pub(super) max: i64,
}

impl Extremes {
    pub(super) const fn is_none(self) -> bool {
        self.min == 0 && self.max == 0
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        Self { min: self.min - other.min, max: self.max - other.max }
    }
}

/// The lower of two RTTs, of which zero is none (`min_not_zero`).
pub(super) fn lower_nonzero(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, other) | (other, 0) => other,
        (a, b) => a.min(b),
    }
}

/// The gradients of the last round trips and their sums.
#[derive(Clone, Debug)]
pub(super) struct Gradients {
    ring: Vec<Extremes>,
    sum: Extremes,
    tail: usize,
    is_full: bool,
}

/// The gradients of a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundGradient {
    sum: Extremes,
    /// The gradient that may make the control back off.
    pub(super) gradient: i64,
}

/// A fall of the sums by this much shows that backing off had an effect, in us.
const RELIEF_US: i64 = -32;
/// Changes below half of this are noise, in us.
const NOISE_US: i64 = 64;

impl RoundGradient {
    pub(super) const fn shows_relief(self) -> bool {
        self.sum.min <= RELIEF_US || self.sum.max <= RELIEF_US
    }

    /// The sums in units that hide small changes.
    pub(super) const fn without_noise(self) -> (i64, i64) {
        (round_to_noise(self.sum.min), round_to_noise(self.sum.max))
    }
}

/// The closest multiple of the noise, half of it away from zero (`DIV_ROUND_CLOSEST`).
const fn round_to_noise(us: i64) -> i64 {
    (us + us.signum() * (NOISE_US / 2)) / NOISE_US
}

impl Gradients {
    pub(super) fn new(window: usize) -> Self {
        let sum = Extremes::default();
        Self { ring: vec![sum; window], sum, tail: 0, is_full: false }
    }

    /// Takes a round's gradient; sums stand for the means of the window, undivided. As long as
    /// rounds are missing, those seen stand for them.
    pub(super) fn take(&mut self, change: Extremes) -> RoundGradient {
        let left = std::mem::replace(&mut self.ring[self.tail], change);
        self.sum = Extremes {
            min: self.sum.min + change.min - left.min,
            max: self.sum.max + change.max - left.max,
        };
        self.tail = (self.tail + 1) % self.ring.len();
        let mut gradient = if self.sum.min > 0 { self.sum.min } else { self.sum.max };
        if !self.is_full {
            let (window, seen) = (whole(self.ring.len()), whole(self.tail));
            self.is_full = seen == 0;
            gradient = if self.is_full { gradient } else { gradient * window / seen };
        }
        RoundGradient { sum: self.sum, gradient }
    }

    pub(super) const fn sums(&self) -> (i64, i64) {
        (self.sum.min, self.sum.max)
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).expect("a window of at most 256")
}

/// exp(-x) x 65536 - 1 for x = 0 and 0.000256 x 2^n.
const POWERS: [u16; 17] = [
    65535, 65518, 65501, 65468, 65401, 65267, 65001, 64470, 63422, 61378, 57484, 50423, 38795,
    22965, 8047, 987, 14,
];

/// exp(-`micro` / 10^6) of the largest 32-bit number (`nexp_u32`), from powers of two in the
/// exponent.
pub(super) fn negative_exponential(micro: u64) -> u32 {
    let mut rest = micro >> 8;
    if rest > u64::from(u16::MAX) {
        return 0;
    }
    let low = u32::try_from(micro & 0xff).expect("eight bits");
    let mut result = u32::MAX - low * (u32::MAX / 1_000_000);
    let mut power = 1;
    while rest > 0 {
        let factor = u64::from(if rest & 1 == 1 { POWERS[power] } else { POWERS[0] }) + 1;
        let product = (u64::from(result) * factor) >> 16;
        result = u32::try_from(product).expect("a factor of at most 1");
        power += 1;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_one_at_zero_and_falls_to_zero() {
        let share = |micro| f64::from(negative_exponential(micro)) / f64::from(u32::MAX);
        for (micro, expected) in [(0, 1.0), (100_000, 0.904_837), (1_000_000, 0.367_879)] {
            assert!((share(micro) - expected).abs() < 1e-3, "{micro}: {}", share(micro));
        }
        assert_eq!(negative_exponential(1 << 24), 0);
    }

    #[test]
    fn a_window_that_is_not_full_is_extrapolated() {
        let mut gradients = Gradients::new(4);
        let change = |us| Extremes { min: us, max: 2 * us };
        assert_eq!(gradients.take(change(100)).gradient, 400);
        assert_eq!(gradients.take(change(100)).gradient, 400);
        assert_eq!(
            gradients.take(change(-300)).gradient,
            -266,
            "the maximum, where the minimum fell"
        );
        assert_eq!(gradients.take(change(200)).gradient, 100);
        assert_eq!(gradients.take(change(100)).gradient, 100, "the first one left the window");
    }
}
