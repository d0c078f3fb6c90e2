//! A qlog file: a JSON text sequence (RFC 7464) of one header and its events.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use narrows_base::{Duration, Time};

/// Bytes buffered before they are appended to the file. The file stays closed meanwhile, since a
/// run may have more flows than a process may have open files.
const BUFFER: usize = 1 << 15;

/// The form of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QlogForm {
    /// Version 0.3, which qvis opens.
    #[default]
    Version03,
    /// Drafts 14 of the main schema and 13 of the events of QUIC.
    Draft14,
}

/// The contents of the header.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// The form of header and events.
    pub(super) form: QlogForm,
    /// The title of the trace.
    pub(super) title: String,
    /// Name of the sender.
    pub(super) sender: String,
}

/// A file that appears with its first event.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    header: Header,
    text: String,
    /// Events so far.
    pub(super) events: u64,
    exists: bool,
}

impl Log {
    pub(super) fn new(path: PathBuf, header: Header) -> Self {
        Self { path, header, text: String::new(), events: 0, exists: false }
    }

    /// Appends an event; `data` are the members of its data object.
    pub(super) fn event(
        &mut self,
        at: Time,
        name: &str,
        group: Option<&str>,
        data: fmt::Arguments<'_>,
    ) -> io::Result<()> {
        if self.events == 0 {
            self.begin();
        }
        self.events += 1;
        let at = Millis(at.as_nanos());
        let group = Group(group);
        self.put(format_args!(
            "\u{1e}{{\"time\":{at},\"name\":\"{name}\"{group},\"data\":{{{data}}}}}\n"
        ));
        if self.text.len() < BUFFER { Ok(()) } else { self.append() }
    }

    /// The form of header and events.
    pub(super) const fn form(&self) -> QlogForm {
        self.header.form
    }

    fn begin(&mut self) {
        let title = Text(&self.header.title).to_string();
        let sender = Text(&self.header.sender).to_string();
        let point = format!(
            "\"title\":{sender},\"vantage_point\":{{\"name\":{sender},\"type\":\"client\"}}"
        );
        match self.header.form {
            QlogForm::Version03 => self.put(format_args!(
                "\u{1e}{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":{title},\
                 \"description\":{sender},\"trace\":{{{point},\"common_fields\":{{\
                 \"protocol_type\":[\"TCP\"],\"time_format\":\"relative\",\"reference_time\":0}}}}}}\n"
            )),
            // Simulated times count from 1970, as in captures of the same run.
            QlogForm::Draft14 => self.put(format_args!(
                "\u{1e}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\
                 \"serialization_format\":\"application/qlog+json-seq\",\"title\":{title},\
                 \"description\":{sender},\"trace\":{{{point},\"event_schemas\":[\
                 \"urn:ietf:params:qlog:events:quic-13\"],\"common_fields\":{{\
                 \"time_format\":\"relative_to_epoch\",\"reference_time\":{{\
                 \"clock_type\":\"system\",\"epoch\":\"1970-01-01T00:00:00.000Z\"}}}}}}}}\n"
            )),
        }
    }

    fn put(&mut self, record: fmt::Arguments<'_>) {
        self.text.write_fmt(record).expect("text grows");
    }

    fn append(&mut self) -> io::Result<()> {
        let mut file = if self.exists {
            OpenOptions::new().append(true).open(&self.path)?
        } else {
            File::create(&self.path)?
        };
        self.exists = true;
        file.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// Completes the file if there was an event; returns its name.
    pub(super) fn finish(mut self) -> io::Result<Option<String>> {
        if self.events == 0 {
            return Ok(None);
        }
        self.append()?;
        Ok(self.path.file_name().map(|name| name.to_string_lossy().into_owned()))
    }
}

/// Nanoseconds as milliseconds, without loss of precision.
pub(super) struct Millis(pub(super) u64);

impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        Self(duration.as_nanos())
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A JSON string.
pub(super) struct Text<'a>(pub(super) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                control if u32::from(control) < 0x20 => write!(f, "\\u{:04x}", u32::from(control))?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

/// Distinguishes the connections of a chain.
struct Group<'a>(Option<&'a str>);

impl fmt::Display for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |group| write!(f, ",\"group_id\":{}", Text(group)))
    }
}
