//! The end of a run by `stop_when` where flows are on several hosts, which don't hear of each other:
//! each notes in a file when its own flows are done, and ends when another file appears.

use std::io::Result;
use std::path::PathBuf;

/// The name of the file with the time at which this host's flows were done, in ns.
const DONE: &str = "done_ns";

/// The two files of a host.
pub struct StopFiles {
    heard_by: PathBuf,
    noted_in: PathBuf,
    noted: bool,
}

impl StopFiles {
    /// Ends the run when `heard_by` appears; notes in `directory` when its flows are done.
    #[must_use]
    pub fn new(heard_by: PathBuf, directory: &std::path::Path) -> Self {
        Self { heard_by, noted_in: directory.join(DONE), noted: false }
    }

    /// Notes that the flows of `stop_when` on this host are done by `now`, once.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn note(&mut self, now: u64) -> Result<()> {
        if self.noted {
            return Ok(());
        }
        self.noted = true;
        std::fs::write(&self.noted_in, format!("{now}\n"))
    }

    /// Returns `true` if the run has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.heard_by.exists()
    }
}
