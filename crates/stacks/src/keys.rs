//! The secrets of connections, with which captures can be decrypted.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// The secrets of all connections of a run, in the format of the NSS key log that Wireshark reads
/// (RFC 9850).
#[derive(Clone, Debug, Default)]
pub struct Keys(Arc<Mutex<String>>);

impl Keys {
    /// The lines so far.
    ///
    /// # Panics
    /// If a run with these keys panicked.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.lock().expect("no run panicked").clone()
    }
}

impl rustls::KeyLog for Keys {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            digits.collect::<String>()
        };
        let mut text = self.0.lock().expect("no run panicked");
        writeln!(text, "{label} {} {}", hex(client_random), hex(secret)).expect("a text takes all");
    }
}
