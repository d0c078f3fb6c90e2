//! A frame as a file holds it, and why a file holds none.

use std::io;

/// One frame as a network card saw it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970; none if the file doesn't say.
    pub time: Option<u64>,
    /// What kind of header the frame begins with: LINKTYPE_ of pcap.
    pub link: u16,
    /// How long it was on the wire; `data` may be shorter.
    pub length: u32,
    /// What was kept of it.
    pub data: &'a [u8],
}

/// A frame within the block that was taken last.
pub(super) struct Found {
    pub(super) time: Option<u64>,
    pub(super) link: u16,
    pub(super) length: u32,
    pub(super) offset: usize,
    pub(super) kept: usize,
}

/// Why a file can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The operating system says no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It holds nothing.
    #[error("an empty file")]
    Empty,
    /// It begins like no capture.
    #[error("a file that begins with {0:02x?}, like no capture")]
    Unknown(Vec<u8>),
    /// It begins like a capture and ends before the first frame could.
    #[error("a capture whose header is cut off or broken: {0}")]
    Header(String),
}
