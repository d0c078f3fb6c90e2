//! Randomness from the seed of the run, also for libraries that draw through something global.

use std::cell::RefCell;

use narrows_base::Stream;

thread_local! {
    /// The stream of the end that is at work on this thread.
    static AT_WORK: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// The random stream of an end.
#[derive(Debug)]
pub(crate) struct Draws(Option<Stream>);

impl Draws {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Self(Some(Stream::new(seed, name)))
    }

    /// Does something that may draw.
    pub(crate) fn during<R>(&mut self, work: impl FnOnce() -> R) -> R {
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
pub(crate) fn fill(bytes: &mut [u8]) {
    AT_WORK.with_borrow_mut(|stream| {
        let stream = stream.as_mut().expect("only an end at work draws");
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&stream.next_u64().to_le_bytes()[..part.len()]);
        }
    });
}

/// Bytes from the stream of the end that is at work.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}
