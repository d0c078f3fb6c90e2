//! Capture files as a stream of frames.
//!
//! pcap with microseconds or nanoseconds in either byte order, and pcapng, both
//! also inside gzip. A file is read once, front to back, and one block is held at a time. Any
//! problem with a file ends the stream, and [`Reader::problem`] says what and where; everything
//! before it counts.

mod byte_order;
mod bytes;
mod frame;
mod pcap;
mod pcapng;
mod qlog;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::BlockBuffer;
use flate2::read::MultiGzDecoder;

pub use frame::{Frame, OpenError};
pub use qlog::{QlogTrace, QuicEvent, QuicFrame, QuicPacket, begins_like_qlog, read_qlog};

/// The content of a file.
pub enum Content {
    /// Frames of a network.
    Frames(Reader),
    /// Packets as an endpoint of QUIC logged them, and why the log ends early, if it does.
    Qlog(Vec<QlogTrace>, Option<String>),
}

impl Content {
    /// Opens a file.
    ///
    /// # Errors
    /// If there is no such file or it is neither a capture nor a qlog.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        // This is checked before opening, since opening a pipe without a writer would wait for
        // ever.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("something other than a regular file").into());
        }
        Self::new(Box::new(File::open(path)?))
    }

    /// Reads from `input`.
    ///
    /// # Errors
    /// If it is neither a capture nor a qlog.
    pub fn new(input: Box<dyn Read + Send>) -> Result<Self, OpenError> {
        let mut input = unpack(input)?;
        let begin = input.peek(1).map_err(|error| OpenError::Header(error.to_string()))?;
        if begins_like_qlog(begin) {
            let (traces, problem) = read_qlog(input).map_err(OpenError::Qlog)?;
            return Ok(Self::Qlog(traces, problem));
        }
        Reader::from_unpacked(input).map(Self::Frames)
    }
}

/// The input, decompressed if it is gzipped.
fn unpack(input: Box<dyn Read + Send>) -> io::Result<BlockBuffer> {
    let mut input = BlockBuffer::new(input);
    if input.peek(2)?.starts_with(&[0x1f, 0x8b]) {
        input = BlockBuffer::new(Box::new(MultiGzDecoder::new(input)));
    }
    Ok(input)
}

enum Format {
    Pcap(pcap::Header),
    Pcapng(pcapng::Section),
}

/// Reads a capture frame by frame.
pub struct Reader {
    input: BlockBuffer,
    format: Format,
    problem: Option<String>,
    dropped: u64,
}

impl Reader {
    /// Reads from `input`.
    ///
    /// # Errors
    /// If it isn't a capture.
    pub fn new(input: Box<dyn Read + Send>) -> Result<Self, OpenError> {
        Self::from_unpacked(unpack(input)?)
    }

    fn from_unpacked(mut input: BlockBuffer) -> Result<Self, OpenError> {
        let begin = match input.peek(4) {
            Ok(begin) => begin.to_vec(),
            Err(error) => return Err(OpenError::Header(error.to_string())),
        };
        let format = match begin.as_slice() {
            [] => return Err(OpenError::Empty),
            [0x0a, 0x0d, 0x0d, 0x0a] => Format::Pcapng(pcapng::Section::default()),
            _ => Format::Pcap(pcap::Header::read(&mut input, &begin)?),
        };
        let mut reader = Self { input, format, problem: None, dropped: 0 };
        if let Format::Pcapng(section) = &mut reader.format {
            section.begin(&mut reader.input).map_err(OpenError::Header)?;
        }
        Ok(reader)
    }

    /// The next frame, or none at the end.
    #[inline]
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.problem.is_some() {
            return None;
        }
        let found = match &mut self.format {
            Format::Pcap(header) => header.next(&mut self.input),
            Format::Pcapng(section) => section.next(&mut self.input, &mut self.dropped),
        };
        match found {
            Ok(found) => found.map(|found| Frame {
                time: found.time,
                link: found.link,
                length: found.length,
                data: self.input.last(found.offset, found.kept),
            }),
            Err(problem) => {
                self.problem = Some(problem);
                None
            }
        }
    }

    /// Why the stream ended early, if it did.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Frames that the capturing host says it dropped.
    #[must_use]
    pub fn frames_dropped(&self) -> u64 {
        self.dropped
    }
}
