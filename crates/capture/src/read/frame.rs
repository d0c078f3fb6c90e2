//! A frame as stored in a file, and the reasons why a file has none.

use std::io;

/// One frame as a network card saw it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970; none if the file doesn't say.
    pub time: Option<u64>,
    /// The kind of header at the beginning of the frame: LINKTYPE_ of pcap.
    pub link: u16,
    /// Its length on the wire; `data` may be shorter.
    pub length: u32,
    /// The bytes kept.
    pub data: &'a [u8],
}

/// A frame within the block taken last.
pub(super) struct FrameInBlock {
    pub(super) time: Option<u64>,
    pub(super) link: u16,
    pub(super) length: u32,
    pub(super) offset: usize,
    pub(super) kept: usize,
}

/// Why a file can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The operating system returned an error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is empty.
    #[error("an empty file")]
    Empty,
    /// It doesn't begin like a capture.
    #[error("a file that begins with \"{}\", like no capture", .0.escape_ascii())]
    Unknown(Vec<u8>),
    /// It begins like a qlog and isn't one.
    #[error("{0}")]
    Qlog(String),
    /// It begins like a capture and ends before the first frame could.
    #[error("a capture whose header is cut off or broken: {0}")]
    Header(String),
}
