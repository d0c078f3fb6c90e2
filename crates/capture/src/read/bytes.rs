//! Input with lookahead.

use std::io::{self, ErrorKind, Read};

/// Bytes read at once.
const CHUNK: usize = 256 * 1024;

/// A buffer over an input that returns whole blocks as slices.
///
/// It grows only as data arrive: a length claimed by a file reserves nothing.
pub(super) struct BlockBuffer {
    input: Box<dyn Read + Send>,
    held: Vec<u8>,
    begin: usize,
    /// Where the block taken last begins.
    last: usize,
    /// Bytes taken before the held ones.
    passed: u64,
    ended: bool,
}

impl BlockBuffer {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, held: Vec::new(), begin: 0, last: 0, passed: 0, ended: false }
    }

    /// Position of the next byte in the input.
    pub(super) fn offset(&self) -> u64 {
        self.passed + self.begin as u64
    }

    /// The next `count` bytes, or fewer at the end of the input.
    #[inline]
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.held.len() - self.begin < count {
            self.fill(count)?;
        }
        let end = self.held.len().min(self.begin + count);
        Ok(&self.held[self.begin..end])
    }

    /// Takes `count` bytes that were looked at.
    #[inline]
    pub(super) fn take(&mut self, count: usize) {
        self.last = self.begin;
        self.begin += count;
    }

    /// A part of the block taken last.
    #[inline]
    pub(super) fn last(&self, offset: usize, count: usize) -> &[u8] {
        &self.held[self.last + offset..self.last + offset + count]
    }

    /// Skips `count` bytes without holding them; false if the input ends before.
    pub(super) fn skip(&mut self, mut count: u64) -> io::Result<bool> {
        while count > 0 {
            let part = usize::try_from(count).unwrap_or(CHUNK).min(CHUNK);
            let there = self.peek(part)?.len();
            self.take(there);
            if there < part {
                return Ok(false);
            }
            count -= there as u64;
        }
        Ok(true)
    }

    #[cold]
    fn fill(&mut self, count: usize) -> io::Result<()> {
        self.held.drain(..self.begin);
        self.passed += self.begin as u64;
        (self.begin, self.last) = (0, 0);
        while !self.ended && self.held.len() < count {
            let before = self.held.len();
            self.held.resize(before + CHUNK, 0);
            match self.input.read(&mut self.held[before..]) {
                Ok(read) => {
                    self.held.truncate(before + read);
                    self.ended = read == 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => self.held.truncate(before),
                Err(error) => {
                    self.held.truncate(before);
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// For gzip, which reads again the bytes seen by lookahead.
impl Read for BlockBuffer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let there = self.peek(into.len().min(CHUNK))?;
        let count = there.len();
        into[..count].copy_from_slice(there);
        self.take(count);
        Ok(count)
    }
}
