//! Cube roots.

/// How far above `64 cbrt(x)` Linux's starting values for `x` in 8..64 lie. They were tuned by hand
/// there, and determine the last digits of every K.
const LIFT: [u32; 56] = [
    5, 6, 7, 6, 7, 7, 7, 9, 6, 7, 7, 8, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 8, 7, 7, 7, 7, 8, 8, 8, 8,
    9, 9, 9, 8, 9, 8, 8, 9, 9, 8, 9, 9, 9, 9, 9, 9, 10, 9, 9, 9, 10, 10, 9, 10,
];

/// Starting values in 1/64, by the leading digits.
const START: [u32; 64] = starting_values();

#[expect(clippy::cast_possible_truncation, reason = "below 64")]
const fn starting_values() -> [u32; 64] {
    let mut values = [0; 64];
    let (mut x, mut root) = (8, 0);
    while x < 64 {
        while (root + 1) * (root + 1) * (root + 1) <= (x as u32) << 18 {
            root += 1;
        }
        values[x] = root + LIFT[x - 8];
        x += 1;
    }
    values
}

/// Integer cube root with the results of Linux's `cubic_root`, an error of about
/// 0.2 %: a starting value from the leading bits, then one Newton step.
///
/// Zero, or at least 64: K cubed has the scale 2^30, so nothing in between occurs.
pub(super) fn cube_root(a: u64) -> u32 {
    if a == 0 {
        return 0;
    }
    debug_assert!(a >= 64, "{a} has too few digits");
    let bits = u64::BITS - a.leading_zeros();
    let third = ((bits * 84) >> 8) - 1;
    let leading = usize::try_from(a >> (third * 3)).expect("six bits");
    let x = u64::from((START[leading] << third) >> 6);
    // x' = (2 x + a / x^2) / 3, with 341/1024 for the third.
    let root = ((2 * x + a / (x * (x - 1))) * 341) >> 10;
    u32::try_from(root).expect("the cube root of 64 bits has 22")
}

/// Cube root of a positive number by Newton's method, for RFC 9438's real-valued
/// window. It uses only the four operations, so that it is the same everywhere.
pub(super) fn real_cube_root(a: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    let mut x = a.max(1.0);
    loop {
        let next = (2.0 * x + a / (x * x)) / 3.0;
        if next >= x {
            return x;
        }
        x = next;
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "the true root needn't be exact")]
mod tests {
    use super::*;

    /// FNV-1a over whole numbers.
    fn digest(roots: impl Iterator<Item = u32>) -> u64 {
        roots.fold(0xcbf2_9ce4_8422_2325, |hash, root| {
            (hash ^ u64::from(root)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    #[test]
    fn every_k_is_the_kernels() {
        // The digest was computed with the kernel's own function.
        let factor = (1_u64 << 40) / 410;
        let roots = (1..=100_000).map(|packets| cube_root(factor * packets));
        assert_eq!(digest(roots), 0x8003_0397_f8d3_b87c);
    }

    #[test]
    fn roots_of_all_sizes_are_the_kernels() {
        let arguments = std::iter::successors(Some(64_u64), |a| Some(a + a / 1_000 + 1));
        let roots = arguments.take_while(|&a| a < 1 << 62).map(cube_root);
        assert_eq!(digest(roots), 0xf8fa_42f2_86c0_0553);
    }

    #[test]
    fn nothing_to_climb_takes_no_time() {
        assert_eq!(cube_root(0), 0);
    }

    #[test]
    fn it_stays_near_the_true_root() {
        let mut a: u64 = 64;
        while a < 1 << 62 {
            let (root, exact) = (f64::from(cube_root(a)), real_cube_root(a as f64));
            assert!((root - exact).abs() <= 1.0 + exact * 0.012, "{a}: {root} v {exact}");
            a += a / 7 + 1;
        }
    }

    #[test]
    fn real_cube_roots_are_exact() {
        for x in [1e-9, 0.5, 1.0, 3.0, 1234.5, 1e9] {
            let error = real_cube_root(x * x * x) / x - 1.0;
            assert!(error.abs() < 1e-12, "{x}: {error}");
        }
        assert_eq!(real_cube_root(0.0), 0.0);
    }
}
