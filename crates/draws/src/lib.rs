//! Randomness from the seed of the run, also for libraries that draw through something global.
//!
//! BBR of noq-proto has its own generator, the only one from the crate `rand_pcg`, and seeds
//! it from the operating system: its configuration has a seed that nobody outside can set. So this
//! crate takes the place of `rand_pcg` in the workspace, and its [`Pcg32`] draws from the seed.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt;

use narrows_base::Stream;
use rand_core::{Rng, SeedableRng, TryRng};

thread_local! {
    /// The stream of the end that is at work on this thread.
    static AT_WORK: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// The random stream of an end.
#[derive(Debug)]
pub struct EndStream(Option<Stream>);

impl EndStream {
    /// The stream of this name in a run with this seed.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        Self(Some(Stream::new(seed, name)))
    }

    /// Does something that may draw.
    pub fn during<R>(&mut self, work: impl FnOnce() -> R) -> R {
        AT_WORK.set(self.0.take());
        let result = work();
        self.0 = AT_WORK.take();
        result
    }
}

/// Fills `bytes` from the stream of the end that is at work.
///
/// # Panics
/// If none is, since the result would depend on something else.
pub fn fill(bytes: &mut [u8]) {
    AT_WORK.with_borrow_mut(|stream| {
        let stream = stream.as_mut().expect("only an end at work draws");
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&stream.next_u64().to_le_bytes()[..part.len()]);
        }
    });
}

/// Bytes from the stream of the end that is at work.
///
/// # Panics
/// If none is, as [`fill`].
#[must_use]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

/// The generator of this name for those who would seed it from the operating system.
#[derive(Clone)]
pub struct Pcg32(Stream);

impl fmt::Debug for Pcg32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pcg32").finish_non_exhaustive()
    }
}

impl SeedableRng for Pcg32 {
    type Seed = [u8; 16];

    fn from_seed(seed: Self::Seed) -> Self {
        let seed = u128::from_le_bytes(seed);
        Self(Stream::new((seed >> 64) as u64, &format!("{seed:x}")))
    }

    /// Seeds it from the end that is at work, whatever it is given.
    fn from_rng<R: Rng + ?Sized>(_: &mut R) -> Self {
        Self::from_seed(bytes())
    }
}

impl TryRng for Pcg32 {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0.next_u64() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.0.next_u64().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}
