//! The captures of a run of real packets.

use std::io::{self, Write};
use std::path::PathBuf;

use narrows_base::Point;
use serde::{Deserialize, Serialize};

use crate::interface::{Interface, file_name};
use crate::snaplen::MOST_HEADERS;
use crate::writer::PcapngWriter;

/// The captures to make, as JSON: a file for each point.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PcapFiles {
    /// The directory of the files.
    pub directory: PathBuf,
    /// The most bytes kept of each packet; `None` keeps the headers.
    pub snaplen: Option<u32>,
    /// The comment in the files.
    pub comment: String,
}

impl PcapFiles {
    /// The file of a point.
    #[must_use]
    pub fn path(&self, point: Point) -> PathBuf {
        self.directory.join(file_name(point))
    }

    /// Begins the capture of a point, which goes to `out`.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn begin<W: Write>(&self, point: Point, out: W) -> io::Result<PcapngWriter<W>> {
        let interface = Interface::at(point, self.snaplen.unwrap_or(MOST_HEADERS));
        PcapngWriter::new(out, &self.comment, &interface)
    }
}
