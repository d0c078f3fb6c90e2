//! Seeded random streams, one for each component that needs random numbers.
//!
//! A stream's seed is a hash of the run's seed and the component's name: adding a flow doesn't
//! change any other flow's numbers. The generator and the distributions are our own because a
//! library may change its numbers between versions, which would change every stored result.

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna, 2019), seeded
/// through splitmix64.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of the component called `name` in the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mut x = seed ^ fnv1a(name.as_bytes());
        Self { state: std::array::from_fn(|_| splitmix64(&mut x)) }
    }

    /// A uniform 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let result = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        let (s2, s3) = (s2 ^ s0, s3 ^ s1);
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17), s3.rotate_left(45)];
        result
    }

    /// A uniform integer in `0..bound`, without bias (Lemire 2019).
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a random number below zero was asked for");
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "each half of the product is wanted"
            )]
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// A uniform number in [0, 1) with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    pub fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * SCALE
    }

    /// True with the given probability; draws nothing when it is zero.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn splitmix64(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_name_repeat() {
        let mut a = Stream::new(7, "loss");
        let mut b = Stream::new(7, "loss");
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
    }

    #[test]
    fn other_names_and_seeds_differ() {
        let first = Stream::new(7, "loss").next_u64();
        assert_ne!(first, Stream::new(7, "jitter").next_u64());
        assert_ne!(first, Stream::new(8, "loss").next_u64());
    }

    #[test]
    fn numbers_are_frozen() {
        // Stored results depend on these numbers: a change here changes results.
        let mut stream = Stream::new(1, "test");
        let numbers: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        assert_eq!(
            numbers,
            [15_639_821_709_827_460_187, 13_786_240_831_035_848_015, 7_035_166_639_442_871_158]
        );
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new(3, "uniform");
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(stream.below(7)).unwrap()] += 1;
        }
        assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
    }

    #[test]
    fn chance_matches_its_probability() {
        let mut stream = Stream::new(4, "chance");
        let hits = (0..100_000).filter(|_| stream.chance(0.01)).count();
        assert!((850..1_150).contains(&hits), "{hits}");
        assert!((0..1_000).all(|_| !stream.chance(0.0)));
    }
}
