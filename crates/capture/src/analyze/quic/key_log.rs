//! The secrets of connections, as programs write them for SSLKEYLOGFILE (RFC 9850).

use std::collections::BTreeMap;
use std::sync::Arc;

const CLIENT: &str = "CLIENT_TRAFFIC_SECRET_0";
const SERVER: &str = "SERVER_TRAFFIC_SECRET_0";

/// The secrets of a key log that protect application data.
#[derive(Clone, Debug, Default)]
pub struct KeyLog {
    connections: Arc<[TrafficSecrets]>,
}

/// The secrets of a connection: of what the client sends, and of what the server sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrafficSecrets {
    pub(crate) client: Vec<u8>,
    pub(crate) server: Vec<u8>,
}

impl KeyLog {
    /// Reads a key log; lines that aren't of this form are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut found: BTreeMap<&str, TrafficSecrets> = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(label), Some(random), Some(secret)) =
                (words.next(), words.next(), words.next().and_then(bytes))
            else {
                continue;
            };
            match label {
                CLIENT => found.entry(random).or_default().client = secret,
                SERVER => found.entry(random).or_default().server = secret,
                _ => {}
            }
        }
        let whole = |one: &TrafficSecrets| !one.client.is_empty() && !one.server.is_empty();
        Self { connections: found.into_values().filter(whole).collect() }
    }

    /// Returns whether it has no connection's secrets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// The secrets of each connection.
    #[cfg_attr(not(feature = "quic-keys"), expect(dead_code, reason = "nothing decrypts"))]
    pub(crate) fn connections(&self) -> &[TrafficSecrets] {
        &self.connections
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_secrets_of_a_connection_are_needed() {
        let text = "# comment\n\
            CLIENT_TRAFFIC_SECRET_0 aa 0102\nSERVER_TRAFFIC_SECRET_0 aa 0304\n\
            CLIENT_HANDSHAKE_TRAFFIC_SECRET aa 05\nCLIENT_TRAFFIC_SECRET_0 bb 06\n\
            SERVER_TRAFFIC_SECRET_0 cc 0g\n";
        let log = KeyLog::parse(text);
        let known = TrafficSecrets { client: vec![1, 2], server: vec![3, 4] };
        assert_eq!(&*log.connections, [known]);
        assert!(KeyLog::parse("CLIENT_RANDOM aa 0102").is_empty());
    }
}
