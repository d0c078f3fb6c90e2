//! A build with stacks.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use narrows_capture::write::Qlogs;
use narrows_sim::Controls;
use narrows_spec::scenario::Scenario;
use narrows_stacks::{Logs, with_stacks};

use crate::capture::{CaptureRequest, flow_infos};

/// The file with the secrets of a run's connections.
const KEYS: &str = "keys.log";
/// Bytes buffered before they are appended to a file. It stays closed meanwhile, since a run may
/// have more flows than a process may have open files.
const BUFFER: usize = 1 << 15;

/// The logs of a run's connections.
#[derive(Debug, Default)]
pub struct StackLogs {
    logs: Logs,
    /// Where the secrets go, beside captures.
    secrets: Option<PathBuf>,
    qlogs: QlogResults,
}

/// The names of files with their events, or what went wrong.
type QlogResults = Arc<Mutex<Vec<io::Result<(String, u64)>>>>;

impl StackLogs {
    pub fn new(scenario: &Scenario, request: Option<&CaptureRequest>) -> Self {
        let (mut logs, qlogs) = (Logs::default(), QlogResults::default());
        if let Some(request) = request.filter(|request| request.qlog) {
            let (flows, directory) = (flow_infos(scenario), request.directory.clone());
            let finished = Arc::clone(&qlogs);
            logs = logs.with_qlog(move |name| {
                let index = flows.iter().position(|flow| flow.name == name);
                let file = Qlogs::file_name(&flows, index.expect("a flow of the run"));
                Box::new(Qlog::new(&directory, file, &finished))
            });
        }
        let secrets = request.filter(|request| request.pcap).map(|one| one.directory.join(KEYS));
        Self { logs, secrets, qlogs }
    }

    pub fn with_stacks(&self, controls: Controls) -> Controls {
        with_stacks(controls, &self.logs)
    }

    /// Writes what isn't written yet; returns the names of files with their lines or events.
    pub fn finish(self) -> io::Result<Vec<(String, u64)>> {
        let qlogs = std::mem::take(&mut *self.qlogs.lock().expect("no connection panicked"));
        let mut files = qlogs.into_iter().collect::<io::Result<Vec<_>>>()?;
        files.sort();
        let text = self.logs.keys.text();
        if let Some(path) = self.secrets.filter(|_| !text.is_empty()) {
            std::fs::write(path, &text)?;
            files.push((KEYS.to_owned(), text.lines().count() as u64));
        }
        Ok(files)
    }
}

/// A file that a connection writes.
struct Qlog {
    name: String,
    path: PathBuf,
    buffer: Vec<u8>,
    lines: u64,
    error: Option<io::Error>,
    finished: QlogResults,
}

impl Qlog {
    fn new(directory: &Path, name: String, finished: &QlogResults) -> Self {
        let (path, finished) = (directory.join(&name), Arc::clone(finished));
        Self { name, path, buffer: Vec::new(), lines: 0, error: None, finished }
    }

    fn append(&mut self) {
        let append = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(&self.buffer)
        };
        if self.error.is_none() {
            self.error = append().err();
        }
        self.buffer.clear();
    }
}

impl Write for Qlog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.append();
        }
        Ok(bytes.len())
    }

    /// The stack flushes after each event.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Qlog {
    fn drop(&mut self) {
        if self.lines == 0 {
            return; // it never connected
        }
        self.append();
        // The first line is the header.
        let events = self.lines.saturating_sub(1);
        let result = self.error.take().map_or(Ok((std::mem::take(&mut self.name), events)), Err);
        if let Ok(mut finished) = self.finished.lock() {
            finished.push(result);
        }
    }
}
